"""Advice warns if it depends on exactly equal NICs.

When twelve workers of three nodes average gradients of eight bits, their messages run in lock step. If NICs differ by
1 %, messages contend in the NICs instead, and a step takes a quarter longer.
"""

from __future__ import annotations

from typing import Any

from advice import AdviseTest

CLUSTER = {"nodes": 3, "workers_per_node": 4, "inter": {"bandwidth": "10Gbps", "latency": "50us"}}
PROFILE = {
    "name": "thirty",
    "accelerator": "none",
    "batch": 4,
    "tensors": [{"tensor": f"w{i}", "numel": 2_621_440, "forward_s": 0.1e-3, "backward_s": 0.2e-3} for i in range(30)],
}
LOCK_STEP = {"name": "bytegrad", "hierarchical": False}
RINGS = {"name": "half_precision_allreduce"}
# Slower than LOCK_STEP if all NICs are equal, else faster.
LEADERS = {"name": "gossipgrad", "hierarchical": True, "overlap": False}


class Unequal(AdviseTest):
    def advise(self, *algorithms: Any, **cluster: Any) -> tuple[str, dict[str, Any]]:
        self.write(PROFILE, "one.json")
        self.write(CLUSTER | cluster, "twelve.json")
        candidates = {"cluster": CLUSTER, "workload": "bert_large", "steps": 4}
        self.write(candidates | {"sweep": {"/algorithm": algorithms}}, "candidates.json")
        command = self.command("twelve", "--range", "1.1")
        return self.text_and_answer(command)

    def test_a_winner_that_loses_where_nics_differ_is_a_warning(self) -> None:
        text, advice = self.advise(LOCK_STEP, LEADERS)
        self.assertEqual(advice["candidates"][0]["settings"], {"/algorithm": LOCK_STEP})
        rows = advice["where_nics_differ"]
        self.assertEqual(rows[0]["settings"], {"/algorithm": LEADERS})
        self.assertIn("warning: where NICs differ by 1 %, gossipgrad hierarchical=true overlap=false is first\n", text)
        self.assertTrue(rows[1]["changes"])
        self.assertGreater(rows[1]["least_more"], 0.1)
        self.assertGreaterEqual(rows[1]["most_more"], rows[1]["least_more"])
        self.assertIn("warning: where NICs differ by 1 %, bytegrad hierarchical=false takes +", text)

    def test_a_winner_that_stays_first_where_nics_differ_gets_one_line(self) -> None:
        text, advice = self.advise(RINGS, LEADERS)
        self.assertIn("\nwhere NICs differ by 1 %, it is still first\n", text)
        self.assertNotIn("warning: where NICs", text)
        for row in advice["where_nics_differ"]:
            self.assertFalse(row["changes"])
            self.assertLess(abs(row["most_more"]), 0.02)

    def test_steps_that_still_become_longer_are_not_those_of_the_long_run(self) -> None:
        """Workers that wait only for their peers begin in lock step, and leave it if NICs differ. Messages then share
        NICs, so steps take longer for the rest of the run."""
        cluster = {"nodes": 8, "workers_per_node": 1, "bandwidth_jitter": 0.05}
        _, short = self.advise("sgp", **cluster)
        long = self.answer(self.command("twelve", "--range", "1.1", "--set", "/steps=640"))
        self.assertAlmostEqual(short["candidates"][0]["step_s"] / long["candidates"][0]["step_s"], 1, delta=0.1)
        (cut,) = self.answer(self.command("twelve", "--range", "1.1", "--set", "/steps=40"))["candidates"]
        self.assertRegex(cut["not_compared"], "took .* ms a step in the first half of its steps and .* in the second")
        self.assertEqual(cut["needs_steps"], 80)

    def test_a_candidate_that_leaves_lock_step_late_is_not_first(self) -> None:
        """Pairs of workers that differ by 3 % exchange models over NICs that they use in turn for a thousand steps, and
        then share. The first 160 steps show nothing of that."""
        network = {"bandwidth": "6Gbps", "latency": "300us"}
        self.write({"nodes": 8, "workers_per_node": 1, "inter": network, "worker_variation": 0.03}, "eight.json")
        question = ["advise", "--cluster", "eight.json", "--profile", "vgg16", "--algorithms", "swarm_sgd,topk"]
        question += ["--range", "1.1"]
        text, answer = self.text_and_answer(question)
        first, second = answer["candidates"]
        self.assertEqual([first["algorithm"], second["algorithm"]], ["topk", "swarm_sgd"])
        self.assertRegex(text, r"warning: workers or NICs differ, .* slower than its row says \(swarm_sgd\)")
        short = self.answer([*question, "--set", "/steps=160"])["candidates"]
        self.assertEqual(short[0]["algorithm"], "swarm_sgd")
        self.assertGreater(second["step_s"], 1.5 * short[0]["step_s"])

    def test_the_table_of_the_runs_repeats_the_warnings_of_the_answer(self) -> None:
        _, advice = self.advise(LOCK_STEP, LEADERS)
        table = self.trigram("table", advice["results"]).stdout
        for sentence in advice["answer_warnings"]:
            self.assertIn(f"trigram advise warned: {sentence}\n", table)
        self.assertIn("trigram advise warned: where NICs differ by 1 %, gossipgrad", table)

    def test_the_slowest_pace_counts_for_all_candidates(self) -> None:
        """A slow worker that nobody waits for. Candidates differ in how far apart the paces of their workers are."""
        slow = {"nodes": 8, "workers_per_node": 1, "slow_workers": [{"rank": 3, "factor": 3}]}
        text, advice = self.advise("async_model_average", {"name": "swarm_sgd", "local_steps": 12}, RINGS, **slow)
        slowest = max(8 * PROFILE["batch"] / c["step_s"] for c in advice["candidates"])
        self.assertRegex(text, rf"at the pace of each one's slowest worker, \S+ is first with {slowest:.0f} samples/s")

    def test_nics_that_differ_already_are_not_changed(self) -> None:
        text, advice = self.advise(RINGS, "gradient_allreduce", bandwidth_jitter=0.05)
        self.assertEqual(advice["where_nics_differ"], [])
        self.assertNotIn("where NICs", text)
