"""Helpers of tests of `trigram emulate`: the reason why this machine cannot run it, and the command."""

from __future__ import annotations

import os
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

from harness import TRIGRAM, CommandTest, experiment

CLUSTER = {
    "nodes": 2,
    "workers_per_node": 1,
    "inter": {"bandwidth": "40Mbps", "latency": "20ms"},
    "intra": {"bandwidth": "100Gbps", "latency": "5us"},
}
ENDLESS = 50_000_000


def missing_requirement() -> str:
    """The reason why this machine cannot emulate networks; empty if it can."""
    if os.geteuid() != 0:
        return "not root"
    for tool in ("ip", "tc", "mpirun", "unshare"):
        if not shutil.which(tool):
            return f"no {tool} here"
    name = f"test-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return "network namespaces cannot be made here"
    bucket = "qdisc add dev lo root tbf rate 1mbit burst 2k limit 10k".split()
    done = subprocess.run(["tc", "-n", name, *bucket], capture_output=True)
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return "this kernel has no tbf" if done.returncode else ""


REASON = missing_requirement()


def namespaces() -> list[str]:
    folder = Path("/run/netns")
    return [p.name for p in folder.iterdir() if p.name.startswith("trigram-")] if folder.exists() else []


class EmulateTest(CommandTest):
    def config(self, **changes: Any) -> dict[str, Any]:
        return experiment(**{"cluster": CLUSTER, "runtime": "mpi", **changes})

    def traffic(self, numel: int, **changes: Any) -> dict[str, Any]:
        """An experiment with a model of one tensor of `numel` elements, which has no values and takes almost no
        computation."""
        head = "# name: made_up\n# accelerator: none\n# batch: 1\n# source: made up for this test\n"
        row = f"tensor,numel,forward_s,backward_s\nx,{numel},0.0001,0.0001\n"
        self.write(head + row, "model.csv")
        return self.config(**{"workload": "profile:model.csv", "steps": 4, "eval_every": 0,
                              **changes})

    def error(self, config: Any, *arguments: Any, **environment: str) -> str:
        """The single line that a refused command prints."""
        command = [TRIGRAM, "emulate", str(self.write(config)), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, **environment},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("trigram: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertEqual(self.done(), set())
        return lines[0]


@unittest.skipIf(REASON, REASON)
class NamespaceTest(EmulateTest):
    def namespaces_of(self, pid: int) -> list[str]:
        """The network namespaces of the command with the process id `pid`."""
        return [name for name in namespaces() if name.startswith(f"trigram-{pid}-")]

    def processes(self) -> str:
        """The ids of processes whose command lines contain the test's folder."""
        return subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True).stdout

    def start(self, config: Any, **environment: str) -> subprocess.Popen[str]:
        self.temporary.mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(self.temporary), **environment}
        command = subprocess.Popen([TRIGRAM, "emulate", str(self.write(config))], cwd=self.folder,
                                   env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(command.kill)
        self.addCleanup(command.stdout.close)
        self.addCleanup(command.stderr.close)
        return command

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    def start_endless(self, **changes: Any) -> subprocess.Popen[str]:
        command = self.start(self.config(steps=ENDLESS, **changes))
        self.wait_for(lambda: list(self.results.glob("*.tmp.*/metrics.jsonl")))
        self.assertEqual(len(self.namespaces_of(command.pid)), 3)
        return command

    def assert_cleans_up_when_killed(self, command: subprocess.Popen[str]) -> None:
        command.kill()
        command.wait()
        self.wait_for(lambda: not self.namespaces_of(command.pid))
        self.wait_for(lambda: not self.processes())
        self.assert_nothing_is_left(command.pid)

    def assert_nothing_is_left(self, pid: int) -> None:
        self.assertEqual(self.namespaces_of(pid), [])
        self.assertEqual(self.processes(), "", "processes are left")
        if self.temporary.exists():
            self.assertEqual(list(self.temporary.iterdir()), [])
