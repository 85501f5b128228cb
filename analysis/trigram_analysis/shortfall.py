"""Runs that are too short to show what their algorithm costs. They are marked, and they never come first in a measure
for which they are too short."""

from __future__ import annotations

from .results import Run

MARK = "‡"


def shortfall(run: Run, rates: bool = True) -> str:
    """The reason why a run is too short, as a text that follows the name of its algorithm; empty if it is long enough.
    A run may be too short for means per step although its final accuracy is comparable. Without `rates`, such a run
    counts as long enough. The text comes from the program that made the run."""
    recorded = run.summary.get("shortfall", "")
    if recorded == "":
        return _from_counts(run)
    return recorded["why"] if recorded and (rates or recorded["of"] != "rates") else ""


def _from_counts(run: Run) -> str:
    """The same for runs of older programs, which do not record the reason. It follows from the number of steps between
    two communications, which is 1 if the summary does not give it."""
    cycle, steps = run.number("cycle_steps") or 1, run.steps
    if steps is not None and steps < cycle:
        return f"made {steps} of the {cycle:,.0f} steps from one communication to the next"
    sent = [run.number("bytes_intra"), run.number("bytes_inter")]
    return "sent nothing between its workers" if run.workers > 1 and sent == [0, 0] else ""
