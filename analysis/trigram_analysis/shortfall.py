"""Runs that do not show what their algorithm costs. They are marked, and never come first in a measure that they do not
show."""

from __future__ import annotations

from .results import Run

MARK = "‡"


def shortfall(run: Run, rates: bool = True) -> str:
    """What a run lacks, as a text to follow the name of its algorithm; empty if it lacks nothing. Without `rates`, only
    a lack that leaves nothing to compare: neither means per step nor what the run learned. The text comes from the
    program that made the run."""
    said = run.summary.get("shortfall", "")
    if said == "":
        return _by_counts(run)
    return said["why"] if said and (rates or said["of"] != "rates") else ""


def _by_counts(run: Run) -> str:
    """What runs by older programs lack, which do not record it. The summary gives the number of steps between two
    communications (1 if it does not)."""
    cycle, steps = run.number("cycle_steps") or 1, run.steps
    if steps is not None and steps < cycle:
        return f"made {steps} of the {cycle:,.0f} steps from one communication to the next"
    sent = [run.number("bytes_intra"), run.number("bytes_inter")]
    return "sent nothing between its workers" if run.workers > 1 and sent == [0, 0] else ""
