"""The warnings and assumptions of runs, as recorded in their manifests."""

from __future__ import annotations

import re
import textwrap
from pathlib import PurePosixPath
from typing import Any

from .results import Run

_MOST_NAMED = 3
_REMARKS = {  # the beginning of a warning: its short form
    "network not emulated": "network not emulated",
    "accelerator not emulated": "accelerator not emulated",
    "layer times of": "layer times of another accelerator",
    "the profile": "layer times of an accelerator that is not named",
    "priced_as": "what is priced is not made",
    "profile": "not all of the profile is made",
}
_LONGEST_REMARK = 60


def caveats(runs: list[Run]) -> list[str]:
    """One line for each distinct warning and assumption. A line that does not apply to all runs names the swept values
    of the runs that it applies to. experiments/tables/caveats.cpp does the same for commands that print no table of this
    package."""
    lines = []
    for key, title in (("warnings", "warning"), ("assumed", "assumed")):
        for sentence in dict.fromkeys(x for run in runs for x in _said(run, key)):
            whose = _distinguishing_values([run for run in runs if sentence in _said(run, key)], runs)
            lines.append(f"{title}: {sentence}" + (f" [{whose}]" if whose else ""))
    return lines


def remarks(runs: list[Run]) -> list[str]:
    """The warnings in a few words, for places with little room."""
    said: dict[str, int] = {}
    for run in runs:
        for remark in dict.fromkeys(_remark(x) for x in _said(run, "warnings")):
            said[remark] = said.get(remark, 0) + 1
    return [remark + ("" if count == len(runs) else " (some runs)") for remark, count in said.items()]


def _remark(warning: str) -> str:
    known = next((short for begin, short in _REMARKS.items() if warning.startswith(begin)), None)
    return known or textwrap.shorten(re.split("[:;,] ", warning)[0], _LONGEST_REMARK, placeholder=" …")


def _said(run: Run, key: str) -> list[str]:
    said = run.manifest.get(key)
    return [str(x) for x in said] if isinstance(said, list) else []


def _distinguishing_values(some: list[Run], runs: list[Run]) -> str:
    """The swept values that tell `some` of the runs from the others: a smallest set of their common values if that
    suffices, else the values of the first few of them; empty if `some` are all runs."""
    if len(some) == len(runs):
        return ""

    def alone(place: dict[str, Any]) -> bool:
        return sum(all(run.sweep.get(p) == v for p, v in place.items()) for run in runs) == len(some)

    common = {p: v for p, v in some[0].sweep.items() if all(run.sweep.get(p) == v for run in some)}
    if alone(common):
        for pointer in list(common):
            fewer = {p: v for p, v in common.items() if p != pointer}
            common = fewer if alone(fewer) else common
        return _label(common)
    places = list(dict.fromkeys(_label({p: v for p, v in run.sweep.items() if p != "/seed"}) for run in some))
    more = len(places) - _MOST_NAMED
    return "; ".join(places[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _label(place: dict[str, Any]) -> str:
    return ", ".join(f"{pointer.strip('/')}={_text(value)}" for pointer, value in place.items())


def _text(value: Any) -> str:
    if not isinstance(value, dict):
        text = str(value)
        return PurePosixPath(text).stem if text.endswith(".json") else text  # a system or cluster, by its file
    options = [f"{key}={_text(option)}" for key, option in value.items() if key != "name"]
    return " ".join(([str(value["name"])] if "name" in value else []) + options)
