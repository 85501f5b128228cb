"""Runs many experiments as one sweep in one process, and reads the results."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from base import TRIGRAM

Json = dict[str, Any]


@dataclass(frozen=True)
class Result:
    id: str
    error: str  # empty if there is none
    experiment: Json  # with all defaults filled in
    summary: Json
    steps: list[Json]


def read_result(folder: Path) -> Result:
    manifest = json.loads((folder / "manifest.json").read_text())
    metrics = folder / "metrics.jsonl"
    lines = metrics.read_text().splitlines() if metrics.exists() else []
    return Result(
        manifest["id"],
        manifest["error"] or ("" if manifest["status"] == "done" else manifest["status"]),
        manifest["experiment"],
        manifest["summary"] or {},
        [json.loads(line) for line in lines],
    )


class Sweeps:
    """Runs sweeps in `folder`, which has the profiles of the experiments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def command(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [TRIGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=600
        )

    def write(self, rows: dict[int, Json]) -> Path:
        """Writes a sweep in which the run with seed n is the experiment rows[n]."""
        self.count += 1
        path = self.folder / f"sweep{self.count}.json"
        zipped = [{f"/{key}": value for key, value in row.items()} | {"/seed": number} for number, row in rows.items()]
        path.write_text(json.dumps({"zip": zipped}))
        return path

    def refused(self, rows: dict[int, Json]) -> dict[int, str]:
        """The rows that the program refuses, with its messages."""
        if not rows:
            return {}
        done = self.command("validate", self.write(rows))
        if done.returncode == 0:
            return {}
        if len(rows) == 1:
            return dict.fromkeys(rows, done.stderr.strip() or f"exit code {done.returncode}")
        items = list(rows.items())
        half = len(items) // 2
        return self.refused(dict(items[:half])) | self.refused(dict(items[half:]))

    def run(self, rows: dict[int, Json], method: str) -> dict[int, Result]:
        """The results by row number. `how` is a key of HOW."""
        if method == "set":
            return {number: self.run_by_settings(number, row) for number, row in rows.items()}
        if method == "reversed":
            rows = dict(reversed(rows.items()))
        path = self.write(rows)
        for options in METHODS[method]:
            done = self.command("run", path, "--no-table", "--quiet", *options)
            if done.returncode not in (0, 1):
                raise AssertionError(f"{path}: exit code {done.returncode}: {done.stderr}")
        found = {}
        for folder in (self.folder / "results" / path.stem).glob("*/manifest.json"):
            result = read_result(folder.parent)
            found[result.experiment["seed"]] = result
        return found

    def run_by_settings(self, number: int, row: Json) -> Result:
        """Runs an experiment whose fields are all set by --set. The file has other values."""
        self.count += 1
        path = self.folder / f"sweep{self.count}.json"
        path.write_text(json.dumps({"cluster": {"nodes": 7}, "steps": 1, "workload": "vgg16"}))
        settings = []
        for key, value in (row | {"seed": number}).items():
            settings += ["--set", f"/{key}={json.dumps(value)}"]
        done = self.command("run", path, "--no-table", "--quiet", *settings)
        if done.returncode != 0:
            raise AssertionError(f"{settings}: exit code {done.returncode}: {done.stderr}")
        (manifest,) = (self.folder / "results" / path.stem).glob("*/manifest.json")
        return read_result(manifest.parent)


# For each method of running a sweep, the options of its commands.
METHODS: dict[str, list[list[str]]] = {
    "sweep": [["--jobs", "2"]],
    "one job": [["--jobs", "1"]],
    "reversed": [["--jobs", "2"]],
    "shards": [["--jobs", "2", "--shard", "2/2"], ["--jobs", "2", "--shard", "1/2"]],
    "set": [],
}
