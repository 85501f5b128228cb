"""Profiles replayed as matrix products: the report, and training with them."""

from __future__ import annotations

import json
from typing import Any

from harness import CLUSTER, CommandTest, experiment, needs_simulator

# Two tensors of the same size; the second one has ten times the work.
PROFILE = """\
# name: two_layers
# batch: 2
tensor,numel,forward_s,backward_s,forward_flops,backward_flops
light,65536,0.001,0.002,20971520,41943040
heavy,65536,0.010,0.020,209715200,419430400
bias,100,0.001,0.001,0,0
"""
REPLAY = {"name": "replay", "profile": "profile:two.csv"}
SINGLE = {**CLUSTER, "nodes": 1, "workers_per_node": 1}
PAIR = {**CLUSTER, "nodes": 1}


class Replay(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "two.csv").write_text(PROFILE)

    def replayed(self, *arguments: Any, **changes: Any) -> dict[str, Any]:
        path = self.write(experiment(**{"cluster": SINGLE, "workload": REPLAY, **changes}))
        return json.loads(self.trigram("replay", path, "--json", *arguments).stdout)

    def test_a_layer_with_ten_times_the_flops_takes_longer(self) -> None:
        report = self.replayed("--steps", 5, runtime="threads")
        light, heavy, bias = report["layers"]
        for name in ("forward", "backward"):
            self.assertEqual(heavy[name]["flops"], 10 * light[name]["flops"])
            self.assertGreater(heavy[name]["measured_s"], 2 * light[name]["measured_s"])
            self.assertGreater(light[name]["measured_s"], bias[name]["measured_s"])
            for key in ("flops", "profile_s", "measured_s"):
                layers = sum(layer[name][key] for layer in report["layers"])
                self.assertAlmostEqual(report["total"][name][key], layers)
        self.assertEqual(report["total"]["numel"], 2 * 65536 + 100)
        self.assertEqual(light["forward"]["profile_s"], 0.001)

    def test_twice_the_batch_is_twice_the_work(self) -> None:
        two = self.replayed(runtime="threads")["total"]
        four = self.replayed(runtime="threads", workload={**REPLAY, "batch": 4})["total"]
        for key in ("flops", "profile_s"):
            self.assertAlmostEqual(four["forward"][key], 2 * two["forward"][key])
        self.assertEqual(four["numel"], two["numel"])

    @needs_simulator
    def test_a_simulated_accelerator_has_its_described_rate(self) -> None:
        def seconds(flops: str) -> float:
            cluster = {**SINGLE, "accelerator": {"flops": flops}}
            workload = {**REPLAY, "values": False}
            report = self.replayed(runtime="sim", cluster=cluster, workload=workload)
            return report["layers"][1]["forward"]["measured_s"]

        self.assertGreater(seconds("1TFLOP/s"), 5 * seconds("10TFLOP/s"))

    def test_the_table_has_the_layers_that_compute(self) -> None:
        path = self.write(experiment(runtime="threads", cluster=SINGLE, workload=REPLAY))
        lines = self.trigram("replay", path).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["tensor", "light", "heavy", "total", "rate:"])

    def test_bad_input(self) -> None:
        path = self.write(experiment(runtime="threads", cluster=SINGLE))
        err = self.trigram("replay", path, code=2).stderr
        self.assertIn("/workload: expected one that replays a profile", err)
        path = self.write(experiment(cluster=SINGLE, workload=REPLAY, seed=[1, 2]))
        err = self.trigram("replay", path, code=2).stderr
        self.assertIn("/sweep: expected one run to replay, not 2", err)

    def test_a_replay_is_a_workload_without_values(self) -> None:
        algorithms = ["gradient_allreduce", "bytegrad", {"name": "decentralized", "mode": "ring"}]
        manifests = self.run_config(
            experiment(
                runtime="threads",
                cluster=PAIR,
                workload=REPLAY,
                optimizer={"name": "sgd", "lr": 0.01, "momentum": 0.9},
                sweep={"/algorithm": algorithms},
            )
        )
        self.assertEqual(len(manifests), 3)
        for manifest in manifests:
            summary = manifest["summary"]
            for key in ("loss", "eval_loss", "accuracy", "weights_hash"):
                self.assertIsNone(summary[key], key)
            self.assertGreater(summary["compute_s"], 0)
        (plain,) = [m["summary"] for m in manifests if m["experiment"]["algorithm"]["name"] == "gradient_allreduce"]
        self.assertEqual(plain["bytes_intra"], 6 * 2 * 4 * (2 * 65536 + 100))
