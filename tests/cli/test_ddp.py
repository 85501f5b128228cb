"""`compare-worlds --worlds sim,ddp`: PyTorch's DistributedDataParallel beside the simulator."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from typing import Any

from emulated import REASON, namespaces
from harness import CommandTest, experiment, needs_simulator, one_tensor_profile

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
CLUSTER = {"nodes": 2, "inter": {"bandwidth": "20Mbps", "latency": "0ms"}, "transport": {"tcp": "linux"}}
# 100,000 elements, whose exchange takes 160 ms at 20 Mbit/s, and next to no computation.
MODEL = """
import torch

def make():
    return torch.nn.Linear(400, 250, bias=False), torch.ones(1, 400)
"""


def no_pytorch() -> str:
    done = subprocess.run([PYTHON, "-c", "import torch.distributed as d; assert d.is_gloo_available()"],
                          capture_output=True)
    return f"{PYTHON} has no PyTorch with gloo" if done.returncode else ""


@needs_simulator
class Ddp(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(MODEL, "net.py")
        self.write(one_tensor_profile(100_000, 0.001, 0.001), "net.json")

    def ddp(self, *arguments: Any, **changes: Any) -> list[Any]:
        config = experiment(**{"cluster": CLUSTER, "workload": "profile:net.json", "steps": 4, "eval_every": 0,
                               **changes})
        return ["compare-worlds", self.write(config), "--worlds", "sim,ddp", "--model", "net.py:make", *arguments]

    def test_what_ddp_does_not_have_is_refused(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"algorithm": "bytegrad"}, "/algorithm/name: expected gradient_allreduce, half_precision_allreduce or"),
            ({"algorithm": {"name": "gradient_allreduce", "overlap": False}}, "/algorithm/overlap: expected true"),
            ({"algorithm": {"name": "half_precision_allreduce", "format": "bf16"}}, "/algorithm/format: expected fp16"),
            ({"optimizer": "lamb"}, "/optimizer/name: expected sgd, adam or adamw"),
            ({"micro_batches": 2}, "/micro_batches: expected 1"),
        ]
        for changes, expected in cases:
            with self.subTest(expected):
                self.assertIn(expected, self.refusal(*self.ddp(**changes)))

    def test_worlds_and_model_belong_together(self) -> None:
        config = self.ddp()[1]
        for words, expected in ((["--worlds", "sim,ddp"], "--model: the world ddp needs a model"),
                                (["--worlds", "ddp,sim"], "ddp cannot predict"),
                                (["--worlds", "sim,threads", "--model", "net.py:make"], "expected ddp among --worlds"),
                                (["--worlds", "sim,ddp", "--model", "none.py:make"], "with a file that exists")):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal("compare-worlds", config, *words))

    @unittest.skipIf(REASON or no_pytorch(), REASON or no_pytorch())
    def test_predicted_and_measured_steps(self) -> None:
        algorithms = [{"name": "gradient_allreduce", "allreduce": "ring"},
                      {"name": "half_precision_allreduce", "allreduce": "ring"},
                      {"name": "powersgd", "allreduce": "ring", "rank": 1}]
        done = self.trigram(*self.ddp(sweep={"/algorithm": algorithms}), timeout_s=300)
        self.assertIn("step time: median error", done.stdout)
        first = [line for line in done.stdout.splitlines() if "allreduce" in line][0]
        self.assertIn("gradient_allreduce", first)
        files = list((self.folder / "results" / "test" / "ddp").glob("*.json"))
        by_name = {m["experiment"]["algorithm"]["name"]: m["summary"] for m in map(self.read, files)}
        # Two ranks send 400,000 bytes each, in frames with headers; a step lasts at least as long as that takes.
        full_bytes = by_name["gradient_allreduce"]["bytes_inter"] / 4
        self.assertAlmostEqual(full_bytes / 800_000, 1.08, delta=0.08)
        self.assertAlmostEqual(by_name["half_precision_allreduce"]["bytes_inter"] / 4 / full_bytes, 0.5, delta=0.1)
        self.assertLess(by_name["powersgd"]["bytes_inter"] / 4, 0.1 * full_bytes)
        self.assertGreater(by_name["gradient_allreduce"]["step_s"], 0.9 * 0.16)
        self.assertEqual(namespaces(), [])
        again = self.trigram(*self.ddp(sweep={"/algorithm": algorithms}), timeout_s=60)
        self.assertEqual(again.stdout, done.stdout)  # finished runs are not repeated

    @staticmethod
    def read(path: Any) -> dict[str, Any]:
        return json.loads(path.read_text())
