"""A sweep that is interrupted or killed keeps its finished runs, and the same command continues it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

from harness import TRIGRAM, CommandTest, children, experiment

SHORT = 3
LONG = 50_000_000  # more steps than a run makes during a test


class Interruption(CommandTest):
    def alive(self, pid: int) -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != "Z"

    def start(self) -> tuple[subprocess.Popen[str], list[int]]:
        """Starts a short run and then an endless one. Returns the command and its worker processes when the endless run
        has begun."""
        path = self.write(experiment(sweep={"/steps": [SHORT, LONG]}))
        command = self.popen([TRIGRAM, "run", path, "--jobs", 1])
        self.addCleanup(command.communicate)
        self.addCleanup(command.kill)  # cleanups run in the reverse order
        self.wait_for(lambda: len(self.done()) == 1, "the short run")
        workers = self.wait_for(lambda: children(command.pid), "the endless run")
        self.wait_for(lambda: list(self.results.glob("*.tmp.*/metrics.jsonl")), "its results")
        return command, workers

    def assert_one_finished_and_resumable(self) -> None:
        readable = [m for m in self.manifests() if m["id"] in self.done()]
        self.assertEqual([m["experiment"]["steps"] for m in readable], [SHORT])
        finished = self.results / readable[0]["id"] / "manifest.json"
        before = finished.stat().st_mtime_ns
        self.run_config(experiment(sweep={"/steps": [SHORT, SHORT + 1]}))
        self.assertEqual(finished.stat().st_mtime_ns, before, "a finished run was repeated")
        self.assertEqual(len(self.done()), 2)
        self.assertEqual(list(self.results.glob("*.tmp.*")), [], "leftovers stay")

    def assert_stops_cleanly(self, number: signal.Signals) -> None:
        command, workers = self.start()
        os.kill(command.pid, number)
        _, errors = command.communicate(timeout=30)
        self.assertEqual(command.returncode, 130)
        self.assertIn("interrupted", errors)
        self.assertFalse(any(self.alive(worker) for worker in workers))
        self.assertEqual(list(self.results.glob("*.tmp.*")), [])
        self.assert_one_finished_and_resumable()

    def test_interrupt(self) -> None:
        self.assert_stops_cleanly(signal.SIGINT)

    def test_terminate(self) -> None:
        self.assert_stops_cleanly(signal.SIGTERM)

    def test_kill(self) -> None:
        command, workers = self.start()
        status = self.trigram("status", "results").stdout
        self.assertIn("1 done", status)
        self.assertIn("1 under way", status)
        command.kill()
        command.communicate(timeout=30)
        self.wait_for(lambda: not any(map(self.alive, workers)), "workers to die with the command")
        self.assertEqual(len(list(self.results.glob("*.tmp.*"))), 1)
        self.assert_one_finished_and_resumable()

    def test_a_killed_run_does_not_stop_the_sweep(self) -> None:
        command, workers = self.start()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        _, errors = command.communicate(timeout=30)
        self.assertEqual(command.returncode, 1)
        self.assertIn("signal 9", errors)
        (failed,) = [m for m in self.manifests() if m["status"] == "failed"]
        self.assertNotIn(failed["id"], self.done())

    def test_results_that_cannot_be_written_are_named_and_do_not_count_as_done(self) -> None:
        path = self.write(experiment(sweep={"/steps": [SHORT, 2000]}))

        def with_small_files() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

        command = self.popen([TRIGRAM, "run", path, "--jobs", 1], preexec_fn=with_small_files)
        _, err = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 1, err)
        self.assertRegex(err, "cannot write: File too large .*/metrics.jsonl")
        self.assertNotIn("basic_ios", err)
        self.assertEqual(len(self.done()), 1)
        self.trigram("run", path)
        self.assertEqual(len(self.done()), 2)
