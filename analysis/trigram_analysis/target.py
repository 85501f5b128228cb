"""The quality of models on held-out data, and the level of it that runs are to reach: their target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Literal

from . import units


@dataclass(frozen=True)
class Quality:
    """A number that evaluations of the mean model give. `name` is its key in a target, and `column` its key in
    metrics.jsonl and in summaries. The texts are for people: one, several, and one that takes more steps to reach."""

    name: Literal["accuracy", "loss"]
    column: str
    better: Literal["low", "high"]
    title: str
    plural: str
    harder: str
    show: Callable[[float], str]

    def best(self, values: list[float]) -> float:
        return max(values) if self.better == "high" else min(values)

    def worst(self, values: list[float]) -> float:
        return min(values) if self.better == "high" else max(values)


ACCURACY = Quality("accuracy", "accuracy", "high", "accuracy", "accuracies", "a higher accuracy", lambda v: f"{v:.1%}")
LOSS = Quality("loss", "eval_loss", "low", "held-out loss", "held-out losses", "a lower loss", units.significant)
QUALITIES = (ACCURACY, LOSS)  # if runs have both, the first one counts


@dataclass(frozen=True)
class Target:
    """An accuracy at or above `level`, or a loss at or below it. TargetLevel in C++ has the same rule for runs."""

    quality: Quality
    level: float

    def lacking(self, value: float | None) -> float:
        """The accuracy that an evaluation lacks, or the loss that it has too much; at most 0 if it reaches the target.
        An evaluation without a value, such as a loss that is not finite, lacks infinitely much."""
        if value is None:
            return math.inf
        return self.level - value if self.quality.better == "high" else value - self.level

    def reached_by(self, value: float | None) -> bool:
        return self.lacking(value) <= 0

    @property
    def short(self) -> str:
        """For the title of a column: "82%", or "loss 0.35"."""
        return units.percent(self.level) if self.quality is ACCURACY else f"loss {self._number}"

    @property
    def title(self) -> str:
        """For the title of a measure: "82% accuracy", or "held-out loss 0.35"."""
        return f"{self.short} accuracy" if self.quality is ACCURACY else f"held-out {self.short}"

    @property
    def goal(self) -> str:
        """For a sentence: "82% accuracy", or "a held-out loss of 0.35"."""
        return self.title if self.quality is ACCURACY else f"a held-out loss of {self._number}"

    @property
    def any(self) -> str:
        """With an article: "an accuracy of 82%", or "a held-out loss of 0.35"."""
        return f"an accuracy of {self.short}" if self.quality is ACCURACY else self.goal

    @property
    def bound(self) -> str:
        """What reaches it: "82% or more", or "a held-out loss of 0.35 or less"."""
        return f"{self.short} or more" if self.quality is ACCURACY else f"{self.goal} or less"

    @property
    def key(self) -> str:
        return f"to_{self.level:.2f}" if self.quality is ACCURACY else f"to_loss_{self._number}"

    @property
    def _number(self) -> str:
        return f"{self.level:.6g}"


def declared(experiment: dict[str, Any]) -> Target | None:
    """The target at which the runs of an experiment end; None if they make all their steps."""
    for quality in QUALITIES:
        if (level := experiment.get(f"target_{quality.name}")) is not None:
            return Target(quality, level)
    return None


_FAR_BEHIND = {ACCURACY.name: 0.9, LOSS.name: 1.5}  # the factor from the best run's quality to the easiest target


def reached_by_all(quality: Quality, best: list[float]) -> Target | None:
    """The hardest short level that every run reaches, given the best value of each run. If some run is far behind the
    best one, the level is a factor away from the best value, and that run does not reach it. None if no level fits,
    because losses are not positive."""
    worst, limit = quality.worst(best), _FAR_BEHIND[quality.name] * quality.best(best)
    if quality is ACCURACY:
        return Target(quality, _whole_per_cent(max(worst, limit)))
    level = min(worst, limit) if limit > 0 else worst
    return Target(quality, _three_digits(level)) if level > 0 else None


def _whole_per_cent(share: float) -> float:
    """The largest whole number of per cent that is at most `share`. Shares are compared, because 100 * share may be
    rounded to less than the whole number."""
    nearest = round(100 * share)
    return (nearest if nearest / 100 <= share else nearest - 1) / 100


def _three_digits(value: float) -> float:
    """The smallest number with three significant digits that is at least `value`, which is positive."""
    nearest = float(f"{value:.2e}")
    if nearest >= value:
        return nearest
    return float(f"{nearest + 10.0 ** (math.floor(math.log10(nearest)) - 2):.2e}")
