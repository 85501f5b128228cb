"""The cost of crashes and node changes in simulated runs: a section of the report, and the time line of a job."""

from __future__ import annotations

from typing import Any

from . import units
from .markup import plain, table
from .readable import is_usable_number
from .results import Run

_TITLES = ("run", "swept options", "time", "crashes", "work lost", "recovery", "goodput", "crashes at")
_MOST_RUNS = 40
_MOST_CRASHES = 6  # listed in a row; the rest are counted


def section(runs: list[Run]) -> str:
    """An HTML table with a row for each interrupted run, at most _MOST_RUNS; empty if no run was interrupted."""
    found = interrupted(runs)
    rows = [_row(run) for run in found[:_MOST_RUNS]]
    left_out = len(found) - len(rows)
    more = f"<p>Interrupted runs not shown: {left_out}.</p>" if left_out else ""
    return table(_TITLES, rows, "wrapped") + more if rows else ""


def interrupted(runs: list[Run]) -> list[Run]:
    """The runs that crashes or changes of nodes interrupted."""
    return [run for run in runs if crashes(run) or _generations(run)]


def _failures(run: Run) -> dict[str, Any]:
    found = run.summary.get("failures")
    return found if isinstance(found, dict) else {}


def crashes(run: Run) -> list[dict[str, Any]]:
    """The crashes whose times are known."""
    return [c for c in _failures(run).get("crashes") or [] if isinstance(c, dict)
            and all(is_usable_number(c.get(key)) for key in ("at_s", "lost_s", "recovery_s"))]


def _generations(run: Run) -> list[dict[str, Any]]:
    """The generations whose times are known, without the first, which has no costs. A generation is the part of a job
    between two changes of the number of nodes."""
    return [g for g in _failures(run).get("generations") or [] if isinstance(g, dict)
            and all(is_usable_number(g.get(key)) for key in ("begin_s", "lost_s", "recovery_s"))]


def _end_s(run: Run) -> float:
    """The time of the whole job. A summary may cover only its last generation."""
    times = (_failures(run).get("time_s"), run.summary.get("time_s"))
    return next((time_s for time_s in times if is_usable_number(time_s)), 0.0)


def parts(run: Run) -> list[tuple[str, float, float]]:
    """(kind, begin_s, end_s) of each part of the job, ordered by time."""
    interruptions = [(c["at_s"], c["lost_s"], c["recovery_s"]) for c in crashes(run)]
    # A generation without costs began after a crash, which accounts for both costs.
    interruptions += [(g["begin_s"] - g["recovery_s"], g["lost_s"], g["recovery_s"]) for g in _generations(run)
                      if g["lost_s"] or g["recovery_s"]]
    found, now_s = [], 0.0
    for at_s, lost_s, recovery_s in sorted(interruptions):
        found += [("training", now_s, at_s - lost_s), ("lost work", at_s - lost_s, at_s),
                  ("recovery", at_s, at_s + recovery_s)]
        now_s = at_s + recovery_s
    return [*found, ("training", now_s, max(_end_s(run), now_s))]


def _row(run: Run) -> tuple[str, ...]:
    failures, known = _failures(run), crashes(run)
    named = [f"{units.seconds(c['at_s'])}: " + (f"node {c['node']}" if "node" in c else f"worker {c.get('rank')}")
             for c in known[:_MOST_CRASHES]]
    if len(known) > len(named):
        named.append(f"{len(known) - len(named)} more")
    goodput = failures.get("goodput")
    return (run.id, plain(run.sweep), units.seconds(_end_s(run)), str(len(known)), _seconds(failures, "lost_s"),
            _seconds(failures, "recovery_s"), f"{goodput:.1%}" if is_usable_number(goodput) else "–", "; ".join(named))


def _seconds(failures: dict[str, Any], key: str) -> str:
    value = failures.get(key)
    return units.seconds(value) if is_usable_number(value) else "–"
