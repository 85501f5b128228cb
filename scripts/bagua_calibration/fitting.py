"""Least squares on log ratios: stages, the joint refinement, and how far the data pin it down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np
from scipy.optimize import least_squares

from .cells import Cell, log_ratio
from .parameters import Parameter, Values

# Times in seconds of (values, cell), all at once.
Simulate = Callable[[list[tuple[Values, Cell]]], list[float]]

SCALE = 0.05  # of a log ratio: about what is read off the figure, and asked for
STEP = 0.08  # of a derivative, in the logarithm: kinks of max(...) are smoothed by it
QUANTILE = 3.84  # of chi-squared with one degree of freedom, 95 %


def loss(residuals: np.ndarray) -> float:
    """Twice the negative log likelihood, but for a constant: quadratic below SCALE, linear far beyond."""
    return float(np.sum(2 * (np.sqrt(1 + residuals**2) - 1)))


@dataclass
class Problem:
    """Parameters to fit, all others of `fixed` as they are."""

    simulate: Simulate
    parameters: list[Parameter]
    cells: list[Cell]
    fixed: Values

    def values(self, x: np.ndarray) -> Values:
        return self.fixed | {p.name: math.exp(v) for p, v in zip(self.parameters, x)}

    def start(self) -> np.ndarray:
        low, high = self.bounds()
        return np.clip([math.log(self.fixed[p.name]) for p in self.parameters], low + 1e-6, high - 1e-6)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return (np.array([math.log(p.low) for p in self.parameters]),
                np.array([math.log(p.high) for p in self.parameters]))

    def felt(self, parameter: Parameter, cell: Cell) -> bool:
        """Whether a derivative is worth simulating. What limits software says nothing where bandwidth decides."""
        return ((not parameter.felt_by or cell.algorithm in parameter.felt_by)
                and (parameter.of_bandwidth or cell.plateau))

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """Of the cells, then of the priors; in units of SCALE and of the priors' widths."""
        values = self.values(x)
        times = self.simulate([(values, cell) for cell in self.cells])
        return np.array([*(self._residual(t, c) for t, c in zip(times, self.cells)), *self._priors(x)])

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Of the residuals, by differences towards the middle of the plausible range; one batch of simulations."""
        low, high = self.bounds()
        steps = np.where(x > (low + high) / 2, -STEP, STEP)
        moved = [x + step * np.eye(len(x))[i] for i, step in enumerate(steps)]
        asked = [(row, i) for i, p in enumerate(self.parameters) for row, c in enumerate(self.cells) if self.felt(p, c)]
        here = self.values(x)
        times = self.simulate([(here, cell) for cell in self.cells]
                              + [(self.values(moved[i]), self.cells[row]) for row, i in asked])
        found = np.zeros((len(self.cells) + len(self._with_priors()), len(x)))
        for (row, i), time in zip(asked, times[len(self.cells):]):
            found[row, i] = (self._residual(time, self.cells[row])
                             - self._residual(times[row], self.cells[row])) / steps[i]
        for row, i in enumerate(self._with_priors()):
            found[len(self.cells) + row, i] = 1 / (self.parameters[i].width or math.inf)
        return found

    def _residual(self, time: float, cell: Cell) -> float:
        return math.sqrt(cell.weight) * log_ratio(time, cell) / SCALE

    def _with_priors(self) -> list[int]:
        return [i for i, p in enumerate(self.parameters) if p.width]

    def _priors(self, x: np.ndarray) -> list[float]:
        return [(x[i] - math.log(p.prior)) / (p.width or math.inf)
                for i in self._with_priors() for p in [self.parameters[i]]]


class _Secant:
    """A Jacobian by differences at first, then corrected by what evaluations say (Broyden's rule)."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._x: np.ndarray | None = None
        self._residuals = self._jacobian = np.zeros(0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        residuals = self._problem.residuals(x)  # known already
        if self._x is None:
            self._jacobian = self._problem.jacobian(x)
        elif (moved := x - self._x) @ moved > 0:
            missed = residuals - self._residuals - self._jacobian @ moved
            self._jacobian = self._jacobian + np.outer(missed, moved) / (moved @ moved)
        self._x, self._residuals = x.copy(), residuals
        return self._jacobian


def fit(problem: Problem, evaluations: int) -> Values:
    """The values of least loss that so many evaluations find."""
    found = least_squares(problem.residuals, problem.start(), jac=_Secant(problem), bounds=problem.bounds(),
                          loss="soft_l1", xtol=1e-3, ftol=1e-3, gtol=None, max_nfev=evaluations)
    return problem.values(found.x)
