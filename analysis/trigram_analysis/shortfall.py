"""Runs that do not show what their algorithm costs: they are marked, and never come first in what they do not show."""

from __future__ import annotations

from .results import Run

MARK = "‡"


def shortfall(run: Run, rates: bool = True) -> str:
    """What a run lacks, to follow the name of its algorithm; empty if nothing. Without `rates`, only what leaves nothing
    of it to compare, neither means per step nor what it learned. The program that made the run says it."""
    said = run.summary.get("shortfall", "")
    if said == "":
        return _by_counts(run)
    return said["why"] if said and (rates or said["of"] != "rates") else ""


def _by_counts(run: Run) -> str:
    """Of runs by older programs, which do not say it. Steps between two communications are as the summary says (1 where
    it does not)."""
    cycle, steps = run.number("cycle_steps") or 1, run.steps
    if steps is not None and steps < cycle:
        return f"made {steps} of the {cycle:,.0f} steps from one communication to the next"
    sent = [run.number("bytes_intra"), run.number("bytes_inter")]
    return "sent nothing between its workers" if run.workers > 1 and sent == [0, 0] else ""
