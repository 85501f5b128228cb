"""Means cover whole cycles, and runs that are too short to show their algorithm's cost are marked."""

from __future__ import annotations

import json
import re
from typing import Any

from harness import CommandTest, needs_simulator, one_tensor_profile

CLUSTER = {"nodes": 4, "workers_per_node": 2, "inter": {"bandwidth": "1Gbps", "latency": "50us"}}
PROFILE = one_tensor_profile(1_000_000, 0.001, 0.002)
DISTINGUISHING = ("until_steady", "eval_every")
SWARM = {"name": "swarm_sgd", "interval": "geometric"}


@needs_simulator
class WholeCycles(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")

    def run_all(self, *algorithms: Any, steps: int, table: bool = True, **changes: Any) -> str:
        """Runs the algorithms, and returns the output: a table, if `table`."""
        config = {
            "cluster": CLUSTER,
            "workload": "profile:one.json",
            "optimizer": "adam",
            "steps": steps,
            "sweep": {"/algorithm": list(algorithms)},
        }
        return self.trigram("run", self.write(config | changes), "--force", table=table).stdout

    def test_more_fragments_than_steps_between_exchanges(self) -> None:
        algorithm = {"name": "streaming_diloco", "sync_every": 1, "fragments": 2, "overlap_steps": 0}
        self.write(PROFILE | {"tensors": [{**PROFILE["tensors"][0], "tensor": name} for name in ("a", "b")]}, "one.json")
        self.assertGreater(self.summary(algorithm | {"spacing": "rounded"}, steps=6)["bytes_inter"], 0)

    def summary(self, algorithm: Any, steps: int, **changes: Any) -> dict[str, Any]:
        self.run_all(algorithm, steps=steps, table=False, **changes)
        (found,) = (
            m["summary"]
            for m in self.manifests()
            if m["experiment"]["steps"] == steps
            and all(m["experiment"]["algorithm"][k] == v for k, v in algorithm.items())
            and all(m["experiment"][k] == v for k, v in changes.items() if k in DISTINGUISHING)
        )
        return found

    def lines(self, *algorithms: Any, steps: int, **changes: Any) -> dict[str, list[str]]:
        """By algorithm: its step time in the table, and its mark, which is * for the shortest time and ‡ for short
        runs."""
        table = self.run_all(*algorithms, steps=steps, **changes)
        rows = re.findall(r"^(\w+)\S*(?: \(.*?\))?( ‡)? +([\d.]+)( \*)? ", table, re.MULTILINE)
        return {name: [step, (short + best).strip()] for name, short, step, best in rows}

    def test_a_step_costs_the_same_wherever_a_run_ends_in_a_cycle(self) -> None:
        local = {"name": "local_sgd", "sync_every": 4}
        whole = self.summary(local, 8)
        self.assertIsNone(whole["rates"]["over"])
        for steps in (9, 10, 11):
            cut = self.summary(local, steps)
            for key in ("step_s", "samples_per_s", "exposed_s", "communication_s", "compute_s"):
                self.assertAlmostEqual(cut[key] / whole[key], 1, delta=1e-9, msg=f"{key}, {steps}")
            self.assertEqual(cut["rates"]["bytes_inter"], whole["bytes_inter"])
            self.assertEqual(cut["rates"]["over"], f"8 of {steps} steps: whole cycles of 4")
            self.assertEqual((cut["steps"], cut["shortfall"]), (steps, None))
            self.assertGreater(cut["time_s"], whole["time_s"])

    def test_a_run_that_ends_within_a_cycle_never_wins(self) -> None:
        """In seven steps there is one average, which is less than the long-run rate of one average in four steps."""
        rivals = ({"name": "dpsgd", "graph": "ring"}, {"name": "local_sgd", "sync_every": 4})
        inter = {"bandwidth": "1Gbps", "latency": "50us"}
        stars = [
            [name for name, (_, mark) in self.lines(*rivals, steps=s).items() if mark == "*"] for s in (4, 5, 6, 7, 400)
        ]
        self.assertEqual(len({tuple(s) for s in stars}), 1, stars)
        table = self.run_all(*rivals, steps=7, cluster=CLUSTER | {"inter": inter})
        self.assertIn("means over 4 of 7 steps: whole cycles of 4: local_sgd\n", table)

    def test_means_begin_after_a_warm_up(self) -> None:
        """The means equal those over the steps after the warm-up, with and without steps that are left out because they
        repeat."""
        post = {"name": "post_local_sgd", "switch_step": 30, "sync_every": 4}
        local = self.summary({"name": "local_sgd", "sync_every": 4}, 40)
        for steady in (False, True):
            late = self.summary(post, 73, until_steady=steady)
            self.assertEqual(late["rates"]["over"], "40 of 73 steps: whole cycles of 4 after a warm-up of 30")
            self.assertEqual(late["steady"] is not None, steady)
            self.assertAlmostEqual(late["step_s"] / local["step_s"], 1, delta=0.01)

    def test_steps_that_were_left_out_count_in_whole_cycles(self) -> None:
        local = {"name": "local_sgd", "sync_every": 4}
        every, short = (self.summary(local, 103, until_steady=s) for s in (False, True))
        self.assertGreater(short["steady"]["left_out"], 0)
        for key in ("step_s", "samples_per_s", "exposed_s", "time_s", "bytes_inter"):
            self.assertAlmostEqual(short[key] / every[key], 1, delta=1e-9, msg=key)
        for key in every["rates"]:
            self.assertEqual(short["rates"][key], every["rates"][key], key)

    def test_runs_that_stop_early_have_the_same_step_time(self) -> None:
        """A run that ends at its target accuracy may end anywhere in a cycle."""
        training = {
            "workload": {"name": "fashion_mnist", "priced_as": "profile:one.json"},
            "target_accuracy": 0.2,
            "optimizer": {"name": "sgd", "lr": 0.05},
        }
        found = {}
        for every in (5, 7, 10):
            summary = self.summary({"name": "local_sgd", "sync_every": 4}, 40, eval_every=every, **training)
            self.assertEqual(summary["steps"], every)
            found[every] = summary["step_s"]
        self.assertAlmostEqual(found[5] / found[7], 1, delta=1e-9)
        self.assertAlmostEqual(found[10] / found[5], 1, delta=0.05)

    def test_short_runs_are_marked_and_never_win(self) -> None:
        average = {"name": "async_model_average", "interval": "1000s"}
        for algorithm, steps, why in (
            (SWARM | {"local_steps": 10}, 12, "sent nothing between its nodes in 12 steps"),
            (SWARM | {"local_steps": 10}, 40, "made 40 of the 100 steps of 10 exchanges"),
            (average, 10, "completed no average in 10 steps"),
            ({"name": "onebit_adam", "warmup_steps": 100}, 20, "all of its warm-up of 100"),
            ({"name": "qadam", "warmup_steps": 100}, 20, "all of its warm-up of 100"),
            ({"name": "wagma", "tau": 100}, 10, "made 10 of the 100 steps of its cycle"),
            ({"name": "eager_sgd", "sync_every": 100}, 10, "made 10 of the 100 steps"),
            ({"name": "moshpit", "sync_every": 4}, 7, "made 7 of the 8 steps of its cycle"),
            ({"name": "local_sgd", "sync_every": 9}, 8, "made 8 of the 9 steps from one exchange"),
            ({"name": "adpsgd"}, 4, "made 4 of the 10 steps of 10 exchanges"),
        ):
            with self.subTest(algorithm=algorithm):
                rival = {"name": "gradient_allreduce", "synchronize": True}
                table = self.run_all(algorithm, rival, steps=steps)
                self.assertRegex(table, rf"(?m)^{algorithm['name']}\S* ‡ +[\d.]+ ")
                self.assertRegex(table, r"(?m)^gradient_allreduce +[\d.]+ \*")
                self.assertRegex(table, rf"(?m)^‡ never best.*: .*{re.escape(why)}")

    def test_bytes_of_few_averages_are_a_warning(self) -> None:
        """No step waits for an average, so times per step are not affected."""
        rival = {"name": "gradient_allreduce", "synchronize": True}
        warning = r"bytes per step are of \d averages?, the first of which begins with the run"
        for interval, steps, few in (("200ms", 400, True), ("1us", 400, False)):
            average = {"name": "async_model_average", "interval": interval}
            with self.subTest(interval=interval):
                table = self.run_all(average, rival, steps=steps)
                self.assertRegex(table, r"(?m)^async_model_average\S* +[\d.]+ \*")
                self.assertEqual(re.search(warning, table) is not None, few)

    def test_the_average_at_the_start_of_the_run_does_not_count(self) -> None:
        """It averages equal models. Until the next average, no worker receives anything new from another worker."""
        average = {"name": "async_model_average", "interval": "60s"}
        found = self.summary(average, 20)["shortfall"]
        self.assertEqual(found["of"], "run")
        self.assertIn("completed no average in 20 steps except the one at the start of the run", found["why"])

    def test_few_averages_that_slow_computation_down_are_too_few(self) -> None:
        """A short run may have one average more than its share, whose traffic slows steps down."""
        accelerator = {"name": "V100", "overlap_slowdown": 1.5}
        slowed = CLUSTER | {"accelerator": accelerator}
        average = {"name": "async_model_average", "interval": "50ms"}
        rival = {"name": "gradient_allreduce", "synchronize": True}
        table = self.run_all(average, rival, steps=60, cluster=slowed)
        self.assertRegex(table, r"(?m)^async_model_average\S* ‡ +[\d.]+ ")
        self.assertRegex(table, "completed [0-9] of 10 averages, whose traffic slows computation down")

    def test_the_timeline_shows_a_step_that_exchanges(self) -> None:
        for algorithm, shown in (
            ({"name": "gradient_allreduce"}, 2),
            ({"name": "local_sgd", "sync_every": 8}, 7),
            ({"name": "local_sgd", "sync_every": 2}, 3),
            ({"name": "onebit_adam", "warmup_steps": 5}, 7),
            ({"name": "local_sgd", "sync_every": 8, "steps": 5}, 4),
        ):
            with self.subTest(algorithm=algorithm):
                steps = algorithm.pop("steps", 24)
                self.assertEqual(self.summary(algorithm, steps)["shown_step"], shown)

    def test_means_over_few_random_draws_are_a_warning(self) -> None:
        """With a deviation of a third, the standard error is a tenth over ten steps, and 1/300 over ten thousand."""
        warning = "/cluster/run_times is drawn at random, and the mean step time comes from one draw of few steps"
        drawn = CLUSTER | {"nodes": 1, "run_times": {"kind": "lognormal", "variation": 0.33}}
        for steps, few in ((10, True), (10_000, False)):
            with self.subTest(steps=steps):
                table = self.run_all("gradient_allreduce", steps=steps, cluster=drawn)
                self.assertEqual(warning in table, few)
        self.assertNotIn("drawn at random", self.run_all("gradient_allreduce", steps=10))

    def test_first_steps_without_drops_are_a_warm_up(self) -> None:
        """A worker that drops half of its micro-batches does so only from the fourth step on."""
        dropping = {"name": "dropcompute", "micro_batches": 8, "threshold": "11ms"}
        short, long = self.summary(dropping, 13), self.summary(dropping, 40)
        self.assertEqual([s["shortfall"] for s in (short, long)], [None, None])
        self.assertAlmostEqual(short["samples_per_s"] / long["samples_per_s"], 1, delta=0.001)
        self.assertEqual(short["rates"]["from_step"], 3)
        self.assertEqual(self.summary(dropping, 12)["shortfall"]["of"], "rates")

    def test_runs_that_end_in_their_warm_up_are_not_compared(self) -> None:
        for algorithm, steps in (
            ({"name": "onebit_adam", "warmup_steps": 100}, 20),
            ({"name": "post_local_sgd", "switch_step": 10, "sync_every": 4}, 10),
            ({"name": "post_local_sgd", "switch_step": 10, "sync_every": 4}, 13),
        ):
            with self.subTest(algorithm=algorithm, steps=steps):
                self.assertEqual(self.summary(algorithm, steps)["shortfall"]["of"], "run")

    def test_long_runs_are_not_marked(self) -> None:
        """Runs with the smallest number of steps that is enough, and a run of one worker, which has no peer."""
        for algorithm, steps in (
            (SWARM | {"local_steps": 2}, 20),
            ({"name": "async_model_average", "interval": "1us"}, 400),
            ({"name": "onebit_adam", "warmup_steps": 5}, 6),
            ({"name": "wagma", "tau": 5}, 10),
            ({"name": "eager_sgd", "sync_every": 12}, 12),
            ({"name": "moshpit", "sync_every": 4}, 8),
            ({"name": "adpsgd"}, 10),
        ):
            self.assertIsNone(self.summary(algorithm, steps)["shortfall"], algorithm)
        one_worker = {"nodes": 1, "workers_per_node": 1}
        local = {"name": "local_sgd", "sync_every": 9}
        self.assertIsNone(self.summary(local, 8, cluster=one_worker)["shortfall"])

    def test_bytes_that_stay_inside_nodes_are_no_exchange(self) -> None:
        """The first axis of the grid is the workers of a node."""
        inside = {"name": "moshpit", "grid": [2, 4], "sync_every": 1}
        summaries = [self.summary(inside, 1), self.summary(inside, 2)]
        reasons = [(s["shortfall"] or {}).get("why") for s in summaries]
        self.assertEqual(reasons, ["sent nothing between its nodes in 1 steps", None])

    def test_uneven_paces_are_shown_beside_the_sum(self) -> None:
        slow = {"nodes": 4, "workers_per_node": 1, "inter": {"bandwidth": "100Mbps", "latency": "1ms"}}
        summary = self.summary({"name": "adpsgd"}, 40, cluster=slow)
        slowest, fastest = (summary["paces"][worker] for worker in ("slowest", "fastest"))
        self.assertGreater(slowest["step_s"], 1.5 * fastest["step_s"])
        self.assertAlmostEqual(slowest["samples_per_s"] * slowest["step_s"], PROFILE["batch"])
        table = self.run_all({"name": "adpsgd"}, "gradient_allreduce", steps=40, cluster=slow)
        range_pattern = rf"\({slowest['samples_per_s']:.3g} to {fastest['samples_per_s']:,.0f}\)"
        self.assertRegex(table, rf"(?m)^adpsgd .* {range_pattern}")
        self.assertRegex(table, r"(?m)^gradient_allreduce [^(]*$")
        self.assertIn("samples/s add up workers that do not wait for each other: adpsgd, slowest", table)

    def test_advice_names_the_pace_of_the_slowest_worker(self) -> None:
        slow = {"nodes": 4, "inter": {"bandwidth": "100Mbps", "latency": "1ms"}}
        self.write(slow, "slow.json")
        command = ("advise", "--cluster", "slow.json", "--profile", "profile:one.json")
        few = ("--range", "1.1", "--algorithms", "adpsgd,swarm_sgd,gradient_allreduce")
        out = self.trigram(*command, *few).stdout
        self.assertRegex(out, r"(?m)^1 +adpsgd .* \d+ \([\d.]+ to \d+\) +-$")
        self.assertRegex(out, r"(?m)^warning: adpsgd .*: its slowest worker makes [\d.]+ samples/s")
        self.assertRegex(out, r"(?m)^at the pace of each one's slowest worker, swarm_sgd is first")
        advice = json.loads(self.trigram(*command, *few, "--json").stdout)
        paces = {c["algorithm"]: c["paces"] for c in advice["candidates"]}
        self.assertIsNone(paces["gradient_allreduce"])
        self.assertIn("slowest", paces["adpsgd"])
