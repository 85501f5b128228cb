"""Formats what the calibration prints and writes."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

from .fitting import Problem
from .identifiability import Interval
from .parameters import PARAMETERS, Values


def say(line: str) -> None:
    print(line, flush=True)


def digest(description: dict[str, Any]) -> str:
    """A hash of the description that does not depend on its layout."""
    return hashlib.sha256(json.dumps(description, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def file(description: dict[str, Any]) -> str:
    """The text of the committed file with this description."""
    return ("// Written by scripts/calibrate_bagua.py; not to be changed by hand.\n"
            f"// SHA-256 of the description: {digest(description)}\n{json.dumps(description, indent=2)}\n")


def read(text: str) -> dict[str, Any]:
    """The description in the text of a file, which `file` returned."""
    return json.loads("\n".join(line for line in text.splitlines() if not line.startswith("//")))


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(text.ljust(w) for text, w in zip(row, widths)).rstrip() for row in rows) + "\n"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _pinned(interval: Interval) -> str:
    return "no: its prior" if interval.pinned == "no" else interval.pinned


def parameters(intervals: list[Interval], fitted: Values) -> str:
    by_name = {i.parameter.name: i for i in intervals}
    rows = [["parameter", "fitted", "unit", "plausible", "95 % of the data", "pinned", "meaning", "range and prior"]]
    for p in (p for p in PARAMETERS if p.name in fitted):
        interval = by_name.get(p.name)
        rows.append([p.name, _number(fitted[p.name]), p.unit, f"{p.low:g} to {p.high:g}",
                     f"{_number(interval.low)} to {_number(interval.high)}" if interval else "by one row alone",
                     _pinned(interval) if interval else "", p.meaning,
                     p.source + (f"; prior {p.prior:g}, a factor of {math.exp(p.width):.2f}" if p.width else "")])
    return _aligned(rows)


def left_out(problem: Problem, refitted: dict[str, np.ndarray], fitted: Values) -> str:
    """For each algorithm: the parameters fitted without its rows, divided by the parameters fitted with all rows, and
    the ratios of its own cells with the parameters fitted without them."""
    rows = [["without", *(p.name.split(".")[-1] for p in problem.parameters), "its cells then, simulated / published"]]
    for algorithm, x in refitted.items():
        values = problem.values(x)
        own = [c for c in problem.cells if c.algorithm == algorithm]
        times = problem.simulate([(values, c) for c in own])
        rows.append([algorithm, *(f"{values[p.name] / fitted[p.name]:.2f}" for p in problem.parameters),
                     ", ".join(f"{c.gbps}: {t / c.published:.2f}" for t, c in zip(times, own))])
    return _aligned(rows)


def ratios(by_cell: dict[tuple[str, str], float]) -> str:
    """Simulated over published times: one row per algorithm, one column per bandwidth in Gbps."""
    columns = sorted({gbps for _, gbps in by_cell}, key=float)
    rows = [["simulated / published", *columns]]
    for algorithm in dict.fromkeys(name for name, _ in by_cell):
        ratios_of_row = [by_cell.get((algorithm, gbps)) for gbps in columns]
        rows.append([algorithm, *("" if ratio is None else f"{ratio:.3f}" for ratio in ratios_of_row)])
    return _aligned(rows)
