"""What model profiles assume: numbers in results that nobody has measured."""

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


def of(runs: list[Run]) -> list[Profile]:
    """The profiles that the runs' times are of, those that can be found."""
    names = dict.fromkeys(name for run in runs for name in _named(run.experiment.get("workload")))
    return [profile for name in names if (profile := read(name)) is not None]


def read(name: str) -> Profile | None:
    """`name` as configurations write it: bert_large, or profile:PATH."""
    given = name.removeprefix("profile:")
    for path in (Path(given), _PROFILES / f"{given}.csv", _PROFILES / f"{given}.json"):
        if path.suffix in (".csv", ".json"):
            try:
                if not path.is_file():
                    continue
                text = path.read_text(encoding="utf-8")
                return _json(path, text) if path.suffix == ".json" else _csv(path, text)
            except (OSError, ValueError, RecursionError):  # a name that no file can have, or what is no profile
                return None
    return None


def _named(workload: Any) -> Iterator[str]:
    if isinstance(workload, str):
        yield workload
    for key in ("priced_as", "profile", "name") if isinstance(workload, dict) else ():
        yield from _named(workload.get(key))


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
