"""Runs the trigram command the way a user does. TRIGRAM and SOURCE come from the environment."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

TRIGRAM = os.environ["TRIGRAM"]
SOURCE = Path(os.environ["SOURCE"])

CLUSTER = {
    "nodes": 2,
    "workers_per_node": 2,
    "inter": {"bandwidth": "10Gbps", "latency": "50us"},
    "intra": {"bandwidth": "100Gbps", "latency": "5us"},
}


def worlds() -> dict[str, bool]:
    """World name -> whether this build has it."""
    listed = subprocess.run([TRIGRAM, "list", "--json"], capture_output=True, check=True)
    return {world["name"]: world["available"] for world in json.loads(listed.stdout)["worlds"]}


def experiment(**changes: Any) -> dict[str, Any]:
    """A small experiment with real values, in a world that this build has."""
    config = {
        "runtime": "sim" if worlds()["sim"] else "threads",
        "cluster": CLUSTER,
        "algorithm": "gradient_allreduce",
        "workload": "quadratic",
        "optimizer": {"name": "sgd", "lr": 0.01},
        "steps": 6,
        "eval_every": 3,
    }
    config.update(changes)
    return config


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.results = self.folder / "results" / "test"

    def write(self, config: Any, name: str = "test.json") -> Path:
        path = self.folder / name
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return path

    def trigram(
        self, *arguments: Any, code: int = 0, timeout_s: float = 100, table: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """`run` prints its table, for which it starts Python, only if `table` asks for it."""
        no_table = ["--no-table"] if arguments[:1] == ("run",) and not table else []
        done = subprocess.run(
            [TRIGRAM, *map(str, arguments), *no_table],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def popen(self, command: list[Any], **options: Any) -> subprocess.Popen[str]:
        """Starts a command, which is killed at the end of the test if it is still running."""
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self.addCleanup(process.kill)
        return process

    def run_config(self, config: Any, *arguments: Any, code: int = 0) -> list[dict[str, Any]]:
        """Runs a config and returns the manifests in the order of their folders."""
        self.trigram("run", self.write(config), *arguments, code=code)
        return self.manifests()

    def manifests(self) -> list[dict[str, Any]]:
        return [json.loads(p.read_text()) for p in sorted(self.results.glob("*/manifest.json"))]

    def done(self) -> set[str]:
        return {path.parent.name for path in self.results.glob("*/DONE")}
