"""`trigram bench` as an MPI job: processes with different arguments, and processes that end early."""

from __future__ import annotations


from harness import children, experiment
from jobs import JobTest


def arguments_of_rank_0(arguments: str) -> str:
    return f'and rank 0 has "{arguments}"; expected the same on all ranks'


class BenchJobs(JobTest):
    def test_unequal_options_are_named_before_anything_is_measured(self) -> None:
        cases = [
            ("bench --iters 3", "bench --iters 4"),
            ("bench allreduce", "bench allreduce broadcast"),
            ("bench", "bench --no-check"),
            ("bench --max-bytes 8B", "bench --max-bytes 0.008kB"),
        ]
        for first, second in cases:
            line = self.refused(2, first, {1: second})
            self.assertEqual(line, f'trigram: rank 1: has the arguments "{second}", {arguments_of_rank_0(first)}')

    def test_an_error_of_all_ranks_is_printed_once(self) -> None:
        self.write({"nodes": 3}, "my.json")
        missing = "bench allreduce --max-bytes 16B --cluster none.json"
        line = self.refused(3, missing)
        self.assertIn("trigram: --cluster: expected a file that describes a cluster", line)
        line = self.refused(3, missing.replace("none.json", "my.json --ranks 2"))
        self.assertIn("trigram: --ranks: expected the number of started processes, 3, not 2", line)

    def test_different_commands_are_named(self) -> None:
        path = self.write(experiment(runtime="mpi", cluster={"nodes": 3}))
        line = self.refused(3, f"run {path}", {1: "bench allreduce", 2: "calibrate"})
        self.assertIn('rank 1: has the arguments "bench allreduce", and ', line)
        self.assertIn('rank 2: has the arguments "calibrate", and ', line)
        line = self.refused(3, f"run {path} --dry-run", {2: f"run {path}"})
        self.assertIn(f'rank 2: has the arguments "run {path}", and ', line)

    def test_commands_for_a_single_process_are_refused(self) -> None:
        for command in ("list worlds", "report results", "status missing.json"):
            line = self.refused(3, command)
            self.assertIn(f"{command.split()[0]}: runs in one process; run it without a launcher, "
                          "or run, replay, bench, calibrate", line)
        line = self.refused(3, "bench allreduce", {2: "report results"})
        self.assertEqual(line, 'trigram: rank 2: has the arguments "report results", '
                         + arguments_of_rank_0("bench allreduce"))

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
        self.wait_for(lambda: len(children(job.pid)) == 3)
        self.check_survivors_of_a_kill(job)
