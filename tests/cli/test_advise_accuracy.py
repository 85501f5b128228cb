"""Advice on times to an accuracy: intervals between evaluations, and ties where these do not tell."""

from __future__ import annotations

import json
import unittest
from typing import Any

from harness import CommandTest, worlds

CLUSTER = {"nodes": 2, "inter": {"bandwidth": "1Gbps", "latency": "1ms"}}
PROFILE = {
    "name": "one",
    "accelerator": "none",
    "batch": 4,
    "tensors": [{"tensor": "w", "numel": 200_000, "forward_s": 0.01, "backward_s": 0.02}],
}
BYTES, FULL = "bytegrad", "gradient_allreduce"  # as many steps to an accuracy, but longer ones
SLOWMO = {"name": "slowmo", "sync_every": 12}
CANDIDATES = {
    "cluster": CLUSTER,
    "workload": "bert_large",
    "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.5},
    "steps": 40,
    "until_steady": True,
}


@unittest.skipUnless(worlds()["sim"], "this build has no simulator")
class AdviseAccuracy(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")
        self.write(CLUSTER, "two.json")

    def arguments(self, accuracy: float, *algorithms: Any) -> list[str]:
        self.write(CANDIDATES | {"sweep": {"/algorithm": algorithms}}, "candidates.json")
        return [
            *("advise", "--cluster", "two.json", "--profile", "profile:one.json", "--range", "1.1"),
            *("--candidates", "candidates.json", "--target", f"accuracy={accuracy}"),
        ]

    def advise(self, accuracy: float, *algorithms: Any, more: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
        self.advice = json.loads(self.trigram(*self.arguments(accuracy, *algorithms), *more, "--json").stdout)
        return {c["algorithm"]: c for c in self.advice["candidates"]}

    def test_models_are_evaluated_after_every_step(self) -> None:
        found = self.advise(0.5, FULL)[FULL]
        self.assertAlmostEqual(found["time_to_accuracy_s"] - found["after_s"], found["step_s"], places=4)

    def test_what_is_set_by_hand_is_left(self) -> None:
        found = self.advise(0.5, FULL, more=("--set", "/eval_every=10"))[FULL]
        self.assertAlmostEqual(found["time_to_accuracy_s"], 10 * found["step_s"], places=3)
        self.assertEqual(found["after_s"], 0)
        self.assertTrue(found["coarse"])

    def test_intervals_that_overlap_tie(self) -> None:
        by_name = self.advise(0.5, FULL, BYTES)
        full, coded = by_name[FULL], by_name[BYTES]
        self.assertLess(coded["time_to_accuracy_s"] * 1.01, full["time_to_accuracy_s"])
        self.assertLess(full["after_s"], coded["time_to_accuracy_s"])
        self.assertTrue(self.advice["tie"])
        self.assertEqual([full["tied"], coded["tied"]], [True, True])
        self.assertEqual([full["behind"], coded["behind"]], [None, None])
        out = self.trigram(*self.arguments(0.5, FULL, BYTES)).stdout
        self.assertIn(f"tie, as far as evaluations tell: {BYTES} ~; {FULL} ~\n", out)
        self.assertNotIn("% behind", out)
        self.assertIn("~ coarse: fewer than five evaluations until then", out)

    def test_intervals_are_those_of_the_table(self) -> None:
        by_name = self.advise(0.5, FULL, BYTES)
        out = self.trigram(*self.arguments(0.5, FULL, BYTES)).stdout
        table = self.trigram("table", self.advice["results"]).stdout
        for found in by_name.values():
            ends = found["after_s"], found["time_to_accuracy_s"]
            self.assertIn("{:.3f}–{:.3f} ~".format(*ends), out)
            in_ms = "{:.0f}–{:.0f} ~".format(*(1e3 * end for end in ends))
            self.assertRegex(table, rf"{found['algorithm']} .* {in_ms} \*")

    def test_what_is_reached_at_the_first_evaluation_is_a_bound(self) -> None:
        by_name = self.advise(0.1, FULL, BYTES, more=("--set", "/eval_every=10"))
        self.assertTrue(self.advice["tie"])
        out = self.trigram(*self.arguments(0.1, FULL, BYTES), "--set", "/eval_every=10").stdout
        self.assertRegex(out, rf"{BYTES} .* ≤{by_name[BYTES]['time_to_accuracy_s']:.3f} ~ .* tie\n")

    def test_intervals_that_do_not_overlap_are_ranked(self) -> None:
        by_name = self.advise(0.7, BYTES, FULL)
        self.assertFalse(self.advice["tie"])
        self.assertGreater(by_name[FULL]["after_s"], by_name[BYTES]["time_to_accuracy_s"])
        self.assertGreater(by_name[FULL]["behind"], 0.1)
        self.assertFalse(by_name[BYTES]["coarse"])

    def test_who_is_there_before_its_first_average_is_judged_at_it(self) -> None:
        found = self.advise(0.3, BYTES, SLOWMO)["slowmo"]
        self.assertIsNone(found["not_compared"])
        self.assertAlmostEqual(found["time_to_accuracy_s"], 12 * found["step_s"], places=3)


if __name__ == "__main__":
    unittest.main()
