"""Runs that end at a target accuracy give the results that a full run has at that step."""

from __future__ import annotations

import json
import math
import random
import re
import struct
from pathlib import Path
from typing import Any

from harness import CLUSTER, CommandTest, experiment, listed, needs_simulator
from jobs import JobTest

STEPS, EVAL_EVERY, TARGET = 60, 3, 0.8
STEPS_PER_EPOCH = 10  # 320 images, 4 workers x batch 8
STAGES = [{"until": 4, "algorithm": "gradient_allreduce"}, {"algorithm": "local_sgd"}]
OPTIONS = {
    "onebit_adam": {"warmup_steps": 4},
    "qadam": {"warmup_steps": 4},
    "stages": {"stages": STAGES},
    "dedloc": {"target_batch": 4 * 8},  # a mini-batch of each worker
}
DETERMINISTIC = [
    {"name": "gradient_allreduce", "allreduce": "ring"},
    "bytegrad",
    {"name": "decentralized", "mode": "shift_one"},
    {"name": "local_sgd", "sync_every": 2},
    {"name": "parameter_server", "priority": "need"},
]
ASYNCHRONOUS = [
    {"name": "async_model_average", "interval": "2ms"},
    {"name": "async_model_average", "interval_steps": 2},
    "wagma",
    "eager_sgd",
    "adpsgd",
    "async_parameter_server",
    {"name": "ssp", "staleness": 1},
    {"name": "async_diloco", "sync_every": 2},
]


def write_images(folder: Path) -> None:
    """Images of noise in which one of four quadrants is brighter; the quadrant is the class."""
    draw = random.Random(1)
    folder.mkdir()
    for kind, count in (("train", 320), ("t10k", 200)):
        labels = bytes(i % 4 for i in range(count))
        pixels = bytearray()
        for label in labels:
            for row in range(8):
                for column in range(8):
                    bright = 2 * (row // 4) + column // 4 == label
                    pixels.append(draw.randrange(160) + (60 if bright else 0))
        head = struct.pack(">IIII", 0x803, count, 8, 8)
        (folder / f"{kind}-images-idx3-ubyte").write_bytes(head + pixels)
        head = struct.pack(">II", 0x801, count)
        (folder / f"{kind}-labels-idx1-ubyte").write_bytes(head + labels)


def not_reached_before(evaluated: list[tuple[int, float, float]], cycle: int) -> float | None:
    """The time before which no model can have reached the target; None if the first evaluation does not tell it. The
    evaluations, (steps, time, what lacks), end with the one that reaches it. `cycle` is the number of steps between
    models."""
    uneven = [0.0] * len(evaluated)
    for i in range(1, len(evaluated) - 1):
        (s0, _, a0), (s1, _, a1), (s2, _, a2) = evaluated[i - 1 : i + 2]
        uneven[i] = abs(a1 - (a0 * (s2 - s1) + a2 * (s1 - s0)) / (s2 - s0))
    before = [(0, None), *((steps, time_s) for steps, time_s, _ in evaluated)]
    for i, (steps, _, lacks) in enumerate(evaluated[:-1]):
        if lacks <= max(uneven[i:]) and steps - before[i][0] > cycle:
            return before[i][1]
    return before[-2][1]


class TargetTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        write_images(self.folder / "images")

    def config(self, **changes: Any) -> dict[str, Any]:
        return (
            experiment(
                workload={"name": "fashion_mnist", "data": str(self.folder / "images"), "hidden": 16, "batch": 8},
                optimizer={"name": "sgd", "lr": 0.02, "momentum": 0.5},
                steps=STEPS,
                eval_every=EVAL_EVERY,
            )
            | changes
        )

    def metrics_lines(self, manifest: dict[str, Any]) -> list[str]:
        return (self.results / manifest["id"] / "metrics.jsonl").read_text().splitlines()

    def check_ends(self, manifest: dict[str, Any]) -> None:
        """Checks that the run ends with its first evaluation at the target, according to its metrics."""
        name = manifest["experiment"]["algorithm"]
        records = [json.loads(line) for line in self.metrics_lines(manifest)]
        evaluated = [r["accuracy"] for r in records if "accuracy" in r]
        self.assertGreaterEqual(evaluated[-1], TARGET, name)
        self.assertLess(max(evaluated[:-1], default=0), TARGET, name)
        self.assertLess(len(records), STEPS, name)
        summary, last = manifest["summary"], records[-1]
        # Before the first evaluation, the interval begins with the first common model: after the first step, or after
        # the first average.
        cycle = manifest["summary"].get("cycle_steps", 1)
        first = records[cycle - 1 if cycle <= len(records) else 0]["time_s"]
        missing = [(r["step"] + 1, r["time_s"], TARGET - r["accuracy"]) for r in records if "accuracy" in r]
        after_s = not_reached_before(missing, cycle)
        target = dict(summary["target"])
        epochs = name.get("micro_batches", 1) * name.get("fraction", 1) * len(records) / STEPS_PER_EPOCH
        if manifest["algorithm_trigram"].startswith("async"):
            self.assertGreaterEqual(target["epochs"], epochs, "mini-batches of faster workers count, too")
            epochs = target["epochs"]
        elif name.get("quorum"):
            self.assertLess(target["epochs"], epochs, "the slow worker leaves out mini-batches")
            self.assertGreater(target["epochs"], 0.9 * epochs)
            epochs = target["epochs"]
        if manifest["algorithm_trigram"].startswith("async") and after_s is None:
            self.assertLessEqual(target["after_s"], first, "a faster worker may have had a common model earlier")
            first = target["after_s"]
        self.assertEqual(
            target,
            {
                "accuracy": TARGET,
                "steps": len(records),
                "epochs": epochs,
                "time_s": last["time_s"],
                "after_s": first if after_s is None else after_s,
            },
        )
        for key in ("time_s", "accuracy", "eval_loss", "loss", "consensus_distance"):
            self.assertEqual(summary[key], last[key], (name, key))
        for key in ("bytes_inter", "bytes_intra", "messages_inter", "messages_intra"):
            self.assertEqual(summary[key], sum(r[key] for r in records), (name, key))


@needs_simulator
class InTheSimulator(TargetTest):
    def all_algorithms(self) -> list[dict[str, Any]]:
        return [{"name": a["name"]} | OPTIONS.get(a["name"], {}) for a in listed("algorithms")]

    def test_fast_workers_do_not_wait_for_a_slow_worker(self) -> None:
        """While the slow worker makes its first steps, the other workers make all of theirs or, in the longer run, a
        hundred times as many."""
        slow = {"slow_workers": [{"rank": 3, "factor": 10_000}]}
        for steps, done in ((STEPS, True), (100 * STEPS, False)):
            self.results = self.folder / "results" / f"steps_{steps}"
            (manifest,) = self.run_config(
                self.config(
                    name=f"steps_{steps}",
                    algorithm="adpsgd",
                    cluster=CLUSTER | slow,
                    target_accuracy=TARGET,
                    eval_every=1,
                    steps=steps,
                )
            )
            summary = manifest["summary"]
            with self.subTest(steps=steps):
                self.assertLess(summary["target"]["steps"], 6, "of the slow worker")
                self.assertEqual(summary["worker_done"], done, summary["target"])
                warnings = [w for w in manifest["warnings"] if "stopped learning" in w]
                self.assertEqual(bool(warnings), done)

    def test_steps_up_to_the_target_equal_those_of_a_run_without_target(self) -> None:
        """The steps are equal to the last bit for all algorithms, though some workers are ahead when the target is
        reached."""
        machine = CLUSTER | {"slow_workers": [{"rank": 1, "factor": 1.5}]}
        algorithms = self.all_algorithms()
        whole, short = {}, {}
        for manifest in self.run_config(
            self.config(cluster=machine, sweep={"/algorithm": algorithms, "/target_accuracy": [None, TARGET]})
        ):
            target = manifest["experiment"].pop("target_accuracy", None)
            group = short if target else whole
            group[json.dumps(manifest["experiment"])] = manifest
        self.assertEqual(len(whole), len(algorithms))
        self.assertEqual(set(whole), set(short))
        for key, manifest in short.items():
            self.check_ends(manifest)
            self.assertIsNone(whole[key]["summary"]["target"])
            self.assertEqual(len(self.metrics_lines(whole[key])), STEPS)
            until = self.metrics_lines(manifest)
            self.assertEqual(until, self.metrics_lines(whole[key])[: len(until)], key)

    def test_a_run_configured_to_end_at_this_step_has_the_same_results(self) -> None:
        """The weights are equal, too, except for an algorithm whose steps wait to learn whether they are the last."""
        for algorithm in DETERMINISTIC[:-1]:
            config = self.config(algorithm=algorithm)
            (short,) = self.run_config(config | {"target_accuracy": TARGET, "name": "test"})
            steps = short["summary"]["target"]["steps"]
            self.trigram("run", self.write(config | {"steps": steps}))
            (whole,) = (m for m in self.manifests() if m["id"] != short["id"])
            for key, value in whole["summary"].items():
                if key not in ("target", "messages_simulated_per_wall_s"):
                    self.assertEqual(short["summary"][key], value, (algorithm, key))
            for manifest in (short, whole):
                for path in (self.results / manifest["id"]).iterdir():
                    path.unlink()
                (self.results / manifest["id"]).rmdir()

    def test_a_run_that_never_reaches_its_target_makes_all_steps(self) -> None:
        table = self.trigram("run", self.write(self.config(target_accuracy=1)), table=True).stdout
        (manifest,) = self.manifests()
        self.assertEqual(len(self.metrics_lines(manifest)), STEPS)
        self.assertEqual(
            manifest["summary"]["target"],
            {"accuracy": 1, "steps": None, "epochs": None, "time_s": None, "after_s": None},
        )
        self.assertIn("\n– an accuracy of 100% is not reached at any evaluation\n", table)

    def time_of(self, table: str, seconds: float) -> str:
        """A time to the target as the table shows it: three significant digits, in the unit of the column."""
        value = seconds * (1e3 if re.search(r"to \d+% \(ms\)", table) else 1)
        return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}"

    def test_tables_show_how_many_seeds_reach_the_target(self) -> None:
        config = self.config(seed=[1, 2, 3], eval_every=1)
        best = sorted(
            max(json.loads(line).get("accuracy", 0) for line in self.metrics_lines(manifest))
            for manifest in self.run_config(config)
        )
        self.assertLess(best[0], best[1], "a target lies between the best accuracies of two seeds")
        self.results = self.folder / "results" / "aimed"
        config |= {"name": "aimed", "target_accuracy": best[1]}
        table = self.trigram("run", self.write(config), table=True).stdout
        ends = [t["time_s"] for m in self.manifests() if (t := m["summary"]["target"])["time_s"]]
        self.assertEqual(len(ends), 2)
        self.assertRegex(table.splitlines()[4], r" \d\S+ with 2 of 3 seeds +\d\S+ with 2 of 3 seeds$")
        self.assertIn(f"–{self.time_of(table, max(ends))} with 2 of 3 seeds", table)
        self.assertIn("\nwhat reaches the accuracy with some seeds, and never with the others, is not ranked", table)

    def test_evaluations_between_averages_are_of_a_model_that_nobody_has(self) -> None:
        sweep = {"/eval_every": [2, 4, 6, 8]}
        local = {"name": "local_sgd", "sync_every": 4}
        for manifest in self.run_config(self.config(algorithm=local, sweep=sweep)):
            found = [w for w in manifest["warnings"] if "expected an eval_every that is a multiple of 4" in w]
            self.assertEqual(len(found), manifest["sweep"]["/eval_every"] in (2, 6), manifest["sweep"])

    def test_no_such_models(self) -> None:
        """All steps average, there is one worker, or workers always have models of their own."""
        local = {"name": "local_sgd", "sync_every": 4}
        for name, changes in {
            "all": {"algorithm": "gradient_allreduce", "eval_every": 1},
            "one": {"algorithm": local, "cluster": CLUSTER | {"nodes": 1, "workers_per_node": 1}},
            "own": {"algorithm": {"name": "decentralized", "communication_interval": 4}},
        }.items():
            self.results = self.folder / "results" / name
            (manifest,) = self.run_config(self.config(name=name, **changes))
            self.assertNotIn("between averages", str(manifest["warnings"]), name)

    def test_epochs_count_every_micro_batch(self) -> None:
        """A step of DropCompute has several mini-batches per worker."""
        algorithm = {"name": "dropcompute", "micro_batches": 5, "profile_steps": 0}
        (manifest,) = self.run_config(self.config(algorithm=algorithm, target_accuracy=TARGET))
        target = manifest["summary"]["target"]
        self.assertEqual(target["epochs"], 5 * target["steps"] / STEPS_PER_EPOCH)

    def test_tables_show_when_the_target_was_reached(self) -> None:
        printed = self.trigram("run", self.write(self.config(target_accuracy=TARGET)), table=True).stdout
        (manifest,) = self.manifests()
        header, row = (printed.splitlines()[i] for i in (2, 4))
        self.assertRegex(header, r"to 80% \(m?s\) +epochs$")
        target = manifest["summary"]["target"]
        time = self.time_of(printed, target["time_s"])
        self.assertRegex(row, rf"[–≤]{time}( ~)? +\S*{target['epochs']:.2f}( ~)?$")
        coarse = target["after_s"] < 0.8 * target["time_s"]
        self.assertEqual((row[-2:] == " ~", "~ coarse: an interval longer than a fifth" in printed), (coarse, coarse))

    def test_a_target_needs_a_workload_with_evaluations_of_accuracy(self) -> None:
        path = self.write(self.config(target_accuracy=TARGET))
        for setting, message in (
            ("/eval_every=0", "/target_accuracy: is checked when the model is evaluated"),
            ("/workload=bert_large", "/target_accuracy: only a classifier has an accuracy"),
            ("/workload=quadratic", "/target_accuracy: only a classifier has an accuracy; expected target_loss in its"),
            ("/workload/values=false", "/target_accuracy: only a classifier"),
            ("/target_accuracy=0", "/target_accuracy: expected a number above 0 to 1"),
            ("/target_accuracy=85", "/target_accuracy: expected a number above 0 to 1"),
            ("/target_accuracy=85%", "/target_accuracy: expected a number above 0 to 1"),
        ):
            with self.subTest(setting):
                self.assertIn(message, self.trigram("run", path, "--set", setting, code=2).stderr)


