"""`trigram tune`: searching options of an experiment."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from itertools import product
from pathlib import Path
from typing import Any

from harness import CLUSTER, TRIGRAM, CommandTest, experiment, needs_simulator

SPACE = {
    "/algorithm/bucket": {"powers_of_two": ["64KiB", "16MiB"]},
    "/algorithm/hierarchical": {"values": [False, True]},
}
PROFILE = {
    "name": "layers",
    "accelerator": "none",
    "batch": 4,
    "tensors": [{"tensor": f"t{i}", "numel": 300_000, "forward_s": 0.0003, "backward_s": 0.0006} for i in range(12)],
}


def tuned(space: Any = None, **tune: Any) -> dict[str, Any]:
    """An experiment whose step time depends on its buckets: small ones cost latency, large ones overlap less."""
    cluster = CLUSTER | {"inter": {"bandwidth": "10Gbps", "latency": "200us"}}
    return {
        "name": "test", "runtime": "sim", "cluster": cluster, "algorithm": "gradient_allreduce",
        "workload": "profile:layers.json", "steps": 8, "until_steady": True,
        "tune": {"space": SPACE if space is None else space, "evaluations": 10, "batch": 2} | tune,
    }


class TuneTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "layers.json")


@needs_simulator
class Tuning(TuneTest):
    def record(self) -> dict[str, Any]:
        return json.loads((self.results / "tuning.json").read_text())

    def step_s(self, run: str) -> float:
        summary = json.loads((self.results / run / "manifest.json").read_text())["summary"]
        return (summary["steady"] or summary)["step_s"]

    def test_a_grid_tries_every_point_and_the_best_is_that_of_a_sweep(self) -> None:
        config = tuned(method="grid", evaluations=18)
        table = self.trigram("tune", self.write(config)).stdout
        record = self.record()
        self.assertEqual(len(record["tried"]), 9 * 2)
        # The oracle is a sweep over the same points, made by `run`.
        sizes = [f"{2 ** i}KiB" for i in range(6, 10)] + [f"{2 ** i}MiB" for i in range(5)]
        swept = {key: value for key, value in config.items() if key != "tune"} | {
            "name": "swept", "sweep": {"/algorithm/bucket": sizes, "/algorithm/hierarchical": [False, True]}}
        self.trigram("run", self.write(swept, "swept.json"))
        times = {}
        for path in (self.results.parent / "swept").glob("*/manifest.json"):
            manifest = json.loads(path.read_text())
            summary = manifest["summary"]
            times[json.dumps(manifest["sweep"], sort_keys=True)] = (summary["steady"] or summary)["step_s"]
        self.assertEqual({json.dumps(t["point"], sort_keys=True): t["value"] for t in record["tried"]}, times)
        best = record["tried"][record["best"]]
        self.assertEqual(best["value"], min(times.values()))
        self.assertIn("best of 18: ", table)
        self.assertEqual(best["value"], self.step_s(best["runs"][0]))

    def test_the_same_seed_gives_the_same_search_whatever_the_number_of_jobs(self) -> None:
        for name, jobs in (("a", 1), ("b", 2)):
            self.trigram("tune", self.write(tuned(evaluations=12)), "-o", name, "-j", jobs)
        first, second = (json.loads((self.folder / name / "test/tuning.json").read_text()) for name in "ab")
        self.assertEqual(first, second)

    def test_a_finished_search_is_read_and_a_longer_one_continues_it(self) -> None:
        config = self.write(tuned(evaluations=8))
        first = self.trigram("tune", config).stdout
        before = {path: path.stat().st_mtime_ns for path in self.results.glob("*/DONE")}
        self.assertEqual(self.trigram("tune", config).stdout, first)
        self.trigram("tune", config, "--set", "/tune/evaluations=12")
        after = {path: path.stat().st_mtime_ns for path in self.results.glob("*/DONE")}
        self.assertEqual(len(after), 12)
        self.assertEqual(before, {path: after[path] for path in before})

    def test_an_interrupted_search_continues(self) -> None:
        config = self.write(tuned(evaluations=18, batch=1))
        search = self.popen([TRIGRAM, "tune", config])
        deadline = time.monotonic() + 60
        while len(list(self.results.glob("*/DONE"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        search.send_signal(signal.SIGINT)
        search.communicate(timeout=60)
        made = len(list(self.results.glob("*/DONE")))
        self.assertIn(search.returncode, (130, 0))
        self.assertGreaterEqual(made, 3)
        self.trigram("tune", config)
        self.assertEqual(len(self.record()["tried"]), 18)

    def test_the_cost_is_the_mean_over_seeds_with_an_interval(self) -> None:
        config = tuned(evaluations=4) | {"sweep": {"/cluster/run_times/seed": [1, 2, 3]}, "until_steady": False}
        config["cluster"]["run_times"] = {"kind": "lognormal", "variation": 0.3}
        table = self.trigram("tune", self.write(config)).stdout
        record = self.record()
        for tried in record["tried"]:
            self.assertEqual(len(tried["values"]), 3)
            self.assertAlmostEqual(tried["value"], sum(tried["values"]) / 3, delta=1e-12)
        values = record["tried"][record["best"]]["values"]
        mean = sum(values) / 3
        # 4.303 is the quantile of Student's distribution with two degrees of freedom.
        half = 4.303 * (sum((v - mean) ** 2 for v in values) / 2 / 3) ** 0.5
        self.assertGreater(half, 0)
        self.assertAlmostEqual(record["interval"]["low"], mean - half, delta=1e-9)
        self.assertAlmostEqual(record["interval"]["high"], mean + half, delta=1e-9)
        self.assertIn("Student's t over 3 seeds", table)

    def test_failed_runs_are_invalid_and_say_why(self) -> None:
        # WAGMA needs groups that divide the number of workers, 4.
        config = tuned({"/algorithm/group_size": {"integer": [2, 4]}}, method="grid", evaluations=3)
        config |= {"algorithm": "wagma", "steps": 40, "until_steady": False}
        table = self.trigram("tune", self.write(config)).stdout
        self.assertIn("invalid: evaluation 2 counts as the worst: it is no experiment", table)
        self.assertEqual([t["value"] is None for t in self.record()["tried"]], [False, True, False])

    def test_an_option_without_effect_at_a_point_is_left_out_there(self) -> None:
        space = SPACE | {"/algorithm/segment": {"powers_of_two": ["64KiB", "256KiB"]}}
        self.trigram("tune", self.write(tuned(space, method="grid", evaluations=54)))
        times = {}
        for tried in self.record()["tried"]:
            if not tried["point"]["/algorithm/hierarchical"]:
                times.setdefault(tried["point"]["/algorithm/bucket"], set()).add(tried["value"])
        self.assertEqual([len(values) for values in times.values()], [1] * 9)

    def test_the_same_experiment_takes_one_evaluation(self) -> None:
        space = {"/algorithm/hierarchical": {"values": [False, True]},
                 "/algorithm/segment": {"powers_of_two": ["64KiB", "1MiB"]}}  # without effect if not hierarchical
        table = self.trigram("tune", self.write(tuned(space, method="random", evaluations=6))).stdout
        tried = self.record()["tried"]
        flat = [i for i, t in enumerate(tried) if not t["point"]["/algorithm/hierarchical"]]
        self.assertEqual([t["same_as"] for t in tried], [flat[0] if i in flat[1:] else None for i in range(len(tried))])
        self.assertEqual(len({tried[i]["value"] for i in flat}), 1)
        # All 10 points are proposed, or fewer once 6 different experiments have been evaluated.
        different = len(tried) - len(flat) + 1
        self.assertEqual(len(list(self.results.glob("*/DONE"))), different)
        self.assertEqual(different, 6)
        self.assertIn(f"{len(flat) - 1} of {len(tried)} points", table)

    def test_other_costs(self) -> None:
        weights = {"step_s": 1, "bytes_inter": 1e-12}
        self.trigram("tune", self.write(tuned(objective={"weights": weights}, evaluations=3)))
        for tried in self.record()["tried"]:
            summary = json.loads((self.results / tried["runs"][0] / "manifest.json").read_text())["summary"]
            cost = sum(weight * summary[key] for key, weight in weights.items())
            self.assertAlmostEqual(tried["value"], cost, delta=1e-12)

    def test_the_time_to_a_loss(self) -> None:
        tune = {"space": {"/optimizer/lr": {"real": [0.001, 0.1], "log": True}}, "evaluations": 5,
                "objective": {"time_to": {"loss": 1.5}}}
        config = experiment(name="test", workload="fashion_mnist", steps=60, eval_every=5, tune=tune)
        self.trigram("tune", self.write(config), code=0)
        for tried in self.record()["tried"]:
            target = json.loads((self.results / tried["runs"][0] / "manifest.json").read_text())["summary"]["target"]
            self.assertEqual(tried["value"], target["time_s"])
            self.assertEqual(tried["least"], target["after_s"])
            self.assertEqual(target["loss"], 1.5)

    def test_points_that_may_be_as_early_are_named(self) -> None:
        """Both learn alike, and there is one evaluation until then."""
        tune = {"space": {"/optimizer/lr": {"values": [0.05, 0.051]}}, "evaluations": 2,
                "objective": {"time_to": {"loss": 1.5}}}
        config = experiment(name="test", workload="fashion_mnist", steps=60, eval_every=30, tune=tune)
        out = self.trigram("tune", self.write(config), code=0).stdout
        self.assertRegex(out, r"\npoint [12] may be as early, as far as evaluations of its model tell\n")

    def test_the_mode_of_bagua_has_a_space(self) -> None:
        config = tuned(method="bagua", evaluations=4)
        del config["tune"]["space"]
        self.trigram("tune", self.write(config))
        sizes = {t["point"]["/algorithm/bucket"] for t in self.record()["tried"]}
        self.assertLessEqual(sizes, {f"{2 ** (i % 10)}{unit}" for unit, i in product(("KiB", "MiB", "GiB"), range(10))})


@needs_simulator
class BadTuning(TuneTest):
    def refused(self, expected: str, space: Any = None, **tune: Any) -> None:
        message = self.refusal("tune", self.write(tuned(space, **tune)))
        self.assertIn(expected, message)
        self.assertFalse(list(self.results.glob("*/DONE")))

    def test_spaces(self) -> None:
        bucket = "/algorithm/bucket"
        self.refused("/tune/space: no point in the space", {})
        self.refused("/tune/space/~1algorithm~1bucket/powers_of_two: no point in the space",
                     {bucket: {"powers_of_two": ["2MiB", "1MiB"]}})
        self.refused("expected a power of two, not \"3MiB\"", {bucket: {"powers_of_two": ["1MiB", "3MiB"]}})
        self.refused("/tune/space/~1algorithm~1bukket: unknown key", {"/algorithm/bukket": {"values": ["1MiB"]}})
        self.refused("did you mean \"bucket\"", {"/algorithm/bukket": {"values": ["1MiB"]}})
        self.refused("/tune/space/~1steps: ", {"/steps": {"integer": [0, 5]}})

    def test_options(self) -> None:
        self.refused("/tune/evaluations: expected", evaluations=0)
        self.refused("/tune/method: ", method="bayes")
        self.refused("/tune/objective: ", objective="speed")
        self.refused("did you mean \"step_s\"", objective={"weights": {"step_ss": 1}})

    def test_a_weight_on_a_value_that_no_run_has(self) -> None:
        self.refused("/tune/objective/weights/accuracy: is null in every run", objective={"weights": {"accuracy": -1}})
        config = tuned(objective={"weights": {"step_s": 1, "staleness_mean": 1}}, evaluations=10, batch=2)
        stopped = self.trigram("tune", self.write(config), code=2).stderr
        self.assertIn("/tune/objective/weights/staleness_mean: is null in every run so far", stopped)
        self.assertEqual(len(list(self.results.glob("*/DONE"))), 2)  # those of the first batch

    def test_a_time_to_a_level_without_evaluations(self) -> None:
        target = {"time_to": {"loss": 0.5}}
        self.refused("/tune/objective/time_to: is known only from evaluations", objective=target)
        config = tuned(objective=target) | {"eval_every": 5}
        self.assertIn("/tune/objective/time_to/loss: only a workload that learns",
                      self.refusal("tune", self.write(config)))

    def test_a_search_over_a_sweep(self) -> None:
        config = tuned() | {"sweep": {"/steps": [1, 2]}}
        self.assertIn("/sweep: cannot be tuned over", self.refusal("tune", self.write(config)))

    def test_a_configuration_without_a_search(self) -> None:
        self.assertIn("/tune: is missing", self.refusal("tune", self.write(experiment())))

    def test_other_commands_check_the_search_too(self) -> None:
        self.assertIn("/tune/evaluations", self.refusal("validate", self.write(tuned(evaluations=0))))
        self.trigram("run", self.write(tuned()))
        self.assertEqual(len(list(self.results.glob("*/DONE"))), 1)


@needs_simulator
class AskAndTell(TuneTest):
    def start(self, config: Path) -> subprocess.Popen[str]:
        return self.popen([TRIGRAM, "tune", config, "--ask-tell"], stdin=subprocess.PIPE)

    def end(self, process: subprocess.Popen[str]) -> None:
        self.assertEqual(process.communicate(timeout=60)[0], "")
        self.assertEqual(process.returncode, 0)

    def answer(self, process: subprocess.Popen[str], request: Any) -> Any:
        process.stdin.write((request if isinstance(request, str) else json.dumps(request)) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def test_a_search_from_outside_proposes_what_the_command_proposes(self) -> None:
        config = self.write(tuned(evaluations=12))
        self.trigram("tune", config)
        tried = json.loads((self.results / "tuning.json").read_text())["tried"]
        process = self.start(config)
        for begin in range(0, 12, 2):
            points = self.answer(process, {"ask": 2})["points"]
            self.assertEqual(points, [t["point"] for t in tried[begin:begin + 2]])
            told = [{"point": t["point"], "value": t["value"]} for t in tried[begin:begin + 2]]
            self.assertEqual(self.answer(process, {"tell": told})["told"], 2)
        self.end(process)

    def test_another_optimiser_has_points_evaluated(self) -> None:
        process = self.start(self.write(tuned()))
        point = {"/algorithm/bucket": "1MiB", "/algorithm/hierarchical": True}
        values = self.answer(process, {"evaluate": [point]})["values"]
        (manifest,) = self.results.glob("*/manifest.json")
        summary = json.loads(manifest.read_text())["summary"]
        self.assertEqual(values, [{"point": point, "value": (summary["steady"] or summary)["step_s"]}])
        self.end(process)

    def test_a_wrong_request_is_answered_and_the_next_one_too(self) -> None:
        process = self.start(self.write(tuned()))
        point = {"/algorithm/bucket": "1MiB", "/algorithm/hierarchical": True}
        for request, expected in (
                ("nonsense", "expected"), ({"ask": 0}, "/ask"), ({"aks": 1}, 'did you mean "ask"'),
                ({"tell": [{"point": point}]}, "/tell/0"), ({"tell": [{"point": {}, "value": 1}]}, "/tell/0/point"),
                ({"tell": [{"point": point, "value": "fast"}]}, "/tell/0/value"), ({"evaluate": [{}]}, "/evaluate/0")):
            self.assertIn(expected, self.answer(process, request)["error"])
        self.assertEqual(len(self.answer(process, {"ask": 3})["points"]), 3)
        failed = self.answer(process, {"tell": [{"point": point, "value": None}]})
        self.assertEqual(failed, {"told": 1, "best": None})
        self.end(process)
