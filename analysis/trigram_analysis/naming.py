"""The names of algorithms, and the order in which they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .results import Run


def algorithm_name(run: Run) -> str:
    """The name of a run's algorithm. If the sweep names a file, such as a system's file, the algorithm gets the
    file's name, such as "pytorch_ddp"."""
    swept = run.sweep.get("/algorithm")
    named = isinstance(swept, str) and swept.endswith(".json")
    return Path(swept).stem if named else own_name(run)


def own_name(run: Run) -> str:
    """The algorithm of a run, with its mode if it has one: "decentralized/shift_one", or with its stages:
    "stages/local_sgd until 4, bytegrad"."""
    return _name_of(run.experiment.get("algorithm"))


def _name_of(algorithm: Any) -> str:
    if isinstance(algorithm, str):
        return algorithm
    if not isinstance(algorithm, dict):
        return "unknown"
    name, mode = str(algorithm.get("name", "unknown")), algorithm.get("mode")
    stages = algorithm.get("stages")
    if isinstance(stages, list) and all(isinstance(stage, dict) for stage in stages):
        mode = ", ".join(_name_of(s.get("algorithm")) + (f" until {s['until']}" if "until" in s else "") for s in stages)
    return f"{name}/{mode}" if isinstance(mode, str) else name


def algorithm_order(label: str) -> tuple[bool, str]:
    """A sort key: the exact baseline first, then the other algorithms by name."""
    return not label.startswith("gradient_allreduce"), label
