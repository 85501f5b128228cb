"""Several jobs that share one network: each is a run of its own, in which all of them are simulated."""

from __future__ import annotations

import json
from typing import Any

from harness import CommandTest, experiment, needs_simulator, one_tensor_profile

NUMEL, NARROW_BPS, LATENCY_S = 1_000_000, 0.5e9, 1.01e-3
SITES: dict[str, Any] = {
    "nodes": 4,
    "inter": {"bandwidth": "8Gbps", "latency": "10us"},
    # Nothing but messages takes time.
    "accelerator": {"name": "fast", "flops": "1000PFLOP/s", "memory_bandwidth": "1e9GB/s", "launch_overhead": "0s"},
    "topology": {
        "kind": "wan",
        "regions": [{"name": "a", "nodes": 2}, {"name": "b", "nodes": 2}],
        "delay_is": "one_way",
        "delay": [[None, "1ms"], ["1ms", None]],
        "bandwidth": [[None, "4Gbps"], ["4Gbps", None]],
    },
}
STEPS, COMPUTE_S = 8, 1e-6
# A job has a worker in each site. A ring of two workers moves half of the gradient twice.
ALONE_S = COMPUTE_S + 2 * (LATENCY_S + 4 * NUMEL / 2 / NARROW_BPS)
SHARED_S = COMPUTE_S + 2 * (LATENCY_S + 4 * NUMEL / 2 / (NARROW_BPS / 2))


def job(name: str, nodes: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "nodes": nodes} | fields


