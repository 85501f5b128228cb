"""The candidates of advice: one list for all questions. Candidates whose runs are too short are not compared."""

from __future__ import annotations

import json
from typing import Any

from advice import AdviseTest
from harness import SOURCE, listed, one_tensor_profile

CLUSTER = {"nodes": 2, "inter": {"bandwidth": "1Gbps", "latency": "50us"}}
PROFILE = one_tensor_profile(1_000_000, 0.001, 0.002)
NEVER = {"name": "diloco", "sync_every": 6000}  # more steps than any run of advice makes
CANDIDATES = {
    "cluster": CLUSTER,
    "workload": "bert_large",
    "steps": 20,
    "until_steady": True,
    "sweep": {"/algorithm": ["gradient_allreduce", NEVER]},
}


class Candidates(AdviseTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")
        self.write(CLUSTER, "two.json")

    def arguments(self, *more: str) -> list[str]:
        """The command without a list of candidates."""
        return ["advise", "--cluster", "two.json", "--profile", "profile:one.json", "--range", "1.1", *more]

    def advise(self, *more: str) -> dict[str, Any]:
        return self.answer(self.arguments(*more))

    def candidates(self, *algorithms: Any, **changes: Any) -> tuple[str, str]:
        self.write(CANDIDATES | {"sweep": {"/algorithm": algorithms}} | changes, "candidates.json")
        return "--candidates", "candidates.json"

    def test_every_algorithm_is_a_candidate(self) -> None:
        rows = json.loads((SOURCE / "configs" / "advise.json").read_text())["zip"]
        candidates = [row["/algorithm"] for row in rows]
        names = {a if isinstance(a, str) else a["name"] for a in candidates}
        self.assertEqual({a["name"] for a in listed("algorithms")} - {"stages"}, names, "stages are made of the others")

    def test_the_list_is_the_same_for_every_target(self) -> None:
        few = ("--algorithms", "powersgd,onebit_sgd,local_sgd,easgd")
        by_throughput = self.advise(*few)
        training = ("--set", "/steps=4", "--set", "/eval_every=2")
        by_accuracy = self.advise(*few, *training, "--target", "accuracy=0.1")
        settings = [
            {json.dumps(c["settings"]) for c in advice["candidates"]}
            for advice in (by_throughput, by_accuracy)
        ]
        self.assertEqual(*settings)
        self.assertEqual(len(settings[0]), 4)

    def test_the_first_line_names_what_is_ignored(self) -> None:
        few = ("--algorithms", "gradient_allreduce,bytegrad")
        out = self.trigram(*self.arguments(*few)).stdout
        first = out.splitlines()[0]
        self.assertEqual(
            first,
            "by throughput alone: how much is learned in a step is ignored; --target accuracy=A asks for it",
        )
        self.assertEqual(self.advise(*few)["ignored"], "how much is learned in a step is ignored")
        training = ("--set", "/steps=2", "--set", "/eval_every=2", "--target", "accuracy=0.1")
        first = self.trigram(*self.arguments(*few, *training)).stdout.splitlines()[0]
        self.assertIn("until fashion_mnist is 10 % accurate, timed as one", first)

    def test_candidates_that_were_not_requested_are_not_listed_as_left_out(self) -> None:
        advice = self.advise("--algorithms", "gradient_allreduce,bytegrad")
        self.assertNotIn("wagma", "\n".join(advice["left_out"]))
        advice = self.advise("--algorithms", "gradient_allreduce,wagma")
        self.assertIn("wagma", "\n".join(advice["left_out"]))

    def test_a_single_node_has_no_network_between_nodes(self) -> None:
        inside = {"bandwidth": "10Gbps", "latency": "5us"}
        self.write({"nodes": 1, "workers_per_node": 2, "intra": inside}, "two.json")
        few = ("--algorithms", "gradient_allreduce,bytegrad")
        done = self.trigram(*self.arguments(*few))
        self.assertRegex(done.stdout, r"bandwidth inside the node +10 Gbps +down to 9.09 Gbps")
        self.assertRegex(done.stdout, r"latency inside the node +5 us +up to 5.5 us")
        self.assertIn("where ports differ by 1 %", done.stdout)
        for output in (done.stdout, done.stderr):
            self.assertNotIn("between nodes", output)
            self.assertNotIn("NICs", output)
            self.assertNotIn("inter/", output)

    def test_one_worker_needs_no_advice(self) -> None:
        self.write({"nodes": 1, "workers_per_node": 1}, "two.json")
        err = self.trigram(*self.arguments(), code=2).stderr
        self.assertIn("--cluster: has one worker, which has no peer to communicate with", err)

    def test_an_algorithm_that_never_communicates_never_wins(self) -> None:
        options = self.candidates("gradient_allreduce", NEVER)
        advice = self.advise(*options)
        first, last = advice["candidates"]
        self.assertEqual(first["algorithm"], "gradient_allreduce")
        self.assertEqual(last["algorithm"], "diloco")
        self.assertLess(last["step_s"], first["step_s"])
        self.assertIsNone(last["behind"])
        self.assertEqual(
            last["not_compared"], "made 20 of the 6000 steps from one exchange to the next"
        )
        self.assertEqual({flip["first"] for flip in advice["flips"]}, {None})
        out = self.trigram(*self.arguments(*options)).stdout
        self.assertIn("not compared: diloco sync_every=6000: made 20 of the 6000 steps", out)
        self.assertIn("; --set /steps=6000 makes runs long enough, or other options of the algorithm\n", out)
        self.assertIn("best: gradient_allreduce\n", out)

    def test_runs_have_several_cycles_of_their_algorithm(self) -> None:
        """In a long run, the mean step of local SGD contains 1/H of an average."""
        steps = {}
        for every in (1, 50):
            local = {"name": "diloco", "sync_every": every}
            steps[every] = self.advise(*self.candidates(local))["candidates"][0]["step_s"]
        computed = self.advise(*self.candidates(NEVER))["candidates"][0]["step_s"]
        self.assertAlmostEqual(
            steps[50] - computed, (steps[1] - computed) / 50, delta=0.02 * (steps[1] - computed) / 50
        )

    def test_runs_whose_exchanges_take_time_become_longer(self) -> None:
        """An average takes 330 ms, and 20 steps take 60 ms."""
        self.write(CLUSTER | {"inter": {"bandwidth": "100Mbps", "latency": "50us"}}, "two.json")
        options = self.candidates("gradient_allreduce", "async_model_average")
        advice = self.advise(*options)
        first = advice["candidates"][0]
        self.assertEqual(first["algorithm"], "async_model_average")
        self.assertIsNone(first["not_compared"])
        runs = list((self.folder / advice["results"]).glob("*/manifest.json"))
        self.assertEqual(len(runs), 2, "runs that were too short are in another folder")
        self.assertEqual(self.trigram(*self.arguments(*options)).stderr, "", "nothing is left to run")

    def test_candidates_whose_runs_stay_too_short_have_the_number_of_steps_they_need(self) -> None:
        self.write(CLUSTER | {"inter": {"bandwidth": "10kbps", "latency": "50us"}}, "two.json")
        options = self.candidates("gradient_allreduce", "async_model_average")
        last = self.advise(*options)["candidates"][-1]
        self.assertIn("in 5000 steps", last["not_compared"])
        self.assertEqual(last["needs_steps"], 10000)
        last = self.advise(*options, "--set", "/steps=20")["candidates"][-1]
        self.assertEqual(last["needs_steps"], 40)

    def test_a_warm_up_that_is_too_long_is_named_with_the_steps_it_needs(self) -> None:
        advice = self.advise(*self.candidates("gradient_allreduce", "zeroone_adam", optimizer="adam"))
        last = advice["candidates"][-1]
        self.assertRegex(last["not_compared"], "all of its warm-up of 1308")
        self.assertGreater(last["needs_steps"], 130_000)

    def test_a_warm_up_does_not_count(self) -> None:
        post = {"name": "post_local_sgd", "switch_step": 30, "sync_every": 4, "bucket": "1GB"}
        advice = self.advise(*self.candidates(post, {"name": "local_sgd", "sync_every": 4}))
        first, second = advice["candidates"]
        self.assertAlmostEqual(first["step_s"], second["step_s"], delta=1e-6)
        stopped = self.advise(*self.candidates(post), "--set", "/steps=30")
        self.assertIn("all of its warm-up of 30", stopped["candidates"][0]["not_compared"])

    def test_a_target_reached_without_an_exchange_counts_at_the_first_exchange(self) -> None:
        options = self.candidates(
            "gradient_allreduce",
            {"name": "local_sgd", "sync_every": 10},
            workload="fashion_mnist",
            until_steady=False,
            eval_every=2,
        )
        advice = self.advise(*options, "--target", "accuracy=0.1")
        by_name = {c["algorithm"]: c for c in advice["candidates"]}
        local = by_name["local_sgd"]
        self.assertIsNone(local["not_compared"])
        self.assertAlmostEqual(local["time_to_accuracy_s"], 10 * local["step_s"])
        never = self.advise(*self.candidates(
            "gradient_allreduce",
            {"name": "local_sgd", "sync_every": 30},
            workload="fashion_mnist",
            until_steady=False,
            eval_every=2,
        ), "--target", "accuracy=0.1")
        self.assertEqual(never["candidates"][0]["algorithm"], "gradient_allreduce")
        self.assertIn("made 1 of the 30 steps", never["candidates"][1]["not_compared"])
        self.assertIsNone(never["candidates"][1]["time_to_accuracy_s"])

    def test_runs_record_the_length_of_a_cycle_and_tables_mark_short_runs(self) -> None:
        config = {
            "cluster": CLUSTER,
            "workload": "profile:one.json",
            "steps": 10,
            "sweep": {"/algorithm": ["gradient_allreduce", "diloco"]},
        }
        out = self.trigram("run", self.write(config), table=True).stdout
        by_name = {m["experiment"]["algorithm"]["name"]: m["summary"] for m in self.manifests()}
        self.assertEqual(by_name["diloco"]["cycle_steps"], 500)
        self.assertNotIn("cycle_steps", by_name["gradient_allreduce"])
        self.assertRegex(out, r"gradient_allreduce +\d+\.\d+ \*")
        self.assertRegex(out, r"diloco ‡ +\d+\.\d+ ")
        self.assertIn("‡ never best: made 10 of the 500 steps", out)
