"""Checkpoints in the memory of other nodes: what they cost, and what a job has left after crashes."""

from __future__ import annotations

from typing import Any

from harness import experiment, needs_simulator, one_tensor_profile
from test_node_changes import FailureTest, crash

EVERY, MEMORY_EVERY, STEPS, NODES = 8, 2, 24, 4
NUMEL = 1 << 20
STATE = 4.0 * NUMEL  # bytes of plain SGD's state: the weights
NIC_BPS, LATENCY_S, READ_BPS, RESTART_S = 12.5e6, 1e-3, 1e6, 3.0
COPY_S = STATE / NIC_BPS + LATENCY_S


@needs_simulator
class Copies(FailureTest):
    def copies(self, events: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        copies = {"every": EVERY, "memory_every": MEMORY_EVERY, "read_bandwidth": f"{READ_BPS:.0f}B/s"}
        cluster = {
            "nodes": NODES,
            "inter": {"bandwidth": "100Mbps", "latency": "1ms"},
            "skew": {"smallest": "1s", "largest": "1s", "rotates": False},
        }
        if events:
            cluster["failures"] = {"events": events, "restart": f"{RESTART_S}s"}
        self.write(one_tensor_profile(NUMEL, 1e-3, 1e-3), "one.json")
        workload = "profile:one.json"
        config = experiment(cluster=cluster, workload=workload, steps=STEPS, checkpoint=copies, optimizer="sgd")
        return config | {"eval_every": 0} | changes

    def summary(self, events: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        self.clear()
        (manifest,) = self.run_config(self.copies(events, **changes), "--force")
        return dict(manifest["summary"])

    def test_a_copy_takes_the_time_of_its_message(self) -> None:
        whole = self.summary([])
        copied = whole["checkpoint"]["copied"]
        self.assertEqual(copied["step"], STEPS - MEMORY_EVERY)
        self.assertAlmostEqual(copied["rank_bytes"], STATE, delta=1000)
        self.assertAlmostEqual(copied["copy_s"], COPY_S, delta=0.01)
        self.assertEqual(whole["checkpoint"]["last"]["step"], STEPS - EVERY)
        without = self.summary([], checkpoint={"every": EVERY})
        copies = STEPS // MEMORY_EVERY - 1
        self.assertAlmostEqual(whole["time_s"] - without["time_s"], copies * COPY_S, delta=0.05 * copies * COPY_S)

    def crash_s(self, after_step: float) -> float:
        """A time between two steps, after so many steps of an undisturbed run."""
        return float(self.summary([])["time_s"]) * after_step / STEPS

    def test_one_node_gets_its_state_from_its_neighbour(self) -> None:
        at_s = self.crash_s(13.5)
        whole, failed = self.summary([]), self.summary([crash(at_s, 1)])
        (record,) = failed["failures"]["crashes"]
        self.assertTrue(record["from_memory"])
        self.assertEqual(record["from_step"], 12)
        # Its own state and the copy that it had come through one NIC.
        self.assertAlmostEqual(record["recovery_s"], RESTART_S + 2 * STATE / NIC_BPS + LATENCY_S, delta=0.05)
        lost_and_recovery_s = failed["failures"]["lost_s"] + failed["failures"]["recovery_s"]
        self.assertAlmostEqual(failed["time_s"], whole["time_s"] + lost_and_recovery_s, delta=0.05)

    def test_two_neighbours_fall_back_to_storage(self) -> None:
        at_s = self.crash_s(13.5)
        for first, second, from_memory in ((1, 2, False), (3, 0, False), (0, 2, True)):
            with self.subTest(f"{first} and {second}"):
                failed = self.summary([crash(at_s, first), crash(at_s, second)])
                (record,) = failed["failures"]["crashes"]  # the job recovers from both at once
                self.assertEqual((record["from_memory"], record["from_step"]), (from_memory, 12 if from_memory else 8))
                if not from_memory:
                    self.assertAlmostEqual(record["recovery_s"], RESTART_S + STATE / READ_BPS, delta=0.05)

    def test_the_crash_of_a_process_leaves_the_memory_of_its_node(self) -> None:
        event = {"at": f"{self.crash_s(13.5)}s", "kind": "crash", "rank": 1}
        (record,) = self.summary([event])["failures"]["crashes"]
        self.assertEqual((record["from_memory"], record["from_step"]), (True, 12))
        self.assertAlmostEqual(record["recovery_s"], RESTART_S)

    def test_weights_are_those_of_an_undisturbed_run(self) -> None:
        workload = {"name": "quadratic", "dimension": 512, "noise": 0.1}
        learns = {"workload": workload, "optimizer": "adam"}
        whole = self.summary([], **learns)
        half_s = whole["time_s"] / 2
        for events in ([crash(half_s, 1)], [crash(half_s, 1), crash(half_s, 2)]):
            failed = self.summary(events, **learns)
            self.assertEqual(failed["weights_hash"], whole["weights_hash"])

    def test_mistakes_are_refused(self) -> None:
        at = "/checkpoint/memory_every: "
        for changes, expected in (
            ({"checkpoint": {"every": 8, "memory_every": 3}}, "expected less than /checkpoint/every, 8, and a divisor"),
            ({"checkpoint": {"every": 8, "memory_every": 8}}, "expected less than /checkpoint/every, 8, and a divisor"),
            (
                {"runtime": "threads", "checkpoint": {"every": 8, "memory_every": 2}},
                "only the simulated world keeps copies in memory",
            ),
        ):
            with self.subTest(expected):
                self.assertIn(at + expected, self.refusal("run", self.write(self.copies([], **changes))))
        one = self.copies([])
        one["cluster"]["nodes"] = 1
        self.assertIn(at + "the state is copied to another node", self.refusal("run", self.write(one)))
        leave = {"at": "1s", "kind": "leave", "node": 1}
        self.assertIn(at + "copies are for a fixed number", self.refusal("run", self.write(self.copies([leave]))))
