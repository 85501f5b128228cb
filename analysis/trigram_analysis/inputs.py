"""Distinguishes runs of one experiment that read different versions of an input file."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from .results import Run

_DIGITS = 7  # digits of a hash that are shown to people
_WITHOUT_EFFECT = ("name", "description")  # left out of the hash that is a run's id


def input_versions(runs: list[Run]) -> dict[Path, str]:
    """Labels the runs of which an input file changed between runs: by run folder, which version of the file the run
    read."""
    last_read: dict[str, dict[str, str]] = {}  # by file and hash: when the last run that read it started
    for run in runs:
        for file, digest in run.inputs.items():
            times = last_read.setdefault(file, {})
            times[digest] = max(times.get(digest, ""), str(run.manifest.get("started")))
    changed = {file: times for file, times in last_read.items() if len(times) > 1}
    labels = {run.path: ", ".join(_name(file, digest, changed[file])
                                for file, digest in run.inputs.items() if file in changed) for run in runs}
    return _labels_without_hashes(runs) | {path: text for path, text in labels.items() if text}


def _name(file: str, digest: str, last_read: dict[str, str]) -> str:
    """The name of a file and the beginning of its hash. The version that the last run read is called the newest, unless
    runs that read other versions started in the same second."""
    last = max(last_read.values())
    newest = last_read[digest] == last and list(last_read.values()).count(last) == 1
    return f"{PurePosixPath(file).name} {digest[:_DIGITS]}" + " (newest)" * newest


def _labels_without_hashes(runs: list[Run]) -> dict[Path, str]:
    """What `input_versions` returns for runs whose manifests record no hashes of input files (older programs). A run's
    id is a hash of the experiment and of its input files, so runs of one experiment with different ids read different
    versions."""
    ids: dict[str, set[str]] = {}
    for run in runs:
        ids.setdefault(_experiment(run), set()).add(run.id)
    return {run.path: f"inputs of run {run.id}" for run in runs
            if not run.inputs and len(ids[_experiment(run)]) > 1}


def _experiment(run: Run) -> str:
    return json.dumps({key: value for key, value in run.experiment.items() if key not in _WITHOUT_EFFECT})
