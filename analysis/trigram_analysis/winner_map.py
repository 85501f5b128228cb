"""Finds the winner at each setting, and its margin: one cell of the winner map per setting."""

from __future__ import annotations

from dataclasses import dataclass, field

from .comparison import Comparison, Point, Setting
from .measures import Measure
from .time_to_target import PartlyReached, is_coarse

TIE = 0.01  # the largest relative difference of values that count as equal


@dataclass(frozen=True)
class Winner:
    """The winner at a setting. `leaders` has several algorithms if they tie. `margin` is the factor, at least 1,
    between the best value and the value of the runner-up; None if there is no runner-up. `coarse` is true if the best
    value is known from few evaluations only. `rivals` are algorithms that may be earlier than the leaders but cannot be
    ranked. `some_seeds` is true if some rivals reach the target with only some of their seeds."""

    leaders: list[str]
    value: float
    runner_up: str | None
    margin: float | None
    coarse: bool = False
    rivals: list[str] = field(default_factory=list)
    some_seeds: bool = False


def winner(comparison: Comparison, setting: Setting, measure: Measure) -> Winner | None:
    points = comparison.at(setting)
    ranked = contenders(points, measure)
    if not ranked:
        return None
    best, not_ranked = ranked[0], unranked(points, measure)
    behind = [c for c in ranked if not c.may_be_first(best)]
    return Winner([c.algorithm for c in leaders(ranked)], best.value, behind[0].algorithm if behind else None,
                  _factor(best.value, behind[0].value) if behind else None, best.coarse, rivals(ranked, not_ranked),
                  bool(early_with_some_seeds(ranked, not_ranked)))


@dataclass(frozen=True)
class Contender:
    """An algorithm with its value. The true value lies between `least` and `value`, which are equal if it is known
    exactly."""

    algorithm: str
    value: float
    least: float

    def may_be_first(self, best: Contender) -> bool:
        return _factor(best.value, self.value) <= 1 + TIE or self.least < min(self.value, best.value)

    @property
    def coarse(self) -> bool:
        return is_coarse(self.least, self.value)


@dataclass(frozen=True)
class Unranked:
    """An algorithm that reaches the target with only some of its seeds."""

    algorithm: str
    partly: PartlyReached


def leaders(ranked: list[Contender]) -> list[Contender]:
    """The best contender and all contenders that may be first as well, except those that `cannot_be_ranked`."""
    possibly_first = [c for c in ranked if c.may_be_first(ranked[0])]
    return [c for c in possibly_first if c not in cannot_be_ranked(ranked)]


def cannot_be_ranked(ranked: list[Contender]) -> list[Contender]:
    """The coarse contenders that may be first, but whose intervals end later than the interval of another possible
    first that is not coarse."""
    possibly_first = [c for c in ranked if c.may_be_first(ranked[0])]
    earliest_known_end = min((c.value for c in possibly_first if not c.coarse), default=float("inf"))
    return [c for c in possibly_first if c.coarse and c.value > earliest_known_end * (1 + TIE)]


def order_unknown(ranked: list[Contender]) -> bool:
    """True if all contenders reach the target by their first evaluations, so that their order is unknown."""
    return len(ranked) > 1 and all(c.least == 0 and c.coarse for c in ranked)


def contenders(points: list[Point], measure: Measure) -> list[Contender]:
    """The points that have a value and whose runs are long enough, the best first."""
    found = [Contender(p.algorithm, value, _least(measure, p, value)) for p in points
             if not p.exclusion(measure.rate) and (value := measure.value(p)) is not None]
    return sorted(found, key=lambda c: c.value, reverse=measure.better == "high")


def unranked(points: list[Point], measure: Measure) -> list[Unranked]:
    return [Unranked(p.algorithm, found) for p in points
            if not p.exclusion(measure.rate) and (found := measure.partly(p)) is not None]


def rivals(ranked: list[Contender], not_ranked: list[Unranked]) -> list[str]:
    """The algorithms that may be earlier than the leaders of `ranked` but are not ranked: their time is known from few
    evaluations only, or they reach the target with some seeds only. `ranked` must not be empty."""
    return [entry.algorithm for entry in [*cannot_be_ranked(ranked), *early_with_some_seeds(ranked, not_ranked)]]


def early_with_some_seeds(ranked: list[Contender], not_ranked: list[Unranked]) -> list[Unranked]:
    """The entries of `not_ranked` that may be earlier, with some seed, than the first of `ranked`, which must not be
    empty."""
    return [other for other in not_ranked if other.partly.least < ranked[0].value]


def _least(measure: Measure, point: Point, value: float) -> float:
    least = measure.least(point)
    return value if least is None else least


def _factor(best: float, value: float) -> float:
    """The larger value divided by the smaller one, in magnitude; infinite if one of them is 0."""
    if best == value:
        return 1.0
    low, high = sorted((abs(best), abs(value)))
    return high / low if low else float("inf")


def map_axes(comparison: Comparison) -> tuple[int | None, int | None]:
    """The indices of the columns' and the rows' axis. Columns have the numeric axis of figures, or else the axis with
    the most values. Rows have the axis with the most values among the other axes."""
    sizes = [len({s[i] for s in comparison.settings}) for i in range(len(comparison.axes))]
    varying = [i for i, size in enumerate(sizes) if size > 1]
    x = comparison.numeric_axis()
    if x is None or x not in varying:
        x = max(varying, key=lambda i: sizes[i], default=None)
    y = max((i for i in varying if i != x), key=lambda i: sizes[i], default=None)
    return x, y
