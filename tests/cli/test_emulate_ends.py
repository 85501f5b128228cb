"""`trigram emulate` leaves no network namespace, no matter why it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from emulated import NamespaceTest, namespaces
from harness import children


class Ends(NamespaceTest):
    def children_named(self, name: str, pid: int) -> list[int]:
        return [child for child in children(pid) if Path(f"/proc/{child}/comm").read_text().strip() == name]

    def test_a_run_whose_watcher_is_killed_cleans_up(self) -> None:
        command = self.start_endless()
        for pid in self.children_named("trigram", command.pid):
            os.kill(pid, signal.SIGKILL)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 130, err)
        self.assert_nothing_is_left(command.pid)

    def test_an_interrupted_run_cleans_up(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            command = self.start_endless()
            command.send_signal(number)
            _, err = command.communicate(timeout=60)
            self.assertEqual(command.returncode, 130, err)
            self.assert_nothing_is_left(command.pid)
            shutil.rmtree(self.results)

    def test_a_killed_run_cleans_up(self) -> None:
        command = self.start_endless()
        self.assert_cleans_up_when_killed(command)

    def test_a_command_that_is_killed_while_it_makes_namespaces_cleans_up(self) -> None:
        mark = self.folder / "mark"
        slow = self.script("bin/ip", f'#!/bin/sh\ncase "$*" in "netns add "*10.77.0.1) touch {mark}; sleep 1;; '
                                     f'esac\nexec {shutil.which("ip")} "$@"\n')
        command = self.start(self.config(), PATH=f"{slow.parent}:{os.environ['PATH']}")
        self.wait_for(mark.exists)
        self.assertEqual(len(self.namespaces_of(command.pid)), 1)  # the switch
        command.kill()
        command.wait()
        time.sleep(1.5)
        self.wait_for(lambda: not self.namespaces_of(command.pid))
        time.sleep(0.5)
        self.assert_nothing_is_left(command.pid)

    def test_a_job_whose_mpirun_is_killed_cleans_up(self) -> None:
        command = self.start_endless()
        (mpirun,) = self.children_named("mpirun", command.pid)
        os.kill(mpirun, signal.SIGKILL)
        _, err = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 1, err)
        self.assertIn("mpirun was ended by signal 9", err)
        self.assert_nothing_is_left(command.pid)

    def test_the_next_command_removes_namespaces_of_dead_commands(self) -> None:
        dead = subprocess.Popen(["true"])
        dead.wait()
        name = f"trigram-{dead.pid}-switch"
        subprocess.run(["ip", "netns", "add", name], check=True)
        used = f"trigram-{os.getpid()}-switch"  # belongs to a process that is alive
        subprocess.run(["ip", "netns", "add", used], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", used], check=True)
        self.trigram("emulate", "--clean")
        self.assertNotIn(name, namespaces())
        self.assertIn(used, namespaces())
