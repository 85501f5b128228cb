"""The assumptions of model profiles: values behind the results that were not measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

from .results import Run

_PROFILES = Path(__file__).resolve().parents[2] / "configs" / "profiles"


@dataclass
class Profile:
    name: str
    accelerator: str = ""
    sources: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)  # values that runs use in place of the profile's own


def used_by(runs: list[Run]) -> list[Profile]:
    """The profiles from which the runs take their computation times, as far as they can be found."""
    replaced: dict[str, dict[str, None]] = {}
    for run in runs:
        workload = run.experiment.get("workload")
        for name in _named(workload):
            replaced.setdefault(name, {}).update(_replacements(workload))
    profiles = []
    for name, texts in replaced.items():
        if (profile := read(name)) is not None:
            profile.replaced = list(texts)
            profiles.append(profile)
    return profiles


def read(name: str) -> Profile | None:
    """Reads a profile by its name in configurations, such as bert_large or profile:PATH; None if there is none."""
    given = name.removeprefix("profile:")
    for path in (Path(given), _PROFILES / f"{given}.csv", _PROFILES / f"{given}.json"):
        if path.suffix in (".csv", ".json"):
            try:
                if not path.is_file():
                    continue
                text = path.read_text(encoding="utf-8")
                return _json(path, text) if path.suffix == ".json" else _csv(path, text)
            except (OSError, ValueError, RecursionError):  # no file can have this name, or the file is not a profile
                return None
    return None


def _named(workload: Any) -> Iterator[str]:
    if isinstance(workload, str):
        yield workload
    if not isinstance(workload, dict):
        return
    if workload.get("name") == "profile" and isinstance(workload.get("path"), str):
        yield workload["path"]
    for key in ("priced_as", "profile", "name"):
        yield from _named(workload.get(key))


def _replacements(workload: Any) -> dict[str, None]:
    """Texts such as "step_time 25ms", for the options that the workload has in place of the profile's values."""
    options = workload.get("priced_with", workload) if isinstance(workload, dict) else {}
    return {f"{key} {options[key]}": None for key in ("step_time", "batch")
            if isinstance(options, dict) and options.get(key) is not None}


def _csv(path: Path, text: str) -> Profile:
    profile = Profile(path.stem)
    for line in text.splitlines():
        key, found, value = line.removeprefix("#").strip().partition(":")
        if not line.startswith("#") or not found:
            continue
        value = value.strip()
        if key == "name":
            profile.name = value
        elif key == "accelerator":
            profile.accelerator = value
        elif key in ("source", "assumed"):
            (profile.sources if key == "source" else profile.assumed).append(value)
    return profile


def _json(path: Path, text: str) -> Profile:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("not an object")
    return Profile(str(document.get("name", path.stem)), str(document.get("accelerator", "")),
                   [str(x) for x in document.get("sources") or []],
                   [str(x) for x in document.get("assumed") or []])
