"""`trigram advise --mtbf`: what failures and checkpoints cost, against the formulas of Daly and Young."""

from __future__ import annotations

import math
from typing import Any

from advice import AdviseTest

NODES = 4
CLUSTER = {"nodes": NODES, "inter": {"bandwidth": "1Gbps", "latency": "50us"}}
PROFILE = {
    "name": "one",
    "accelerator": "none",
    "batch": 4,
    "tensors": [{"tensor": "w", "numel": 50_000_000, "forward_s": 0.02, "backward_s": 0.04}],
}


class Failures(AdviseTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")
        self.write(CLUSTER, "four.json")
        sweep = {"/algorithm": ["gradient_allreduce", "bytegrad"]}
        config = {"cluster": CLUSTER, "workload": "bert_large", "steps": 20, "until_steady": True, "sweep": sweep}
        self.write(config, "candidates.json")

    def candidates(self, *more: str) -> dict[str, dict[str, Any]]:
        answer = self.answer(self.command("four", "--range", "1.1", *more))
        return {c["algorithm"]: c for c in answer["candidates"]}

    def test_goodput_follows_the_formulas(self) -> None:
        without = self.candidates()
        self.assertNotIn("goodput", without["bytegrad"])
        mtbf_s, restart_s, checkpoint_s = 7200.0, 100.0, 20.0
        options = ("--mtbf", "2h", "--detection", "10s", "--restart", "90s", "--checkpoint-time", "20s")
        for more, every in (((), None), (("--checkpoint-every", "1000"), 1000)):
            found = self.candidates(*options, *more)
            for name, candidate in found.items():
                step_s = candidate["step_s"]
                self.assertAlmostEqual(step_s, without[name]["step_s"])
                rate = NODES / mtbf_s
                steps = every or round(math.sqrt(2 * checkpoint_s / rate) / step_s)
                self.assertEqual(candidate["checkpoint_every"], steps)
                segment_s = (1 / rate + restart_s) * (math.exp(rate * (steps * step_s + checkpoint_s)) - 1)
                self.assertAlmostEqual(candidate["goodput"], steps * step_s / segment_s)
                expected = candidate["goodput"] * without[name]["samples_per_s"]
                self.assertAlmostEqual(candidate["samples_per_s"], expected)
            slow, fast = found["gradient_allreduce"], found["bytegrad"]
            self.assertGreater(slow["step_s"], 2 * fast["step_s"])
            self.assertAlmostEqual(slow["behind"], fast["samples_per_s"] / slow["samples_per_s"] - 1)

    def test_the_table_shows_it_and_says_what_is_assumed(self) -> None:
        command = self.command("four", "--range", "1.1", "--mtbf", "2h")
        out = self.trigram(*command).stdout
        self.assertIn("every other algorithm begins again at its last checkpoint", out)
        self.assertRegex(out, r"step \[ms\] +goodput +samples/s")
        self.assertRegex(out, r"bytegrad .* 8\d\.\d % ")

    def test_workers_that_carry_on_are_there_for_most_of_the_time(self) -> None:
        sweep = {"/algorithm": ["gradient_allreduce", "adpsgd"]}
        config = {"cluster": CLUSTER, "workload": "bert_large", "steps": 20, "sweep": sweep}
        self.write(config, "candidates.json")
        found = self.candidates("--mtbf", "10min", "--detection", "10s", "--restart", "50s")
        self.assertFalse(found["gradient_allreduce"]["carries_on"])
        self.assertTrue(found["adpsgd"]["carries_on"])
        self.assertIsNone(found["adpsgd"]["checkpoint_every"])
        self.assertAlmostEqual(found["adpsgd"]["goodput"], 600 / (600 + 60))
        self.assertLess(found["gradient_allreduce"]["goodput"], found["adpsgd"]["goodput"])

    def test_slow_steps_lose_more_with_an_interval_in_steps(self) -> None:
        found = self.candidates("--mtbf", "10min", "--checkpoint-every", "500", "--checkpoint-time", "1s")
        self.assertLess(found["gradient_allreduce"]["goodput"], 0.9 * found["bytegrad"]["goodput"])

    def test_mistakes_are_refused(self) -> None:
        for more, expected in (
            (("--mtbf", "24"), "--mtbf: "),
            (("--mtbf", "0s"), "--mtbf: "),
            (("--mtbf", ""), "--mtbf: "),
            (("--restart", "1min"), "--restart: has no effect here; expected --mtbf beside it"),
            (("--checkpoint-every", "5"), "--checkpoint-every: has no effect here"),
        ):
            with self.subTest(more):
                self.assertIn(expected, self.refusal(*self.command("four", *more)))
