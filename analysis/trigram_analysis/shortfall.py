"""Runs that are too short to show what their algorithm costs: they are marked, and never come first."""

from __future__ import annotations

from .results import Run

MARK = "‡"


def shortfall(run: Run) -> str:
    """What a run lacks, to follow the name of its algorithm; empty if nothing. Steps between two communications are
    as the summary says (1 where it does not)."""
    cycle, steps = run.number("cycle_steps") or 1, run.steps
    if steps is not None and steps < cycle:
        return f"made {steps} of the {cycle:,.0f} steps from one communication to the next"
    sent = [run.number("bytes_intra"), run.number("bytes_inter")]
    return "sent nothing between its workers" if run.workers > 1 and sent == [0, 0] else ""
