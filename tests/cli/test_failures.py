"""Simulated failures: what a crash or a freeze costs, against a plain replay of the times of the steps."""

from __future__ import annotations

import json
import math
from typing import Any

from harness import CommandTest, experiment, needs_simulator, one_tensor_profile

STEPS, EVERY = 20, 4
RECOVERY_S = 3.5
# Ranks wait for each other before and after they write or read a checkpoint, over the control plane.
BARRIERS_S = 2e-3


def replay(durations: list[float], every: int, crashes: list[float], recovery_s: float) -> tuple[float, float]:
    """The time at which training ends, and the work that is lost. `durations` are those of the steps, and `crashes`
    are times. After a crash training goes on from the last multiple of `every` steps."""
    now = begin = kept_s = lost = 0.0
    step = kept = 0
    pending = list(crashes)
    while step < len(durations):
        end = now + durations[step]
        while pending and pending[0] < now:  # while the job recovers
            pending.pop(0)
        if pending and pending[0] < end:
            crash = pending.pop(0)
            lost += crash - max(kept_s, begin)
            now = begin = crash + recovery_s
            step = kept
            continue
        now, step = end, step + 1
        if step % every == 0 and step < len(durations):
            kept, kept_s = step, now
    return now, lost


def crash(at_s: float, rank: int = 0) -> dict[str, Any]:
    return {"at": f"{at_s}s", "kind": "crash", "rank": rank}


