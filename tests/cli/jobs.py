"""Starts the trigram command as an MPI job, and stops or kills its processes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from typing import Any, Callable

from harness import SOURCE, TRIGRAM, CommandTest, experiment

sys.path.insert(0, str(SOURCE / "scripts"))
import one_machine  # noqa: E402

ENVIRONMENT = {
    **os.environ,
    **one_machine.ENVIRONMENT,
    # Containers may forbid one process to read another's memory.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
ENDLESS = 50_000_000  # steps: more than a test waits for
WATCHDOG_S = 30  # a world's default watchdog timeout
ALGORITHMS = [
    "gradient_allreduce",
    "bytegrad",
    {"name": "decentralized", "mode": "ring"},
    {"name": "parameter_server", "servers": 1, "placement": "beside"},
    "wagma",
]


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun here: apt-get install openmpi-bin")
class JobTest(CommandTest):
    program = TRIGRAM
    environment = ENVIRONMENT

    def start(self, ranks: int, *arguments: Any) -> subprocess.Popen[str]:
        return self.popen(["mpirun", "-n", ranks, self.program, *arguments], env=self.environment)

    def job(self, ranks: int, *arguments: Any, code: int = 0) -> tuple[str, str]:
        job = self.start(ranks, *arguments)
        out, err = job.communicate(timeout=100)
        self.assertEqual(job.returncode, code, out + err)
        return out, err

    def uneven(
        self, ranks: int, command: str, others: dict[int, str] = {}
    ) -> subprocess.Popen[str]:
        """Starts a job of `trigram` with the arguments `command`, except that ranks in `others` get the arguments given
        there."""
        cases = "".join(f"{rank}) exec {TRIGRAM} {line};;\n" for rank, line in others.items())
        script = self.folder / "uneven.sh"
        script.write_text(
            f'case "$OMPI_COMM_WORLD_RANK" in\n{cases}*) exec {TRIGRAM} {command};;\nesac\n'
        )
        return self.popen(["mpirun", "-n", ranks, "sh", script], env=self.environment)

    def refused(self, ranks: int, command: str, others: dict[int, str] = {}) -> str:
        """The single line of error output of a job whose processes get different arguments."""
        begun = time.monotonic()
        job = self.uneven(ranks, command, others)
        out, err = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 2, out + err)
        self.assertLess(time.monotonic() - begun, WATCHDOG_S, "a watchdog has ended it")
        # Ranks that mpirun ends meanwhile may still print a last message.
        said = [
            line
            for line in err.splitlines()
            if line.startswith("trigram: ") and not re.search("rank \\d+ is ended by", line)
        ]
        self.assertEqual(len(said), 1, err)
        return said[0]

    def log(self, rank: int) -> str:
        return (self.folder / "logs" / f"rank-{rank}.log").read_text()

    def wait_for(self, condition: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "waited in vain")
            time.sleep(0.05)

    def wait_for_second_run(self) -> None:
        """Returns when one run is done and the next has begun."""
        self.wait_for(
            lambda: len(self.done()) == 1 and list(self.results.glob("*.tmp.*/metrics.jsonl"))
        )

    def ranks_in_second_run(self, job: subprocess.Popen[str]) -> dict[int, int]:
        self.wait_for_second_run()
        return {self.rank_of(int(pid)): int(pid) for pid in self.children(job.pid)}

    def children(self, pid: int) -> list[str]:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [child for task in tasks for child in (task / "children").read_text().split()]

    def rank_of(self, pid: int) -> int:
        environment = Path(f"/proc/{pid}/environ").read_text()
        return int(re.search(r"OMPI_COMM_WORLD_RANK=(\d+)", environment)[1])

    def check_that_a_stopped_process_is_named(self, runtime: dict[str, Any]) -> None:
        """Stops rank 2 of four in their second run. The others name it, and the first run is
        kept."""
        path = self.write(
            experiment(runtime={**runtime, "watchdog": "2s"}, sweep={"/steps": [3, ENDLESS]})
        )
        job = self.start(4, "run", path, "--quiet")
        ranks = self.ranks_in_second_run(job)
        os.kill(ranks[2], signal.SIGSTOP)
        self.addCleanup(self.go_on, ranks[2])
        _, err = job.communicate(timeout=90)
        self.assertEqual(job.returncode, 124, err)
                # The process may have been about to enter the run, or changing a queue that ranks share.
        self.assertRegex(
            err,
            "rank 2 has not been heard of for 5 s|rank [013] timed out after [35] s waiting for ranks: 2"
            "|no call of MPI has returned on rank",
        )
        if "waiting for ranks: 2" not in err:  # then the other ranks wait in the run, and say for what
            self.assertRegex(err, "rank [013] waits for ")
        # mpirun continues the stopped process before it ends it.
        self.assertNotRegex(err, "rank [013] has not been heard of|waiting for ranks: [013]")
        self.assertEqual(len(self.done()), 1)

    def go_on(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass
