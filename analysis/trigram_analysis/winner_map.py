"""Who wins at each setting, by how much: a cell of the winner map per setting."""

from __future__ import annotations

from dataclasses import dataclass

from .comparison import Comparison, Setting
from .measures import Measure

TIE = 0.01  # values closer than this, relative, are called equal


@dataclass(frozen=True)
class Winner:
    """`leaders` are more than one where they tie. The margin is the factor between the best and the
    first that is behind it, at least 1; None where nobody is."""

    leaders: list[str]
    value: float
    runner_up: str | None
    margin: float | None


def winner(comparison: Comparison, setting: Setting, measure: Measure) -> Winner | None:
    values = [(v, p.algorithm) for p in comparison.at(setting) if (v := measure.value(p)) is not None]
    if not values:
        return None
    ranked = sorted(values, key=lambda v: v[0], reverse=measure.better == "high")
    best = ranked[0][0]
    leaders = [name for value, name in ranked if _factor(best, value) <= 1 + TIE]
    behind = ranked[len(leaders):]
    return Winner(leaders, best, behind[0][1] if behind else None,
                  _factor(best, behind[0][0]) if behind else None)


def _factor(best: float, value: float) -> float:
    """How many times one is the other, at least 1."""
    if best == value:
        return 1.0
    low, high = sorted((abs(best), abs(value)))
    return high / low if low else float("inf")


def map_axes(comparison: Comparison) -> tuple[int | None, int | None]:
    """The axes that the map lies on: the numeric one that figures use, and of the others the one
    with the most values."""
    sizes = [len({s[i] for s in comparison.settings}) for i in range(len(comparison.axes))]
    varying = [i for i, size in enumerate(sizes) if size > 1]
    x = comparison.numeric_axis()
    if x is None or x not in varying:
        x = max(varying, key=lambda i: sizes[i], default=None)
    y = max((i for i in varying if i != x), key=lambda i: sizes[i], default=None)
    return x, y
