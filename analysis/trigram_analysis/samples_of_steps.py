"""What the comparison table ranks where a step of one run has more samples than a step of another run."""

from __future__ import annotations

from dataclasses import replace

from .column import Column
from .comparison import Comparison, Point
from .naming import own_name

BASELINE = "gradient_allreduce"
STEP, SAMPLES = "step", "samples/s"
_PER_STEP = (STEP, "p99", "cost/step", "energy/step")  # titles of columns with values of one step


def samples_differ(points: list[Point]) -> bool:
    """True if a step of some points has at least 1 % more samples than a step of others: times of steps then do not say
    which trains faster. Points whose means are not compared do not count."""
    compared = [p for p in points if not p.exclusion(True)]
    samples = [rate * step for p in compared if (rate := p.mean("samples_per_s")) and (step := p.mean("step_s"))]
    return len(samples) > 1 and max(samples) > 1.01 * min(samples)


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
