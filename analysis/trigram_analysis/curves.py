"""Curves of runs for the page: means over seeds and, for long runs, over intervals of steps."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any, Iterable

from .comparison import Point

Row = tuple[float, float, float]  # step, time, value


def curve(point: Point, key: str) -> list[Row]:
    """A column of metrics.jsonl by step, as the mean over the point's runs."""
    found: dict[float, list[Row]] = defaultdict(list)
    for run in point.runs:
        for record in run.records:
            row = (record.get("step"), record.get("time_s"), record.get(key))
            if all(isinstance(v, (int, float)) and math.isfinite(v) for v in row):
                found[row[0]].append(row)  # type: ignore[index, arg-type]
    return [_mean(rows) for _, rows in sorted(found.items())]


def thinned(rows: list[Row], points: int) -> list[Row]:
    """At most `points` rows: means over intervals of steps, and the last row unchanged."""
    if len(rows) <= points:
        return rows
    edges = [i * (len(rows) - 1) // (points - 1) for i in range(points)]
    return [_mean(rows[a:b]) for a, b in zip(edges, edges[1:])] + rows[-1:]


def varies(curves: Iterable[list[Row]]) -> bool:
    """True if any of the curves is not constant."""
    for rows in curves:
        values = [value for _, _, value in rows]
        if values and max(values) - min(values) > 1e-6 * max(map(abs, values)):
            return True
    return False


def rounded(value: Any) -> float | None:
    """Rounds to five significant digits, more than a screen can show."""
    if value is None or not math.isfinite(value):
        return None
    number = float(f"{value:.5g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _mean(rows: list[Row]) -> Row:
    if len(rows) == 1:
        return rows[0]
    return tuple(sum(column) / len(rows) for column in zip(*rows))  # type: ignore[return-value]