@needs_simulator
class SharedNetworkTest(CommandTest):
    def config(self, *jobs: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """Jobs whose steps consist of one exchange."""
        self.write(one_tensor_profile(NUMEL, COMPUTE_S / 2, COMPUTE_S / 2), "one.json")
        shared = experiment(
            runtime="sim",
            cluster=SITES,
            workload={"name": "profile", "path": "one.json"},
            algorithm={"name": "gradient_allreduce", "allreduce": "ring", "overlap": False},
            steps=STEPS,
            eval_every=0,
        )
        return shared | changes | ({"jobs": list(jobs)} if jobs else {})

    def by_job(self, content: dict[str, Any], *arguments: Any) -> dict[str, dict[str, Any]]:
        return {run["experiment"].get("job", ""): run for run in self.run_config(content, *arguments)}

    def assert_step(self, run: dict[str, Any], step_s: float) -> None:
        self.assertAlmostEqual(run["summary"]["step_s"] / step_s, 1, places=6)

    def test_jobs_share_the_links_that_both_pass(self) -> None:
        runs = self.by_job(self.config(job("one", [0, 2]), job("two", [1, 3])))
        self.assertEqual({name: run["sweep"] for name, run in runs.items()}, {n: {"/job": n} for n in ("one", "two")})
        for run in runs.values():
            self.assert_step(run, SHARED_S)
            self.assertFalse([w for w in run["warnings"] if "this job's time" in w])
        others = runs["one"]["summary"]["jobs"]
        self.assertEqual([other["name"] for other in others], ["two"])
        self.assertEqual(others[0]["steps"], STEPS)
        self.assertAlmostEqual(others[0]["ended_s"], STEPS * SHARED_S)

    def test_a_job_alone_is_the_experiment_on_its_nodes(self) -> None:
        sites = [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 1}]
        small = SITES | {"nodes": 2, "topology": SITES["topology"] | {"regions": sites}}
        own = self.by_job(self.config(cluster=small))[""]
        runs = self.by_job(self.config(job("one", [3, 1])))
        for key in ("step_s", "time_s", "bytes_inter", "lower_bound_s", "exposed_s"):
            self.assertEqual(runs["one"]["summary"][key], own["summary"][key], key)
        self.assert_step(own, ALONE_S)

    def test_jobs_that_begin_later(self) -> None:
        """The second begins when the first has ended."""
        late = f"{STEPS * ALONE_S + 1}s"
        runs = self.by_job(self.config(job("one", [0, 2]), job("two", 2, start=late)))
        # A job that gives a number gets the first nodes that are free.
        self.assertEqual(runs["one"]["experiment"]["jobs"][1]["nodes"], [1, 3])
        for run in runs.values():
            self.assert_step(run, ALONE_S)
            self.assertAlmostEqual(run["summary"]["time_s"], STEPS * ALONE_S)
            (warning,) = (w for w in run["warnings"] if "this job's time" in w)
            self.assertIn("ran during 0 %", warning)

    def test_a_job_that_ends_early_leaves_the_links_to_the_others(self) -> None:
        short = job("short", [1, 3], steps=STEPS // 2)
        run = self.by_job(self.config(job("long", [0, 2]), short))["long"]
        times = [step["step_s"] for step in self.metrics(run["id"])]
        for step, step_s in enumerate(times):
            self.assertAlmostEqual(step_s / (SHARED_S if step < STEPS // 2 else ALONE_S), 1, places=6)
        self.assertTrue([w for w in run["warnings"] if w.startswith("job short ran during")])

    def test_what_is_learned_does_not_depend_on_other_jobs(self) -> None:
        learns: dict[str, Any] = {"workload": "quadratic", "algorithm": "gradient_allreduce"}
        other = job("other", [1, 3], algorithm={"name": "local_sgd", "sync_every": 2}, optimizer={"name": "adam"})
        beside = self.by_job(self.config(job("own", [0, 2]), other, **learns))
        self.run_config(self.config(job("own", [0, 2]), **learns))
        (alone,) = (run for run in self.manifests() if len(run["experiment"]["jobs"]) == 1)
        self.assertEqual(beside["own"]["summary"]["weights_hash"], alone["summary"]["weights_hash"])
        self.assertNotEqual(beside["own"]["summary"]["weights_hash"], beside["other"]["summary"]["weights_hash"])
        self.assertEqual(beside["other"]["experiment"]["optimizer"]["name"], "adam")

    def test_the_machines_are_those_of_the_nodes(self) -> None:
        slow = SITES | {"slow_workers": [{"rank": 3, "factor": 1e6}]}
        runs = self.by_job(self.config(job("one", [0, 2]), job("two", [1, 3]), cluster=slow))
        self.assertLess(runs["one"]["summary"]["step_s"], 2 * SHARED_S)
        self.assertGreater(runs["two"]["summary"]["step_s"], 1)

    def test_a_run_of_one_job(self) -> None:
        content = self.config(job("one", [0, 2]), job("two", [1, 3]), sweep={"/jobs/1/algorithm/allreduce": ["ring"]})
        content["jobs"][1]["algorithm"] = {"name": "gradient_allreduce", "overlap": False}
        both = self.by_job(content)
        self.assertEqual(len(both), 2)
        self.write(content, "again.json")
        again = self.trigram("run", "again.json", "--set", "/job=one", "--set", "/name=test")
        self.assertIn("1 of 1 runs are done already", again.stderr)
        # The manifest has the whole experiment.
        self.write(both["two"]["experiment"], "manifest.json")
        again = self.trigram("run", "manifest.json")
        self.assertIn("1 of 1 runs are done already", again.stderr)

    def test_a_manifest_can_be_changed(self) -> None:
        jobs = [job("own", [0, 2], optimizer="adam"), job("other", [1, 3], optimizer="adam", steps=5)]
        content = self.config(*jobs)
        del content["optimizer"]  # which no job would have
        own = self.by_job(content, "--set", "/job=own")["own"]
        self.write(own["experiment"], "again.json")
        self.trigram("run", "again.json", "--set", "/steps=3", "--set", "/jobs/1/steps=4")
        (changed,) = (run for run in self.manifests() if run["experiment"]["steps"] == 3)
        self.assertEqual(changed["summary"]["jobs"][0]["steps"], 3)
        self.assertNotIn("steps", changed["experiment"]["jobs"][0])

    def test_the_table_has_a_row_for_each_job(self) -> None:
        content = self.config(job("one", [0, 2]), job("two", [1, 3], algorithm="bytegrad"), seed=[1, 2])
        done = self.trigram("run", self.write(content), table=True)
        (title,) = (line for line in done.stdout.splitlines() if line.startswith("job"))
        self.assertNotIn("jobs", title)
        rows = [line.split()[:2] for line in done.stdout.splitlines() if line.startswith(("one", "two"))]
        self.assertEqual(rows, [["one", "gradient_allreduce"], ["two", "bytegrad"]])
        self.assertIn("over 2 seeds", done.stdout)

    def test_tuning_needs_a_job(self) -> None:
        tune = {"space": {"/algorithm/bucket": {"values": ["1MB", "4MB"]}}}
        content = self.config(job("one", [0, 2]), job("two", [1, 3]), tune=tune)
        self.assertIn("/job: missing", self.refusal("tune", self.write(content)))
        self.write(content | {"job": "one"})
        self.assertIn("bucket", self.trigram("tune", "test.json").stdout)

    def test_changes_of_links_count_from_the_start_of_the_simulation(self) -> None:
        link = SITES["inter"] | {"profile": [{"at": "1s", "bandwidth": 0.5}, {"at": "1000s", "bandwidth": 1}]}
        content = self.config(job("early", [0, 2]), job("late", [1, 3], start="2s"), cluster=SITES | {"inter": link})
        for name, run in self.by_job(content).items():
            (warning,) = (w for w in run["warnings"] if "/cluster/inter/profile" in w)
            self.assertIn("comes after the end of the run, at", warning)
            self.assertIn("at 1000 s" if name == "late" else "at 1 s", warning)
            self.assertNotIn("came during the run", warning)

    def test_a_failure_names_its_job(self) -> None:
        diverges = job("wild", [1, 3], optimizer={"name": "sgd", "lr": 1e6}, steps=20)
        content = self.config(job("own", [0, 2]), diverges, workload="quadratic", steps=200)
        failed = self.trigram("run", self.write(content), code=1)
        self.assertIn("job wild: training diverged", failed.stderr)
        self.assertEqual({run["status"] for run in self.manifests()}, {"failed"})

    def test_mistakes(self) -> None:
        own = job("own", [0, 2])
        cases: dict[str, tuple[dict[str, Any], str, str]] = {
            "no job": (self.config() | {"jobs": []}, "/jobs", "not empty"),
            "too many nodes": (self.config(own, job("b", 3)), "/jobs/1/nodes", "too few"),
            "two jobs on a node": (self.config(own, job("b", [1, 2])), "/jobs/1/nodes", "node 2 is already that of"),
            "no such node": (self.config(own, job("b", [4])), "/jobs/1/nodes", "below 4"),
            "equal names": (self.config(own, job("own", 1)), "/jobs/1/name", "no other job"),
            "no nodes": (self.config(own, {"name": "b"}), "/jobs/1/nodes", "missing"),
            "unknown key": (self.config(own, job("b", 1, stepz=3)), "/jobs/1/stepz", 'did you mean "steps"?'),
            "an option": (
                self.config(own, job("b", 1, optimizer={"name": "sgd", "lrr": 1})),
                "/jobs/1/optimizer/lrr",
                'did you mean "lr"?',
            ),
            "an option of all": (
                self.config(own, optimizer={"name": "sgd", "lrr": 1}),
                "/optimizer/lrr",
                "unknown key",
            ),
            "an algorithm that does not fit": (
                self.config(own, job("b", 1, algorithm={"name": "diloco", "quorum": 3})),
                "/jobs/1/algorithm/quorum",
                "at most 1",
            ),
            "without effect": (self.config(job("a", 2, steps=3), job("b", 2, steps=4)), "/steps", "every job gives"),
            "no such file": (
                self.config(own, job("b", 1, algorithm="none.json")),
                "/jobs/1/algorithm",
                "there is no file",
            ),
            "without effect on one job": (
                self.config(job("a", 2, steps=3), job("b", 2, steps=4), job="a"),
                "/steps",
                "every job gives",
            ),
            "a job that is not measured does not fit": (
                self.config(own, job("b", 1, algorithm={"name": "diloco", "quorum": 3}), job="own"),
                "/jobs/1/algorithm/quorum",
                "at most 1",
            ),
            "a node twice": (self.config(job("a", [0, 0])), "/jobs/0/nodes", "node 0 is listed twice"),
            "a late start": (self.config(job("a", 2, start="1e9s")), "/jobs/0/start", "at most 1000000s"),
            "saved credit": (
                self.config(
                    own, cluster=SITES | {"inter": SITES["inter"] | {"shaping": {"rate": "1Gbps", "depth": "1MB"}}}
                ),
                "/cluster/inter/shaping/initial",
                'expected "0B"',
            ),
            "an unknown name": (self.config(own, job="owm"), "/job", "own"),
            "a name without jobs": (self.config(job="own"), "/job", "has no effect"),
            "real time": (self.config(own, runtime="threads"), "/runtime", 'expected the world "sim"'),
            "flows": (self.config(own, runtime={"name": "sim", "fidelity": "fluid"}), "/runtime/fidelity", "message"),
            "steady": (self.config(own, until_steady=True), "/until_steady", "expected false"),
            "failures": (
                self.config(own, cluster=SITES | {"failures": {"mtbf": "1h"}}),
                "/cluster/failures",
                "expected no failures",
            ),
            "checkpoints": (self.config(own, checkpoint={"every": 2}), "/checkpoint", "expected no checkpoints"),
        }
        for mistake, (content, pointer, message) in cases.items():
            with self.subTest(mistake):
                error = self.refusal("run", self.write(json.dumps(content)))
                self.assertIn(f" {pointer}: ", error)
                self.assertIn(message, error)

    def test_no_advice_for_several_jobs(self) -> None:
        candidates = self.write(self.config(job("one", [0, 2]), job("two", [1, 3])), "candidates.json")
        self.write(SITES, "sites.json")
        question = ("--cluster", "sites.json", "--profile", "profile:one.json", "--candidates", candidates)
        self.assertIn("/jobs: advice is for a job that has the network to itself", self.refusal("advise", *question))
