"""Counts of steps, samples and epochs of runs whose workers do not wait for each other, and one of which is slow."""

from __future__ import annotations

from typing import Any

from harness import CommandTest, experiment, needs_simulator, one_tensor_profile

WORKERS, SLOWER, STEP_S, BATCH, SAMPLES = 4, 4, 0.1, 20, 60_000
PROFILE = one_tensor_profile(100_000, 0.4 * STEP_S, 0.6 * STEP_S, accelerator="none", batch=BATCH)
UNEVEN = {
    "nodes": WORKERS,
    "inter": {"bandwidth": "100Gbps", "latency": "5us"},
    "slow_workers": [{"rank": 2, "factor": SLOWER}],
}
INDEPENDENT = ("async_parameter_server", "adpsgd", "swarm_sgd")
WAITING = ("dpsgd", {"name": "decentralized", "mode": "ring"}, {"name": "ssp", "staleness": 20}, "osgp", "local_sgd")


@needs_simulator
class UnequalPaces(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")

    def summary(self, **changes: Any) -> dict[str, Any]:
        config = experiment(workload="profile:one.json", cluster=UNEVEN, steps=60, eval_every=0, optimizer="sgd")
        name = str(len(list(self.folder.glob("results/*"))))
        self.results = self.folder / "results" / name
        (manifest,) = self.run_config(config | {"name": name} | changes)
        return manifest["summary"]

    def test_each_worker_trains_at_its_own_pace_until_the_last_step(self) -> None:
        """In the last step, the workers of parameter servers wait for all others. This wait does not count towards
        their pace."""
        samples_per_s = (WORKERS - 1 + 1 / SLOWER) * BATCH / STEP_S
        for algorithm in INDEPENDENT:
            with self.subTest(algorithm):
                summary = self.summary(algorithm=algorithm)
                self.assertAlmostEqual(summary["samples_per_s"] / samples_per_s, 1, delta=0.05)
                self.assertAlmostEqual(summary["compute_s"], STEP_S * (WORKERS - 1 + SLOWER) / WORKERS, places=3)
                self.assertLess(summary["exposed_s"], 0.05 * STEP_S)

    def test_a_lead_that_does_not_grow_does_not_count_as_pace(self) -> None:
        """Workers that are not neighbours of the slow worker get a few steps ahead of it. With a bounded lead, all
        workers get ahead."""
        cluster = UNEVEN | {"nodes": 8}
        for algorithm in WAITING:
            with self.subTest(algorithm):
                summary = self.summary(algorithm=algorithm, cluster=cluster, steps=30)
                self.assertAlmostEqual(summary["samples_per_s"] * SLOWER * STEP_S / (8 * BATCH), 1, delta=0.05)
                self.assertIsNone(summary["paces"])

    def test_waiting_for_control_messages_is_exposed(self) -> None:
        """A slow network makes the steps of a parameter server's workers longer, but not their computation."""
        slow = UNEVEN | {"inter": {"bandwidth": "20Mbps", "latency": "5us"}, "slow_workers": []}
        for algorithm in ("async_parameter_server", {"name": "ssp", "staleness": 0}, "dsgd_aau"):
            with self.subTest(algorithm):
                summary = self.summary(algorithm=algorithm, cluster=slow)
                self.assertAlmostEqual(summary["compute_s"], STEP_S, delta=0.01 * STEP_S)
                self.assertGreater(summary["exposed_s"], STEP_S)

    def test_epochs_and_steps_count_mini_batches_of_all_workers(self) -> None:
        """The run ends while all workers train. Each fast worker makes four steps while the slow worker makes one."""
        summary = self.summary(
            algorithm="adpsgd",
            workload={"name": "fashion_mnist", "priced_as": "profile:one.json"},
            optimizer={"name": "sgd", "lr": 0.05, "momentum": 0.5},
            eval_every=1,
            steps=2000,
            target_accuracy=0.75,
        )
        target, rates = summary["target"], summary["rates"]
        self.assertFalse(summary["worker_done"])
        slowest = target["steps"]
        mean_steps = (1 + (WORKERS - 1) * SLOWER) / WORKERS * slowest
        self.assertAlmostEqual(rates["steps_made"] / mean_steps, 1, delta=0.05)
        epoch = SAMPLES // (WORKERS * 32)  # steps of every worker in an epoch
        self.assertAlmostEqual(target["epochs"] * epoch / mean_steps, 1, delta=0.05)
