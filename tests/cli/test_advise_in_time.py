"""Advice assumes that networks that change with time are in their final state. It warns if the user sets another
state."""

from __future__ import annotations

import json
from typing import Any

from advice import AdviseTest
from harness import one_tensor_profile

NBYTES = 4_000_000
PROFILE = one_tensor_profile(NBYTES // 4, 0.4e-3, 0.6e-3, accelerator="none")
FULL = {"name": "gradient_allreduce", "overlap": False, "allreduce": "recursive_doubling"}
BURST = {"shaping": {"rate": "1Gbps", "depth": "10GB"}}
CHANGE = {"profile": [{"at": "1s", "bandwidth": 0.1}]}
SLOW_S = 1e-3 + 50e-6 + NBYTES / (1e9 / 8)  # at 1 Gbps, the bandwidth after the burst and after the change


class ChangingNetworks(AdviseTest):
    def advise(self, inter: dict[str, Any], *more: str) -> tuple[str, float]:
        """The output, and the step time of the only candidate."""
        self.write(PROFILE, "one.json")
        cluster = {"nodes": 2, "inter": {"bandwidth": "10Gbps", "latency": "50us"} | inter}
        self.write(cluster, "two.json")
        candidates = {"cluster": cluster, "workload": "bert_large", "steps": 10, "sweep": {"/algorithm": [FULL]}}
        self.write(candidates, "candidates.json")
        command = self.command("two", "--range", "1.1", *more)
        text, answer = self.text_and_answer(command)
        return text, answer["candidates"][0]["step_s"]

    def test_buckets_begin_without_saved_credit(self) -> None:
        out, step_s = self.advise(BURST)
        self.assertAlmostEqual(step_s, SLOW_S, delta=0.05 * SLOW_S)
        self.assertIn("assumed: token buckets start without saved credit", out)
        self.assertIn("--set /cluster/inter/shaping/initial=10GB starts with it\n", out)
        self.assertNotIn("warning:", out)

    def test_initial_credit_that_is_set_is_a_warning(self) -> None:
        out, step_s = self.advise(BURST, "--set", "/cluster/inter/shaping/initial=10GB")
        self.assertLess(step_s, 0.2 * SLOW_S)
        self.assertIn("warning: token buckets start with 10GB of credit: each row covers the time until", out)
        self.assertNotIn("assumed: token", out)

    def test_links_are_as_after_their_last_change(self) -> None:
        out, step_s = self.advise(CHANGE)
        self.assertAlmostEqual(step_s, SLOW_S, delta=0.01 * SLOW_S)
        self.assertIn("assumed: links between nodes have 0.1 x their bandwidth and 1 x their latency", out)
        self.assertIn("only at 1s: its last change holds in the long run; ", out)

    def test_link_changes_that_are_set_are_a_warning(self) -> None:
        profile = json.dumps(CHANGE["profile"])
        out, step_s = self.advise(CHANGE, "--set", f"/cluster/inter/profile={profile}")
        self.assertLess(step_s, 0.2 * SLOW_S)
        self.assertIn("warning: links between nodes change until 1s: each row covers the time until", out)

    def test_constant_networks_get_no_remark(self) -> None:
        for inter in ({}, {"shaping": {"rate": "1Gbps"}}, {"profile": [{"at": "0s", "bandwidth": 0.1}]}):
            with self.subTest(inter):
                out, _ = self.advise(inter)
                self.assertNotIn("assumed: token", out)
                self.assertNotIn("assumed: links", out)
