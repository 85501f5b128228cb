"""The effects of MPI jobs on the machine that their ranks share: open ports, and files that killed jobs leave
behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from harness import children, experiment
from jobs import ENDLESS, ENVIRONMENT, JobTest

RANKS = 4
UNTIL_MAPPED_S = 2  # jobs do not remove younger segments, which their owners may not have mapped yet
LISTENING = "0A"


def segments() -> set[Path]:
    return {p for p in Path("/dev/shm").iterdir() if re.match(r"(vader|sm)_segment\.", p.name)}


def ports(pid: int) -> list[str]:
    """The addresses on which a process listens for connections."""
    files = (Path(f"/proc/{pid}/fd") / name for name in os.listdir(f"/proc/{pid}/fd"))
    sockets = {os.readlink(file) for file in files if file.is_symlink()}
    lines = [line.split() for table in ("tcp", "tcp6")
             for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
    return [line[1] for line in lines if line[3] == LISTENING and f"socket:[{line[9]}]" in sockets]


class ThisMachine(JobTest):
    def endless(self) -> tuple[subprocess.Popen[str], set[Path]]:
        """A job that runs until it is interrupted, and its shared-memory segments."""
        before = segments()
        path = self.write(experiment(runtime="mpi", steps=ENDLESS), "endless.json")
        output = tempfile.mkdtemp(dir=self.folder)
        job = self.start(RANKS, "run", path, "--quiet", "-o", output)
        self.addCleanup(self.end, job)
        self.wait_for(lambda: list(Path(output).glob("*/*.tmp.*/metrics.jsonl")))
        return job, segments() - before

    def end(self, job: subprocess.Popen[str]) -> None:
        if job.poll() is None:
            job.send_signal(signal.SIGINT)
            job.communicate(timeout=60)

    def run_short_job(self) -> None:
        self.job(RANKS, "run", self.write(experiment(runtime="mpi")), "--force")

    def test_ranks_open_no_port(self) -> None:
        """Even without the settings of scripts/one_machine.env, which choose shared memory."""
        for environment in (ENVIRONMENT, {k: v for k, v in ENVIRONMENT.items() if k != "OMPI_MCA_btl"}):
            self.environment = environment
            job, _ = self.endless()
            open_ports = [ports(rank) for rank in children(job.pid)]
            self.assertEqual(open_ports, [[]] * RANKS, "OMPI_MCA_btl" in environment)
            self.end(job)

    def test_settings_of_the_environment_choose_the_network(self) -> None:
        self.environment = {**ENVIRONMENT, "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
        job, memory = self.endless()
        self.assertEqual(memory, set())
        self.assertTrue(all(ports(rank) for rank in children(job.pid)))

    def test_the_next_job_removes_the_files_of_killed_jobs(self) -> None:
        job, memory = self.endless()
        self.assertEqual(len(memory), RANKS)
        host = socket.gethostname().split(".")[0]
        folder = Path(tempfile.gettempdir()) / f"ompi.{host}.{os.getuid()}" / f"pid.{job.pid}"
        self.assertTrue(folder.is_dir())
        ranks = [int(pid) for pid in children(job.pid)]
        job.kill()
        for rank in ranks:
            try:
                os.kill(rank, signal.SIGKILL)
            except ProcessLookupError:  # the rank has noticed that its launcher is gone and has ended
                pass
        job.communicate(timeout=60)
        self.assertLessEqual(memory, segments())
        time.sleep(UNTIL_MAPPED_S + 1)
        self.run_short_job()
        self.assertFalse(memory & segments())
        self.assertFalse(folder.exists())

    def test_a_running_job_keeps_its_shared_memory(self) -> None:
        job, memory = self.endless()
        time.sleep(UNTIL_MAPPED_S + 1)
        self.run_short_job()
        self.assertLessEqual(memory, segments())
        self.assertIsNone(job.poll())
