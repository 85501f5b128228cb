"""The command as a job of GPUs: the same program, linked with an emulation of CUDA and NCCL."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unittest
from typing import Any

from harness import CommandTest, experiment
from test_jobs import ALGORITHMS, ENVIRONMENT

PROGRAM = os.environ["TRIGRAM_ON_EMULATED_GPUS"]
RUNTIME = {"name": "nccl", "ranks_per_gpu": 4, "memory": "256MiB"}


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun here: apt-get install openmpi-bin")
class Gpus(CommandTest):
    def job(self, ranks: int, *arguments: Any, gpus: int = 1, code: int = 0) -> str:
        done = subprocess.run(
            ["mpirun", "-n", str(ranks), PROGRAM, *map(str, arguments)],
            cwd=self.folder,
            env={**ENVIRONMENT, "TRIGRAM_EMULATED_GPUS": str(gpus)},
            capture_output=True,
            text=True,
            timeout=100,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_runs_end_near_those_of_other_worlds(self) -> None:
        path = self.write(experiment(runtime=RUNTIME, sweep={"/algorithm": ALGORITHMS}))
        self.job(4, "run", path)
        on_gpus = {m["experiment"]["algorithm"]["name"]: m["summary"] for m in self.manifests()}
        self.assertEqual(len(on_gpus), len(ALGORITHMS))
        for summary in on_gpus.values():
            self.assertGreater(summary["communication_s"], 0)
            self.assertGreaterEqual(summary["exposed_s"], 0)
            self.assertLess(summary["exposed_s"], summary["step_s"])
        shutil.rmtree(self.results)
        self.trigram("run", path, "--set", '/runtime="threads"')
        for there in self.manifests():
            name = there["experiment"]["algorithm"]["name"]
            if name == "wagma":  # its groups depend on who is late
                continue
            here, elsewhere = on_gpus[name], there["summary"]
            self.assertAlmostEqual(here["eval_loss"], elsewhere["eval_loss"], places=4)
            for link in ("bytes_intra", "bytes_inter"):
                self.assertEqual(here[link], elsewhere[link], name)

    def test_what_a_machine_lacks_is_said(self) -> None:
        path = self.write(experiment(runtime={**RUNTIME, "ranks_per_gpu": 1}))
        self.assertIn("no GPU", self.job(4, "run", path, gpus=0, code=2))
        self.assertIn("start at most 2 there", self.job(4, "run", path, gpus=2, code=1))
        self.assertFalse(self.done())
        self.job(4, "run", path, "--ranks-per-gpu", 2, gpus=2)
        self.assertTrue(self.done())

    def test_memory_that_does_not_suffice_is_said(self) -> None:
        path = self.write(experiment(runtime={**RUNTIME, "memory": "1MiB"}))
        self.assertIn('"memory"', self.job(4, "run", path, code=1))

    def test_collectives_and_codecs_are_benchmarked(self) -> None:
        ladder = ["--min-bytes", "4KiB", "--max-bytes", "64KiB", "--factor", 16, "--iters", 3]
        out = self.job(2, "bench", "--runtime", json.dumps(RUNTIME), *ladder)
        self.assertIn("allreduce", out)
        out = self.job(2, "bench", "encode", "decode", "--runtime", json.dumps(RUNTIME), *ladder)
        rows = [line.split() for line in out.splitlines() if line.split()[:1] == ["encode"]]
        self.assertGreater(len(rows), 7, out)
        for row in rows:
            self.assertEqual(row[-1], "0", row)  # elements that differ from the host's


if __name__ == "__main__":
    unittest.main()
