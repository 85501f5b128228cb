"""What the evaluations of a run say of its accuracy."""

from __future__ import annotations

from .results import Run


def accuracy_curve(run: Run) -> tuple[list[float], list[float]]:
    """Times and accuracies of the evaluations of a run."""
    return run.accuracy_curve


def best_accuracy(run: Run) -> float | None:
    accuracies = accuracy_curve(run)[1]
    return max(accuracies) if accuracies else run.number("accuracy")


def time_to_accuracy(run: Run, target: float) -> float | None:
    """The time of the first evaluation at or above `target`."""
    return next((t for t, a in zip(*accuracy_curve(run)) if a >= target), None)
