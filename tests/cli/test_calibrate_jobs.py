"""`trigram calibrate` as an MPI job: processes with different arguments, and processes that end early."""

from __future__ import annotations

import time

from harness import children
from jobs import JobTest


class CalibrateJobs(JobTest):
    def test_unequal_options_are_named_before_anything_is_measured(self) -> None:
        command = "calibrate --max-bytes 64KiB --iters 3 -o mine.json"
        line = self.refused(3, command, {2: f"{command} --quantile 0.25"})
        self.assertIn(f'trigram: rank 2: has the arguments "{command} --quantile 0.25", and ', line)
        self.assertEqual(list(self.folder.glob("mine.json")), [])

    def test_the_description_may_be_written_to_a_pipe(self) -> None:
        command = ["calibrate", "--max-bytes", "64KiB", "--iters", 3, "-o", "/dev/stdout"]
        for _ in range(6):  # on a busy machine, short messages may take longer than long ones
            out, err = self.start(2, *command).communicate(timeout=100)
            if '"memory_bandwidth"' in out:
                break
        self.assertIn('"memory_bandwidth"', out, err)
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_an_error_is_printed_once(self) -> None:
        line = self.refused(2, "calibrate --workload fashion")
        self.assertIn("trigram: --workload: unknown workload", line)
        line = self.refused(2, "calibrate -o no/such/folder")  # only rank 0 writes there
        self.assertIn("trigram: --output: expected a file that can be written", line)

    def test_survivors_of_a_killed_process_say_what_they_wait_for(self) -> None:
        job = self.start(3, "calibrate", "--max-bytes", "64KiB", "--iters", "1000000")
        self.wait_for(lambda: len(children(job.pid)) == 3)
        time.sleep(3)  # until the job measures
        self.check_survivors_of_a_kill(job)
