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

    def pattern(self) -> np.ndarray:
        """Which residual feels which parameter."""
        return np.array([[self.felt(p, c) for p in self.parameters] for c in self.cells]
                        + [np.zeros(len(self.parameters))] * len(self._with_priors()))

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


class Secant:
    """A Jacobian by differences at first, then corrected by what evaluations say: Broyden's rule, for each residual
    among the parameters that it feels (L. K. Schubert, 1970, doi:10.1090/S0025-5718-1970-0258276-9)."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.x: np.ndarray | None = None
        self.residuals = self.jacobian = np.zeros(0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        residuals = self.problem.residuals(x)  # simulated already
        if self.x is None:
            self.jacobian = self.problem.jacobian(x)
        else:
            moved = self.problem.pattern() * (x - self.x)
            lengths = np.sum(moved**2, axis=1)
            missed = residuals - self.residuals - self.jacobian @ (x - self.x)
            known = lengths > 1e-8
            self.jacobian[known] += moved[known] * (missed[known] / lengths[known])[:, None]
        self.x, self.residuals = x.copy(), residuals
        return self.jacobian.copy()


def fit(problem: Problem, evaluations: int, rounds: int = 1) -> Secant:
    """The values of least loss that so many evaluations find, with the linear model there. Every round begins with
    new differences."""
    x = problem.start()
    for _ in range(rounds):
        model, origin = Secant(problem), x - 1  # so that the first trusted step, as long as where it begins, is 1
        low, high = (bound - origin for bound in problem.bounds())
        found = least_squares(lambda z: problem.residuals(z + origin), np.ones(len(x)),
                              jac=lambda z: model(z + origin), bounds=(low, high), loss="soft_l1", xtol=1e-4, ftol=1e-4,
                              gtol=None, max_nfev=evaluations)
        x = found.x + origin
        model(x)
    return model
