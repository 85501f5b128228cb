"""How far the data pin parameters down, by the linear model of log times at the fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, least_squares

from .fitting import QUANTILE, Secant, loss
from .parameters import Parameter


@dataclass(frozen=True)
class Interval:
    """Where the profile likelihood of the data alone, priors left out, is not 95 % worse."""

    parameter: Parameter
    fitted: float
    low: float
    high: float

    @property
    def pinned(self) -> str:
        """Towards which sides: an interval that ends with the plausible range is not the data's."""
        below, above = self.low > self.parameter.low * 1.001, self.high < self.parameter.high / 1.001
        return {(True, True): "yes", (True, False): "from below", (False, True): "from above"}.get((below, above), "no")


class Linear:
    """log times = those at the fit + Jacobian times the change."""

    def __init__(self, fitted: Secant):
        assert fitted.x is not None
        self.problem, self.x = fitted.problem, fitted.x
        self.residuals, self.jacobian = fitted.residuals, fitted.jacobian

    def refit(self, rows: np.ndarray, held: dict[int, float] | None = None) -> tuple[np.ndarray, float]:
        """Least loss over `rows`, with some coordinates held: where, and how much."""
        held = held or {}
        free = [i for i in range(len(self.x)) if i not in held]
        low, high = self.problem.bounds()
        x = self.x.copy()
        for i, value in held.items():
            x[i] = value

        def residuals(part: np.ndarray) -> np.ndarray:
            x[free] = part
            return (self.residuals + self.jacobian @ (x - self.x))[rows]

        found = least_squares(residuals, np.clip(x[free], low[free] + 1e-9, high[free] - 1e-9), loss="soft_l1",
                              jac=lambda _: self.jacobian[np.ix_(rows, free)], bounds=(low[free], high[free]))
        x[free] = found.x
        return x.copy(), loss(residuals(found.x))

    def rows(self, without: str | None = None, priors: bool = True) -> np.ndarray:
        """Of the cells of all algorithms but one; with those of the priors."""
        cells = self.problem.cells
        kept = [i for i, cell in enumerate(cells) if cell.algorithm != without]
        return np.array(kept + (list(range(len(cells), len(self.residuals))) if priors else []))


def profiles(model: Linear) -> list[Interval]:
    rows = model.rows(priors=False)
    _, least = model.refit(rows)
    low, high = model.problem.bounds()

    def end(i: int, limit: float) -> float:
        worse = lambda value: model.refit(rows, {i: value})[1] - least - QUANTILE  # noqa: E731
        if worse(model.x[i]) > 0 or worse(limit) < 0:
            return limit if worse(limit) < 0 else model.x[i]
        return brentq(worse, model.x[i], limit, xtol=1e-3)

    return [Interval(p, math.exp(model.x[i]), math.exp(end(i, low[i])), math.exp(end(i, high[i])))
            for i, p in enumerate(model.problem.parameters)]


def without_each(model: Linear) -> dict[str, np.ndarray]:
    """Coordinates fitted to all algorithms but one, by the one."""
    names = dict.fromkeys(cell.algorithm for cell in model.problem.cells)
    return {name: model.refit(model.rows(without=name))[0] for name in names}
