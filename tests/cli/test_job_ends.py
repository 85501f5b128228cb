"""Processes of an MPI job that stop while the whole job waits for them: at its start, between runs and at its exit."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path

from harness import TRIGRAM, experiment
from jobs import ENVIRONMENT, WATCHDOG_S, JobTest

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
STOPS_AT_A_MANIFEST = r"""
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
extern "C" int open(const char* path, int flags, ...) {
  const bool first = std::string_view(std::getenv("OMPI_COMM_WORLD_RANK")) == "0";
  if (first && std::string_view(path).ends_with("manifest.json")) std::raise(SIGSTOP);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
"""


class JobEnds(JobTest):
    # The shortest possible timeout of processes that wait for other processes to start or to exit.
    config = {"runtime": {"name": "mpi", "watchdog": "2s"}}

    def check_that_it_ends(self, command: str, call: str, **environment: str) -> None:
        """Runs a shell command in each of four processes, one of which stops. The job ends with a message about
        `call`."""
        started = time.monotonic()
        job = self.popen(["mpirun", "-n", 4, "sh", "-c", command],
                         env={**ENVIRONMENT, **environment})
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 124, err)
        self.assertRegex(err, f"{call} has not returned on rank [0123] for 15 s")
        self.assertGreater(time.monotonic() - started, 15)

    def preloaded(self, text: str) -> Path:
        source, binary = self.folder / "stop.cpp", self.folder / "stop.so"
        source.write_text(text)
        subprocess.run([os.environ["CXX"], "-std=c++20", "-fPIC", "-shared", source, "-o", binary],
                       check=True)
        return binary

    def test_a_process_that_stops_between_runs_is_named(self) -> None:
        """While rank 0 finds out which runs are missing, the other ranks wait for its list."""
        path = self.write(experiment(**self.config))
        self.job(4, "run", path, "--quiet")
        run = f"LD_PRELOAD={self.preloaded(STOPS_AT_A_MANIFEST)} exec {TRIGRAM} run {path}"
        job = self.popen(["mpirun", "-n", 4, "sh", "-c", run], env=ENVIRONMENT)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 124, err)
        self.assertRegex(err, "rank [123] timed out after 3 s waiting for ranks: 0")

    def test_a_process_that_stops_before_it_starts_mpi_ends_the_job(self) -> None:
        run = shlex.join([TRIGRAM, "run", str(self.write(experiment(**self.config)))])
        stop = '[ "$OMPI_COMM_WORLD_RANK" = 3 ] && kill -STOP $$;'
        self.check_that_it_ends(f"{stop} exec {run}", "MPI_Init_thread")
        self.assertEqual(self.done(), set())

    def test_a_process_that_stops_at_its_exit_ends_the_job_and_runs_are_kept(self) -> None:
        stop = self.preloaded(STOPS_IN_FINALIZE)
        run = shlex.join([TRIGRAM, "run", str(self.write(experiment(**self.config)))])
        self.check_that_it_ends(f"LD_PRELOAD={stop} exec {run}", "MPI_Finalize")
        self.assertEqual(len(self.done()), 1)

    def test_results_that_cannot_be_written_end_the_job_at_once(self) -> None:
        config = {"algorithm": "bytegrad", "steps": 3000, "sweep": {"/seed": [1, 2]}}
        job = self.start(4, "run", self.write(experiment(runtime="mpi", **config)))
        self.wait_for(lambda: list(self.results.glob("*.tmp.*")))
        (unfinished,) = self.results.glob("*.tmp.*")
        started = time.monotonic()
        unfinished.parent.rename(self.folder / "elsewhere")
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1, err)
        self.assertRegex(err, f"trigram: .*: No such file or directory .*{unfinished.name}")
        self.assertLess(time.monotonic() - started, WATCHDOG_S / 2, "the watchdog has ended it")