class InRealTime(TargetTest, JobTest):
    def ends(self, manifests: list[dict[str, Any]]) -> dict[str, tuple[int, str]]:
        """The number of steps and the hash of the weights, by algorithm."""
        for manifest in manifests:
            self.check_ends(manifest)
        return {
            json.dumps(m["experiment"]["algorithm"]): (m["summary"]["target"]["steps"], m["summary"]["weights_hash"])
            for m in manifests
        }

    def test_deterministic_algorithms_end_with_the_same_results_in_all_worlds(self) -> None:
        path = self.write(self.config(target_accuracy=TARGET, sweep={"/algorithm": DETERMINISTIC}))
        self.trigram("run", path, "--set", "/name=sim", "--quiet")
        self.trigram("run", path, "--set", "/name=threads", "--set", "/runtime=threads", "--quiet")
        self.job(4, "run", path, "--set", "/name=mpi", "--set", "/runtime=mpi", "--quiet")
        ends = {}
        for world in ("sim", "threads", "mpi"):
            self.results = self.folder / "results" / world
            ends[world] = self.ends(self.manifests())
            self.assertEqual(len(ends[world]), len(DETERMINISTIC))
        self.assertEqual(ends["threads"], ends["sim"])
        self.assertEqual(ends["mpi"], ends["sim"])

    def test_asynchronous_algorithms_end(self) -> None:
        path = self.write(self.config(target_accuracy=TARGET, sweep={"/algorithm": ASYNCHRONOUS}))
        self.trigram("run", path, "--set", "/name=threads", "--set", "/runtime=threads", "--quiet")
        self.job(4, "run", path, "--set", "/name=mpi", "--set", "/runtime=mpi", "--quiet")
        for world in ("threads", "mpi"):
            self.results = self.folder / "results" / world
            self.assertEqual(len(self.ends(self.manifests())), len(ASYNCHRONOUS))

    def test_algorithms_whose_workers_wait_for_later_steps_are_refused_between_processes(self) -> None:
        path = self.write(self.config(target_accuracy=TARGET, algorithm="dsgd_aau"))
        self.trigram("run", path, "--set", "/runtime=threads", "--quiet")
        (manifest,) = self.manifests()
        self.check_ends(manifest)
        _, error = self.job(4, "run", path, "--set", "/runtime=mpi", code=2)
        self.assertIn("may wait for each other's later steps", error)
