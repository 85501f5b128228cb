"""Ctrl-C stops cleanly. kill -9 loses no finished run and leaves nothing half-written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any, Callable

from harness import TRIGRAM, CommandTest, experiment

SHORT = 3
LONG = 50_000_000  # steps that never end within a test


class Interruption(CommandTest):
    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if value := condition():
                return value
            time.sleep(0.02)
        return self.fail(f"waited in vain for {what}")

    def children(self, pid: int) -> list[int]:
        try:
            text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        except FileNotFoundError:
            return []
        return [int(child) for child in text.split()]

    def alive(self, pid: int) -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != "Z"

    def start(self) -> tuple[subprocess.Popen[str], list[int]]:
        """Starts a short run, then an endless one. Returns once the endless one is under way."""
        path = self.write(experiment(sweep={"/steps": [SHORT, LONG]}))
        command = self.popen([TRIGRAM, "run", path, "--jobs", 1])
        self.addCleanup(command.communicate)
        self.addCleanup(command.kill)  # runs before the others: the last cleanup added runs first
        self.wait_for(lambda: len(self.done()) == 1, "the short run")
        children = self.wait_for(lambda: self.children(command.pid), "the endless run")
        self.wait_for(lambda: list(self.results.glob("*.tmp.*/metrics.jsonl")), "its results")
        return command, children

    def assert_one_finished_and_resumable(self) -> None:
        readable = [m for m in self.manifests() if m["id"] in self.done()]
        self.assertEqual([m["experiment"]["steps"] for m in readable], [SHORT])
        finished = self.results / readable[0]["id"] / "manifest.json"
        before = finished.stat().st_mtime_ns
        self.run_config(experiment(sweep={"/steps": [SHORT, SHORT + 1]}))
        self.assertEqual(finished.stat().st_mtime_ns, before, "a finished run was made again")
        self.assertEqual(len(self.done()), 2)
        self.assertEqual(list(self.results.glob("*.tmp.*")), [], "leftovers stay")

    def assert_stops_cleanly(self, number: signal.Signals) -> None:
        command, children = self.start()
        os.kill(command.pid, number)
        _, errors = command.communicate(timeout=30)
        self.assertEqual(command.returncode, 130)
        self.assertIn("interrupted", errors)
        self.assertFalse(any(self.alive(child) for child in children))
        self.assertEqual(list(self.results.glob("*.tmp.*")), [])
        self.assert_one_finished_and_resumable()

    def test_interrupt(self) -> None:
        self.assert_stops_cleanly(signal.SIGINT)

    def test_terminate(self) -> None:
        self.assert_stops_cleanly(signal.SIGTERM)

    def test_kill(self) -> None:
        command, children = self.start()
        status = self.trigram("status", "results").stdout
        self.assertIn("1 done", status)
        self.assertIn("1 under way", status)
        command.kill()
        command.communicate(timeout=30)
        self.wait_for(lambda: not any(map(self.alive, children)), "children to die with the parent")
        self.assertEqual(len(list(self.results.glob("*.tmp.*"))), 1)
        self.assert_one_finished_and_resumable()

    def test_a_killed_run_does_not_stop_the_sweep(self) -> None:
        command, children = self.start()
        for child in children:
            os.kill(child, signal.SIGKILL)
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


if __name__ == "__main__":
    unittest.main()
