"""The search for flips uses runs that are long enough. A candidate that is unknown at a setting, because its runs there
are too short, counts neither as ahead nor as behind.

Two workers compute for 3 ms per step and average 4 MB in the background, where an average of 32 Mbit takes its time at
the bandwidth, and no step waits for it. The first average is of equal models, so a run must complete two. Runs have at
most 5,000 steps, which take 15 s.
"""

from __future__ import annotations

import json
from typing import Any

from advice import AdviseTest
from harness import one_tensor_profile

PROFILE = one_tensor_profile(1_000_000, 0.001, 0.002, accelerator="none")
ASYNC, ALLREDUCE, SIGNS = "async_model_average", "gradient_allreduce", "ef_signsgd"
AVERAGE = {"name": ASYNC, "interval": "1us"}
NAME = f"{ASYNC} interval=1us"
CANDIDATES = {"cluster": "two.json", "workload": "bert_large", "steps": 40, "until_steady": True}
BOTH = {"sweep": {"/algorithm": [ALLREDUCE, AVERAGE]}}
NEVER_AVERAGED = "completed no average in 5000 steps except the one at the start of the run, of equal models"


class Unknown(AdviseTest):
    def arguments(self, bandwidth: str, *more: str, candidates: dict[str, Any] = BOTH) -> list[str]:
        self.write({"nodes": 2, "inter": {"bandwidth": bandwidth, "latency": "50us"}}, "two.json")
        self.write(PROFILE, "one.json")
        self.write(CANDIDATES | candidates, "candidates.json")
        return self.command("two", *more)

    def flip(self, advice: dict[str, Any], quantity: str, direction: str) -> dict[str, Any]:
        (flip,) = (f for f in advice["flips"] if (f["quantity"], f["direction"]) == (quantity, direction))
        return flip

    def steps(self, results: str) -> set[int]:
        manifests = (json.loads(p.read_text()) for p in (self.folder / results).glob("*/manifest.json"))
        return {m["experiment"]["steps"] for m in manifests if m["experiment"]["algorithm"]["name"] == ASYNC}

    def test_runs_are_made_longer_at_every_setting_of_the_search(self) -> None:
        """Two averages take 22 of the 40 steps, and 86 steps at a fourth of the bandwidth."""
        advice = self.answer(self.arguments("1Gbps", "--range", "4"))
        self.assertEqual(advice["candidates"][0]["algorithm"], ASYNC)
        for flip in advice["flips"]:
            self.assertIsNone(flip["first"], flip)
            self.assertIsNone(flip["not_known"], flip)
            self.assertEqual(flip["not_compared"], [])
        self.assertEqual(self.steps(advice["results"]), {40}, "of the network as it is")
        self.assertIn(160, self.steps(advice["results"] + "-search"))

    def test_a_best_candidate_that_is_unknown_is_not_beaten(self) -> None:
        arguments = self.arguments("8Mbps", "--range", "4")
        advice = self.answer(arguments)
        self.assertEqual(advice["candidates"][0]["algorithm"], ASYNC)
        flip = self.flip(advice, "bandwidth", "down")
        self.assertIsNone(flip["first"])
        self.assertEqual(flip["not_known"], NEVER_AVERAGED)
        self.assertNotIn("flips_factor", flip)
        slowest = 64 / 8 / 15  # as a factor: the slowest bandwidth that averages twice within 5,000 steps
        self.assertAlmostEqual(flip["holds_factor"], slowest, delta=0.02 * slowest)
        self.assertAlmostEqual(flip["unknown_factor"], slowest, delta=0.02 * slowest)
        self.assertLess(flip["unknown_Bps"], flip["holds_Bps"])
        self.assertIsNone(self.flip(advice, "bandwidth", "up")["not_known"])
        self.assertRegex(
            self.trigram(*arguments).stdout,
            rf"8 Mbps +below 4\.2\d Mbps \(x0\.5\d+\) +not known: {NAME} {NEVER_AVERAGED}\n",
        )

    def test_a_challenger_that_is_unknown_is_named(self) -> None:
        """The target accuracy takes 6 steps. An average takes about one step, and on a slower network all 6."""
        momentum = {"name": "sgd", "lr": 0.05, "momentum": 0.5}
        rows = [
            {"/algorithm": SIGNS, "/optimizer": momentum},
            {"/algorithm": AVERAGE, "/optimizer": {"name": "sgd", "lr": 0.02}},
        ]
        options = ("--range", "128", "--target", "accuracy=0.5")
        arguments = self.arguments("20Gbps", *options, candidates={"zip": rows})
        advice = self.answer(arguments)
        self.assertEqual([c["algorithm"] for c in advice["candidates"]], [SIGNS, ASYNC])
        self.assertIsNone(advice["candidates"][1]["not_compared"])
        flip = self.flip(advice, "bandwidth", "down")
        self.assertIsNone(flip["first"])
        self.assertIsNone(flip["not_known"])
        self.assertEqual(flip["not_compared"], [rows[1]])
        self.assertIn(f"the same (not compared: {NAME} lr=0.02)\n", self.trigram(*arguments).stdout)

    def test_runs_that_reach_their_target_early_do_not_become_longer(self) -> None:
        """A run that reaches its target before its first average would end at the same step if it were longer."""
        arguments = self.arguments("10kbps", "--range", "1.1", "--target", "accuracy=0.3")
        last = self.answer(arguments)["candidates"][-1]
        self.assertEqual(last["algorithm"], ASYNC)
        self.assertRegex(last["not_compared"], "in [0-9] steps")

    def test_candidates_that_are_unknown_where_nics_differ_are_named(self) -> None:
        arguments = self.arguments("4.25Mbps", "--range", "1.1")
        advice = self.answer(arguments)
        self.assertIsNone(advice["candidates"][0]["not_compared"])
        last = advice["where_nics_differ"][-1]
        self.assertEqual(last["settings"], {"/algorithm": AVERAGE})
        self.assertEqual(last["not_compared"], NEVER_AVERAGED)
        self.assertIsNone(last["most_more"])
        out = self.trigram(*arguments).stdout
        self.assertIn("warning: where NICs differ by 1 %, it is not known who is first\n", out)
        self.assertIn(f"not compared where NICs differ by 1 %: {NAME}: {NEVER_AVERAGED}\n", out)
