"""Advice says so if it depends on exactly equal NICs.

Eight-bit averages among twelve workers of three nodes run in lock step. NICs that differ by 1 % end that:
messages then contend in the nodes' NICs, and a step takes a quarter longer.
"""

from __future__ import annotations

import json
import unittest
from typing import Any

from harness import CommandTest, worlds

CLUSTER = {"nodes": 3, "workers_per_node": 4, "inter": {"bandwidth": "10Gbps", "latency": "50us"}}
PROFILE = {
    "name": "thirty",
    "accelerator": "none",
    "batch": 4,
    "tensors": [
        {"tensor": f"w{i}", "numel": 2_621_440, "forward_s": 0.1e-3, "backward_s": 0.2e-3}
        for i in range(30)
    ],
}
LOCKED = {"name": "bytegrad", "hierarchical": False}
RINGS = {"name": "half_precision_allreduce"}
BETWEEN = {"name": "sgp", "hierarchical": True}  # slower than LOCKED if all NICs are equal, else faster


@unittest.skipUnless(worlds()["sim"], "this build has no simulator")
class Unequal(CommandTest):
    def advise(self, *algorithms: Any, **cluster: Any) -> tuple[str, dict[str, Any]]:
        self.write(PROFILE, "thirty.json")
        self.write(CLUSTER | cluster, "twelve.json")
        candidates = {"cluster": CLUSTER, "workload": "bert_large", "steps": 4}
        self.write(candidates | {"sweep": {"/algorithm": algorithms}}, "candidates.json")
        arguments = [
            *("advise", "--cluster", "twelve.json", "--profile", "profile:thirty.json"),
            *("--candidates", "candidates.json", "--range", "1.1"),
        ]
        return (
            self.trigram(*arguments).stdout,
            json.loads(self.trigram(*arguments, "--json").stdout),
        )

    def test_a_winner_that_loses_where_nics_differ_is_a_warning(self) -> None:
        text, advice = self.advise(LOCKED, BETWEEN)
        self.assertEqual(advice["candidates"][0]["settings"], {"/algorithm": LOCKED})
        there = advice["where_nics_differ"]
        self.assertEqual(there[0]["settings"], {"/algorithm": BETWEEN})
        self.assertIn("warning: where NICs differ by 1 %, sgp hierarchical=true is first\n", text)
        self.assertTrue(there[1]["changes"])
        self.assertGreater(there[1]["least_more"], 0.1)
        self.assertGreaterEqual(there[1]["most_more"], there[1]["least_more"])
        self.assertIn("warning: where NICs differ by 1 %, bytegrad hierarchical=false takes +", text)

    def test_a_winner_that_does_not_depend_on_it_gets_one_line(self) -> None:
        text, advice = self.advise(RINGS, BETWEEN)
        self.assertIn("\nwhere NICs differ by 1 %, it is still first\n", text)
        self.assertNotIn("warning: where NICs", text)
        for one in advice["where_nics_differ"]:
            self.assertFalse(one["changes"])
            self.assertLess(abs(one["most_more"]), 0.02)

    def test_nics_that_differ_already_are_not_changed(self) -> None:
        text, advice = self.advise(RINGS, BETWEEN, bandwidth_jitter=0.05)
        self.assertEqual(advice["where_nics_differ"], [])
        self.assertNotIn("where NICs", text)


if __name__ == "__main__":
    unittest.main()
