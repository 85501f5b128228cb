"""Builds Run objects for the experiments in configs/papers, with invented times, without running the program."""

from __future__ import annotations

import copy
import itertools
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Iterator

from trigram_analysis.results import Run

CONFIGS = Path(__file__).parents[2] / "configs" / "papers"


def runs(config: Path) -> list[Run]:
    """A run for each point of the experiment's grid. Each run takes longer than the one before."""
    document = _read(config)
    return [_run(config, document, point, number) for number, point in enumerate(_points(document))]


def _run(config: Path, document: dict[str, Any], point: dict[str, Any], number: int) -> Run:
    experiment = {k: _resolved(v, config.parent) for k, v in document.items() if k not in ("$schema", "sweep", "zip")}
    for pointer, value in sorted(point.items()):  # outer pointers first
        set_at(experiment, pointer, _resolved(value, config.parent))
    summary = {"step_s": 1.0 + number, "compute_s": 0.5, "exposed_s": 0.5 + number}
    return Run(Path(str(number)), {"name": config.stem, "experiment": experiment, "sweep": point,
                                   "summary": summary})


def _points(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    sweep, rows = document.get("sweep", {}), document.get("zip", [{}])
    if isinstance(rows, dict):
        rows = [dict(zip(rows, values)) for values in zip(*rows.values())]
    for row, values in itertools.product(rows, itertools.product(*sweep.values())):
        yield dict(zip(sweep, values)) | row


def set_at(place: dict[str, Any], pointer: str, value: Any) -> None:
    *parents, last = pointer.split("/")[1:]
    for key in parents:
        place = place.setdefault(key, {})
    place[last] = value


def _resolved(value: Any, folder: Path) -> Any:
    """Replaces "x.json" by the content of that file, and "name:path" by {"name": ..., "path": ...} with an absolute
    path. Other values are copied."""
    if not isinstance(value, str):
        return copy.deepcopy(value)
    if value.endswith(".json"):
        return copy.deepcopy(_read(folder / value))
    name, colon, path = value.partition(":")
    return {"name": name, "path": str((folder / path).resolve())} if colon else value


@cache
def _read(path: Path) -> Any:
    return json.loads(re.sub(r"(?m)(^|\s)//.*$", "", path.read_text(encoding="utf-8")))
