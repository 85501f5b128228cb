"""Advice says which parts of its answer depend on random draws."""

from __future__ import annotations

import json
from typing import Any

from advice import AdviseTest
from harness import one_tensor_profile

PROFILE = one_tensor_profile(100_000, 0.4e-3, 0.6e-3, accelerator="none")
RANDOM_WORKERS = {"run_times": {"kind": "lognormal", "variation": 0.3}, "stragglers": {"count": 1, "delay": "20ms"}}
BACKGROUND = {"background": {"load": 0.5, "flow": "1MB"}}
UNEQUAL = {"slow_workers": [{"rank": 1, "factor": 3}]}


class Chance(AdviseTest):
    def advise(
        self, cluster: dict[str, Any], inter: dict[str, Any], *more: str, algorithm: str = "gradient_allreduce"
    ) -> str:
        self.write(PROFILE, "one.json")
        self.write({"nodes": 2, "inter": {"bandwidth": "10Gbps", "latency": "50us"} | inter} | cluster, "two.json")
        candidates = {
            "cluster": "two.json",
            "workload": "bert_large",
            "steps": 10,
            "sweep": {"/algorithm": [algorithm]},
        }
        self.write(candidates, "candidates.json")
        return self.trigram(*self.command("two", "--range", "1.1", *more)).stdout

    def test_random_draws_are_named(self) -> None:
        for cluster, inter, names in (
            (RANDOM_WORKERS, {}, "/cluster/run_times, /cluster/stragglers are drawn at random"),
            ({}, BACKGROUND, "/cluster/inter/background is drawn at random"),
        ):
            with self.subTest(names):
                self.assertIn(f"warning: {names}: each row is the mean of one random run", self.advise(cluster, inter))

    def test_there_is_no_remark_without_random_draws(self) -> None:
        all_late = {"stragglers": {"count": 2, "delay": "20ms"}}
        for cluster in ({}, UNEQUAL, all_late):
            with self.subTest(cluster):
                self.assertNotIn("warning:", self.advise(cluster, {}))

    def test_times_to_an_accuracy_use_one_seed(self) -> None:
        target = ("--target", "accuracy=0.1", "--set", "/seed=7")
        self.assertIn("warning: times to an accuracy are those of seed 7 only", self.advise({}, {}, *target))

    def test_runs_whose_fast_workers_end_early_are_made_longer(self) -> None:
        """While the slow worker makes one step, the other worker could make a hundred, but a run has only ten."""
        slow = {"slow_workers": [{"rank": 1, "factor": 100}]}
        target = ("--target", "accuracy=0.1")
        out = self.advise(slow, {}, *target, algorithm="async_parameter_server")
        self.assertNotIn("all of its", out)
        answers = self.folder.glob("results/advise-two-*/*/manifest.json")
        (answer,) = (a for a in answers if not a.parent.parent.name.endswith("-search"))
        self.assertGreater(json.loads(answer.read_text())["experiment"]["steps"], 100)
        out = self.advise(slow, {}, *target, "--set", "/steps=10", algorithm="async_parameter_server")
        self.assertIn("had a worker that made all of its 10 steps before the accuracy was reached", out)
