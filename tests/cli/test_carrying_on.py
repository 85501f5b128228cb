"""Runs whose workers fail, while the others carry on: what the summary and the tables say, and mistakes."""

from __future__ import annotations

from typing import Any

from harness import CommandTest, experiment, needs_simulator

QUORUM = {"name": "diloco", "sync_every": 4, "quorum": 3, "grace": "1ms"}


def event(kind: str, at_us: float, rank: int, **more: Any) -> dict[str, Any]:
    return {"at": f"{at_us}us", "kind": kind, "rank": rank} | more


class CarryingOn(CommandTest):
    def config(self, failures: Any, **changes: Any) -> dict[str, Any]:
        cluster = {"nodes": 4, "inter": {"bandwidth": "10Gbps", "latency": "20us"}, "failures": failures}
        return experiment(cluster=cluster, algorithm=QUORUM, steps=40, optimizer="adam") | changes

    def summary(self, config: dict[str, Any]) -> dict[str, Any]:
        (manifest,) = self.run_config(config, "--force")
        for path in [*self.results.glob("*/DONE"), *self.results.glob("*/manifest.json")]:
            path.unlink()
        return manifest["summary"]

    @needs_simulator
    def test_a_summary_says_who_was_absent(self) -> None:
        failures = {
            "events": [event("crash", 200, 1), event("leave", 300, 2), event("join", 900, 3)],
            "detection": "50us",
            "restart": "100us",
        }
        summary = self.summary(self.config(failures))
        cost = summary["failures"]
        self.assertEqual(cost["recovery"], "in_place")
        crash, leave, join = cost["absences"]
        self.assertEqual([(a["rank"], a["kind"]) for a in cost["absences"]], [(1, "crash"), (2, "leave"), (3, "join")])
        self.assertGreaterEqual(crash["stopped_s"], 200e-6)
        self.assertGreaterEqual(crash["back_s"], crash["stopped_s"] + 150e-6)
        self.assertAlmostEqual(cost["recovery_s"], crash["back_s"] - crash["stopped_s"])
        self.assertIsNone(leave["back_s"])
        self.assertEqual((join["stopped_s"], join["from_step"]), (0, 0))
        self.assertEqual(cost["epochs"], 4)  # two absences and two newcomers
        absent_s = sum((a["back_s"] or summary["time_s"]) - a["stopped_s"] for a in cost["absences"])
        self.assertAlmostEqual(cost["presence"], 1 - absent_s / (4 * summary["time_s"]))
        self.assertLessEqual(cost["goodput"], cost["presence"])
        self.assertLess(cost["participation"], 0.8)
        self.assertIsNotNone(summary["eval_loss"])
        again = self.summary(self.config(failures))
        for other in (summary, again):
            del other["messages_simulated_per_wall_s"]
        self.assertEqual(again, summary)

    @needs_simulator
    def test_a_summary_says_how_often_workers_were_late(self) -> None:
        config = self.config([], algorithm=QUORUM | {"grace": "10us"})
        config["cluster"]["skew"] = {"smallest": "1ms", "largest": "4ms", "rotates": False}
        cost = self.summary(config)["failures"]
        self.assertEqual(cost["absences"], [])
        self.assertGreater(cost["late_rounds"], 0)
        self.assertLess(cost["participation"], 1)
        self.assertEqual(cost["presence"], 1)
        self.assertLess(cost["goodput"], 1)

    @needs_simulator
    def test_rounds_that_close_before_equal_workers_arrive_lose_their_steps(self) -> None:
        """Without a grace window, a round of four equal workers takes the first three."""
        config = self.config([], algorithm=QUORUM | {"quorum": 3, "grace": "0s"})
        (manifest,) = self.run_config(config, "--force")
        cost, steps, every = manifest["summary"]["failures"], config["steps"], QUORUM["sync_every"]
        self.assertEqual(cost["participation"], 1)
        self.assertEqual(cost["late_rounds"], steps // every)
        self.assertAlmostEqual(cost["goodput"], 1 - cost["late_rounds"] * every / (4 * steps))
        self.assertTrue(any("closed without a worker" in warning for warning in manifest["warnings"]))

    @needs_simulator
    def test_one_can_ask_for_a_restart(self) -> None:
        failures = {"events": [event("crash", 200, 1)], "recovery": "restart"}
        self.assertEqual(self.summary(self.config(failures))["failures"]["recovery"], "restart")
        del failures["recovery"]
        self.assertEqual(self.summary(self.config(failures))["failures"]["recovery"], "in_place")
        for other in ({"checkpoint": {"every": 10}}, {"algorithm": "gradient_allreduce"}):
            self.assertEqual(self.summary(self.config(failures, **other))["failures"]["recovery"], "restart")

    def test_threads_carry_on(self) -> None:
        failures = {"events": [event("crash", 20e3, 1), event("leave", 30e3, 2)], "restart": "20ms"}
        for algorithm in (QUORUM, "moshpit", "swarm_sgd", "adpsgd"):
            with self.subTest(algorithm=algorithm):
                config = self.config(failures, algorithm=algorithm, runtime="threads", steps=100)
                config["cluster"]["skew"] = {"smallest": "1ms", "largest": "2ms"}
                cost = self.summary(config)["failures"]
                self.assertEqual([(a["rank"], a["kind"]) for a in cost["absences"]], [(1, "crash"), (2, "leave")])
                self.assertIsNotNone(cost["absences"][0]["peer"])

    @needs_simulator
    def test_a_model_that_is_lost_is_an_error(self) -> None:
        failures = {"events": [event("crash", 200, rank) for rank in range(4)], "restart": "1ms"}
        failed = self.trigram("run", self.write(self.config(failures)), code=1)
        self.assertIn("no worker is left that has the model", failed.stderr)

    @needs_simulator
    def test_mistakes_are_refused(self) -> None:
        for failures, expected in (
            ([event("crash", 1, 4)], "/cluster/failures/0/rank: expected a rank below 4"),
            ([event("leave", 1, 0), event("leave", 2, 0)], "/cluster/failures/1/rank: expected a worker that is there"),
            (
                [event("crash", 1, 0), event("join", 2, 0)],
                "/cluster/failures/1/rank: expected a worker that is not there",
            ),
        ):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal("run", self.write(self.config(failures))))
        many = self.config([], algorithm=QUORUM | {"quorum": 5})
        self.assertIn(
            "/algorithm/quorum: expected at most 4, the number of workers, not 5", self.refusal("run", self.write(many))
        )
        restarts = self.config([event("leave", 1, 0)], algorithm="gradient_allreduce")
        self.assertIn(
            "/cluster/failures: in a job that restarts, only whole nodes leave and join",
            self.refusal("run", self.write(restarts)),
        )

    @needs_simulator
    def test_a_join_beyond_the_number_of_nodes_is_refused(self) -> None:
        beyond = self.config([{"at": "1ms", "kind": "join", "node": 4}])
        self.assertIn(
            "/cluster/failures: workers carry on, and a node joins that is none of the 4 nodes",
            self.refusal("run", self.write(beyond)),
        )

    @needs_simulator
    def test_absent_workers_are_not_utilised(self) -> None:
        """One of four workers is there for half of the time only, and the others do what they do without it."""
        whole = self.summary(self.config([], workload="resnet50", steps=8))
        leave = [{"at": f"{whole['time_s'] / 2}s", "kind": "leave", "rank": 1}]
        half = self.summary(self.config(leave, workload="resnet50", steps=8))
        presence = half["failures"]["presence"]
        self.assertGreater(presence, 0.8)
        self.assertLess(presence, 0.95)
        self.assertAlmostEqual(half["compute_utilisation"] / whole["compute_utilisation"], presence, delta=0.04)

    @needs_simulator
    def test_options_that_have_no_effect_are_refused(self) -> None:
        crash, leave = [event("crash", 200, 1)], [event("leave", 200, 1)]
        freeze = [event("freeze", 200, 1, **{"for": "1ms"})]
        for failures, algorithm, expected in (
            ({"events": leave, "detection": "1s"}, QUORUM, "/cluster/failures/detection: has no effect"),
            ({"events": freeze, "restart": "1s"}, QUORUM, "/cluster/failures/restart: has no effect"),
            ({"events": leave, "replace": False}, QUORUM, "/cluster/failures/replace: has no effect"),
            (
                {"events": crash, "replace": False},
                "gradient_allreduce",
                "/cluster/failures/replace: has no effect here, where all workers restart",
            ),
        ):
            with self.subTest(expected):
                refusal = self.refusal("run", self.write(self.config(failures, algorithm=algorithm)))
                self.assertIn(expected, refusal)
        # In a sweep, it is left out where it has no effect.
        swept = self.config({"events": crash, "replace": False}, sweep={"/algorithm": [QUORUM, "gradient_allreduce"]})
        self.assertEqual(len(self.run_config(swept, "--force")), 2)

    @needs_simulator
    def test_a_table_says_what_it_cost(self) -> None:
        self.trigram("run", self.write(self.config([event("leave", 100, 1)])), table=True)
        out = self.trigram("table", self.results).stdout
        self.assertRegex(out, r"failures: 1 absence without a restart.*participation \d\d\.\d%; goodput \d\d\.\d%")
