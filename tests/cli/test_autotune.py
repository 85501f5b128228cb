"""Tuning of buckets within a run (`autotune`)."""

from __future__ import annotations

from statistics import mean
from typing import Any

from harness import CommandTest, experiment, needs_simulator

TUNING = {"every": 4, "evaluations": 5, "smallest": "1MiB", "largest": "256MiB"}
STEPS, EVERY, EVALUATIONS = 200, TUNING["every"], TUNING["evaluations"]


def profile_run(**changes: Any) -> dict[str, Any]:
    """Layers of a model, whose configured bucket holds all of them, so that nothing overlaps."""
    config = experiment(workload="vgg16", algorithm={"name": "gradient_allreduce", "bucket": "1GiB"}, steps=STEPS)
    return config | {"eval_every": 0} | changes


class Autotune(CommandTest):
    def run_of(self, name: str, config: dict[str, Any], *arguments: Any) -> dict[str, Any]:
        self.results = self.folder / "results" / name
        (manifest,) = self.run_config(config | {"name": name}, *arguments)
        return manifest

    def refused(self, reason: str, pointer: str = "/autotune", **changes: Any) -> None:
        error = self.refusal("validate", self.write(experiment(**{"steps": 20, "autotune": True} | changes)))
        self.assertIn(f"{pointer}: ", error)
        self.assertIn(reason, error)

    @needs_simulator
    def test_times_are_those_of_runs_in_such_buckets(self) -> None:
        """Rank 0 measures its own steps, which end a little earlier than those of the slowest rank."""
        manifest = self.run_of("tuned", profile_run(autotune=TUNING))
        tuned = manifest["summary"]["autotune"]
        self.assertEqual(manifest["experiment"]["autotune"], TUNING)
        self.assertEqual([trial["first_step"] for trial in tuned["tried"]], list(range(0, EVERY * EVALUATIONS, EVERY)))
        self.assertEqual(tuned["tried"][0]["bucket"], 1 << 30)
        self.assertEqual(len({trial["bucket"] for trial in tuned["tried"]}), EVALUATIONS)
        fixed_s = {}
        for i, trial in enumerate(tuned["tried"]):
            algorithm = {"name": "gradient_allreduce", "bucket": f"{trial['bucket']}B"}
            fixed = self.run_of(f"fixed_{i}", profile_run(algorithm=algorithm, steps=6))
            fixed_s[trial["bucket"]] = mean(line["step_s"] for line in self.metrics(fixed["id"])[1:])
            self.assertAlmostEqual(trial["step_s"] / fixed_s[trial["bucket"]], 1, delta=1e-4)
        self.assertEqual(fixed_s[tuned["bucket"]], min(fixed_s.values()))
        self.assertGreater(fixed_s[1 << 30], 1.001 * fixed_s[tuned["bucket"]])
        self.assertAlmostEqual(tuned["step_s"] / fixed_s[tuned["bucket"]], 1, delta=1e-4)
        self.assertEqual(tuned["from_step"], EVERY * EVALUATIONS)
        self.assert_paid(tuned, manifest["id"], fixed_s[1 << 30])

    def assert_paid(self, tuned: dict[str, Any], run: str, configured_s: float) -> None:
        """From `paid_off_step` on, the run is ahead of one in the configured buckets."""
        self.results = self.folder / "results" / "tuned"
        ended_s = [line["time_s"] for line in self.metrics(run)]
        self.assertEqual(len(ended_s), STEPS)
        ahead = [step * configured_s >= s - ended_s[0] for step, s in enumerate(ended_s)]
        self.assertAlmostEqual(tuned["paid_off_step"], ahead.index(True, tuned["from_step"]), delta=1)

    @needs_simulator
    def test_runs_repeat(self) -> None:
        summaries = [self.run_of(name, profile_run(autotune=TUNING, steps=30))["summary"] for name in ("a", "b")]
        self.assertEqual(summaries[0]["autotune"], summaries[1]["autotune"])

    @needs_simulator
    def test_the_most_sizes_have_enough_streams(self) -> None:
        """Each size has its own streams, and parameter servers have the most."""
        for options in ({"through_host": True, "hierarchical": True}, {"servers": 1, "placement": "beside"}):
            run = self.run_of(
                f"servers_{len(options)}_{'servers' in options}",
                experiment(
                    algorithm={"name": "parameter_server"} | options,
                    workload={"name": "quadratic", "dimension": 512, "tensors": 4},
                    steps=40,
                    autotune={"every": 2, "evaluations": 16, "smallest": "1B", "largest": "64KiB"},
                ),
            )
            self.assertGreater(len(run["summary"]["autotune"]["tried"]), 11)

    def test_false_and_true_are_values(self) -> None:
        self.assertNotIn("autotune", self.run_of("off", experiment(autotune=False))["experiment"])
        run = self.run_of("on", experiment(autotune=True, steps=24))
        self.assertEqual(
            run["experiment"]["autotune"],
            {"every": 10, "evaluations": 12, "smallest": "64KiB", "largest": "256MiB"},
        )
        self.assertEqual(run["summary"]["autotune"]["tried"][0]["steps"], 10)

    def test_what_cannot_be_tuned_is_refused(self) -> None:
        self.refused("the ranks of ssp are at different steps", algorithm="ssp")
        self.refused("has a warm-up, or models that differ", algorithm={"name": "local_sgd", "sync_every": 2})
        self.refused(
            "has a warm-up, or models that differ",
            optimizer="adam",
            algorithm={"name": "onebit_adam", "warmup_steps": 5},
        )
        self.refused("begins the algorithm anew", algorithm="dpsgd")
        self.refused("steps do not repeat", workload="vgg16", eval_every=0, until_steady=True)
        self.refused("the run has 10; expected more steps", steps=10)
        self.refused("true, false or an object", autotune="yes")
        self.refused("expected a size from 1B to", "/autotune/smallest", autotune={"smallest": "1GiB"})
        self.refused("expected", "/autotune/evaluations", autotune={"evaluations": 17})
        self.refused("expected", "/autotune/every", autotune={"every": 1})
