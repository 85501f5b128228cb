"""The command that makes runs again: of a configuration of this repository if it is theirs, else
with the whole experiment in it."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any, Iterable

from . import units
from .results import Run

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
_NOT_COMPARED = ("$schema", "name", "description", "sweep", "zip")


def command(name: str, runs: list[Run]) -> str:
    config = configuration(name, runs)
    if config is not None:
        return f"trigram run {config}"
    text = json.dumps(experiment(runs), indent=1, ensure_ascii=False)
    return f"cat > {name}.json <<'EOF'\n{text}\nEOF\ntrigram run {name}.json"


def experiment(runs: list[Run]) -> dict[str, Any]:
    """One experiment that makes all `runs`: the first, as resolved, and what was swept as a list."""
    whole = dict(runs[0].experiment)
    swept = [run.sweep for run in runs]
    return whole | {"zip": swept} if any(swept) and len(runs) > 1 else whole


def configuration(name: str, runs: list[Run]) -> str | None:
    """The path of the repository's configuration that these runs are of."""
    for path in sorted(CONFIGS.rglob(f"{name}.json")):
        if all(is_of(path, run) for run in runs):
            return str(path.relative_to(CONFIGS.parent))
    return None


def is_of(path: Path, run: Run) -> bool:
    """Whether the configuration makes this run, with nothing else set."""
    config = _read(path)
    if config is None:
        return False
    lists = _swept(config)
    if not (set(run.sweep) <= set(lists) and all(any(_same(value, v) for v in lists[pointer])
                                                 for pointer, value in run.sweep.items())):
        return False
    asked = _at_point(config, run.sweep, path.parent)
    return all(_within(value, run.experiment.get(key)) for key, value in asked.items())


@cache
def _read(path: Path) -> dict[str, Any] | None:
    """A JSON file, in which comments are allowed; each is read once, for all runs. Not to be changed."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.S))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _at_point(config: dict[str, Any], sweep: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a configuration asks for at a point of its sweep, parents first; files in place of their paths."""
    asked = {key: _inlined(value, folder) for key, value in config.items()
             if key not in _NOT_COMPARED and not isinstance(value, list)}
    for pointer, value in sorted(sweep.items()):
        *parents, last = (key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:])
        place = asked
        for key in parents:
            inside = place.get(key, {})
            inside = {"name": inside} if isinstance(inside, str) else dict(inside)
            place[key] = inside
            place = inside
        place[last] = _inlined(value, folder)
    return asked


def _inlined(value: Any, folder: Path) -> Any:
    if isinstance(value, str) and value.endswith(".json"):
        return _read(folder / value) or value
    return value


def _swept(config: dict[str, Any]) -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = {}
    seeds = config.get("seed")
    if isinstance(seeds, list):
        lists["/seed"] = seeds
    for part in (config.get("sweep"), config.get("zip")):
        rows = part if isinstance(part, list) else []
        for pointer, values in (part.items() if isinstance(part, dict) else ()):
            lists.setdefault(pointer, []).extend(values)
        for pointer, value in (item for row in rows for item in row.items()):
            lists.setdefault(pointer, []).append(value)
    return lists


def _within(written: Any, resolved: Any) -> bool:
    """Whether a resolved value can come from what is written: a name may stand for an object, and an
    object may leave out defaults."""
    if isinstance(written, dict) and isinstance(resolved, dict):
        return all(_within(value, resolved.get(key)) for key, value in written.items())
    if isinstance(written, list) and isinstance(resolved, list):
        return len(written) == len(resolved) and all(map(_within, written, resolved))
    if isinstance(written, str) and isinstance(resolved, dict):
        name, _, path = written.partition(":")
        return resolved.get("name") == name and str(resolved.get("path", "")).endswith(path.lstrip("./"))
    return _same(written, resolved)


def _same(a: Any, b: Any) -> bool:
    """Quantities are the same however they were written."""
    one, other = units.quantity(a), units.quantity(b)
    if one is None or other is None:
        return a == b
    return one[0] == other[0] and math.isclose(one[1], other[1], rel_tol=1e-9)


def shortened(items: Iterable[str], most: int = 12) -> str:
    found = list(items)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
