"""`trigram bench` as an MPI job: processes with different arguments, and processes that end
early."""

from __future__ import annotations

import os
import signal
import unittest

from harness import experiment
from jobs import JobTest

SAME = "expected the same files and arguments on all of them; "


class BenchJobs(JobTest):
    def test_unequal_options_are_named_before_anything_is_measured(self) -> None:
        cases = [
            ("--iters 3", "--iters 4", "rank 1: --iters is 4 there, 3 on rank 0"),
            ("allreduce", "allreduce broadcast", '--operation is "allreduce, broadcast" there, '
             '"allreduce" on rank 0'),
            ("--algorithm ring", "--algorithm native", '--algorithm is "native" there, "ring" on'),
            ("", "--no-check", "rank 1: --no-check is true there, false on rank 0"),
            ("--max-bytes 8B", "--max-bytes 1kB", "--max-bytes is 1000 there, 8 on rank 0"),
            ("", '--runtime \'{"name": "mpi", "watchdog": "9s"}\'', "rank 1: --runtime/watchdog is"),
        ]
        for here, there, difference in cases:
            line = self.refused(2, f"bench {here}", {1: f"bench {there}"})
            said = "trigram: /: the processes of the job have different options of trigram bench; "
            self.assertTrue(line.startswith(said + SAME), line)
            self.assertIn(difference, line)

    def test_options_with_the_same_meaning_are_no_difference(self) -> None:
        job = self.uneven(2, "bench allreduce --max-bytes 8B --iters 2",
                          {1: "bench allreduce --max-bytes 0.008kB --iters 2 --warmup 5 --json"})
        _, err = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 0, err)

    def test_ranks_with_an_error_are_named_with_it(self) -> None:
        self.write({"nodes": 3}, "my.json")
        command = "bench allreduce --max-bytes 16B --cluster my.json"
        missing = command.replace("my.json", "none.json")
        line = self.refused(3, command, {1: missing, 2: missing})
        self.assertIn("trigram: rank 1 2: --cluster: expected a file that describes a cluster", line)
        line = self.refused(3, command, {0: missing})
        self.assertIn("trigram: rank 0: --cluster: expected a file that describes a cluster", line)
        line = self.refused(3, missing)
        self.assertIn("trigram: --cluster: expected a file that describes a cluster", line)

    def test_different_commands_are_named(self) -> None:
        path = self.write(experiment(runtime="mpi", cluster={"nodes": 3}))
        line = self.refused(3, f"run {path}", {1: "bench allreduce", 2: "calibrate"})
        self.assertIn("have different commands; " + SAME, line)
        self.assertIn("rank 0: trigram run; rank 1: trigram bench; rank 2: trigram calibrate", line)
        line = self.refused(3, f"run {path} --dry-run", {2: f"run {path}"})
        self.assertIn("rank 2: --dry-run is false there, true on rank 0", line)

    def test_commands_for_a_single_process_are_refused(self) -> None:
        for command in ("list worlds", "report results", "status missing.json"):
            line = self.refused(3, command)
            self.assertIn(f"{command.split()[0]}: runs in one process; run it without a launcher, "
                          "or run, replay, bench, calibrate", line)
        line = self.refused(3, "bench allreduce", {2: "report results"})
        self.assertIn("rank 0 1: trigram bench; rank 2: trigram report", line)

    def test_a_command_line_that_cannot_be_parsed_is_reported_once(self) -> None:
        for command in ("bench --itres 3", "run --bogus", "bench --ranks 0", "advice"):
            line = self.refused(3, command)
            self.assertNotRegex(line, "rank \\d")
        line = self.refused(3, "bench --iters 3", {2: "bench --itres 3"})
        self.assertRegex(line, "^trigram: rank 2: .*--itres")
        path = self.write(experiment(runtime="mpi", cluster={"nodes": 3}))
        line = self.refused(3, f"run {path}", {0: f"run {path} --bogus"})
        self.assertRegex(line, "^trigram: rank 0: .*--bogus")

    def test_survivors_of_a_killed_process_say_what_they_wait_for(self) -> None:
        job = self.start(3, "bench", "allreduce", "--algorithm", "ring", "--max-bytes", "16B",
                         "--iters", "1000000")
        self.assertIn("# world mpi", job.stdout.readline())
        self.wait_for(lambda: len(self.children(job.pid)) == 3)
        ranks = {self.rank_of(int(pid)): int(pid) for pid in self.children(job.pid)}
        os.kill(ranks[1], signal.SIGKILL)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, err)
        for survivor in (0, 2):
            self.assertRegex(err, f"trigram: rank {survivor} is ended by SIGTERM\n"
                                  f"rank {survivor} (waits for|computes|prepares)")
        self.assertNotIn("finished runs are kept", err)


if __name__ == "__main__":
    unittest.main()
