"""Delays of a cluster's machines are the same in every world."""

from __future__ import annotations

import json
import statistics
from typing import Any

from harness import CommandTest, experiment, worlds

PROFILE = """# name: even
# accelerator: none
# batch: 1
tensor,numel,forward_s,backward_s
first,64,0.002,0.004
second,64,0.002,0.004
"""
CLUSTER = {
    "nodes": 3,
    "inter": {"bandwidth": "1000GB/s", "latency": "0s"},
    "slow_workers": [{"rank": 1, "factor": 1.5}],
    "stragglers": {"count": 1, "delay": "30ms", "seed": 5},
    "skew": {"smallest": "0s", "largest": "20ms"},
    "run_times": {"kind": "lognormal", "variation": 0.8, "seed": 2},
}


class Draws(CommandTest):
    def steps_s(self, world: str, cluster: Any) -> list[float]:
        """The time of the slowest worker in each step, in seconds."""
        (self.folder / "even.csv").write_text(PROFILE)
        config = experiment(runtime=world, cluster=cluster, workload="profile:even.csv", steps=25, eval_every=25)
        name = f"{world}{len(list(self.folder.glob('*.json')))}"
        self.trigram("run", self.write({**config, "name": name}, name + ".json"))
        (metrics,) = (self.folder / "results" / name).glob("*/metrics.jsonl")
        return [json.loads(line)["step_s"] for line in metrics.read_text().splitlines()]

    def test_delays_are_the_same_in_real_time(self) -> None:
        if not worlds()["sim"]:
            self.skipTest("there is no simulator to compare with")
        simulated = self.steps_s("sim", CLUSTER)
        self.assertGreater(max(simulated), 2 * min(simulated))
        real = self.steps_s("threads", CLUSTER)
        self.assertEqual(len(real), len(simulated))
        # A sleep is never shorter than requested. But if a worker notices the end of a step late, its next step looks
        # shorter. If the world drew other times, half of the steps would be shorter.
        short = [step for step, (r, s) in enumerate(zip(real, simulated)) if r < 0.9 * s]
        self.assertLess(len(short), 5, short)
        self.assertLess(statistics.median(r / s for r, s in zip(real, simulated)), 1.4)

    def test_delays_of_other_seeds_differ(self) -> None:
        if not worlds()["sim"]:
            self.skipTest("there is no simulator")
        before = self.steps_s("sim", CLUSTER)
        self.assertEqual(self.steps_s("sim", CLUSTER), before)
        for option in ("stragglers", "run_times"):
            other = {**CLUSTER, option: {**CLUSTER[option], "seed": 77}}
            self.assertNotEqual(self.steps_s("sim", other), before, option)