@needs_simulator
class SimulatedFailures(CommandTest):
    def config(self, failures: Any = None, **changes: Any) -> dict[str, Any]:
        cluster = {"nodes": 2, "inter": {"bandwidth": "10Gbps", "latency": "50us"}}
        if failures is not None:
            cluster["failures"] = failures
        profile = one_tensor_profile(1000, 0.4, 0.6)
        self.write(profile, "one.json")
        config = experiment(
            cluster=cluster, workload={"name": "profile", "path": "one.json"}, steps=STEPS, checkpoint={"every": EVERY}
        )
        del config["optimizer"], config["eval_every"]
        return config | changes

    def one(self, config: dict[str, Any]) -> dict[str, Any]:
        (manifest,) = self.run_config(config, "--force")
        for path in self.results.glob("*/DONE"):
            path.unlink()
        for path in self.results.glob("*/manifest.json"):
            path.unlink()
        return manifest

    def durations(self, **changes: Any) -> list[float]:
        manifest = self.one(self.config(**changes))
        ends = [line["time_s"] for line in self.metrics(manifest["id"])]
        self.assertEqual(len(ends), STEPS)
        return [end - begin for begin, end in zip([0.0, *ends], ends)]

    def check(self, crashes: list[float], failures: Any, **changes: Any) -> dict[str, Any]:
        every = changes.get("checkpoint", {"every": EVERY}) or {"every": math.inf}
        expected_s, lost_s = replay(self.durations(**changes), every["every"], crashes, RECOVERY_S)
        summary = self.one(self.config(failures, **changes))["summary"]
        happened = summary["failures"]
        near = {"delta": BARRIERS_S * (len(happened["crashes"]) + 1)}
        self.assertAlmostEqual(summary["time_s"], expected_s, **near)
        self.assertAlmostEqual(happened["lost_s"], lost_s, **near)
        self.assertAlmostEqual(happened["recovery_s"], RECOVERY_S * len(happened["crashes"]))
        self.assertAlmostEqual(
            happened["goodput"], 1 - (happened["lost_s"] + happened["recovery_s"]) / summary["time_s"]
        )
        self.assertEqual(summary["steps"], STEPS)
        return happened

    @staticmethod
    def described(crashes: list[float], **more: Any) -> dict[str, Any]:
        return {"events": [crash(at_s) for at_s in crashes], "detection": "0.5s", "restart": "3s"} | more

    def test_crashes_lose_the_work_since_the_last_checkpoint(self) -> None:
        # Before the first checkpoint, twice; while the job recovers; later.
        crashes = [2.7, 7.1, 9.0, 20.3]
        happened = self.check(crashes, self.described(crashes))
        self.assertEqual([c["at_s"] for c in happened["crashes"]], [2.7, 7.1, 20.3])
        self.assertEqual([c["from_step"] for c in happened["crashes"]], [0, 0, 8])

    def test_a_run_without_checkpoints_begins_anew(self) -> None:
        self.check([5.5], self.described([5.5]), checkpoint=None)

    def test_the_end_of_training_may_come_before_a_crash(self) -> None:
        undisturbed = self.one(self.config())["summary"]["time_s"]
        summary = self.one(self.config(self.described([1000])))["summary"]
        self.assertEqual(summary["time_s"], undisturbed)
        self.assertEqual(summary["failures"]["crashes"], [])
        self.assertEqual(summary["failures"]["goodput"], 1)

    def test_drawn_crashes_cost_what_the_formula_says(self) -> None:
        # J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006,
        # section 2: crashes at the rate r stretch a segment of length L with recovery time R to (1/r + R)(e^(rL) - 1).
        # Over 120 segments, 27 crashes are expected, with a standard deviation of 5, which is 5 % of the time.
        steps, mtbf_s = 480, 40.0
        failures = {"mtbf": f"{mtbf_s}s", "seed": 5, "restart": "3500ms"}
        summary = self.one(self.config(failures, steps=steps))["summary"]
        rate = 2 / mtbf_s
        segment_s = (1 / rate + RECOVERY_S) * (math.exp(rate * EVERY) - 1)
        self.assertAlmostEqual(len(summary["failures"]["crashes"]), 27, delta=15)
        self.assertAlmostEqual(summary["time_s"] / (steps / EVERY * segment_s), 1, delta=0.15)

    def test_weights_and_bytes_are_those_of_an_undisturbed_run(self) -> None:
        config = experiment(
            steps=12,
            eval_every=6,
            optimizer="adam",
            algorithm={"name": "diloco", "sync_every": 3},
            checkpoint={"every": 4},
        )
        whole = self.one(config)["summary"]
        half_s = whole["time_s"] / 2
        failures = {"events": [crash(half_s, 3)], "restart": "1s"}
        failed = self.one(config | {"cluster": config["cluster"] | {"failures": failures}})["summary"]
        self.assertEqual(len(failed["failures"]["crashes"]), 1)
        for key in ("weights_hash", "eval_loss", "bytes_inter", "messages"):
            if key in whole:
                self.assertEqual(failed[key], whole[key], key)
        self.assertGreater(failed["time_s"], whole["time_s"] + 1)

    def test_a_frozen_worker_delays_the_others(self) -> None:
        undisturbed = self.one(self.config())["summary"]["time_s"]
        freeze = [{"at": "3.2s", "kind": "freeze", "node": 1, "for": "7s"}]
        self.assertAlmostEqual(self.one(self.config(freeze))["summary"]["time_s"], undisturbed + 7)

    def test_a_freeze_happens_once(self) -> None:
        freeze = {"at": "3.2s", "kind": "freeze", "rank": 1, "for": "7s"}
        failures = {"events": [freeze, crash(16)]}  # a crash after the checkpoint of step 8, which is after the freeze
        undisturbed = self.one(self.config())["summary"]["time_s"]
        summary = self.one(self.config(failures))["summary"]
        self.assertAlmostEqual(summary["time_s"], undisturbed + 7 + summary["failures"]["lost_s"], delta=2 * BARRIERS_S)
        whole = self.one(self.config([freeze]))["summary"]["time_s"]
        path = self.write(self.config([freeze], checkpoint={"every": EVERY, "keep": 100}))
        self.trigram("run", path, "--force")
        for done in [*self.results.glob("*/DONE"), *self.results.glob("*/manifest.json")]:
            done.unlink()  # the run counts as unfinished, and continues from its last checkpoint
        self.trigram("run", path, "--resume")
        self.assertEqual(self.manifests()[0]["summary"]["time_s"], whole)

    def test_the_timeline_shows_what_crashes_cost(self) -> None:
        manifest = self.one(self.config(self.described([6.5])))
        trace = json.loads((self.results / manifest["id"] / "trace.json").read_text())
        job = [e for e in trace["traceEvents"] if e.get("cat") == "job"]
        slices = [(e["name"], e["ts"] / 1e6, (e["ts"] + e["dur"]) / 1e6) for e in job if e["ph"] == "X"]
        expected = [
            ("training", 0, 4),
            ("lost work", 4, 6.5),
            ("recovery", 6.5, 6.5 + RECOVERY_S),
            ("training", 6.5 + RECOVERY_S, manifest["summary"]["time_s"]),
        ]
        self.assertEqual([name for name, _, _ in slices], [name for name, _, _ in expected])
        for found, wanted in zip(slices, expected):
            self.assertAlmostEqual(found[1], wanted[1], delta=BARRIERS_S)
            self.assertAlmostEqual(found[2], wanted[2], delta=BARRIERS_S)
        (mark,) = [e for e in job if e["ph"] == "i"]
        self.assertEqual((mark["name"], mark["ts"]), ("crash of rank 0", 6.5e6))

    def test_crashes_that_leave_no_time_for_a_checkpoint_are_an_error(self) -> None:
        config = self.config({"mtbf": "300ms", "seed": 1})
        failed = self.trigram("run", self.write(config), code=1)
        self.assertIn("100 crashes, one after another, came before the next checkpoint", failed.stderr)

    def test_mistakes_are_refused(self) -> None:
        for failures, expected in (
            ([crash(1, 2)], "/cluster/failures/0/rank: expected a rank below 2"),
            ({"events": [crash(1, 2)]}, "/cluster/failures/events/0/rank: expected a rank below 2"),
            ([crash(2), crash(1)], "/cluster/failures/1/at: expected events in the order of time"),
            ({"mtbf": "1us"}, "/cluster/failures/mtbf: expected at least 0.001 s, or 0"),
        ):
            with self.subTest(expected):
                self.assertIn(expected, self.refusal("run", self.write(self.config(failures))))
        steady = self.config([crash(1)], until_steady=True, checkpoint=None)
        self.assertIn("/cluster/failures: a run with failures must make", self.refusal("run", self.write(steady)))
        real = self.write(self.config([crash(1)], runtime="threads"))
        self.assertIn('trigram launch makes the processes of the world "threads" fail', self.refusal("run", real))

    def test_a_table_says_what_they_cost(self) -> None:
        self.trigram("run", self.write(self.config(self.described([6.5]))), table=True)
        out = self.trigram("table", self.results).stdout
        self.assertRegex(out, r"failures: 1 crash; 2\.\d+ s of work lost, 3\.50 s to recover; goodput 7\d\.\d%")
