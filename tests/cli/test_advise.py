"""Advice on a network for which closed forms give the first algorithm, and the bandwidth and the latency at which this
changes (a flip).

P = 8 workers reduce n bytes on a ring, in 2 (P - 1) (latency + n / P / bandwidth), or by recursive doubling, in
log2 P (latency + n / bandwidth). Nothing overlaps, and nothing else takes time.
"""

from __future__ import annotations

import json
import re
import signal
from typing import Any

from harness import TRIGRAM, CommandTest, needs_simulator, one_tensor_profile

WORKERS = 8
NBYTES = 4_000_000
COMPUTE_S = 1e-3
BANDWIDTH_BPS = 25e9 / 8
LATENCY_S = 50e-6
TIE = 0.01
TOLERANCE = 0.02

CLUSTER = {
    "nodes": WORKERS,
    "inter": {"bandwidth": "25Gbps", "latency": "50us"},
    "accelerator": {"flops": "1000000TFLOP/s", "memory_bandwidth": "1000000000GB/s", "launch_overhead": "0us"},
}
PROFILE = one_tensor_profile(NBYTES // 4, 0.4e-3, 0.6e-3, accelerator="none")
RING = {"name": "gradient_allreduce", "overlap": False, "allreduce": "ring"}
DOUBLING = RING | {"allreduce": "recursive_doubling"}
CANDIDATES = {
    "cluster": CLUSTER,
    "workload": "bert_large",
    "steps": 20,
    "until_steady": True,
    "sweep": {"/algorithm": [DOUBLING, RING]},
}


def ring_s(bandwidth_Bps: float, latency_s: float) -> float:
    return COMPUTE_S + 2 * (WORKERS - 1) * (latency_s + NBYTES / WORKERS / bandwidth_Bps)


def doubling_s(bandwidth_Bps: float, latency_s: float) -> float:
    return COMPUTE_S + 3 * (latency_s + NBYTES / bandwidth_Bps)


# 14 latency + 14/8 n / bandwidth = 3 latency + 3 n / bandwidth
FLIP_BPS = 1.25 * NBYTES / (11 * LATENCY_S)
FLIP_LATENCY_S = 1.25 * NBYTES / (11 * BANDWIDTH_BPS)


@needs_simulator
class Advise(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")
        self.write(CLUSTER, "eight.json")
        self.write(CANDIDATES, "candidates.json")

    def arguments(self, **changes: str) -> list[str]:
        options = {"cluster": "eight.json", "profile": "profile:one.json", "candidates": "candidates.json"} | changes
        return ["advise"] + [word for k, v in options.items() for word in (f"--{k}", v)]

    def advise(self, *more: str, code: int = 0, **changes: str) -> dict[str, Any]:
        return json.loads(self.trigram(*self.arguments(**changes), "--json", *more, code=code).stdout)

    def runs(self) -> set[str]:
        return {p.parent.name for p in (self.folder / "results").glob("*/*/DONE")}

    def flips(self, advice: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
        return {(flip["quantity"], flip["direction"]): flip for flip in advice["flips"]}

    def test_order_and_margin_equal_the_closed_forms(self) -> None:
        advice = self.advise()
        first, second = advice["candidates"]
        self.assertEqual(first["settings"], {"/algorithm": RING})
        ring, doubling = ring_s(BANDWIDTH_BPS, LATENCY_S), doubling_s(BANDWIDTH_BPS, LATENCY_S)
        self.assertAlmostEqual(first["step_s"], ring, delta=1e-6 * ring)
        self.assertAlmostEqual(second["step_s"], doubling, delta=1e-6 * doubling)
        self.assertAlmostEqual(second["behind"], doubling / ring - 1, places=5)
        self.assertEqual(first["behind"], 0)
        self.assertFalse(advice["tie"])
        self.assertAlmostEqual(first["samples_per_s"], WORKERS * 4 / ring, delta=0.01)

    def test_flips_equal_the_closed_forms(self) -> None:
        flips = self.flips(self.advise())
        self.assertEqual(len(flips), 4)
        more = flips["bandwidth", "up"]
        self.assertEqual(more["first"], {"/algorithm": DOUBLING})
        self.assertLessEqual(more["holds_Bps"], FLIP_BPS)
        self.assertGreaterEqual(more["flips_Bps"], FLIP_BPS)
        self.assertLess(more["flips_Bps"] / more["holds_Bps"], 1.001 + TOLERANCE)
        self.assertAlmostEqual(more["flips_Bps"], more["flips_factor"] * BANDWIDTH_BPS, delta=1)
        slower = flips["latency", "up"]
        self.assertEqual(slower["first"], {"/algorithm": DOUBLING})
        self.assertLessEqual(slower["holds_s"], FLIP_LATENCY_S)
        self.assertGreaterEqual(slower["flips_s"], FLIP_LATENCY_S)
        self.assertLess(slower["flips_s"] / slower["holds_s"], 1.001 + TOLERANCE)
        for never in (flips["bandwidth", "down"], flips["latency", "down"]):
            self.assertIsNone(never["first"])
            self.assertNotIn("flips_factor", never)
            self.assertEqual(never["limit_factor"], 1 / 64)

    def test_a_fine_sweep_flips_at_the_same_bandwidth(self) -> None:
        flip = self.flips(self.advise())["bandwidth", "up"]
        factors = [2.5 + 0.05 * i for i in range(20)]
        config = CANDIDATES | {
            "cluster": "eight.json",
            "workload": "profile:one.json",
            "sweep": {
                "/algorithm": [DOUBLING, RING],
                "/cluster/inter/bandwidth": [f"{25 * f:.10g}Gbps" for f in factors],
            },
        }
        steps: dict[str, dict[str, float]] = {}
        for run in self.run_config(config):
            by_algorithm = steps.setdefault(run["sweep"]["/cluster/inter/bandwidth"], {})
            by_algorithm[run["sweep"]["/algorithm"]["allreduce"]] = run["summary"]["step_s"]
        flipped = [f for f in factors if (by := steps[f"{25 * f:.10g}Gbps"])["recursive_doubling"] < by["ring"]]
        self.assertTrue(0 < len(flipped) < len(factors))
        self.assertEqual(flipped, factors[-len(flipped) :], "it flips once")
        last, first = factors[-len(flipped) - 1], flipped[0]
        # Both intervals contain the single crossing.
        self.assertLessEqual(flip["holds_factor"], first)
        self.assertGreaterEqual(flip["flips_factor"], last)

    def test_flips_towards_slower_networks_are_found(self) -> None:
        """At a bandwidth at which the other algorithm is first, the search finds the same flip downwards."""
        setting = "/cluster/inter/bandwidth=200Gbps"
        advice = self.advise("--set", setting)
        self.assertEqual(advice["candidates"][0]["settings"], {"/algorithm": DOUBLING})
        flip = self.flips(advice)["bandwidth", "down"]
        self.assertEqual(flip["first"], {"/algorithm": RING})
        self.assertGreaterEqual(flip["holds_Bps"], FLIP_BPS)
        self.assertLessEqual(flip["flips_Bps"], FLIP_BPS)

    def test_the_search_for_flips_raises_a_latency_of_zero(self) -> None:
        # Without latency the ring is first at any bandwidth.
        flips = self.flips(self.advise("--set", "/cluster/inter/latency=0us"))
        self.assertIsNone(flips["bandwidth", "up"]["first"])
        self.assertNotIn(("latency", "down"), flips)
        flip = flips["latency", "up"]
        self.assertLessEqual(flip["holds_s"], FLIP_LATENCY_S)
        self.assertGreaterEqual(flip["flips_s"], FLIP_LATENCY_S)

    def test_ties_are_named(self) -> None:
        # The computation is so long that the exchange does not matter.
        slow = PROFILE | {"tensors": [PROFILE["tensors"][0] | {"forward_s": 1.0}]}  # type: ignore
        self.write(slow, "slow.json")
        advice = self.advise(profile="profile:slow.json")
        self.assertTrue(advice["tie"])
        self.assertLess(advice["candidates"][1]["behind"], TIE)
        table = self.trigram(*self.arguments(profile="profile:slow.json")).stdout
        self.assertIn("tie, within 1 %: gradient_allreduce allreduce=ring", table)

    def test_the_table(self) -> None:
        out = self.trigram(*self.arguments()).stdout
        self.assertRegex(out, r"1 +gradient_allreduce +allreduce=ring overlap=false +sync, full, ")
        self.assertIn("best: gradient_allreduce allreduce=ring overlap=false\n", out)
        self.assertRegex(out, r"runner-up: .*recursive_doubling overlap=false, \d+\.\d % behind")
        self.assertRegex(
            out, r"bandwidth between nodes +25 Gbps +above 7\d(\.\d)? Gbps \(x[23]\.\d+\) +gradient_allreduce "
        )
        self.assertRegex(out, r"bandwidth between nodes +25 Gbps +down to 391 Mbps \(x0\.0156\) +the same")
        self.assertRegex(out, r"latency between nodes +50 us +above 1\d\d us \(x[23]\.\d+\) +gradient_allreduce ")

    def test_the_report_answers_the_question(self) -> None:
        advice = self.advise()
        self.assertEqual(advice["question"], {"cluster": "eight.json", "profile": "profile:one.json"})
        self.trigram("report", advice["results"])
        page = (self.folder / advice["results"] / "report.html").read_text()
        body = page[: page.index("const modules")]
        self.assertIn("Which algorithm on eight.json for profile:one.json?", body)
        self.assertIn("What would change the answer", body)
        self.assertRegex(body, r'<p class="verdict">gradient_(<wbr>)?allreduce \((<wbr>)?[^)]*ring[^)]*\) is first')
        self.assertNotIn("not run", body)
        self.assertNotIn("Who wins where", body)
        # A report of all results has one section, without the runs of the search.
        self.trigram("report", "results", "-o", "all.html")
        self.assertEqual((self.folder / "all.html").read_text().count('<section class="experiment"'), 1)

    def test_runs_are_ordinary_and_are_not_repeated(self) -> None:
        self.advise("-o", "elsewhere")
        (folder,) = (self.folder / "elsewhere").glob("advise-eight-one-??????")
        runs = {path.parent for path in folder.glob("*/DONE")}
        self.assertEqual(len(runs), 2, "only runs on the network as it is, which a report can compare")
        folder = folder.with_name(folder.name + "-search")
        search = {path.parent for path in folder.glob("*/DONE")}
        self.assertGreater(len(search), 10)
        unequal = {"/cluster/bandwidth_jitter", "/cluster/jitter_seed"}  # swept by some of the runs
        for run in search:
            self.assertEqual(
                set(json.loads((run / "manifest.json").read_text())["sweep"]) - unequal,
                {"/algorithm", "/cluster/inter/bandwidth", "/cluster/inter/latency", "/steps"},
            )
        again = self.trigram(*self.arguments(), "-o", "elsewhere")
        self.assertEqual(again.stderr, "", "nothing is left to run")
        self.assertEqual(search, {path.parent for path in folder.glob("*/DONE")})
        status = self.trigram("status", folder).stdout
        self.assertIn(f"{len(search)} done", status)
        self.assertIn("bandwidth", self.trigram("table", folder).stdout)

    def test_the_ranking_alone_makes_no_search(self) -> None:
        out = self.trigram(*self.arguments(), "--ranking-only").stdout
        (folder,) = (self.folder / "results").glob("advise-eight-one-??????")
        self.assertEqual(len(list(folder.glob("*/DONE"))), 2)
        self.assertNotIn("first then", out)
        advice = self.advise("--ranking-only")
        self.assertEqual(advice["flips"], [])
        self.assertTrue(advice["ranking_only"])
        first_row = advice["candidates"][0]
        first = first_row["run"]
        manifest = json.loads((folder / first / "manifest.json").read_text())
        self.assertIn(f"workers compute for {100 * manifest['summary']['compute_utilisation']:.1f} % of", out)
        self.assertEqual(first_row["compute_utilisation"], manifest["summary"]["compute_utilisation"])
        self.assertNotRegex(out, "a faster network shortens the first", "the network bounds its step")

    def test_the_text_says_how_much_a_faster_network_gains_unless_messages_slow_down_computation(self) -> None:
        fast = CLUSTER | {"inter": {"bandwidth": "1000Gbps", "latency": "1us"}}
        slowed = fast | {"accelerator": CLUSTER["accelerator"] | {"overlap_slowdown": 1.2}}
        for cluster, gains in ((fast, True), (slowed, False)):
            self.write(cluster, "fast.json")
            out = self.trigram(*self.arguments(cluster="fast.json"), "--ranking-only").stdout
            share = re.search(r"workers compute for (\d+\.\d) % of the step", out)
            assert share, out
            self.assertGreater(float(share[1]), 90)
            sentence = f"a faster network shortens the first by at most {100 - float(share[1]):.1f} %"
            self.assertEqual(sentence in out, gains, out)

    def test_different_questions_have_different_folders(self) -> None:
        few = ("--range", "1.1")
        folders = [
            self.advise(*few, *more)["results"]
            for more in (
                (),
                ("--step-time", "25ms"),
                ("--step-time", "25ms", "--batch", "64"),
                ("--set", "/cluster/inter/bandwidth=1Gbps"),
                ("--algorithms", "gradient_allreduce"),  # the same question about fewer algorithms
            )
        ]
        self.assertEqual(len(set(folders)), 4)
        self.assertEqual(folders[0], folders[-1])
        self.assertRegex(folders[2], "results/advise-eight-one-25ms-batch64-[0-9a-f]{6}$")
        self.write(CLUSTER | {"nodes": 4}, "eight.json")
        self.assertNotIn(self.advise(*few)["results"], folders, "the file says something else now")

    def test_an_interrupted_search_continues(self) -> None:
        self.advise("-o", "whole")
        process = self.popen([TRIGRAM, *self.arguments(), "--json", "-j", "1"])
        self.wait_for(lambda: len(self.runs()) >= 3 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("and the same command continues", err)
        kept = self.runs()
        self.assertGreaterEqual(len(kept), 3)
        times = {id: self.finished(id) for id in kept if id in self.default_runs()}
        advice = self.advise()
        self.assertEqual({id: self.finished(id) for id in times}, times)
        whole = json.loads(self.trigram(*self.arguments(), "--json", "-o", "whole").stdout)
        self.assertEqual(advice | {"results": ""}, whole | {"results": ""})

    def default_runs(self) -> set[str]:
        return {p.name for p in (self.folder / "results").glob("advise-eight-one-??????/*")}

    def finished(self, id: str) -> float:
        (path,) = (self.folder / "results").glob(f"advise-eight-one-??????/{id}/manifest.json")
        return path.stat().st_mtime

    def test_candidates_can_be_restricted(self) -> None:
        candidates = CANDIDATES | {"sweep": {"/algorithm": [RING, "bytegrad", "adpsgd"]}}
        self.write(candidates, "candidates.json")
        range_ = ("--range", "1.5")
        names = lambda advice: {c["algorithm"] for c in advice["candidates"]}  # noqa: E731
        self.assertEqual(names(self.advise("--algorithms", "bytegrad", *range_)), {"bytegrad"})
        self.assertEqual(names(self.advise("--only", "sync,full", *range_)), {"gradient_allreduce"})
        err = self.trigram(*self.arguments(), "--only", "async,low", code=2).stderr
        self.assertIn("--only: no candidate has all of these properties", err)

    def test_candidates_that_do_not_fit_the_cluster_are_left_out(self) -> None:
        wagma = {"name": "wagma", "group_size": 16}
        doubled = [RING, RING | {"hierarchical": True}, wagma]
        self.write(CANDIDATES | {"sweep": {"/algorithm": doubled}}, "candidates.json")
        advice = self.advise("--range", "1.5")
        self.assertEqual(len(advice["candidates"]), 1)
        left_out = "\n".join(advice["left_out"])
        self.assertIn("if nodes have one worker", left_out)
        self.assertIn("algorithm=wagma group_size=16: /algorithm/group_size", left_out)

    def test_bandwidths_between_regions_are_searched(self) -> None:
        wan = {
            "nodes": 4,
            "topology": {
                "kind": "wan",
                "delay_is": "one_way",
                "regions": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2}],
                "delay": [[None, "10ms"], ["10ms", None]],
                "bandwidth": [[None, "1Gbps"], ["0.5Gbps", None]],
            },
        }
        self.write(wan, "wan.json")
        out = self.trigram(*self.arguments(cluster="wan.json"), "--range", "4").stdout
        self.assertIn("100 Gbps at NICs, 500 Mbps to 1 Gbps beyond", out)
        swept = [
            json.loads(path.read_text())["sweep"]
            for path in (self.folder / "results").glob("advise-wan-one-??????-search/*/manifest.json")
        ]
        self.assertIn([[None, "4Gbps"], ["2Gbps", None]], [sweep["/cluster/topology/bandwidth"] for sweep in swept])

    def test_times_to_an_accuracy_equal_those_in_the_metrics(self) -> None:
        training = {
            "cluster": CLUSTER,
            "workload": {"name": "fashion_mnist", "priced_as": "bert_large"},
            "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.5},
            "steps": 10,
            "eval_every": 5,
            "sweep": {"/algorithm": ["gradient_allreduce", {"name": "local_sgd", "sync_every": 5}]},
        }
        self.write(training, "candidates.json")
        self.write(CLUSTER | {"nodes": 2}, "two.json")
        changes = {"cluster": "two.json", "range": "1.1"}
        advice = self.advise(**changes, target="accuracy=0.5")
        self.assertEqual(advice["target"], "accuracy=0.5")
        times = []
        for candidate in advice["candidates"]:
            folder = self.folder / advice["results"] / candidate["run"]
            steps = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
            reached = [s["time_s"] for s in steps if (s.get("accuracy") or 0) >= 0.5]
            self.assertEqual(candidate["time_to_accuracy_s"], reached[0])
            times.append(reached[0])
        self.assertEqual(times, sorted(times))
        self.assertLess(times[0], times[1])
        never = self.advise(**changes, target="accuracy=0.999")
        self.assertEqual(never["flips"], [])
        for candidate in never["candidates"]:
            self.assertIsNone(candidate["time_to_accuracy_s"])
            self.assertIsNone(candidate["behind"])
        table = self.trigram(*self.arguments(**changes, target="accuracy=0.999")).stdout
        self.assertIn("no candidate reaches accuracy=0.999", table)
        self.assertRegex(table, r"\n- +gradient_allreduce ", "no place in the order")
        self.assertNotIn("not all models are evaluated", table)
        few = (*self.arguments(**changes, target="accuracy=0.5"), "--ranking-only", "--set", "/eval_every=5")
        self.assertIn("not all models are evaluated: the accuracy may have been reached and", self.trigram(*few).stdout)

    def test_bad_input(self) -> None:
        self.write(CANDIDATES | {"sweep": {"/seed": [1, 2]}, "algorithm": RING}, "seeds.json")
        not_steady = {key: value for key, value in CANDIDATES.items() if key != "until_steady"}
        self.write(not_steady | {"runtime": "threads"}, "real.json")
        self.write(CLUSTER | {"node": 3}, "typo.json")
        cases = [
            ({"cluster": "nowhere"}, "--cluster: expected a file that describes a cluster"),
            ({"cluster": "typo.json"}, '/node: unknown key "node"; expected one of nodes, '),
            ({"profile": "bert_larg"}, '--profile: unknown profile "bert_larg"; expected one of vgg16, '),
            ({"profile": "fashion_mnist"}, "--profile: unknown profile"),
            ({"profile": "profile:gone.json"}, "gone.json"),
            ({"target": "thruput"}, 'did you mean "throughput"?'),
            ({"target": "accuracy"}, "--target: expected an accuracy above 0"),
            ({"target": "accuracy=2"}, "--target: expected an accuracy above 0"),
            ({"candidates": "gone.json"}, "gone.json"),
            ({"candidates": "seeds.json"}, "/sweep/~1seed: candidates may differ only in /algorithm"),
            ({"algorithms": "bytgrad"}, '--algorithms: unknown candidate "bytgrad"'),
            ({"only": "asink"}, 'did you mean "async"?'),
            ({"range": "1"}, "--range"),
            ({"range": "nan"}, "--range: expected a number from 1.1 to 1000000, not nan"),
            ({"range": "inf"}, "--range: expected a number"),
            ({"candidates": "real.json"}, "/runtime: advice is based on simulations"),
        ]
        for changes, expected in cases:
            with self.subTest(expected):
                self.assertIn(expected, self.refusal(*self.arguments(**changes)))
        self.assertFalse((self.folder / "results").exists())
        self.trigram("advise", "--profile", "vgg16", code=2)
