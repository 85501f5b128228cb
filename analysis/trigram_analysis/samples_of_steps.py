"""What the comparison table ranks where a step of one run has more samples than a step of another run."""

from __future__ import annotations

from dataclasses import replace

from .column import Column
from .comparison import Comparison, Point, samples_differ
from .naming import own_name

BASELINE = "gradient_allreduce"
STEP, SAMPLES = "step", "samples/s"
_PER_STEP = (STEP, "p99", "cost/step", "energy/step")  # titles of columns with values of one step


def ranked(column: Column, points: list[Point]) -> Column:
    """The column with the order in which these points are ranked: if steps have different numbers of samples, samples per
    second are ranked in place of times and costs of steps."""
    if column.title not in (*_PER_STEP, SAMPLES) or not samples_differ(points):
        return column
    return replace(column, better="high" if column.title == SAMPLES else None, rate=True)


def speedup(comparison: Comparison, point: Point) -> float | None:
    """Over the baseline in the same setting; None without a baseline or another algorithm."""
    base = next((p for p in comparison.at(point.setting) if own_name(p.runs[0]).startswith(BASELINE)), None)
    if base is None or len(comparison.algorithms) < 2:
        return None
    if samples_differ([base, point]):
        return point.mean("samples_per_s") / base.mean("samples_per_s")
    own, other = point.mean("step_s"), base.mean("step_s")
    return other / own if own and other else None
