"""Least squares on log ratios, for the stages and for the joint refinement, and a linear model of the residuals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import numpy as np
from scipy.optimize import least_squares

from .cells import Cell, log_ratio
from .parameters import Parameter, Values

# Simulates a batch of (values, cell) and returns the times in seconds.
Simulate = Callable[[list[tuple[Values, Cell]]], list[float]]

# The unit of residuals, as a log ratio. This is about the precision with which the figure was read, and the accuracy
# that we want.
SCALE = 0.05
STEP = 0.08  # step of finite differences, in the logarithm; large enough to smooth the kinks of max(...)
QUANTILE = 3.84  # 95 % quantile of chi-squared with one degree of freedom


def loss(residuals: np.ndarray) -> float:
    """Twice the negative log likelihood, up to a constant: quadratic below SCALE, linear far above it."""
    return float(np.sum(2 * (np.sqrt(1 + residuals**2) - 1)))


@dataclass
class Problem:
    """The parameters to fit and the cells to fit them to. The values of all other parameters are those in `fixed`."""

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

    def affects(self, parameter: Parameter, cell: Cell) -> bool:
        """True if the parameter can change the cell's time. Parameters of software do not affect cells whose time the
        bandwidth determines."""
        return ((not parameter.affects or cell.algorithm in parameter.affects)
                and (parameter.affects_bandwidth_bound or cell.plateau))

    def pattern(self) -> np.ndarray:
        """A mask: element (i, j) is true if residual i depends on parameter j."""
        return np.array([[self.affects(p, c) for p in self.parameters] for c in self.cells]
                        + [np.zeros(len(self.parameters))] * len(self._indices_with_priors()))

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """The residuals of the cells, in units of SCALE, and then of the priors, in units of their widths."""
        values = self.values(x)
        times = self.simulate([(values, cell) for cell in self.cells])
        return np.array([*(self._residual(t, c) for t, c in zip(times, self.cells)), *self._priors(x)])

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """The derivatives of the residuals, by differences towards the middle of the plausible range. All simulations
        are one batch."""
        low, high = self.bounds()
        steps = np.where(x > (low + high) / 2, -STEP, STEP)
        shifted = [x + step * np.eye(len(x))[i] for i, step in enumerate(steps)]
        pairs = [(row, i) for i, p in enumerate(self.parameters)
                 for row, c in enumerate(self.cells) if self.affects(p, c)]
        values = self.values(x)
        times = self.simulate([(values, cell) for cell in self.cells]
                              + [(self.values(shifted[i]), self.cells[row]) for row, i in pairs])
        derivatives = np.zeros((len(self.cells) + len(self._indices_with_priors()), len(x)))
        for (row, i), time in zip(pairs, times[len(self.cells):]):
            derivatives[row, i] = (self._residual(time, self.cells[row])
                                   - self._residual(times[row], self.cells[row])) / steps[i]
        for row, i in enumerate(self._indices_with_priors()):
            derivatives[len(self.cells) + row, i] = 1 / (self.parameters[i].width or math.inf)
        return derivatives

    def _residual(self, time: float, cell: Cell) -> float:
        return math.sqrt(cell.weight) * log_ratio(time, cell) / SCALE

    def _indices_with_priors(self) -> list[int]:
        return [i for i, p in enumerate(self.parameters) if p.width]

    def _priors(self, x: np.ndarray) -> list[float]:
        return [(x[i] - math.log(p.prior)) / (p.width or math.inf)
                for i in self._indices_with_priors() for p in [self.parameters[i]]]


class Linear:
    """A linear model of the residuals about `x`. It begins with finite differences. Every visited point corrects it by
    Broyden's rule, which changes the derivatives of a residual only with respect to parameters on which it depends
    (L. K. Schubert, 1970, doi:10.1090/S0025-5718-1970-0258276-9)."""

    def __init__(self, problem: Problem, x: np.ndarray):
        self.problem, self.x = problem, x
        self.residuals, self.jacobian = problem.residuals(x), problem.jacobian(x)

    def visit(self, x: np.ndarray) -> bool:
        """Simulates at `x` and corrects the model. Moves there, and returns True, if the loss is smaller."""
        residuals = self.problem.residuals(x)
        moved = self.problem.pattern() * (x - self.x)
        lengths = np.sum(moved**2, axis=1)
        errors = residuals - self.residuals - self.jacobian @ (x - self.x)
        known = lengths > 1e-8
        self.jacobian[known] += moved[known] * (errors[known] / lengths[known])[:, None]
        better = loss(residuals) < loss(self.residuals)
        if better:
            self.x, self.residuals = x, residuals
        return better

    def minimum(self, rows: np.ndarray | slice = slice(None), held: dict[int, float] | None = None,
                radius: float = math.inf) -> tuple[np.ndarray, float]:
        """The point with the least loss over the residuals `rows`, and that loss. `held` gives fixed values of
        some coordinates; the other coordinates move by at most `radius`."""
        x, held = self.x.copy(), held or {}
        x[list(held)] = list(held.values())
        free = [i for i in range(len(x)) if i not in held]
        low, high = (bound[free] for bound in self.problem.bounds())
        low, high = np.maximum(low, x[free] - radius), np.minimum(high, x[free] + radius)

        def residuals(part: np.ndarray) -> np.ndarray:
            x[free] = part
            return (self.residuals + self.jacobian @ (x - self.x))[rows]

        if free:
            found = least_squares(residuals, np.clip(x[free], low + 1e-9, high - 1e-9), loss="soft_l1",
                                  bounds=(low, high), x_scale=0.1, jac=lambda _: self.jacobian[rows][:, free])
            x[free] = found.x
        return x.copy(), loss(residuals(x[free]))


def fit(problem: Problem, evaluations: int, rounds: int = 1) -> Linear:
    """Minimises the loss with at most `evaluations` evaluations per round; returns the linear model at the best point.
    Every round begins with new finite differences. A step that does not reduce the loss makes the next step shorter."""
    x = problem.start()
    for _ in range(rounds):
        model, radius = Linear(problem, x), 0.5
        for _ in range(evaluations):
            candidate, predicted_loss = model.minimum(radius=radius)
            if predicted_loss > 0.999 * loss(model.residuals) - 1e-9:
                break
            radius *= 1.5 if model.visit(candidate) else 0.4
        x = model.x
    return model
