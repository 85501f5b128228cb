"""Simulated nodes that leave and join, and partitions of the network, against a plain replay of the steps."""

from __future__ import annotations

import json
from typing import Any

from harness import CommandTest, experiment, needs_simulator, one_tensor_profile

STEPS, EVERY, STEP_S, RESTART_S = 20, 4, 1.0, 3.0
# Communication, and the waits of all ranks for each other before and after a checkpoint.
NEAR_S = 0.02


def change(at_s: float, kind: str, node: int) -> dict[str, Any]:
    return {"at": f"{at_s}s", "kind": kind, "node": node}


def crash(at_s: float, node: int) -> dict[str, Any]:
    return {"at": f"{at_s}s", "kind": "crash", "node": node}


class FailureTest(CommandTest):
    def config(self, events: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
        self.write(one_tensor_profile(1000, 0.4 * STEP_S, 0.6 * STEP_S), "one.json")
        failures: dict[str, Any] = {"events": events}
        if any(event["kind"] in ("crash", "leave", "join") for event in events):
            failures["restart"] = f"{RESTART_S:g}s"
        if any(event["kind"] == "crash" for event in events):
            failures["detection"] = "500ms"
        cluster = {"nodes": 3, "inter": {"bandwidth": "10Gbps", "latency": "50us"}, "failures": failures}
        config = experiment(
            cluster=cluster, workload={"name": "profile", "path": "one.json"}, steps=STEPS, checkpoint={"every": EVERY}
        )
        del config["optimizer"], config["eval_every"]
        return config | changes

    def summary(self, config: dict[str, Any]) -> dict[str, Any]:
        (manifest,) = self.run_config(config)
        return manifest["summary"]

    def clear(self) -> None:
        """Makes the results of earlier runs count as absent."""
        for manifest in self.results.glob("*/manifest.json"):
            (manifest.parent / "DONE").unlink(missing_ok=True)  # failed runs have none
            manifest.unlink()


@needs_simulator
class NodeChanges(FailureTest):
    def check(self, summary: dict[str, Any], expected: list[tuple[int, float, int]]) -> None:
        """`expected` has the nodes, the begin and the first step of each generation."""
        generations = summary["failures"]["generations"]
        self.assertEqual([(g["nodes"], g["from_step"]) for g in generations], [(n, s) for n, _, s in expected])
        for generation, (_, begin_s, _) in zip(generations, expected):
            self.assertAlmostEqual(generation["begin_s"], begin_s, delta=NEAR_S)

    def test_a_node_that_leaves_lets_the_others_reach_a_checkpoint(self) -> None:
        summary = self.summary(self.config([change(5.5, "leave", 1)]))
        self.check(summary, [(3, 0, 0), (2, 8 + RESTART_S, 8)])
        self.assertEqual(summary["steps"], STEPS - 8)
        self.assertAlmostEqual(summary["time_s"], (STEPS - 8) * STEP_S, delta=NEAR_S)
        self.assertAlmostEqual(summary["failures"]["lost_s"], 0)
        self.assertAlmostEqual(summary["failures"]["recovery_s"], RESTART_S)
        self.assertAlmostEqual(summary["failures"]["goodput"], STEPS / (STEPS + RESTART_S), delta=1e-3)
        (manifest,) = self.manifests()
        self.assertIn("goes on with 2 workers after 8 steps of 3", "; ".join(manifest["warnings"]))
        self.assertAlmostEqual(summary["failures"]["time_s"], STEPS + RESTART_S, delta=NEAR_S)

    def test_nodes_leave_join_and_crash(self) -> None:
        # Node 1 leaves at 5.5 s, which ends a generation at 8 s; the crash at 13.2 s loses 2.2 s of the next one, and
        # the node that joins during the recovery is there when training goes on.
        events = [change(5.5, "leave", 1), crash(13.2, 0), change(14, "join", 1), change(26.5, "join", 3)]
        summary = self.summary(self.config(events))
        second = 8 + RESTART_S
        third = 13.2 + 0.5 + RESTART_S
        # The checkpoint of step 16 is written before the last node joins, and none is written after the last step.
        self.check(summary, [(3, 0, 0), (2, second, 8), (3, third, 8)])
        self.assertAlmostEqual(summary["failures"]["lost_s"], 13.2 - second, delta=NEAR_S)
        self.assertEqual([c["from_step"] for c in summary["failures"]["crashes"]], [8])
        # The last generation has as many nodes as the first one, whose checkpoint it uses, so it continues the run.
        self.assertEqual(summary["steps"], STEPS)
        self.assertAlmostEqual(summary["time_s"], third + (STEPS - 8) * STEP_S, delta=NEAR_S)
        self.assertAlmostEqual(summary["failures"]["time_s"], summary["time_s"])

    def test_after_a_minute_the_others_do_not_wait_any_more(self) -> None:
        summary = self.summary(self.config([change(30, "join", 3)], steps=100, checkpoint={"every": 1000}))
        self.check(summary, [(3, 0, 0), (4, 90 + RESTART_S, 0)])
        self.assertAlmostEqual(summary["failures"]["lost_s"], 90, delta=NEAR_S)
        self.assertEqual(summary["steps"], 100)

    def test_a_crash_in_a_later_generation_goes_on_from_its_own_checkpoint(self) -> None:
        summary = self.summary(self.config([change(1, "leave", 2), crash(4 + RESTART_S + 5.5, 0)]))
        self.check(summary, [(3, 0, 0), (2, 4 + RESTART_S, 4)])
        (crashed,) = summary["failures"]["crashes"]
        self.assertEqual(crashed["from_step"], 8)
        self.assertAlmostEqual(crashed["lost_s"], 1.5, delta=NEAR_S)
        self.assertAlmostEqual(summary["time_s"], (STEPS - 4) * STEP_S + 1.5 + 0.5 + RESTART_S, delta=NEAR_S)

    def test_weights_are_those_of_a_run_that_resumes_with_the_other_number(self) -> None:
        cluster = {"nodes": 3, "inter": {"bandwidth": "10Gbps", "latency": "50us"}}
        config = experiment(
            name="test",
            cluster=cluster,
            steps=12,
            eval_every=0,
            optimizer="adam",
            algorithm={"name": "diloco", "sync_every": 2},
            checkpoint={"every": 4, "keep": 10},
        )
        half_s = self.summary(config)["time_s"] / 2
        (checkpoints,) = self.results.glob("*.checkpoints")
        resumed = config | {"cluster": cluster | {"nodes": 2}}
        self.trigram("run", self.write(resumed, "resumed.json"), "--resume-from", checkpoints, "-o", "resumed")
        (path,) = (self.folder / "resumed" / "test").glob("*/manifest.json")
        expected = json.loads(path.read_text())["summary"]["weights_hash"]
        failures = {"events": [change(half_s, "leave", 0)], "restart": "1s"}
        self.clear()
        summary = self.summary(config | {"cluster": cluster | {"failures": failures}})
        self.assertEqual(summary["failures"]["generations"][1]["from_step"], 8)
        self.assertEqual(summary["weights_hash"], expected)

    def test_mistakes_are_refused(self) -> None:
        for events, expected in (
            ([change(1, "leave", 3)], "/cluster/failures/events/0/node: expected a node below 3"),
            ([change(1, "join", 2)], "/cluster/failures: node 2 is there at 1 s"),
            (
                [change(1, "leave", 2), change(2, "leave", 2)],
                "/cluster/failures/events/1/node: expected a worker that is there",
            ),
            (
                [change(1, "leave", 0), change(2, "leave", 1), change(3, "leave", 2)],
                "/cluster/failures: the last node leaves",
            ),
        ):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal("run", self.write(self.config(events))))
        without = self.config([change(1, "leave", 2)], checkpoint=None)
        self.assertIn("/checkpoint: nodes leave or join", self.refusal("run", self.write(without)))
        torus = self.config([change(1, "leave", 2)])
        torus["cluster"] |= {"nodes": 4, "topology": {"kind": "torus", "dimensions": [2, 2]}}
        self.assertIn(
            "/cluster/failures: the job has 3 nodes when nodes have left", self.refusal("run", self.write(torus))
        )


@needs_simulator
class Partitions(FailureTest):
    def time_s(self, events: list[dict[str, Any]], **transport: Any) -> float:
        config = self.config(events, checkpoint=None)
        config["cluster"]["transport"] = transport
        time_s = self.summary(config)["time_s"]
        self.clear()
        return time_s

    def test_training_waits_for_the_network(self) -> None:
        # The gradients of step 4 would leave at 4 s, and do so at 7.25 s; without TCP, at once.
        events = [{"at": "3.5s", "kind": "partition", "nodes": [1], "for": "3750ms"}]
        self.assertAlmostEqual(self.time_s(events) - self.time_s([]), 3.25, delta=NEAR_S)
        # TCP tries again 0.2 (2^k - 1) s after 4 s: at 7 s and at 10.2 s.
        over_tcp = self.time_s(events, tcp="linux") - self.time_s([], tcp="linux")
        self.assertAlmostEqual(over_tcp, 6.2, delta=NEAR_S)

    def test_they_are_refused_where_they_cannot_happen(self) -> None:
        events = [{"at": "3s", "kind": "partition", "nodes": [1], "for": "1s"}]
        threads = self.config(events, runtime="threads")
        self.assertIn("trigram launch makes the processes", self.refusal("run", self.write(threads)))
        self.assertIn("only the simulated world has partitions", self.refusal("launch", self.write(threads)))
        rendezvous = self.config(events)
        rendezvous["cluster"]["transport"] = {"protocol": "rendezvous"}
        self.assertIn("partitions interrupt connections", self.refusal("run", self.write(rendezvous)))
        fluid = self.config(events, runtime={"name": "sim", "fidelity": "fluid"})
        self.assertIn("/runtime/fidelity", self.refusal("run", self.write(fluid)))
        tcp = self.config(events, runtime={"name": "sim", "network_model": "tcp"})
        self.assertIn("/runtime/network_model", self.refusal("run", self.write(tcp)))

