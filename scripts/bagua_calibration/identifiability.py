"""Computes how precisely the data determine the parameters, by the linear model of log times at the fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from .fitting import QUANTILE, Linear
from .parameters import Parameter


@dataclass(frozen=True)
class Interval:
    """The range in which the profile likelihood of the data, without priors, is not significantly worse (95 %)."""

    parameter: Parameter
    fitted: float
    low: float
    high: float

    @property
    def pinned(self) -> str:
        """The sides on which the data limit the range. Where it ends with the plausible range, they do not limit it."""
        below, above = self.low > self.parameter.low * 1.001, self.high < self.parameter.high / 1.001
        return {(True, True): "yes", (True, False): "from below", (False, True): "from above"}.get((below, above), "no")


def _rows(model: Linear, without: str | None = None, priors: bool = True) -> np.ndarray:
    """The indices of residuals: the cells of all algorithms except `without`, and the priors if `priors`."""
    cells = model.problem.cells
    kept = [i for i, cell in enumerate(cells) if cell.algorithm != without]
    return np.array(kept + (list(range(len(cells), len(model.residuals))) if priors else []))


def profiles(model: Linear, held: dict[int, float] | None = None) -> list[Interval]:
    """The intervals of all coordinates that are not held."""
    rows, held = _rows(model, priors=False), held or {}
    best, least_loss = model.minimum(rows, held)
    low, high = model.problem.bounds()

    def end(i: int, limit: float) -> float:
        worse = lambda value: model.minimum(rows, held | {i: value})[1] - least_loss - QUANTILE  # noqa: E731
        if worse(best[i]) > 0 or worse(limit) < 0:
            return limit if worse(limit) < 0 else best[i]
        return brentq(worse, best[i], limit, xtol=1e-3)

    return [Interval(p, math.exp(model.x[i]), math.exp(end(i, low[i])), math.exp(end(i, high[i])))
            for i, p in enumerate(model.problem.parameters) if i not in held]


def unpinned(model: Linear) -> list[Interval]:
    """The parameters that the data limit on neither side, even if the other such parameters are held at their priors.
    The function holds one such parameter after the other at its prior, always the one that affects the loss least."""
    low, high = model.problem.bounds()
    names = [p.name for p in model.problem.parameters]
    found: list[Interval] = []
    held: dict[int, float] = {}
    while free := [i for i in profiles(model, held) if i.pinned == "no"]:
        def loss_at_bounds(interval: Interval) -> float:
            i = names.index(interval.parameter.name)
            rows = _rows(model, priors=False)
            return max(model.minimum(rows, held | {i: end[i]})[1] for end in (low, high))

        parameter = min(free, key=loss_at_bounds)
        found.append(parameter)
        held[names.index(parameter.parameter.name)] = math.log(parameter.parameter.prior)
    return found


def without_each(model: Linear) -> dict[str, np.ndarray]:
    """For each algorithm, the coordinates that fit all other algorithms best."""
    names = dict.fromkeys(cell.algorithm for cell in model.problem.cells)
    return {name: model.minimum(_rows(model, without=name))[0] for name in names}
