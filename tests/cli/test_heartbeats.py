"""Heartbeats that share links with bulk data: false suspicions on slow links, and the time until a crash is noticed."""

from __future__ import annotations

from typing import Any

from harness import experiment, needs_simulator, one_tensor_profile
from test_node_changes import FailureTest

WINDOW = 3e6
EVERY_S, TIMEOUT_S = 1.0, 3.0
QUORUM = {"name": "diloco", "sync_every": 4, "quorum": 3, "grace": "1s"}


@needs_simulator
class Heartbeats(FailureTest):
    def heartbeats(self, lane: str = "shared", bandwidth: str = "10Mbps", **changes: Any) -> dict[str, Any]:
        """Four workers that average 67 MB: a window waits for 2.4 s at 10 Mbit/s, so that the next heartbeat is 3.4 s
        behind the one before."""
        failures = {"heartbeats": {"every": f"{EVERY_S}s", "timeout": f"{TIMEOUT_S}s", "lane": lane}}
        cluster = {
            "nodes": 4,
            "inter": {"bandwidth": bandwidth, "latency": "10ms"},
            "transport": {"tcp": {"window": f"{WINDOW:.0f}B", "slow_start": False}},
            "failures": failures | changes.pop("failures", {}),
            "skew": {"smallest": "2s", "largest": "3s", "rotates": False},
        }
        self.write(one_tensor_profile(1 << 24, 1e-3, 1e-3), "one.json")
        config = experiment(cluster=cluster, algorithm=QUORUM, workload="profile:one.json", steps=16)
        del config["optimizer"], config["eval_every"]
        return config | changes

    def failures(self, config: dict[str, Any]) -> dict[str, Any]:
        self.clear()
        (manifest,) = self.run_config(config, "--force")
        return dict(manifest["summary"]["failures"])

    def test_they_starve_on_a_slow_link_that_they_share(self) -> None:
        shared, own = (self.failures(self.heartbeats(lane)) for lane in ("shared", "own"))
        self.assertGreater(shared["false_suspicions"], 0)
        self.assertEqual({a["kind"] for a in shared["absences"]}, {"suspicion"})
        self.assertGreater(shared["suspected_s"], 0)
        self.assertLess(shared["goodput"], 1)
        self.assertGreater(shared["longest_heartbeat_s"], 2)
        self.assertEqual(own["false_suspicions"], 0)
        self.assertEqual(own["absences"], [])
        self.assertLess(own["longest_heartbeat_s"], 0.011)

    def test_they_do_not_starve_on_a_fast_link(self) -> None:
        for lane in ("shared", "own"):
            cost = self.failures(self.heartbeats(lane, "10Gbps"))
            self.assertEqual(cost["false_suspicions"], 0)
            self.assertLess(cost["longest_heartbeat_s"], 0.014)

    def test_a_job_that_restarts_does_so_after_a_false_suspicion(self) -> None:
        restarts = {"algorithm": {"name": "local_sgd", "sync_every": 4}, "checkpoint": {"every": 4}, "steps": 16}
        slow = self.heartbeats(**restarts)
        # The program gives up after 100 parts, which take long on a busy machine.
        failed = self.trigram("run", self.write(slow), code=1, timeout_s=300)
        self.assertIn("false suspicions, one after another, came before the next checkpoint", failed.stderr)
        for other in (self.heartbeats("own", **restarts), self.heartbeats(bandwidth="10Gbps", **restarts)):
            cost = self.failures(other)
            self.assertEqual((cost["recovery"], cost["false_suspicions"], cost["suspicions"]), ("restart", 0, []))

    def test_a_frozen_worker_is_suspected(self) -> None:
        frozen = {"events": [{"at": "5s", "kind": "freeze", "rank": 1, "for": "20s"}]}
        cost = self.failures(self.heartbeats("own", "10Gbps", failures=frozen))
        self.assertEqual([(a["rank"], a["kind"]) for a in cost["absences"]], [(1, "suspicion")])
        restarts = {"checkpoint": {"every": 4}, "failures": frozen | {"restart": "1s"}}
        cost = self.failures(self.heartbeats("own", "10Gbps", **restarts))
        self.assertEqual(cost["false_suspicions"], 1)
        (suspicion,) = cost["suspicions"]
        # The last heartbeat was sent at 4 s at the earliest, and at 5 s at the latest.
        self.assertEqual(suspicion["rank"], 1)
        self.assertGreaterEqual(suspicion["at_s"], 5 - EVERY_S + TIMEOUT_S)
        self.assertLess(suspicion["at_s"], 5 + TIMEOUT_S + 0.011)

    def test_a_crash_is_noticed_when_they_stop(self) -> None:
        """`recovery_s` is the timeout, less the age of the last heartbeat, which takes 10 ms to arrive."""
        crash = {"events": [{"at": "7500ms", "kind": "crash", "node": 1}], "restart": "2s"}
        restarts = {"checkpoint": {"every": 4}, "failures": crash}
        cost = self.failures(self.heartbeats("own", "10Gbps", **restarts))
        (record,) = cost["crashes"]
        self.assertAlmostEqual(record["recovery_s"], 7 + 0.01 + TIMEOUT_S - 7.5 + 2, delta=1e-3)
        absence = self.failures(self.heartbeats("own", "10Gbps", failures=crash))["absences"][0]
        self.assertEqual((absence["rank"], absence["kind"]), (1, "crash"))
        self.assertGreater(absence["back_s"], 7 + 0.01 + TIMEOUT_S + 2)

    def test_mistakes_are_refused(self) -> None:
        at = "/cluster/failures/heartbeats: "
        config = self.heartbeats()
        config["cluster"]["transport"] = {}
        self.assertIn(at + "on a shared lane", self.refusal("run", self.write(config)))
        self.assertIn(at + "only the simulated world", self.refusal("run", self.write(self.heartbeats(runtime="threads"))))
        late = self.heartbeats(failures={"heartbeats": {"every": "3s", "timeout": "3s"}})
        self.assertIn("/cluster/failures/heartbeats/timeout: expected", self.refusal("run", self.write(late)))
        both = self.heartbeats(failures={"detection": "1s"})
        self.assertIn("/cluster/failures/detection: has no effect", self.refusal("run", self.write(both)))

    def test_a_table_says_how_many_were_suspected(self) -> None:
        self.trigram("run", self.write(self.heartbeats()), table=True)
        self.assertRegex(self.trigram("table", self.results).stdout, r"absences? without a restart.*, \d+ false susp")
