"""Runs the batch scripts of experiments/slurm on a real Slurm with one node. If Slurm cannot run
here, prints the reason and exits with code 77. The environment variables TRIGRAM (the program) and
SOURCE (the source tree) must be set."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from one_node import OneNodeSlurm, wait_for, missing_requirement

TRIGRAM = os.environ["TRIGRAM"]
SCRIPTS = Path(os.environ["SOURCE"]) / "experiments" / "slurm"
ENDLESS = 50_000_000  # a number of steps that takes longer than any test waits

CONFIG = {
    "cluster": {
        "nodes": 2,
        "workers_per_node": 2,
        "inter": {"bandwidth": "10Gbps", "latency": "50us"},
        "intra": {"bandwidth": "100Gbps", "latency": "5us"},
    },
    "algorithm": "gradient_allreduce",
    "workload": "quadratic",
    "optimizer": {"name": "sgd", "lr": 0.01},
    "steps": 6,
}


class Slurm(unittest.TestCase):
    slurm: OneNodeSlurm

    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.slurm = OneNodeSlurm(Path(temporary.name))
        # Containers may forbid one process to read another's memory; ranks share few cores.
        cls.slurm.environment["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
        cls.slurm.environment["TRIGRAM"] = TRIGRAM

    @classmethod
    def tearDownClass(cls) -> None:
        left = cls.slurm.stop()
        if left:
            raise AssertionError(f"these processes had to be killed: {left}")

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.results = self.folder / "results" / "test"

    def write(self, **changes: Any) -> Path:
        path = self.folder / "test.json"
        path.write_text(json.dumps({**CONFIG, **changes}))
        return path

    def submit(self, *arguments: Any) -> str:
        output = self.slurm.run("sbatch", "--parsable", f"--chdir={self.folder}", *map(str, arguments))
        self.assertRegex(output, r"^\d+\n$", self.slurm.logs())
        return output.strip()

    def end_of(self, job: str) -> dict[str, str]:
        """The state and exit code of a job, once it has ended."""
        fields: dict[str, str] = {}

        def ended() -> bool:
            text = self.slurm.run("scontrol", "show", "job", job)
            fields.update(re.findall(r"(JobState|ExitCode)=(\S+)", text))
            return fields.get("JobState") not in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")

        wait_for(ended, f"job {job}", 120)
        return fields

    def output(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.out")))

    def assert_completed(self, job: str) -> None:
        self.assertEqual(self.end_of(job)["JobState"], "COMPLETED", self.output())

    def manifests(self) -> list[dict[str, Any]]:
        return [json.loads(p.read_text()) for p in sorted(self.results.glob("*/manifest.json"))]

    def done(self) -> int:
        return len(list(self.results.glob("*/DONE")))

    def process_of(self, rank: int) -> int:
        """The process of the only job that has this rank."""
        for pid in self.slurm.processes():
            try:
                environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                program = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                continue
            if program == os.path.realpath(TRIGRAM) and f"PMIX_RANK={rank}".encode() in environment:
                return pid
        return self.fail(f"rank {rank} does not run")

    def test_processes_train_the_same_weights_as_threads(self) -> None:
        path = self.write(runtime={"name": "mpi", "watchdog": "61s"})
        job = self.submit("--export=ALL,RANK_LOGS=logs", SCRIPTS / "cpu.sbatch", path)
        self.assert_completed(job)
        (manifest,) = self.manifests()
        self.assertEqual((manifest["world"], self.done()), ("mpi", 1))
        self.assertEqual(manifest["experiment"]["runtime"]["watchdog"], "61s", "the option of the file applies")
        self.assertEqual(len(list((self.folder / "logs").glob("rank-*.log"))), 4)
        self.assertEqual(self.output().count("gradient_allreduce"), 1, "only rank 0 prints")
        output = self.slurm.run(
            TRIGRAM, "run", str(path), "--set", "/runtime=threads", "-o", str(self.folder / "here")
        )
        (threads,) = (self.folder / "here" / "test").glob("*/manifest.json")
        self.assertEqual(
            json.loads(threads.read_text())["summary"]["weights_hash"],
            manifest["summary"]["weights_hash"],
            output,
        )

    def test_bad_input_is_the_jobs_exit_code(self) -> None:
        cases = [
            (["--ntasks-per-node=3", SCRIPTS / "cpu.sbatch", self.write()], "start 4: mpirun -n 4"),
            ([SCRIPTS / "cpu.sbatch"], "cpu.sbatch: expected a configuration"),
            (
                ["--array=3", SCRIPTS / "simulation_array.sbatch", self.write()],
                "task 3 of 1: expected --array=1-N, or SHARDS=N",
            ),
        ]
        for arguments, message in cases:
            end = self.end_of(self.submit(*arguments))
            self.assertEqual((end["JobState"], end["ExitCode"]), ("FAILED", "2:0"), self.output())
            self.assertIn(message, self.output())
        self.assertFalse(self.results.exists())

    def start_and_reach_the_second_run(self) -> str:
        path = self.write(sweep={"/steps": [3, ENDLESS]})
        job = self.submit("--export=ALL,RANK_LOGS=logs", SCRIPTS / "cpu.sbatch", path)
        log = self.folder / "logs" / "rank-2.log"
        begun = f"step 1 of {ENDLESS} ended"
        try:
            wait_for(lambda: log.exists() and begun in log.read_text(), "the second run")
        except TimeoutError:
            self.fail(self.output() + self.slurm.logs())
        return job

    def assert_resumes(self) -> None:
        self.assertEqual(self.done(), 1, "the finished run has survived")
        self.assert_completed(
            self.submit(SCRIPTS / "cpu.sbatch", self.write(sweep={"/steps": [3, 4]}))
        )
        self.assertIn("1 of 2 runs are done already", self.output())
        self.assertEqual(self.done(), 2)
        self.assertEqual(list(self.results.glob("*.tmp.*")), [])

    def test_a_killed_task_ends_the_job(self) -> None:
        job = self.start_and_reach_the_second_run()
        os.kill(self.process_of(2), signal.SIGKILL)
        self.assertEqual(self.end_of(job)["JobState"], "FAILED", self.output())
        self.assertRegex(self.output(), r"srun: error: \S+: task 2: Killed")
        self.assertRegex(self.output(), "rank [013] is ended by SIGTERM\nrank [013] waits for ")
        self.assertRegex(self.output(), "(a message from rank 2|rank 2 to receive)")
        self.assert_resumes()

    def test_a_cancelled_job_reports_its_state_and_can_be_resumed(self) -> None:
        job = self.start_and_reach_the_second_run()
        self.slurm.run("scancel", job)
        self.assertEqual(self.end_of(job)["JobState"], "CANCELLED")
        wait_for(lambda: "rank 0 is ended by SIGTERM" in self.output(), "the message of rank 0")
        self.assert_resumes()

    def test_an_array_makes_the_runs_of_a_sweep(self) -> None:
        path = self.write(runtime="sim", seed=[1, 2, 3, 4, 5])
        script = SCRIPTS / "simulation_array.sbatch"
        self.assert_completed(self.submit("--wait", "--array=1-3", script, path))
        self.assertEqual(sorted(m["experiment"]["seed"] for m in self.manifests()), [1, 2, 3, 4, 5])
        self.assertEqual(self.done(), 5)
        self.assertEqual(len(list(self.folder.glob("*.out"))), 3)
        for run in [m["id"] for m in self.manifests() if m["experiment"]["seed"] in (2, 5)]:
            (self.results / run / "DONE").unlink()
        again = ["--wait", "--array=2", "--export=ALL,SHARDS=3", script, path]
        self.assert_completed(self.submit(*again))
        self.assertEqual(self.done(), 5)
        self.assertIn("5 done", self.slurm.run(TRIGRAM, "status", str(self.results)))


if __name__ == "__main__":
    if reason := missing_requirement():
        print(f"no Slurm here: {reason}")
        sys.exit(77)
    unittest.main()
