"""The quality of a run's model at its evaluations, and the time when it reaches a target."""

from __future__ import annotations

import math
import statistics
from dataclasses import astuple, dataclass
from typing import Callable

from .results import Run
from .target import Quality, Target

Evaluated = tuple[float, float, float]  # (steps, seconds, what it lacks, as Target.lacking)

_COARSE = 1 / 5  # the share of the last of five equal intervals between evaluations in the whole time


@dataclass(frozen=True)
class Reached:
    """The interval in which a run reaches a target, in seconds and in steps. It ends with the first evaluation that
    reaches it, and begins with the evaluation before, or with an earlier one if the quality goes up and down
    (`_first_near`). If there is none before, it begins with the first model that could have reached it, or at 0 if the
    run does not record when that was."""

    after_s: float
    time_s: float
    after_step: float
    step: float

    @property
    def coarse(self) -> bool:
        return is_coarse(self.after_s, self.time_s)


@dataclass(frozen=True)
class PartlyReached:
    """A target that only `reached` of `runs` runs reach. The earliest of their intervals begins at `least`, and the
    latest ends at `most`. A mean over all runs does not exist, so the algorithm is not ranked."""

    reached: int
    runs: int
    least: float
    most: float
    kind: str = "seeds"  # "runs" if a seed has several runs

    def __str__(self) -> str:
        return f"with {self.reached} of {self.runs} {self.kind}"


def is_coarse(least: float, value: float) -> bool:
    """True if evaluations do not tell well when a target was reached: the interval is longer than if there had been
    five evenly spaced evaluations until then, of a quality that only improves."""
    return value - least > _COARSE * value * (1 + 1e-9)


def coarse_legend(quality: Quality) -> str:
    return ("~ coarse: an interval longer than a fifth of its end, too long to rank what may be as "
            f"early; a smaller eval_every or {quality.harder} tells more")


def partly_legend(quality: Quality) -> str:
    return (f"what reaches the {quality.name} with some seeds, and never with the others, is not ranked; where it may "
            "be the earliest, nothing is marked as best")


def interval(least: float, value: float, show: Callable[[float], str], unit: str = "") -> str:
    """A time that lies in an interval: "47.1–51.4 s", or "≤14.7 s ~" if it is coarse and was reached at the first
    evaluation."""
    return _span(least, value, show, unit) + " ~" * is_coarse(least, value)


def partly_text(partly: PartlyReached, show: Callable[[float], str], unit: str = "") -> str:
    """A text such as "3.6–10.9 s with 3 of 4 seeds"."""
    return f"{_span(partly.least, partly.most, show, unit)} {partly}"


def _span(least: float, value: float, show: Callable[[float], str], unit: str) -> str:
    begin, end = show(least), show(value)
    text = f"≤{end}" if least == 0 else end if begin == end else f"{begin}–{end}"
    return text + f" {unit}" * bool(unit)


def best_quality(run: Run, quality: Quality) -> float | None:
    values = [value for _, _, value in run.evaluations(quality.column) if value is not None]
    return quality.best(values) if values else run.number(quality.column)


def reached(run: Run, target: Target) -> Reached | None:
    """The interval in which the run reaches `target`; None if no evaluation does."""
    evaluations: list[Evaluated] = []
    for step, time_s, value in run.evaluations(target.quality.column):
        evaluations.append((step, time_s, target.lacking(value)))
        if target.reached_by(value):
            first = _first_near(evaluations, run.number("cycle_steps") or 1)
            after = evaluations[first - 1][:2] if first else _first_model(run, target, step, time_s)
            return Reached(after[1], time_s, after[0], step)
    return None


def _first_near(evaluations: list[Evaluated], cycle_steps: float) -> int:
    """The first evaluation next to which a model may have reached the target, if the last one is the first that reaches
    it: what it lacks is no more than an evaluation deviates from its neighbours from then on, and the workers had more
    models between it and the one before. The last evaluation if there is none."""
    first, most = len(evaluations) - 1, 0.0
    for i in reversed(range(first)):
        step, _, lacking = evaluations[i]
        if i > 0:
            most = max(most, _deviation(*evaluations[i - 1:i + 2]))
        if lacking <= most and step - (evaluations[i - 1][0] if i else 0) > cycle_steps:
            first = i
    return first


def _deviation(before: Evaluated, at: Evaluated, after: Evaluated) -> float:
    """How far the quality is from the line between those of its neighbours; 0 if one of them is not finite."""
    line = before[2] + (at[0] - before[0]) / (after[0] - before[0]) * (after[2] - before[2])
    return abs(at[2] - line) if math.isfinite(at[2] - line) else 0.0


def _first_model(run: Run, target: Target, step: float, time_s: float) -> tuple[float, float]:
    """The (steps, seconds) of the first model that could have reached the target; 0 if the run, which reached it after
    `step` steps and `time_s` seconds, does not record them."""
    if run.target.get(target.quality.name) != target.level or not time_s:
        return 0.0, 0.0
    after_s = run.target.get("after_s") or 0.0
    return step * after_s / time_s, after_s


def mean_reached(runs: list[Run], target: Target) -> Reached | None:
    """The means over the runs of the ends of their intervals; None unless every run reaches `target`."""
    found = [reached(run, target) for run in runs]
    if None in found:
        return None
    return Reached(*map(statistics.fmean, zip(*map(astuple, found))))  # type: ignore[call-overload]
