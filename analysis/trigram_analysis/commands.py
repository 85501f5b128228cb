"""The command that makes runs again: of a configuration of this repository if it is theirs, else
with the whole experiment in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterable

from . import units
from .results import Run

_CONFIGS = Path(__file__).resolve().parents[2] / "configs"
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
    for path in sorted(_CONFIGS.rglob(f"{name}.json")):
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # comments are allowed there: such a file is not recognised
            continue
        if isinstance(config, dict) and all(_fits(config, run) for run in runs):
            return str(path.relative_to(_CONFIGS.parent))
    return None


def _fits(config: dict[str, Any], run: Run) -> bool:
    lists = _swept(config)
    return (set(run.sweep) <= set(lists)
            and all(any(_same(value, v) for v in lists[pointer])
                    for pointer, value in run.sweep.items())
            and all(_within(value, run.experiment.get(key)) for key, value in config.items()
                    if key not in _NOT_COMPARED
                    and not any(pointer.split("/")[1] == key for pointer in lists)))


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
    """Whether a resolved value can come from what is written: a path or a name may stand for an
    object, and an object may leave out defaults."""
    if isinstance(written, dict) and isinstance(resolved, dict):
        return all(_within(value, resolved.get(key)) for key, value in written.items())
    if isinstance(written, str) and isinstance(resolved, dict):
        return written.endswith(".json") or resolved.get("name") == written
    return _same(written, resolved)


def _same(a: Any, b: Any) -> bool:
    """Quantities are the same however they were written."""
    both = units.quantity(a), units.quantity(b)
    return both[0] == both[1] if None not in both else a == b


def shortened(items: Iterable[str], most: int = 12) -> str:
    found = list(items)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
