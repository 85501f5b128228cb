"""The plan of an MPI job: only rank 0 reads the configuration, and all ranks must have the same arguments and input
files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from harness import TRIGRAM, experiment
from jobs import ENVIRONMENT, JobTest

PROFILE = "tensor,numel,forward_s,backward_s\nlayer,1000,0.001,0.002\n"
# Each process has its own working folder, so this path is another file in each process.
OWN_FILE = "/proc/self/cwd/one.csv"


class JobPlans(JobTest):
    def job_in(self, folders: list[Path], *arguments: Any) -> subprocess.Popen[str]:
        """Starts a job whose ranks have the same arguments and these working folders."""
        command: list[Any] = ["mpirun"]
        for folder in folders:
            colon = [] if folder is folders[0] else [":"]
            command += [*colon, "-n", 1, "-wdir", folder, TRIGRAM, *arguments]
        return self.popen(command, env=ENVIRONMENT)

    def folders(self) -> list[Path]:
        folders = [self.folder / name for name in ("here", "there", "elsewhere")]
        for folder in folders:
            folder.mkdir()
        return folders

    def output(self, job: subprocess.Popen[str], code: int = 0) -> str:
        out, err = job.communicate(timeout=100)
        self.assertEqual(job.returncode, code, out + err)
        return out if code == 0 else err

    def test_only_rank_0_needs_the_configuration(self) -> None:
        folders = self.folders()
        config = experiment(runtime="mpi", cluster="my.json", sweep={"/seed": [1, 2]})
        (folders[0] / "test.json").write_text(json.dumps(config))
        (folders[0] / "my.json").write_text(json.dumps({"nodes": 3}))
        (folders[1] / "test.json").write_text("this is not JSON")
        self.output(self.job_in(folders, "run", "test.json", "--set", "/steps=2"))
        self.assertEqual(len(list(folders[0].glob("results/test/*/DONE"))), 2)
        self.assertFalse((folders[1] / "results").exists())
        out = self.output(self.job_in(folders, "bench", "allreduce", "--max-bytes", "16B",
                                     "--iters", "2", "--cluster", "my.json"))
        self.assertIn("# world mpi, 3 ranks", out)

    def test_an_error_of_rank_0_is_printed_once(self) -> None:
        folders = self.folders()
        (folders[0] / "test.json").write_text(json.dumps(experiment(runtime="mpi", stepz=3)))
        for folder in folders[1:]:
            config = experiment(runtime="mpi", cluster={"nodes": 3})
            (folder / "test.json").write_text(json.dumps(config))
        err = self.output(self.job_in(folders, "run", "test.json", "--rank-logs", self.folder / "logs"),
                         code=2)
        self.assertEqual(err.count("/stepz: unknown key"), 1, err)
        for rank in range(3):
            self.assertIn('bad input: test.json: /stepz: unknown key "stepz"', self.log(rank))

    def test_input_files_must_equal_those_of_rank_0(self) -> None:
        folders = self.folders()
        config = experiment(runtime="mpi", cluster={"nodes": 3}, workload=f"profile:{OWN_FILE}",
                            eval_every=0)
        (folders[0] / "test.json").write_text(json.dumps(config))
        for folder in folders:
            (folder / "one.csv").write_text(PROFILE)
        self.output(self.job_in(folders, "run", "test.json"))
        (folders[2] / "one.csv").write_text(PROFILE.replace("1000", "1001"))
        err = self.output(self.job_in(folders, "run", "test.json", "--force"), code=2)
        self.assertIn(f"trigram: rank 2: {OWN_FILE}: has another content than on rank 0; expected the "
                      "same content on all ranks\n", err)
        (folders[1] / "one.csv").unlink()
        err = self.output(self.job_in(folders, "replay", "test.json"), code=2)
        self.assertIn(f"trigram: rank 1: {OWN_FILE}: cannot be read; expected the file that rank 0 "
                      f"has read; rank 2: {OWN_FILE}: has another content than on rank 0", err)

    def test_different_arguments_are_refused(self) -> None:
        path = self.write(experiment(runtime="mpi"))
        line = self.refused(4, f"run {path}", {1: f"run {path} --set /steps=5", 2: f"run {path} -f",
                                               3: f"run {path} -f"})
        others = f'and rank 0 has "run {path}"; expected the same on all ranks'
        self.assertEqual(line, f'trigram: rank 1: has the arguments "run {path} --set /steps=5", '
                               f'{others}; rank 2 3: has the arguments "run {path} -f", {others}')
        self.assertFalse(self.done())

    def test_a_shard_without_runs_ends_on_all_ranks(self) -> None:
        path = self.write(experiment(runtime="mpi", cluster={"nodes": 2}))
        out, _ = self.job(2, "run", path, "--shard", "2/2")
        self.assertEqual(out, "shard 2/2 has no runs: the sweep has fewer runs than shards\n")
