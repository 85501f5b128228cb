"""`trigram launch`: processes fail, nodes come and go, and training goes on from the last checkpoint."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from harness import CommandTest, children, experiment
from jobs import JobTest

EVERY = 10


def job(**changes: Any) -> dict[str, Any]:
    cluster = {"nodes": 2, "workers_per_node": 1}
    return (
        experiment(
            runtime="mpi",
            cluster=cluster,
            steps=400,
            eval_every=200,
            optimizer="adam",
            name="test",
            algorithm={"name": "diloco", "sync_every": 4},
            checkpoint={"every": EVERY},
        )
        | changes
    )


def descendants(pid: int) -> list[int]:
    return [pid, *(d for child in children(pid) for d in descendants(child))]


class Launch(JobTest):
    def start_launch(self, config: Any, *arguments: Any) -> subprocess.Popen[str]:
        return self.popen([self.program, "launch", self.write(config), *arguments], env=self.environment)

    def launch(self, config: Any, *arguments: Any, code: int = 0) -> tuple[str, str]:
        process = self.start_launch(config, *arguments)
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def record(self) -> dict[str, Any]:
        return json.loads((self.results / "launch.json").read_text())

    def newest_checkpoint(self) -> int:
        steps = [int(p.parent.name[5:]) for p in self.results.glob("*.checkpoints/*/complete.json")]
        return max(steps, default=0)

    def weights_of_undisturbed_run(self, config: dict[str, Any]) -> str:
        self.job(2, "run", self.write(config), "-o", self.folder / "undisturbed")
        (path,) = (self.folder / "undisturbed" / "test").glob("*/manifest.json")
        return json.loads(path.read_text())["summary"]["weights_hash"]

    def ranks(self, launch: subprocess.Popen[str]) -> list[int]:
        """The processes of the job, which have the environment of mpirun."""
        found = []
        for pid in descendants(launch.pid)[1:]:
            try:
                if "OMPI_COMM_WORLD_RANK=" in Path(f"/proc/{pid}/environ").read_text():
                    found.append(pid)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass
        return found

    def test_killed_ranks_do_not_change_the_result(self) -> None:
        config = job()
        expected = self.weights_of_undisturbed_run(config)
        launch = self.start_launch(config)
        random_moments = random.Random(1)
        for at_least in (EVERY, 8 * EVERY):
            self.wait_for(lambda: self.newest_checkpoint() >= at_least or launch.poll() is not None)
            time.sleep(random_moments.random() / 10)
            ranks = self.ranks(launch)
            if ranks:
                os.kill(random_moments.choice(ranks), signal.SIGKILL)
        out, err = launch.communicate(timeout=100)
        self.assertEqual(launch.returncode, 0, out + err)
        generations = self.record()["generations"]
        self.assertGreaterEqual(len(generations), 2, err)
        self.assertEqual([g["exit_code"] for g in generations[:-1]], [137] * (len(generations) - 1))
        for before, after in zip(generations, generations[1:]):
            self.assertEqual(after["from_step"], before["to_step"])
        (manifest,) = self.manifests()
        self.assertEqual(manifest["summary"]["weights_hash"], expected)
        self.assertEqual(manifest["summary"]["steps"], 400)
        self.assertRegex(out, "a process was ended by signal 9 +2 +2 ")

    def test_described_failures_really_happen(self) -> None:
        config = job(steps=20_000, eval_every=0, checkpoint={"every": 100})
        failures = [
            {"at": "1.5s", "kind": "crash", "rank": 1},
            {"at": "2s", "kind": "freeze", "node": 0, "for": "500ms"},
        ]
        launch = self.start_launch(config, "--set", f"/cluster/failures={json.dumps(failures)}")
        self.wait_for(lambda: (self.results / "launch.json").exists())  # at the end of the first generation
        (first,) = self.record()["generations"]
        self.assertEqual((first["exit_code"], first["workers"]), (137, 2))
        self.assertEqual(
            self.record()["failures"][0] | {"at_s": 0}, {"at_s": 0, "kind": "crash", "first_rank": 1, "last_rank": 1}
        )
        self.assertAlmostEqual(self.record()["failures"][0]["at_s"], 1.5, delta=1)
        launch.send_signal(signal.SIGINT)
        _, err = launch.communicate(timeout=60)
        self.assertEqual(launch.returncode, 130, err)

    def test_nodes_come_and_go(self) -> None:
        hosts = self.folder / "hosts"
        hosts.write_text("localhost\n")
        config = job(steps=2_000_000, eval_every=0, checkpoint={"every": 50})
        launch = self.start_launch(config, "--nodes", "1:2", "--hosts", hosts)
        self.wait_for(lambda: self.newest_checkpoint() > 0)
        hosts.write_text("localhost\nlocalhost  # joins\n")
        self.wait_for(lambda: len(self.ranks(launch)) == 2)
        self.wait_for(lambda: len(list(self.results.glob("*.checkpoints/*/complete.json"))) > 2)
        hosts.write_text("localhost\n")
        self.wait_for(lambda: len(self.record()["generations"]) == 2)
        launch.send_signal(signal.SIGTERM)
        out, err = launch.communicate(timeout=60)
        self.assertEqual(launch.returncode, 130, out + err)
        one, two, last = self.record()["generations"]
        self.assertEqual([one["workers"], two["workers"], last["workers"]], [1, 2, 1], err)
        self.assertEqual([one["end"], two["end"], last["end"]], ["other nodes", "other nodes", "interrupted"])
        self.assertEqual(two["from_step"], one["to_step"])
        self.assertGreater(two["to_step"], two["from_step"])

    def test_a_job_that_fails_again_and_again_is_given_up(self) -> None:
        out, err = self.launch(job(), "--launcher", "sh -c 'kill -9 $$'", "--max-restarts", "2", code=1)
        self.assertIn("3 generations failed, and --max-restarts is 2", err)
        self.assertEqual(len(self.record()["generations"]), 3)
        self.assertEqual(out.count("a process was ended by signal 9"), 3)

    def test_folders_of_killed_processes_are_removed(self) -> None:
        launch = self.start_launch(job(steps=2_000_000, eval_every=0), "--max-restarts", "0")
        self.wait_for(lambda: self.newest_checkpoint() > 0)
        self.assertEqual(len(list(self.results.glob("*.tmp.*"))), 1)
        for pid in self.ranks(launch):
            os.kill(pid, signal.SIGKILL)
        _, err = launch.communicate(timeout=60)
        self.assertEqual(launch.returncode, 1, err)
        self.assertEqual(list(self.results.glob("*.tmp.*")), [])

    def test_nodes_leave_and_join_as_described(self) -> None:
        events = [{"at": "2s", "kind": "leave", "node": 1}, {"at": "6s", "kind": "join", "node": 1}]
        cluster = {"nodes": 2, "workers_per_node": 1, "failures": events}
        launch = self.start_launch(job(steps=2_000_000, eval_every=0, cluster=cluster, checkpoint={"every": 50}))
        self.wait_for(lambda: (self.results / "launch.json").exists() and len(self.record()["generations"]) == 2)
        self.wait_for(lambda: len(self.ranks(launch)) == 2)
        launch.send_signal(signal.SIGTERM)
        out, err = launch.communicate(timeout=60)
        self.assertEqual(launch.returncode, 130, out + err)
        generations = self.record()["generations"]
        self.assertEqual([g["workers"] for g in generations], [2, 1, 2], err)
        self.assertEqual([g["end"] for g in generations], ["other nodes", "other nodes", "interrupted"])
        self.assertEqual([(f["kind"], f["node"]) for f in self.record()["failures"]], [("leave", 1), ("join", 1)])

    def test_a_job_that_fails_by_itself_is_not_started_again(self) -> None:
        config = job(optimizer={"name": "sgd", "lr": 1e6}, algorithm="gradient_allreduce")
        _, err = self.launch(config, code=1)
        self.assertIn("the run failed by itself and would fail again: training diverged", err)
        self.assertEqual(len(self.record()["generations"]), 1)

    def test_a_source_of_nodes_that_fails_later_changes_nothing(self) -> None:
        flag = self.folder / "flag"
        command = f"if [ -e {flag} ]; then exit 1; fi; echo localhost; echo localhost"
        launch = self.start_launch(job(steps=2_000_000, eval_every=0), "--discover", command)
        self.wait_for(lambda: self.newest_checkpoint() > 0)
        flag.touch()
        time.sleep(2.5)
        self.assertEqual(len(self.ranks(launch)), 2)
        other = self.popen([self.program, "launch", self.write(job(), "other.json")], env=self.environment)
        _, err = other.communicate(timeout=30)
        self.assertEqual(other.returncode, 2, err)
        self.assertIn("another trigram launch makes this job", err)
        ranks = self.ranks(launch)
        launch.kill()  # the job ends with its supervisor
        self.wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in ranks))
        self.assertIn("the nodes stay as they were", launch.communicate()[1])

    def test_a_launcher_that_does_not_exist(self) -> None:
        _, err = self.launch(job(), "--launcher", "no-such-launcher -n {ranks}", code=2)
        self.assertIn("--launcher: no-such-launcher -n 2 could not be started", err)

    def test_too_few_nodes(self) -> None:
        (self.folder / "hosts").write_text("localhost\n")
        _, err = self.launch(job(), "--nodes", "2", "--hosts", "hosts", "--node-wait", "1", code=1)
        self.assertIn("waiting for nodes: there are 1, and at least 2 are needed", err)


class Mistakes(CommandTest):
    def refused(self, config: Any, *arguments: Any) -> str:
        return self.refusal("launch", self.write(config), *arguments)

    def test_they_are_refused(self) -> None:
        threads = job(runtime="threads")
        self.assertIn("/checkpoint: trigram launch continues", self.refused(threads | {"checkpoint": None}))
        self.assertIn("--nodes: : expected MIN:MAX", self.refused(threads, "--nodes", ""))
        self.assertIn("--discover: false failed", self.refused(threads, "--discover", "false"))
        self.assertIn("--nodes: 3:2: expected MIN:MAX", self.refused(threads, "--nodes", "3:2"))
        self.assertIn(
            "--launcher: mpirun {rank}: expected no braces but", self.refused(threads, "--launcher", "mpirun {rank}")
        )
        self.assertIn(
            "expected an experiment of one run, not of 2", self.refused(threads | {"sweep": {"/seed": [1, 2]}})
        )
        self.assertIn("--hosts: ", self.refused(threads, "--hosts", "nowhere"))
        leave = {"nodes": 2, "failures": [{"at": "2s", "kind": "leave", "node": 1}]}
        (self.folder / "hosts").write_text("localhost\nlocalhost\n")
        self.assertIn(
            "/cluster/failures: only nodes of this machine leave",
            self.refused(threads | {"cluster": leave}, "--hosts", "hosts"),
        )


class InThreads(CommandTest):
    def test_the_whole_process_of_a_job_crashes(self) -> None:
        cluster = {"nodes": 2, "failures": [{"at": "500ms", "kind": "crash", "rank": 1}]}
        config = job(runtime="threads", steps=30_000, eval_every=0, cluster=cluster, checkpoint={"every": 1000})
        whole = job(runtime="threads", steps=30_000, eval_every=0, cluster={"nodes": 2}, checkpoint={"every": 1000})
        self.trigram("launch", self.write(config))
        (failed,) = self.manifests()
        record = json.loads((self.results / "launch.json").read_text())
        self.assertEqual(len(record["failures"]), 1)
        self.assertEqual([g["exit_code"] for g in record["generations"]], [137, 0])
        self.trigram("run", self.write(whole), "-o", "undisturbed")
        (path,) = (self.folder / "undisturbed" / "test").glob("*/manifest.json")
        expected = json.loads(path.read_text())["summary"]["weights_hash"]
        self.assertEqual(failed["summary"]["weights_hash"], expected)
