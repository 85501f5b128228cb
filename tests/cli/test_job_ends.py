"""Processes of an MPI job that stop where the whole job waits for them: when it starts and exits."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import unittest

from harness import TRIGRAM, experiment
from jobs import ENVIRONMENT, JobTest

STOPS_IN_FINALIZE = r"""
#include <csignal>
#include <cstdlib>
#include <string_view>
extern "C" int PMPI_Finalize();
extern "C" int MPI_Finalize() {
  if (std::string_view(std::getenv("OMPI_COMM_WORLD_RANK")) == "1") std::raise(SIGSTOP);
  return PMPI_Finalize();
}
"""


class JobEnds(JobTest):
    # As the shortest patience of a process that waits for others to start, or to exit.
    config = {"runtime": {"name": "mpi", "watchdog": "2s"}}

    def check_that_it_ends(self, command: str, call: str, **environment: str) -> None:
        """Runs a line of the shell as each of four processes."""
        begun = time.monotonic()
        job = self.popen(["mpirun", "-n", 4, "sh", "-c", command],
                         env={**ENVIRONMENT, **environment})
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 124, err)
        self.assertRegex(err, f"{call} has not returned on rank [0123] for 15 s")
        self.assertGreater(time.monotonic() - begun, 15)

    def test_a_process_that_stops_before_it_starts_mpi_ends_the_job(self) -> None:
        run = shlex.join([TRIGRAM, "run", str(self.write(experiment(**self.config)))])
        stop = '[ "$OMPI_COMM_WORLD_RANK" = 3 ] && kill -STOP $$;'
        self.check_that_it_ends(f"{stop} exec {run}", "MPI_Init_thread")
        self.assertEqual(self.done(), set())

    def test_a_process_that_stops_at_its_exit_ends_the_job_and_runs_are_kept(self) -> None:
        source, library = self.folder / "stop.cpp", self.folder / "stop.so"
        source.write_text(STOPS_IN_FINALIZE)
        subprocess.run([os.environ["CXX"], "-std=c++17", "-fPIC", "-shared", source, "-o", library],
                       check=True)
        run = shlex.join([TRIGRAM, "run", str(self.write(experiment(**self.config)))])
        self.check_that_it_ends(f"LD_PRELOAD={library} exec {run}", "MPI_Finalize")
        self.assertEqual(len(self.done()), 1)


if __name__ == "__main__":
    unittest.main()
