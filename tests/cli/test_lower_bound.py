"""The simulated time of a run is at least its lower bound and the time that its bytes take on the NICs."""

from __future__ import annotations

from typing import Any

from harness import CommandTest, experiment, listed, needs_simulator

NODES, NIC_BPS, JITTER, STEPS = 8, 1e9 / 8, 0.3, 8
# The messages of these algorithms are still in flight when the last step ends.
BACKGROUND = ["osgp", "adpsgd", "swarm_sgd", "async_model_average"]


@needs_simulator
class LowerBoundTest(CommandTest):
    def runs(self, algorithms: list[Any], **changes: Any) -> list[dict[str, Any]]:
        return self.run_config(
            experiment(
                cluster={
                    "nodes": NODES,
                    "bandwidth_jitter": JITTER,
                    "inter": {"bandwidth": "1Gbps", "latency": "50us"},
                },
                workload="resnet50",
                optimizer={"name": "sgd", "lr": 0.01, "momentum": 0.9},
                steps=STEPS,
                sweep={"/algorithm": algorithms, "/runtime/fidelity": ["message", "auto", "fluid"]},
            )
            | changes
        )

    def check(self, manifest: dict[str, Any]) -> None:
        summary, name = manifest["summary"], manifest["sweep"]
        self.assertLessEqual(summary["lower_bound_s"], summary["time_s"], name)
        capacity_bytes = summary["time_s"] * NODES * (1 + JITTER) * NIC_BPS
        self.assertLessEqual(summary["bytes_inter"], capacity_bytes, name)
        steps = self.metrics(manifest["id"])
        for key in ("bytes_inter", "messages_inter"):
            self.assertEqual(sum(step[key] for step in steps), summary[key], name)

    def test_messages_after_the_last_step_count_neither_in_times_nor_in_bytes(self) -> None:
        manifests = self.runs([{"name": name} for name in BACKGROUND])
        self.assertEqual(len(manifests), 3 * len(BACKGROUND))
        for manifest in manifests:
            self.check(manifest)
        pushes = [m for m in manifests if m["experiment"]["algorithm"]["name"] == "osgp"]
        for manifest in pushes:  # their NICs are idle only in the first step
            summary = manifest["summary"]
            self.assertGreater(summary["lower_bound_s"], 0.6 * summary["time_s"])

    def test_a_collective_in_flight_at_the_end_has_not_arrived(self) -> None:
        """Averages in the background begin right after one another and keep the NICs busy. The third average ends after
        the run, although most of its ranks have sent everything by then."""
        slow = {"bandwidth": "156.25Mbps", "latency": "50us"}
        for manifest in self.run_config(
            experiment(
                cluster={"nodes": 4, "workers_per_node": 2, "inter": slow},
                workload={"name": "bert_base", "step_time": "91.3ms"},
                algorithm={"name": "async_model_average", "interval": "500ms"},
                steps=1280,
                sweep={"/runtime/fidelity": ["message", "auto"]},
            )
        ):
            summary = manifest["summary"]
            self.assertLessEqual(summary["lower_bound_s"], summary["time_s"])
            # Two whole averages of the model, which a ring of eight ranks sends 14/8 times per rank, four of them to
            # another node; in the simulation by messages also most of the third.
            average = 4 * 14 / 8 * 4 * 109_482_240
            averages = summary["bytes_inter"] / average
            self.assertAlmostEqual(averages, 2 if manifest["sweep"]["/runtime/fidelity"] == "auto" else 2.93, delta=0.01)

    def test_every_algorithm_is_above_its_bound(self) -> None:
        names = {a["name"] for a in listed("algorithms")} - {"stages"}
        stages = {
            "name": "stages",
            "stages": [{"until": 1, "algorithm": "local_sgd"}, {"algorithm": "async_model_average"}],
        }
        # Runs that leave out workers' steps have no bound, so all workers have to arrive.
        algorithms = [{"name": name} | ({"quorum": 0} if name == "decoupled_diloco" else {}) for name in sorted(names)]
        for manifest in self.runs([*algorithms, stages], steps=3):
            self.check(manifest)
