"""The program as a job of four ranks that share a GPU. If TRIGRAM_ON_EMULATED_GPUS is set, it names a program that is
linked with an emulation of CUDA and NCCL. Otherwise, TRIGRAM runs on a real GPU."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from typing import Any

from harness import SOURCE, TRIGRAM, experiment
from jobs import ALGORITHMS, ENDLESS, ENVIRONMENT, WATCHDOG_S, JobTest

EMULATED = os.environ.get("TRIGRAM_ON_EMULATED_GPUS")
RUNTIME = {"name": "nccl", "ranks_per_gpu": 4, "memory": "256MiB"}
emulated_only = unittest.skipUnless(EMULATED, "only the emulation can be configured")


class Gpus(JobTest):
    program = EMULATED or TRIGRAM

    def on_gpus(self, ranks: int, *arguments: Any, gpus: int = 1, code: int = 0) -> str:
        self.environment = {**ENVIRONMENT, "TRIGRAM_EMULATED_GPUS": str(gpus)}
        out, err = self.job(ranks, *arguments, code=code)
        return out + err

    def test_runs_end_with_nearly_the_results_of_other_worlds(self) -> None:
        path = self.write(experiment(runtime=RUNTIME, sweep={"/algorithm": ALGORITHMS}))
        self.on_gpus(4, "run", path)
        on_gpus = {m["experiment"]["algorithm"]["name"]: m["summary"] for m in self.manifests()}
        self.assertEqual(len(on_gpus), len(ALGORITHMS))
        for summary in on_gpus.values():
            self.assertGreater(summary["communication_s"], 0)
            self.assertGreaterEqual(summary["exposed_s"], 0)
            self.assertLess(summary["exposed_s"], summary["step_s"])
        self.check_overlap(len(ALGORITHMS))
        shutil.rmtree(self.results)
        self.trigram("run", path, "--set", '/runtime="threads"')
        for manifest in self.manifests():
            name = manifest["experiment"]["algorithm"]["name"]
            if name == "wagma":  # its groups depend on which ranks are late
                continue
            gpus, threads = on_gpus[name], manifest["summary"]
            self.assertAlmostEqual(gpus["eval_loss"], threads["eval_loss"], places=4)
            # Between threads, each of the four servers may count its last message just after the receiver has
            # ended the run.
            last_messages = 4 * 120 if name == "parameter_server" else 0
            for link in ("bytes_intra", "bytes_inter"):
                self.assertAlmostEqual(gpus[link], threads[link], delta=last_messages, msg=name)

    def check_overlap(self, runs: int) -> None:
        script = [sys.executable, "-B", SOURCE / "scripts" / "overlap.py", self.results]
        table = subprocess.run(script, capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in table.splitlines()[1:]]
        self.assertEqual(len(rows), runs, table)
        for row in rows:
            # A step contains at least the longer of the two times; clocks of different streams may differ slightly.
            self.assertGreater(float(row[-2]), 0.95, table)

    @emulated_only
    def test_missing_gpus_are_named(self) -> None:
        path = self.write(experiment(runtime={**RUNTIME, "ranks_per_gpu": 1}))
        self.assertIn("no GPU", self.on_gpus(4, "run", path, gpus=0, code=2))
        self.assertIn("start at most 2 ranks there", self.on_gpus(4, "run", path, gpus=2, code=2))
        self.assertFalse(self.done())
        self.on_gpus(4, "run", path, "--ranks-per-gpu", 2, gpus=2)
        self.assertTrue(self.done())

    def test_a_stopped_process_is_named_and_finished_runs_are_kept(self) -> None:
        self.check_that_a_stopped_process_is_named(RUNTIME)

    def test_a_killed_process_ends_the_job_and_finished_runs_are_kept(self) -> None:
        path = self.write(experiment(runtime=RUNTIME, sweep={"/steps": [3, ENDLESS]}))
        job = self.start(4, "run", path, "--quiet")
        os.kill(self.ranks_in_second_run(job)[2], signal.SIGKILL)
        killed = time.monotonic()
        _, err = job.communicate(timeout=60)
        self.assertLess(time.monotonic() - killed, WATCHDOG_S)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, err)
        self.assertRegex(err, "rank [013] is ended by SIGTERM")
        # NCCL on a GPU may tell the other ranks that a process has ended before mpirun does.
        # A rank that was computing has not yet waited for anybody.
        self.assertRegex(err, "rank [013] (computes|waits for |has stopped, as the job has failed, and waits)")
        self.assertEqual(len(self.done()), 1)

    @emulated_only
    def test_a_library_that_is_too_old_is_named(self) -> None:
        path = self.write(experiment(runtime=RUNTIME))
        self.environment = {**ENVIRONMENT, "TRIGRAM_EMULATED_NCCL": "21703"}
        _, err = self.job(4, "run", path, code=1)
        self.assertIn("NCCL 2.17.3 is loaded, but 2.18.0 or newer is needed", err)
        self.assertFalse(self.done())

    def test_too_little_memory_is_an_error(self) -> None:
        path = self.write(experiment(runtime={**RUNTIME, "memory": "1MiB"}))
        self.assertIn('"memory"', self.on_gpus(4, "run", path, code=1))

    def test_collectives_and_codecs_are_benchmarked(self) -> None:
        ladder = ["--min-bytes", "4KiB", "--max-bytes", "64KiB", "--factor", 16, "--iters", 3]
        out = self.on_gpus(2, "bench", "--runtime", json.dumps(RUNTIME), *ladder)
        self.assertIn("allreduce", out)
        out = self.on_gpus(2, "bench", "encode", "decode", "--runtime", json.dumps(RUNTIME), *ladder)
        rows = [line.split() for line in out.splitlines() if line.split()[:1] == ["encode"]]
        self.assertGreater(len(rows), 7, out)
        for row in rows:
            self.assertEqual(row[-1], "0", row)  # the number of elements that differ from the host's

    def test_the_machine_is_calibrated(self) -> None:
        # Messages must be long enough that their times exceed the latency. Ranks that share a GPU take turns, each of
        # which lasts milliseconds.
        runtime = {**RUNTIME, "memory": "512MiB"}  # operands that do not fit in caches
        longest = "1MiB" if EMULATED else "16MiB"
        arguments = ["calibrate", "--runtime", json.dumps(runtime), "--max-bytes", longest,
                     "--iters", 5, "-o", "cluster.json"]
        for _ in range(6):  # on a busy machine, short messages may take longer than long ones
            job = self.start(2, *arguments)
            out, err = job.communicate(timeout=100)
            if "the measured times do not grow" not in err:
                break
        self.assertEqual(job.returncode, 0, out + err)
        self.assertIn("world nccl, 2 ranks", out)
        self.run_config(experiment(cluster="cluster.json"))
