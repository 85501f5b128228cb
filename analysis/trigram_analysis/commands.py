"""The command that repeats runs. If the runs come from a configuration of this repository, the command names this
configuration and sets the options that differ; otherwise, the command contains the whole experiment."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any, Iterable

from . import readable
from .differences import Difference, differences, same
from .pointer import keys
from .results import Run

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
_NOT_COMPARED = ("$schema", "name", "description", "sweep", "zip", "tune")
_MAX_SETTINGS = 8
_RATES = ("name", "flops", "memory_bandwidth")  # of an accelerator: its rates, and the name that stands for them


def command(name: str, runs: list[Run]) -> str:
    config = configuration(name, runs)
    if config is not None:
        path, settings = config
        return " ".join([f"trigram run {shlex.quote(path)}", *(f"--set {_setting(*setting)}" for setting in settings)])
    # Results may come from anyone, so their names enter the command only if they are plain file names.
    file = f"{name}.json" if _is_file_name(name) else "experiment.json"
    return f"cat > {file} <<'EOF'\n{json.dumps(experiment(runs), indent=1)}\nEOF\ntrigram run {file}"


def _setting(pointer: str, value: Any) -> str:
    plain = isinstance(value, str) and value.isprintable()
    return shlex.quote(f"{pointer}={value if plain else json.dumps(value)}")


def experiment(runs: list[Run]) -> dict[str, Any]:
    """One experiment that makes all `runs`: the first run's resolved experiment, with the swept values as a list."""
    whole = dict(runs[0].experiment)
    swept = [run.sweep for run in runs]
    return whole | {"zip": swept} if any(swept) and len(runs) > 1 else whole


def configuration(name: str, runs: list[Run]) -> tuple[str, list[Difference]] | None:
    """The path of the configuration in this repository that makes these runs, and the settings to add, which must be
    the same for all runs. Runs that need more than `_MAX_SETTINGS` probably come from another experiment of that
    name."""
    found = []
    for path in sorted(CONFIGS.rglob(f"{name}.json")) if _is_file_name(name) else ():
        settings = _settings(path, runs[0])
        if settings is not None and len(settings) <= _MAX_SETTINGS and all(
                _settings(path, run) == settings for run in runs[1:]):
            found.append((str(path.relative_to(CONFIGS.parent)), settings))
    return min(found, key=lambda path_and_settings: len(path_and_settings[1]), default=None)


def _is_file_name(name: str) -> bool:
    """True for a name that a folder can have and that is no pattern, path, option or shell syntax."""
    return re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,199}", name) is not None


def makes(path: Path, run: Run) -> bool:
    """True if the configuration makes this run without any other setting."""
    return _settings(path, run) == []


def _settings(path: Path, run: Run) -> list[Difference] | None:
    """The settings with which the configuration makes this run; None if no settings do."""
    config = _read(path)
    if config is None:
        return None
    lists = _swept(config)
    if not (set(run.sweep) <= set(lists) and all(any(same(value, v) for v in lists[pointer])
                                                 for pointer, value in run.sweep.items())):
        return None
    written, resolved = ({key: value for key, value in whole.items() if key not in _NOT_COMPARED}
                         for whole in (_at_point(config, run.sweep, path.parent), run.experiment))
    if "workload" in written:
        written["workload"] = _with_cluster_rates(written["workload"], resolved.get("workload"),
                                                  resolved.get("cluster"))
    found = list(differences(written, resolved))
    return None if any(value is None for _, value in found) else found


@cache
def _read(path: Path) -> dict[str, Any] | None:
    """Parses a JSON file that may have comments; None if it cannot be read. Results are cached, so callers must not
    change them."""
    try:
        text = readable.read_text(path)
        found = json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.S))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _at_point(config: dict[str, Any], sweep: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The options of a configuration at a point of its sweep, with the content of files in place of their paths. Outer
    pointers are applied before the pointers inside them."""
    written = {key: _inlined(value, folder) for key, value in config.items()
               if key not in _NOT_COMPARED and not isinstance(value, list)}
    for pointer, value in sorted(sweep.items()):
        *parents, last = keys(pointer)
        inner = written
        for key in parents:
            member = inner.get(key, {})
            member = {"name": member} if isinstance(member, str) else dict(member)
            inner[key] = member
            inner = member
        inner[last] = _inlined(value, folder)
    return written


def _with_cluster_rates(workload: Any, resolved: Any, cluster: Any) -> Any:
    """The workload as written, except that the rates of the cluster's accelerator replace `"accelerator": "cluster"`,
    as the program replaces it if it knows the rates. `resolved` is the workload of the run."""
    if not (isinstance(workload, dict) and isinstance(resolved, dict)):
        return workload
    result = dict(workload)
    if "priced_with" in workload:
        result["priced_with"] = _with_cluster_rates(workload["priced_with"], resolved.get("priced_with"), cluster)
    if workload.get("accelerator") == "cluster" != resolved.get("accelerator"):
        given = cluster["accelerator"]  # it may have a name without rates, such as V100
        result["accelerator"] = resolved["accelerator"] | {key: given[key] for key in _RATES if key in given}
    return result


def _inlined(value: Any, folder: Path) -> Any:
    """The content of the JSON file that `value` names, if it names one; else `value`."""
    if isinstance(value, str) and value.endswith(".json"):
        return _read(folder / value) or value
    return value


def _swept(config: dict[str, Any]) -> dict[str, list[Any]]:
    """The values that a configuration gives to each swept pointer."""
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


def shortened(items: Iterable[str], most: int = 12) -> str:
    """The first `most` items, and the number of the remaining items."""
    found = list(items)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
