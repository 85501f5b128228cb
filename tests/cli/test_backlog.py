"""Steps that are shorter than those of a long run, and shares of time that must not count delays."""

from __future__ import annotations

import shutil
from typing import Any

from harness import CommandTest, experiment, needs_simulator, one_tensor_profile

RANKS, NUMEL, COMPUTE_S = 4, 1_000_000, 0.012
RING_BYTES = 2 * (RANKS - 1) / RANKS * 4 * NUMEL  # that each rank sends in an allreduce


class OneTensor(CommandTest):
    def summary(self, algorithm: Any, steps: int, bandwidth: str = "500Mbps", **changes: Any) -> dict[str, Any]:
        self.write(one_tensor_profile(NUMEL, COMPUTE_S / 3, 2 * COMPUTE_S / 3), "one.json")
        cluster = {"nodes": RANKS, "workers_per_node": 1, "inter": {"bandwidth": bandwidth, "latency": "0s"},
                   "accelerator": {"name": "ideal", "flops": "1000PFLOP/s", "memory_bandwidth": "1e9GB/s",
                                   "launch_overhead": "0s"}} | changes.pop("cluster", {})
        config = experiment(algorithm=algorithm, cluster=cluster, workload="profile:one.json", steps=steps,
                            eval_every=0, **changes)
        shutil.rmtree(self.results, ignore_errors=True)
        self.trigram("run", self.write(config))
        return self.manifests()[0]["summary"]


@needs_simulator
class Backlog(OneTensor):
    def test_delayed_averages_that_fall_behind(self) -> None:
        """An allreduce takes 96 ms and a step computes for 12 ms, so a step of a long run takes 96 ms, whatever the
        delay is."""
        long_run_s = RING_BYTES / 62.5e6
        for delay, steps in ((8, 20), (16, 20), (32, 40)):
            short = self.summary({"name": "delayed_allreduce", "delay": delay}, steps)
            self.assertLess(short["step_s"], 0.95 * long_run_s)
            self.assertIn("fell behind", short["shortfall"]["why"])
            self.assertEqual(short["shortfall"]["of"], "rates")
            self.assertAlmostEqual(short["backlog"]["long_run_step_s"] / long_run_s, 1, delta=0.05)
        long = self.summary({"name": "delayed_allreduce", "delay": 8}, 400)
        self.assertAlmostEqual(long["step_s"] / long_run_s, 1, delta=0.01)
        self.assertIsNone(long["backlog"])
        self.assertIsNone(long["shortfall"])

    def test_fragments_that_fall_behind(self) -> None:
        algorithm = {"name": "streaming_diloco", "sync_every": 20, "fragments": 1, "overlap_steps": 19}
        self.assertIsNone(self.summary(algorithm, 40)["backlog"])

    def test_exchanges_that_keep_up(self) -> None:
        """A fast network, one average in flight, and averages that computation waits for."""
        for algorithm, bandwidth in (({"name": "delayed_allreduce", "delay": 16}, "100Gbps"),
                                     ({"name": "delayed_allreduce", "delay": 1}, "500Mbps"),
                                     ("gradient_allreduce", "500Mbps"), ({"name": "local_sgd", "sync_every": 4}, "500Mbps"),
                                     ({"name": "eager_diloco", "sync_every": 5}, "500Mbps"), ("osgp", "500Mbps"),
                                     ("bytegrad", "500Mbps")):
            found = self.summary(algorithm, 42, bandwidth)
            self.assertIsNone(found["backlog"], algorithm)
            self.assertIsNone(found["shortfall"], algorithm)


@needs_simulator
class Shares(OneTensor):
    def test_delays_are_no_computation(self) -> None:
        """All workers are delayed by nine times their computation in every step."""
        found = self.summary("gradient_allreduce", 5, "100Tbps",
                             cluster={"stragglers": {"count": RANKS, "delay": f"{9 * COMPUTE_S}s"}})
        self.assertAlmostEqual(found["compute_utilisation"], 0.1, delta=0.002)

    def test_workers_that_leave_out_steps(self) -> None:
        """With a quorum, a slow worker leaves out steps; nobody computes for more than all of the time."""
        for factor in (3, 10):
            found = self.summary({"name": "local_sgd", "sync_every": 2, "quorum": 1, "grace": "0s"}, 40, "100Gbps",
                                 cluster={"slow_workers": [{"rank": 1, "factor": factor}]})
            self.assertGreater(found["compute_utilisation"], 0.5)
            self.assertLessEqual(found["compute_utilisation"], 1)

    def test_a_crash_costs_as_much_with_a_warm_up(self) -> None:
        """Means per step include work that is lost and repeated, also if the algorithm begins with a warm-up."""
        failures = {"detection": "100ms", "restart": "200ms", "events": [{"at": "1s", "kind": "crash", "node": 1}]}
        for algorithm in ("gradient_allreduce", {"name": "delayed_allreduce", "delay": 1},
                          {"name": "eager_diloco", "sync_every": 5}, "osgp"):
            found = self.summary(algorithm, 100, cluster={"failures": failures})
            self.assertEqual(len(found["failures"]["crashes"]), 1)
            self.assertAlmostEqual(100 * found["step_s"] / found["time_s"], 1, delta=1e-6, msg=str(algorithm))
            self.assertIsNone(found["shortfall"], algorithm)
