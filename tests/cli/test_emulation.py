"""Networks that threads emulate, and the comparison of their times with the simulator's predictions."""

from __future__ import annotations

import re
from typing import Any

from harness import CommandTest, experiment, needs_simulator

SHAPED = {"name": "threads", "shaping": "cluster"}
NETWORK = {"nodes": 2, "inter": {"bandwidth": "200Mbps", "latency": "4ms"}}

MODEL = "tensor,numel,forward_s,backward_s\nweights,200000,0.005,0.01\n"


def shaped(**changes: Any) -> dict[str, Any]:
    """A few steps with a tensor of 800 kB without values. Each takes about 50 ms on this network."""
    config = experiment(
        runtime=SHAPED,
        cluster=NETWORK,
        workload="profile:model.csv",
        steps=3,
    )
    config.update(changes)
    return config


class Emulation(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(MODEL, "model.csv")

    def test_links_are_measured_before_a_run(self) -> None:
        ran = self.trigram("run", self.write(shaped()))
        (manifest,) = self.manifests()
        (link,) = manifest["links"]
        self.assertEqual(link["link"], "between nodes, 0 > 1")
        self.assertEqual(link["bandwidth_Bps"], 25e6)
        self.assertEqual(link["latency_s"], 4e-3)
        # No message arrives early. The bandwidth is computed from the time of a large message minus the latency.
        self.assertGreaterEqual(5e6 / link["achieved_Bps"] + link["achieved_latency_s"], 0.2 + 0.0039)
        self.assertGreaterEqual(link["achieved_latency_s"], 4e-3)
        self.assertEqual(link["warning"], abs(link["off"]) > 0.05)
        self.assertRegex(ran.stderr, r"configured +achieved +off by")
        self.assertIn("200 Mbit/s", ran.stderr)

    def test_every_kind_of_link_is_measured(self) -> None:
        inside = {"bandwidth": "400Mbps", "latency": "2ms"}
        cluster = {**NETWORK, "workers_per_node": 2, "intra": inside}
        (manifest,) = self.run_config(shaped(cluster=cluster, steps=1))
        self.assertEqual(
            [(link["link"], link["bandwidth_Bps"]) for link in manifest["links"]],
            [("inside a node, 0 > 1", 50e6), ("between nodes, 0 > 2", 25e6)],
        )

    def test_software_overheads_are_not_part_of_the_latency(self) -> None:
        latency, overhead = 0.04, 0.16
        transport = {"message_overhead": "60ms", "stage_overhead": "40ms", "streams": 2,
                     "stream_overhead": "30ms"}
        inter = {"bandwidth": "200Mbps", "latency": "40ms"}
        cluster = {"nodes": 2, "workers_per_node": 2, "inter": inter, "intra": inter,
                   "transport": transport}
        (manifest,) = self.run_config(shaped(cluster=cluster, steps=1))
        self.assertEqual(len(manifest["links"]), 2)  # links inside a node have no such overhead
        self.assertGreater(manifest["summary"]["step_s"], 2 * (latency + overhead))  # but steps take it
        for link in manifest["links"]:
            self.assertGreater(link["achieved_latency_s"], 0.9 * latency)
            self.assertLess(link["achieved_latency_s"], latency + overhead / 2)

    def test_a_link_that_cannot_be_emulated_is_a_warning(self) -> None:
        cluster = {"nodes": 2, "inter": {"bandwidth": "200Mbps", "latency": "1us"}}
        ran = self.trigram("run", self.write(shaped(cluster=cluster)))
        self.assertRegex(ran.stderr, r"warning: .*between nodes, 0 > 1 is .* off")
        (manifest,) = self.manifests()
        self.assertTrue(manifest["links"][0]["warning"])
        self.assertGreater(manifest["links"][0]["off"], 0.05)

    def test_links_of_other_worlds_are_not_measured(self) -> None:
        (manifest,) = self.run_config(experiment(runtime="threads"))
        self.assertIsNone(manifest["links"])

    def test_a_swept_network_has_an_effect_if_it_is_emulated(self) -> None:
        sweep = {"/cluster/inter/latency": ["2ms", "102ms"]}
        ran = self.trigram("run", self.write(shaped(sweep=sweep)))
        self.assertNotIn("has no effect", ran.stderr)
        by_latency = {m["sweep"]["/cluster/inter/latency"]: m["summary"] for m in self.manifests()}
        # A ring of two ranks has two stages.
        self.assertGreater(by_latency["102ms"]["step_s"], by_latency["2ms"]["step_s"] + 0.1)
        ran = self.trigram("run", self.write(shaped(runtime="threads", sweep=sweep)), "--dry-run")
        self.assertIn("has no effect", ran.stderr)

    def test_a_run_warns_if_its_network_is_not_emulated(self) -> None:
        warning = "network not emulated: the world threads .* --set /runtime/shaping=cluster"
        config = self.write(experiment(runtime="threads"))
        self.assertRegex(self.trigram("run", config, "--no-table").stderr, warning)
        self.assertRegex(self.trigram("run", config, table=True).stdout, f"warning: {warning}")
        (manifest,) = self.manifests()
        self.assertRegex(manifest["warnings"][0], warning)
        self.assertRegex(self.trigram("table", self.results).stdout, f"warning: {warning}")
        one_node = self.write(experiment(runtime="threads", cluster={**NETWORK, "nodes": 1}), "alone.json")
        self.assertNotIn("not emulated", self.trigram("run", one_node, "--dry-run").stderr)
        emulated = self.trigram("run", self.write(shaped(), "emulated.json"), "--set", "/name=emulated", table=True)
        self.assertNotIn("not emulated", emulated.stdout + emulated.stderr)

    def test_bad_options(self) -> None:
        for runtime, message in (
            ({"name": "threads", "shaping": "clutser"}, "/runtime/shaping: .*cluster"),
            ({"name": "threads", "bucket_depth": "1kB"}, "/runtime/bucket_depth: .*shaping"),
            ({**SHAPED, "bucket_depth": 1500}, "/runtime/bucket_depth: .*1500"),
        ):
            refused = self.trigram("run", self.write(shaped(runtime=runtime)), code=2)
            self.assertRegex(refused.stderr, message)

    def test_options_of_the_simulator_only_are_refused(self) -> None:
        patterns = ("leaders", "all_to_all", "point_to_point", "server")
        for transport in ({"channels": 2}, *({"efficiency": {p: 0.5}} for p in patterns)):
            config = self.write(shaped(cluster={**NETWORK, "transport": transport}))
            refused = self.trigram("run", config, code=2)
            (option,) = transport
            self.assertIn(f"/cluster/transport/{option}: applies only to the simulated world", refused.stderr)


@needs_simulator
class CompareWorlds(CommandTest):
    SWEEP = {"/algorithm": ["gradient_allreduce", "bytegrad"]}

    def setUp(self) -> None:
        super().setUp()
        self.write(MODEL, "model.csv")

    def compare(self, *arguments: Any, code: int = 0) -> Any:
        config = self.write(shaped(sweep=self.SWEEP, runtime="sim"))
        return self.trigram("compare-worlds", config, *arguments, code=code)

    def rows(self, compared: str) -> list[tuple[str, str]]:
        return re.findall(r"^(gradient_allreduce|bytegrad) +(.*)$", compared, re.MULTILINE)

    def test_rows_errors_and_order(self) -> None:
        compared = self.compare().stdout
        rows = self.rows(compared)
        self.assertEqual([name for name, _ in rows], self.SWEEP["/algorithm"])
        summaries = {
            (m["experiment"]["algorithm"]["name"], m["world"]): m["summary"]
            for m in self.manifests()
        }
        for name, cells in rows:
            predicted, measured, ratio = map(float, cells.split()[:3])
            self.assertAlmostEqual(predicted, 1e3 * summaries[name, "sim"]["step_s"], 2)
            self.assertAlmostEqual(measured, 1e3 * summaries[name, "threads"]["step_s"], 2)
            self.assertAlmostEqual(ratio, measured / predicted, 2)
            self.assertEqual(cells.split()[-1], "1.000", "the same bytes")
        self.assertRegex(compared, r"step time: median error \d+\.\d %, greatest [+-]\d+\.\d %")
        self.assertRegex(compared, "order: [01] of 1 pairs")  # a busy machine may swap them
        # The command shapes the messages of threads although the configuration does not ask for it. Without shaping,
        # they would take no time.
        self.assertTrue(all(m["links"] for m in self.manifests() if m["world"] == "threads"))

    def test_finished_runs_are_kept(self) -> None:
        first = self.compare()
        before = {path: path.stat().st_mtime_ns for path in self.results.glob("*/DONE")}
        self.assertEqual(len(before), 4)
        self.assertEqual(self.compare().stdout, first.stdout)
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in self.results.glob("*/DONE")})

    def test_against_results(self) -> None:
        elsewhere = self.folder / "elsewhere"
        config = self.write(shaped(sweep=self.SWEEP))
        self.trigram("run", config, "--output", elsewhere)
        compared = self.compare("--against", elsewhere)
        self.assertEqual({m["world"] for m in self.manifests()}, {"sim"})
        self.assertRegex(compared.stdout, "order: [01] of 1 pairs")
        self.assertEqual(compared.stderr.count("are missing"), 0)

    def refused(self, *arguments: Any, **changes: Any) -> str:
        """The single line of a refusal."""
        config = self.write(shaped(**{"sweep": self.SWEEP, "runtime": "sim", **changes}))
        return self.refusal("compare-worlds", config, *arguments)

    def test_variants_of_a_world_have_separate_rows(self) -> None:
        models = ["alpha_beta", "tcp"]
        sweep = {"/algorithm": ["gradient_allreduce"], "/runtime/network_model": models}
        config = self.write(shaped(sweep=sweep, runtime="sim"))
        compared = self.trigram("compare-worlds", config).stdout
        header, *rows = compared.splitlines()[:3]
        self.assertTrue(header.startswith("sim: network_model"), compared)
        predicted = {m["experiment"]["runtime"]["network_model"]: m["summary"]["step_s"]
                     for m in self.manifests() if m["world"] == "sim"}
        self.assertNotEqual(predicted["alpha_beta"], predicted["tcp"])
        for row, model in zip(rows, models):
            self.assertEqual(row.split()[:2], [model, "gradient_allreduce"])
            self.assertAlmostEqual(float(row.split()[2]), 1e3 * predicted[model], 2)
        # Threads have no such option, so one run is measured and compared with both.
        self.assertEqual(len({row.split()[3] for row in rows}), 1)
        self.assertEqual([m["world"] for m in self.manifests()].count("threads"), 1)
        self.assertNotIn("order:", compared)  # one algorithm has no order

    def test_worlds_of_a_sweep_keep_their_options(self) -> None:
        sweep = {"/runtime": ["sim", {**SHAPED, "bucket_depth": "3kB"}, "mpi"]}
        compared = self.trigram("compare-worlds", self.write(shaped(sweep=sweep))).stdout
        self.assertEqual(len(self.rows(compared)), 1)
        depths = [m["experiment"]["runtime"].get("bucket_depth") for m in self.manifests()]
        self.assertEqual(sorted(map(str, depths)), ["3kB", "None"])

    def test_a_configuration_for_mpi_is_compared_in_other_worlds(self) -> None:
        config = shaped(runtime={"name": "mpi", "padded": True},
                        sweep={"/runtime/padded": [True, False]})
        self.trigram("compare-worlds", self.write(config))
        self.assertEqual(sorted(m["world"] for m in self.manifests()), ["sim", "threads"])

    def test_settings_are_for_the_worlds_that_have_them(self) -> None:
        self.compare("--set", "/runtime/network_model=tcp", "--set", "/runtime/bucket_depth=3kB")
        for m in self.manifests():
            runtime = m["experiment"]["runtime"]
            self.assertIn(runtime.get("network_model"), ("tcp", None))
            self.assertIn(runtime.get("bucket_depth"), ("3kB", None))
            self.assertEqual(len({"network_model", "bucket_depth"} & set(runtime)), 1)
        self.assertIn('/runtime/network_modle: ', self.refused("--set", "/runtime/network_modle=tcp"))

    def test_options_that_no_world_has_are_mistakes(self) -> None:
        sweep = {"/runtime/fidelitty": ["message", "fluid"]}
        for runtime in ("sim", "threads", "mpi"):
            self.assertIn("fidelity", self.refused(sweep=sweep, runtime=runtime))

    def test_results_with_nothing_to_compare_are_refused(self) -> None:
        (self.folder / "none").mkdir()
        config = self.write(shaped(runtime="sim"))
        self.trigram("run", config, "--output", "predicted")
        self.trigram("run", config, "--output", "other", "--set", "/steps=2", "--world", "threads")
        for folder in ("none", "predicted", "other", "", "nowhere"):
            refusal = self.refused("--against", folder, sweep={})
            self.assertTrue(refusal.startswith("trigram: --against: "), refusal)
        self.assertEqual(self.manifests(), [])

    def test_several_results_of_one_run_are_refused(self) -> None:
        for name in ("first", "second"):
            self.trigram("run", self.write(shaped(name=name)), "--output", "measured")
        self.assertRegex(self.refused("--against", "measured", sweep={}),
                         "--against: .*first.* and .*second.* are results of the same run")
        compared = self.trigram("compare-worlds", self.write(shaped()), "--against",
                                "measured/first")
        self.assertEqual(len(self.rows(compared.stdout)), 1)

    def test_bad_worlds(self) -> None:
        self.assertIn("--against", self.refused("--worlds", "sim,nccl"))
        self.assertIn("threads", self.refused("--worlds", "sim,thraeds"))
        for worlds_given in ("sim", "sim,sim", "sim,threads,sim"):
            self.assertIn("--worlds: ", self.refused("--worlds", worlds_given))
