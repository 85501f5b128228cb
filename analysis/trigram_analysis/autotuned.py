"""The section of a report on runs that tried bucket sizes while they trained (`autotune`)."""

from __future__ import annotations

from typing import Any

from . import units
from .markup import plain, table
from .results import Run

_TITLES = ("run", "swept options", "tried: mean time of a step", "kept", "from step on", "mean time of a step then",
           "trials took longer by", "had paid for itself at step")


def section(runs: list[Run]) -> str:
    """A table with a row for each run, as HTML; empty if no run was tuned."""
    rows = [_row(run, tuned) for run in runs if (tuned := run.summary.get("autotune"))]
    return table(_TITLES, rows, "wrapped") if rows else ""


def _row(run: Run, tuned: dict[str, Any]) -> tuple[str, ...]:
    """An interval that the end of the run cut short may have no mean time."""
    tried = "; ".join(f"{units.binary_bytes(trial['bucket'])}: {_seconds(trial.get('step_s'))}"
                      for trial in tuned.get("tried") or [])
    kept, from_step, paid = (tuned.get(key) for key in ("bucket", "from_step", "paid_off_step"))
    return (run.id, plain(run.sweep), tried, "–" if kept is None else units.binary_bytes(kept), _count(from_step),
            _seconds(tuned.get("step_s")), _seconds(tuned.get("slower_s")), _count(paid))


def _seconds(value: float | None) -> str:
    return "–" if value is None else units.seconds(value)


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)
