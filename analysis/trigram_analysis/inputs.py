"""Distinguishes runs of one experiment that have read different contents of an input file."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from .results import Run

_DIGITS = 7  # digits of a hash that are shown to people
_OF_NO_RESULT = ("name", "description")  # left out of the hash that is a run's id


def contents(runs: list[Run]) -> dict[Path, str]:
    """A text that names the content of an input file, for each run that read another content of this file than other
    runs."""
    last_read: dict[str, dict[str, str]] = {}  # by file and hash: the start of the last run that read it
    for run in runs:
        for file, digest in run.inputs.items():
            known = last_read.setdefault(file, {})
            known[digest] = max(known.get(digest, ""), str(run.manifest.get("started")))
    changed = {file: known for file, known in last_read.items() if len(known) > 1}
    said = {run.path: ", ".join(_name(file, digest, changed[file])
                                for file, digest in run.inputs.items() if file in changed) for run in runs}
    return _unsaid(runs) | {path: text for path, text in said.items() if text}


def _name(file: str, digest: str, last_read: dict[str, str]) -> str:
    """The name of a file and its hash. The content that the last run has read is called the newest, unless runs with
    other contents began in the same second."""
    last = max(last_read.values())
    newest = last_read[digest] == last and list(last_read.values()).count(last) == 1
    return f"{PurePosixPath(file).name} {digest[:_DIGITS]}" + " (newest)" * newest


def _unsaid(runs: list[Run]) -> dict[Path, str]:
    """Contents in manifests of older programs, which record no hashes. A run's id is a hash of the experiment and of
    the content of its input files, so runs of one experiment with several ids have read several contents."""
    ids: dict[str, set[str]] = {}
    for run in runs:
        ids.setdefault(_experiment(run), set()).add(run.id)
    return {run.path: f"as run {run.id} read it" for run in runs
            if not run.inputs and len(ids[_experiment(run)]) > 1}


def _experiment(run: Run) -> str:
    return json.dumps({key: value for key, value in run.experiment.items() if key not in _OF_NO_RESULT})
