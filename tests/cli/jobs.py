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
from typing import Any

from harness import SOURCE, TRIGRAM, CommandTest, children, experiment

sys.path.insert(0, str(SOURCE / "scripts"))
import one_machine  # noqa: E402

ENVIRONMENT = {
    **os.environ,
    **one_machine.ENVIRONMENT,
    # Containers may forbid processes to read the memory of other processes.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
ENDLESS = 50_000_000  # more steps than a job makes during a test
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

    def refused(self, ranks: int, command: str, arguments_by_rank: dict[int, str] = {}) -> str:
        """The single line of error output of a refused job. Its ranks run `trigram` with the arguments `command`, or
        with those in `arguments_by_rank`."""
        cases = "".join(f"{rank}) exec {TRIGRAM} {line};;\n" for rank, line in arguments_by_rank.items())
        text = f'case "$OMPI_COMM_WORLD_RANK" in\n{cases}*) exec {TRIGRAM} {command};;\nesac\n'
        started = time.monotonic()
        job = self.popen(["mpirun", "-n", ranks, "sh", self.script("by_rank.sh", text)], env=self.environment)
        out, err = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 2, out + err)
        self.assertLess(time.monotonic() - started, WATCHDOG_S, "a watchdog has ended it")
        # mpirun ends the other ranks, which may print a last message, too.
        lines = re.findall("^trigram: (?!.*rank \\d+ is ended by).*", err, re.MULTILINE)
        self.assertEqual(len(lines), 1, err)
        return lines[0]

    def check_survivors_of_a_kill(self, job: subprocess.Popen[str]) -> None:
        """Kills rank 1 of three. The other ranks say what they wait for."""
        os.kill(self.processes_by_rank(job)[1], signal.SIGKILL)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, err)
        for survivor in (0, 2):
            self.assertRegex(
                err, f"trigram: rank {survivor} is ended by SIGTERM\n" f"rank {survivor} (waits for|computes|prepares)"
            )
        self.assertNotIn("finished runs are kept", err)

    def log(self, rank: int) -> str:
        return (self.folder / "logs" / f"rank-{rank}.log").read_text()

    def wait_for_second_run(self) -> None:
        """Returns when the first run is done and the second run has started."""
        self.wait_for(lambda: len(self.done()) == 1 and list(self.results.glob("*.tmp.*/metrics.jsonl")))

    def ranks_in_second_run(self, job: subprocess.Popen[str]) -> dict[int, int]:
        self.wait_for_second_run()
        return self.processes_by_rank(job)

    def processes_by_rank(self, job: subprocess.Popen[str]) -> dict[int, int]:
        return {self.rank_of(pid): pid for pid in children(job.pid)}

    def rank_of(self, pid: int) -> int:
        environment = Path(f"/proc/{pid}/environ").read_text()
        return int(re.search(r"OMPI_COMM_WORLD_RANK=(\d+)", environment)[1])

    def check_that_a_stopped_process_is_named(self, runtime: dict[str, Any]) -> None:
        """Stops rank 2 of four during the second run. The other ranks name it, and the first run is kept."""
        path = self.write(experiment(runtime={**runtime, "watchdog": "2s"}, sweep={"/steps": [3, ENDLESS]}))
        job = self.start(4, "run", path, "--quiet")
        ranks = self.ranks_in_second_run(job)
        os.kill(ranks[2], signal.SIGSTOP)
        self.addCleanup(self.continue_process, ranks[2])
        _, err = job.communicate(timeout=90)
        self.assertEqual(job.returncode, 124, err)
        # The process may have been stopped before it entered the run, or while it changed a queue that ranks share.
        self.assertRegex(
            err,
            "rank 2 has not been heard of for 5 s|rank [013] timed out after [35] s waiting for ranks: 2"
            "|no call of MPI has returned on rank",
        )
        if "waiting for ranks: 2" not in err:  # then the other ranks wait inside the run, and say what they wait for
            self.assertRegex(err, "rank [013] waits for ")
        # mpirun continues the stopped process before it ends it.
        self.assertNotRegex(err, "rank [013] has not been heard of|waiting for ranks: [013]")
        self.assertEqual(len(self.done()), 1)

    def continue_process(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass
