"""The warnings and assumptions of runs, as recorded in their manifests."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path, PurePosixPath
from typing import Any

from . import readable, units
from .results import Run

_MAX_NAMED = 3
_REMARKS = {  # the beginning of a warning: its short form
    "network not emulated": "network not emulated",
    "accelerator not emulated": "accelerator not emulated",
    "layer times of": "layer times of another accelerator",
    "the profile": "layer times of an accelerator that is not named",
    "priced_as": "what is priced is not made",
    "profile": "not all of the profile is made",
}
_LONGEST_REMARK = 60


def caveats(runs: list[Run], names: str = "") -> list[str]:
    """One line for each distinct warning and assumption. A line that does not apply to all runs names the runs to which
    it applies: by their swept values, or by their letters in `names`, if it has one for each run. experiments/tables/caveats.cpp does the same for commands that print other tables
    than this package's."""
    lines = []
    for key, title in (("warnings", "warning"), ("assumed", "assumed")):
        lines += _with_their_runs(title, [_recorded(run, key) for run in runs], runs, names)
    for folder in sorted({run.path.parent for run in runs}):
        lines += [f"trigram advise warned: {sentence}" for sentence in _advice_warnings(folder)]
    return lines


def recorded(runs: list[Run], key: str) -> str:
    """The distinct "warnings" or "assumed" sentences of the runs in one text, for a cell of a table of numbers."""
    return "; ".join(dict.fromkeys(sentence for run in runs for sentence in _recorded(run, key)))


def outcomes(runs: list[Run]) -> list[str]:
    """What came of tuning within the runs, and what failures cost them."""
    return tuned_buckets(runs) + costs_of_failures(runs)


def tuned_buckets(runs: list[Run]) -> list[str]:
    """One line for each distinct result of tuning within a run (`autotune`), which names its runs as `caveats` does."""
    return _with_their_runs("autotune", [_result_of_tuning(run) for run in runs], runs)


def _result_of_tuning(run: Run) -> list[str]:
    tuned = run.summary.get("autotune")
    if not tuned:
        return []
    if tuned.get("bucket") is None or tuned.get("from_step") is None:
        return ["the run ended before all bucket sizes were tried"]
    paid, kept = tuned.get("paid_off_step"), units.binary_bytes(tuned["bucket"])
    result = "has not paid for itself" if paid is None else f"has paid for itself at step {paid}"
    return [f"buckets of {kept} from step {tuned['from_step']} on; tuning {result}"]


def costs_of_failures(runs: list[Run]) -> list[str]:
    """One line for each distinct cost of the crashes of a simulated run, which names its runs as `caveats` does."""
    return _with_their_runs("failures", [_cost_of_failures(run) for run in runs], runs)


def _cost_of_failures(run: Run) -> list[str]:
    failures = run.summary.get("failures")
    if not failures:
        return []
    if failures.get("recovery") == "in_place":
        return _cost_in_place(failures)
    count = len(failures.get("crashes") or [])
    lost, recovery, goodput = (failures.get(key) for key in ("lost_s", "recovery_s", "goodput"))
    if None in (lost, recovery, goodput):
        return []
    return [f"{count} {'crash' if count == 1 else 'crashes'}{_suspicions(failures)}; {units.seconds(lost)} of work lost, "
            f"{units.seconds(recovery)} to recover; goodput {goodput:.1%}"]


def _cost_in_place(failures: dict[str, Any]) -> list[str]:
    """What it cost that workers failed, and the others carried on."""
    absences = failures.get("absences") or []
    made, goodput, recovery = (failures.get(key) for key in ("participation", "goodput", "recovery_s"))
    if None in (made, goodput, recovery):
        return []
    late = failures.get("late_rounds") or 0
    rounds = f", {late} late {'round' if late == 1 else 'rounds'}" if late else ""
    return [f"{len(absences)} {'absence' if len(absences) == 1 else 'absences'} without a restart{rounds}"
            f"{_suspicions(failures)}; "
            f"{units.seconds(recovery)} for replacements to recover; participation {made:.1%}; goodput {goodput:.1%}"]


def _suspicions(failures: dict[str, Any]) -> str:
    """How many workers were suspected falsely; empty without heartbeats."""
    count = failures.get("false_suspicions")
    return "" if count is None else f", {count} false {'suspicion' if count == 1 else 'suspicions'}"


def _with_their_runs(title: str, sentences: list[list[str]], runs: list[Run], names: str = "") -> list[str]:
    """The distinct sentences of all runs, with the swept values or the letters of those that have it. `sentences` are
    those of each run."""
    lines = []
    for sentence in dict.fromkeys(x for of_run in sentences for x in of_run):
        have = [sentence in own for own in sentences]
        whose = (_distinguishing_values([run for run, has in zip(runs, have) if has], runs) if not names
                 else "" if all(have) else ", ".join(name for name, has in zip(names, have) if has))
        lines.append(f"{title}: {sentence}" + (f" [{whose}]" if whose else ""))
    return lines


def _advice_warnings(folder: Path) -> list[str]:
    """The warnings of the answer that `trigram advise` gave from the runs in `folder`, which these runs alone do not
    show: for example, that another candidate is first where NICs differ. Empty for other folders."""
    try:
        advice = json.loads(readable.read_text(folder / "advice.json"))
    except (OSError, ValueError):
        return []
    warnings = advice.get("answer_warnings") if isinstance(advice, dict) else None
    return [str(sentence) for sentence in warnings] if isinstance(warnings, list) else []


def remarks(runs: list[Run]) -> list[str]:
    """The warnings in a few words, for figures."""
    counts: dict[str, int] = {}
    for run in runs:
        for remark in dict.fromkeys(_remark(x) for x in _recorded(run, "warnings")):
            counts[remark] = counts.get(remark, 0) + 1
    return [remark + ("" if count == len(runs) else " (some runs)") for remark, count in counts.items()]


def _remark(warning: str) -> str:
    known = next((short for begin, short in _REMARKS.items() if warning.startswith(begin)), None)
    return known or textwrap.shorten(re.split("[:;,] ", warning)[0], _LONGEST_REMARK, placeholder=" …")


def _recorded(run: Run, key: str) -> list[str]:
    counts = run.manifest.get(key)
    return [str(x) for x in counts] if isinstance(counts, list) else []


def _distinguishing_values(some: list[Run], runs: list[Run]) -> str:
    """The swept values that distinguish `some` of the runs from the remaining runs: a smallest set of values that
    `some` have in common, if that suffices; else all values of the first few of them. Empty if `some` are all runs."""
    if len(some) == len(runs):
        return ""

    def identifies(values: dict[str, Any]) -> bool:
        return sum(all(run.sweep.get(p) == v for p, v in values.items()) for run in runs) == len(some)

    common = {p: v for p, v in some[0].sweep.items() if all(run.sweep.get(p) == v for run in some)}
    if identifies(common):
        for pointer in list(common):
            fewer = {p: v for p, v in common.items() if p != pointer}
            common = fewer if identifies(fewer) else common
        return _label(common)
    labels = list(dict.fromkeys(_label({p: v for p, v in run.sweep.items() if p != "/seed"}) for run in some))
    more = len(labels) - _MAX_NAMED
    return "; ".join(labels[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _label(values: dict[str, Any]) -> str:
    return ", ".join(f"{pointer.strip('/')}={_text(value)}" for pointer, value in values.items())


def _text(value: Any) -> str:
    if not isinstance(value, dict):
        text = str(value)
        return PurePosixPath(text).stem if text.endswith(".json") else text  # a system or cluster, by its file
    options = [f"{key}={_text(option)}" for key, option in value.items() if key != "name"]
    return " ".join(([str(value["name"])] if "name" in value else []) + options)
