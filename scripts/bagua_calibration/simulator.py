"""Simulates the times of cells with `trigram run`, each cell once. Here a cell is an algorithm, a description and a
bandwidth."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "analysis"))

from trigram_analysis import claims, results  # noqa: E402

from .parameters import FOLDER  # noqa: E402

CLAIM = "bagua_bert_large_bandwidth"


class SimulationError(RuntimeError):
    """A run of trigram failed. The message is trigram's."""


def claim(name: str = CLAIM, runs: list[results.Run] | None = None) -> claims.Claim:
    """The claim with this name: its published table, its measure, and the runs that it is compared with."""
    described = json.loads(claims.CLAIMS.read_text(encoding="utf-8"))["claims"]
    return claims.Claim(next(c for c in described if c["id"] == name), claims.CLAIMS.parent, runs or [])


def run(trigram: Path, folder: Path, experiment: dict[str, Any], runs: Path, jobs: int) -> str:
    """Performs the runs of an experiment of configs/papers, in a copy of configs/, because the experiment
    refers to other files there. Returns the last line of the program's error output if it failed; otherwise an empty
    string."""
    configs = folder / "configs"
    shutil.copytree(FOLDER, configs, dirs_exist_ok=True)
    config = configs / "papers" / "calibration.json"
    config.write_text(json.dumps(experiment))
    done = subprocess.run([trigram, "run", config, "-o", runs, "--jobs", str(jobs), "--no-table"],
                          capture_output=True, text=True, check=False)
    return (done.stderr.strip().splitlines() or ["no word"])[-1] if done.returncode else ""


def table() -> list[dict[str, str]]:
    """The published rows."""
    return claim().rows


class Simulator:
    """Simulates cells, and keeps the results of each version of the program in `folder`, so that an interrupted
    calibration can continue."""

    def __init__(self, trigram: Path, folder: Path, jobs: int = 0):
        self._trigram, self._folder, self._jobs = trigram.resolve(), folder.resolve(), jobs
        self._experiment = json.loads((FOLDER / "papers" / "bert_large_bandwidth.json").read_text())
        self._claim = claim()
        self._algorithms = self._by_column(self._experiment["sweep"]["/algorithm"])
        program = hashlib.sha256(self._trigram.read_bytes()).hexdigest()[:16]
        self._path, self._runs = self._folder / f"cells-{program}.jsonl", self._folder / f"runs-{program}"
        self._folder.mkdir(parents=True, exist_ok=True)
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self._known: dict[str, float] = dict(map(json.loads, lines))
        self._store_results()

    def __call__(self, cells: list[tuple[dict[str, Any], str, str]]) -> list[float]:
        """The claim's measure of each (description, algorithm, gbps)."""
        keys = [_key(self._row(*cell)) for cell in cells]
        new = {key: self._row(*cell) for key, cell in zip(keys, cells) if key not in self._known}
        if new:
            self._simulate(list(new.values()))
        return [self._known[key] for key in keys]

    def _by_column(self, algorithms: list[Any]) -> dict[str, Any]:
        names = self._claim.specification["cell"]["algorithm"]["names"]
        by_name = {a["name"] if isinstance(a, dict) else a: a for a in algorithms}
        return {names.get(name, name): a for name, a in by_name.items()}

    def _row(self, description: dict[str, Any], algorithm: str, gbps: str) -> dict[str, Any]:
        inter = description["inter"]
        limited = description | {"inter": inter | {"shaping": inter["shaping"] | {"rate": f"{gbps}Gbps"}}}
        return {"/cluster": limited, "/algorithm": self._algorithms[algorithm]}

    def _simulate(self, rows: list[dict[str, Any]]) -> None:
        experiment = {k: v for k, v in self._experiment.items() if k not in ("sweep", "$schema", "cluster")}
        # The fewest steps: one step that counts, and the last step.
        steps = self._claim.specification["measure"]["from_step"] + 2
        failed = run(self._trigram, self._folder, experiment | {"steps": steps, "zip": rows}, self._runs, self._jobs)
        self._store_results()
        if missing := [row for row in rows if _key(row) not in self._known]:
            raise SimulationError(f"{len(missing)} cells have no result: {failed}")

    def _store_results(self) -> None:
        """Stores the results of all finished runs, including those of an interrupted batch."""
        with self._path.open("a", encoding="utf-8") as file:
            for finished in results.load(self._runs).runs if self._runs.exists() else []:
                key, value = _key(finished.sweep), self._claim.value(finished)
                self._known[key] = value
                file.write(json.dumps([key, value]) + "\n")
        shutil.rmtree(self._runs, ignore_errors=True)


def _key(row: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:24]
