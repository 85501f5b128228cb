"""Runs the trigram command the way a user does. TRIGRAM and SOURCE come from the environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable

TRIGRAM = os.environ["TRIGRAM"]
SOURCE = Path(os.environ["SOURCE"])

CLUSTER = {
    "nodes": 2,
    "workers_per_node": 2,
    "inter": {"bandwidth": "10Gbps", "latency": "50us"},
    "intra": {"bandwidth": "100Gbps", "latency": "5us"},
}


def listed(kind: str) -> list[dict[str, Any]]:
    """The components of a kind, such as "algorithms", that this build has."""
    done = subprocess.run([TRIGRAM, "list", kind, "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)[kind]


def worlds() -> dict[str, bool]:
    """By the name of a world: true if this build has it."""
    return {world["name"]: world["available"] for world in listed("worlds")}


needs_simulator = unittest.skipUnless(worlds()["sim"], "this build has no simulator")


def read_json(path: Path) -> Any:
    """Reads a JSON file that may have comments."""
    return json.loads(re.sub(r"(^|\s)//.*", "", path.read_text()))


def children(pid: int) -> list[int]:
    """The child processes of a process; empty if it has ended."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def one_tensor_profile(numel: int, forward_s: float, backward_s: float, **changes: Any) -> dict[str, Any]:
    tensor = {"tensor": "w", "numel": numel, "forward_s": forward_s, "backward_s": backward_s}
    return {"name": "one", "batch": 4, "tensors": [tensor]} | changes


def experiment(**changes: Any) -> dict[str, Any]:
    """A small experiment with real gradients, in a world that this build has."""
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
    wait_timeout_s: float = 60

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
        """Runs the program, which must end with `code`. `run` prints its table only with `table`, because it starts
        Python for it."""
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

    def refusal(self, *arguments: Any, timeout_s: float = 100) -> str:
        """The single line of error output of a command that ends with exit code 2."""
        refused = self.trigram(*arguments, code=2, timeout_s=timeout_s)
        self.assertEqual(refused.stdout, "")
        self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
        return refused.stderr

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

    def wait_for(self, condition: Callable[[], Any], what: str = "a condition") -> Any:
        """Polls until `condition` returns a true value, and returns this value."""
        deadline = time.monotonic() + self.wait_timeout_s
        while not (value := condition()):
            self.assertLess(time.monotonic(), deadline, f"waited in vain for {what}")
            time.sleep(0.05)
        return value

    def script(self, path: str, text: str) -> Path:
        """Writes an executable file."""
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def run_config(self, config: Any, *arguments: Any) -> list[dict[str, Any]]:
        """Runs an experiment, and returns the manifests of all its runs in the order of their folders."""
        self.trigram("run", self.write(config), *arguments)
        return self.manifests()

    def manifests(self) -> list[dict[str, Any]]:
        return [json.loads(p.read_text()) for p in sorted(self.results.glob("*/manifest.json"))]

    def metrics(self, run_id: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.results / run_id / "metrics.jsonl").read_text().splitlines()]

    def done(self) -> set[str]:
        """The ids of finished runs."""
        return {path.parent.name for path in self.results.glob("*/DONE")}
