"""Runs that do not show what their algorithm costs. They are marked, and never come first in a measure that they do not
show."""

from __future__ import annotations

from .results import Run

MARK = "‡"


def shortfall(run: Run, rates: bool = True) -> str:
    """The reason why a run is too short, as a text to follow the name of its algorithm; empty if it is long enough.
    Without `rates`, only reasons count that leave nothing to compare: neither means per step nor the run's accuracy.
    The text comes from the program that made the run."""
    said = run.summary.get("shortfall", "")
    if said == "":
        return _by_counts(run)
    return said["why"] if said and (rates or said["of"] != "rates") else ""


def _by_counts(run: Run) -> str:
    """The same for runs of older programs, which do not record the reason. It follows from the number of steps between
    two communications, which is 1 if the summary does not give it."""
    cycle, steps = run.number("cycle_steps") or 1, run.steps
    if steps is not None and steps < cycle:
        return f"made {steps} of the {cycle:,.0f} steps from one communication to the next"
    sent = [run.number("bytes_intra"), run.number("bytes_inter")]
    return "sent nothing between its workers" if run.workers > 1 and sent == [0, 0] else ""
