"""Options of training that every algorithm has: micro_batches, clip_norm, stages and gradient_noise."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from harness import CLUSTER, CommandTest, experiment, needs_simulator, one_tensor_profile

FORWARD_S, BACKWARD_S, BATCH, WORKERS = 0.01, 0.02, 4, 4
PROFILE = one_tensor_profile(100_000, FORWARD_S, BACKWARD_S, batch=BATCH)
LOCAL = {"name": "local_sgd", "sync_every": 2}
NOISY = {"name": "quadratic", "dimension": 16, "noise": 0.5}


def stages(until: int, first: Any, then: Any) -> dict[str, Any]:
    return {"name": "stages", "stages": [{"until": until, "algorithm": first}, {"algorithm": then}]}


@needs_simulator
class TrainingOptions(CommandTest):
    run_number = 0

    def summaries(self, *changes: dict[str, Any]) -> list[dict[str, Any]]:
        """The summaries of experiments that differ in these ways from the one of the harness."""
        found = []
        for change in changes:
            self.run_number += 1
            name = f"run_{self.run_number}"
            self.results = self.folder / "results" / name
            (manifest,) = self.run_config(experiment(**{"name": name} | change))
            found.append(manifest["summary"])
        return found

    def refused(self, pointer: str, reason: str, **changes: Any) -> None:
        error = self.refusal("validate", self.write(experiment(**changes)))
        self.assertIn(f"{pointer}: ", error)
        self.assertIn(reason, error)


class MicroBatches(TrainingOptions):
    def test_computation_repeats_and_exchanges_do_not(self) -> None:
        self.write(PROFILE, "one.json")
        options = {"workload": "profile:one.json", "steps": 4, "eval_every": 0}
        one, three = self.summaries(options, options | {"micro_batches": 3})
        added_s = 2 * (FORWARD_S + BACKWARD_S)
        self.assertAlmostEqual((three["step_s"] - one["step_s"]) / added_s, 1, delta=1e-3)
        self.assertGreater(three["step_s"] - one["step_s"], added_s, "sums of gradients take time")
        self.assertAlmostEqual(three["exposed_s"], one["exposed_s"], delta=1e-9)
        for key in ("bytes_inter", "bytes_intra", "messages_inter", "messages_intra"):
            self.assertEqual(three[key], one[key])
        self.assertAlmostEqual(one["samples_per_s"] * one["step_s"], WORKERS * BATCH)
        self.assertAlmostEqual(three["samples_per_s"] * three["step_s"], WORKERS * BATCH * 3)

    def test_they_do_not_multiply_with_those_of_an_algorithm(self) -> None:
        self.refused("/micro_batches", "accumulates gradients by itself", micro_batches=2, algorithm="dropcompute")
        self.refused("/micro_batches", "expected", micro_batches=0)


class ClipNorm(TrainingOptions):
    def test_only_a_norm_that_gradients_exceed_changes_weights(self) -> None:
        for algorithm in ("gradient_allreduce", LOCAL, "wagma"):
            plain, loose, tight = self.summaries(
                *({"algorithm": algorithm} | change for change in ({}, {"clip_norm": 1e9}, {"clip_norm": 0.1}))
            )
            self.assertEqual(loose["weights_hash"], plain["weights_hash"])
            self.assertNotEqual(tight["weights_hash"], plain["weights_hash"])
            self.assertEqual(tight["time_s"], loose["time_s"], "time does not depend on values")
            self.assertGreater(loose["time_s"], plain["time_s"])
        self.refused("/clip_norm", "expected", clip_norm=0)


class Stages(TrainingOptions):
    def test_they_are_one_run(self) -> None:
        steps = {"steps": 8, "eval_every": 2}
        post = {"name": "post_local_sgd", "switch_step": 4, "sync_every": 2}
        one, two = self.summaries(
            {"algorithm": post} | steps, {"algorithm": stages(4, "gradient_allreduce", LOCAL)} | steps
        )
        for key in ("weights_hash", "steps", "bytes_inter", "bytes_intra", "messages_inter", "eval_loss"):
            self.assertEqual(two[key], one[key], key)
        self.assertEqual(one["rates"]["from_step"], 4)
        self.assertEqual(two["rates"]["from_step"], 5, "the warm-up includes the step that contains the switch")
        self.assertGreater(two["time_s"], one["time_s"], "ranks wait for each other at the switch")
        self.assertAlmostEqual(two["step_s"] / one["step_s"], 1, delta=1e-6)
        (folder,) = (path.parent for path in self.results.glob("*/DONE"))
        records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual([record["step"] for record in records], list(range(8)))
        self.assertEqual(sum(record["bytes_inter"] for record in records), two["bytes_inter"])

    def test_tables_name_their_stages(self) -> None:
        config = experiment(algorithm=stages(2, "bytegrad", LOCAL), sweep={"/algorithm/stages/0/until": [2, 3]})
        del config["eval_every"]
        printed = self.trigram("run", self.write(config), table=True).stdout
        for until in (2, 3):
            self.assertIn(f"\nstages/bytegrad until {until}, local_sgd ", printed)

    def test_workers_that_are_not_drawn(self) -> None:
        """The model that is evaluated is that of the workers that trained."""
        fedavg = {"name": "fedavg", "fraction": 0.5, "sync_every": 2}
        options = {"algorithm": fedavg, "eval_every": 2, "optimizer": {"name": "sgd", "lr": 0.1}}
        short, long = self.summaries(options | {"steps": 4}, options | {"steps": 8})
        (folder,) = (path.parent for path in self.results.glob("*/DONE"))
        records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(records[3]["eval_loss"], short["eval_loss"])
        self.assertNotEqual(long["eval_loss"], short["eval_loss"])
        self.refused("/optimizer/decay", "drawn", algorithm=fedavg, optimizer={"name": "sgd", "decay": "linear"})
        self.refused("/optimizer/warmup_steps", "drawn", algorithm=fedavg, optimizer={"name": "sgd", "warmup_steps": 2})

    def test_an_average_at_a_switch_counts_as_traffic(self) -> None:
        """A gradient has as many bytes as the model."""
        alone = {"name": "local_sgd", "sync_every": 100}
        every, two = self.summaries(
            {"algorithm": "gradient_allreduce", "steps": 6},
            {"algorithm": stages(2, alone, "gradient_allreduce"), "steps": 6},
        )
        self.assertEqual(two["bytes_inter"], every["bytes_inter"] / 6 * (4 + 1))

    def test_threads_end_with_the_weights_of_the_simulation(self) -> None:
        for algorithm in (
            stages(3, "bytegrad", LOCAL),
            stages(3, "gradient_allreduce", {"name": "onebit_adam", "warmup_steps": 1}),
        ):
            options = {"algorithm": algorithm, "optimizer": "adam"}
            simulated, real = self.summaries(options, options | {"runtime": "threads"})
            self.assertEqual(real["weights_hash"], simulated["weights_hash"])

    def test_gradients_are_not_exchanged_by_workers_with_states_of_their_own(self) -> None:
        """Models would drift apart: every worker would follow its own momentum."""
        switch = stages(2, LOCAL, "gradient_allreduce")
        for optimizer in ("adam", {"name": "sgd", "lr": 0.1, "momentum": 0.5}):
            self.refused("/algorithm/stages/1/algorithm", "the same state of the optimizer", algorithm=switch,
                         optimizer=optimizer)
        (plain,) = self.summaries({"algorithm": switch, "optimizer": {"name": "sgd", "lr": 0.1}})
        self.assertEqual(plain["consensus_distance"], 0)

    def test_mistakes_are_named(self) -> None:
        sync = "gradient_allreduce"
        where = "/algorithm/stages/0"
        self.refused(f"{where}/until", "less than the 6 steps", algorithm=stages(6, sync, LOCAL))
        self.refused(f"{where}/until", "expected", algorithm=stages(0, sync, LOCAL))
        self.refused(f"{where}/algorithm", "did you mean", algorithm=stages(2, "gradient_alreduce", LOCAL))
        self.refused(f"{where}/algorithm/warmup_steps", "variance", optimizer="adam",
                     algorithm=stages(2, {"name": "onebit_adam", "warmup_steps": 0}, sync))
        self.refused("/algorithm/stages/1/algorithm/allreduce", "no collectives of its own",
                     algorithm=stages(2, sync, {"name": sync, "allreduce": "native"}))
        self.refused("/algorithm/stages", "missing", algorithm="stages")
        self.refused("/micro_batches", "accumulates gradients by itself", micro_batches=2,
                     algorithm=stages(2, sync, "dropcompute"))


class GradientNoise(TrainingOptions):
    def test_it_is_reported_and_takes_no_simulated_time(self) -> None:
        options = {"workload": NOISY, "optimizer": {"name": "sgd", "lr": 0}, "steps": 200, "eval_every": 0}
        for algorithm in ("gradient_allreduce", {"name": "parameter_server", "servers": 2}):
            plain, measured = self.summaries(
                options | {"algorithm": algorithm}, options | {"algorithm": algorithm, "gradient_noise": True}
            )
            for key in ("time_s", "weights_hash", "bytes_inter", "exposed_s"):
                self.assertEqual(measured[key], plain[key])
            self.assertAlmostEqual(measured["gradient_noise"] / (16 * 0.5**2), 1, delta=0.06)
            self.assertAlmostEqual(
                measured["gradient_noise_scale"], measured["gradient_noise"] / measured["gradient_square"]
            )
            self.assertIsNone(plain["gradient_noise_scale"])

    def test_tables_show_it_beside_the_steps_to_the_target(self) -> None:
        config = experiment(workload=NOISY, steps=60, eval_every=3, target_loss=3.0, gradient_noise=True)
        self.run_config(config)
        (row,) = csv.DictReader(io.StringIO(self.trigram("table", self.results, "--csv").stdout))
        (summary,) = (manifest["summary"] for manifest in self.manifests())
        self.assertEqual(float(row["steps"]), summary["target"]["steps"])
        self.assertAlmostEqual(float(row["noise scale"]), summary["gradient_noise_scale"])
        self.trigram("report", self.results, "-o", "report.html")
        page = (self.folder / "report.html").read_text()
        self.assertIn("gradient noise scale (samples)", page)

    def test_it_needs_mean_gradients_with_values(self) -> None:
        for algorithm in ("bytegrad", LOCAL, {"name": "parameter_server", "priority": "need"},
                          stages(2, "gradient_allreduce", LOCAL)):
            self.refused("/gradient_noise", "has no effect here", gradient_noise=True, algorithm=algorithm)
        self.refused("/gradient_noise", "a workload that learns", gradient_noise=True, workload="vgg16")
        self.refused("/gradient_noise", "has no effect here", gradient_noise=True,
                     cluster=CLUSTER | {"nodes": 1, "workers_per_node": 1})
