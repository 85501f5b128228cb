"""Checks that the files of a run can be used: the types and ranges of the values that tables, charts and claims read.
The check happens once, when a run is loaded, so that an unusable run is listed and does not stop the other runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

# Sums, squares and ratios of numbers in this range are finite, and no measurement lies outside it.
LARGEST, SMALLEST = 1e150, 1e-150
_DEEPEST = 40
_MOST_STEPS, _MOST_WORKERS = 10**8, 10**6  # as configurations allow


def text_of(path: Path, errors: str = "strict") -> str:
    """The content of a regular file. Raises OSError for anything else, because reading a pipe might never end."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path.name} is not a file")
    return path.read_text(encoding="utf-8", errors=errors)


def number(value: Any) -> bool:
    """True if `value` is a number that can be computed with."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (
        value == 0 or SMALLEST <= abs(value) <= LARGEST)


def problem(manifest: dict[str, Any]) -> str:
    """The reason why a manifest cannot be used; empty if it can be used."""
    odd = _odd_value(manifest, "", 0) or next(
        (f"{pointer} is not {what}" for pointer, (what, fits) in _USED.items() if not fits(_at(manifest, pointer))), "")
    steady = _at(manifest, "/summary/steady")
    short = _at(manifest, "/summary/shortfall")
    if not odd and short and None in (short.get("why"), short.get("of")):
        odd = "/summary/shortfall does not say what the run lacks"
    if not odd and steady and None in (steady.get("step"), steady.get("cycle"), steady.get("left_out")):
        odd = "/summary/steady does not say which steps were left out"
    return odd


def _odd_value(value: Any, pointer: str, depth: int) -> str:
    if depth > _DEEPEST:
        return "it is nested too deep"
    if isinstance(value, dict):
        return next((said for key, child in value.items()
                     if (said := _odd_text(key, pointer) or _odd_value(child, f"{pointer}/{key}", depth + 1))), "")
    if isinstance(value, list):
        return next((said for child in value if (said := _odd_value(child, pointer, depth + 1))), "")
    if isinstance(value, str):
        return _odd_text(value, pointer)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not number(value):
        return f"{pointer} is no number to compute with"
    return ""


def _odd_text(text: str, pointer: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"a text of {pointer or 'the manifest'} is no Unicode"
    return ""


def _at(document: Any, pointer: str) -> Any:
    for key in pointer.split("/")[1:]:
        document = document.get(key) if isinstance(document, dict) else None
    return document


_Check = tuple[str, Callable[[Any], bool]]


def _optional(what: str, *types: type) -> _Check:
    return what, lambda value: value is None or (isinstance(value, types) and not isinstance(value, bool))


def _count(least: int, most: int) -> _Check:
    return f"a whole number of {least} to {most}", lambda value: value is None or (
        isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)


_TEXT, _NUMBER, _OBJECT = _optional("a text", str), _optional("a number", int, float), _optional("an object", dict)
_CHOICE = _optional("a name or an object", str, dict)
_USED = {
    **{f"/{key}": _TEXT for key in ("id", "name", "version", "git", "started", "finished", "world", "status")},
    "/inputs": ("an object of texts", lambda value: value is None or (
        isinstance(value, dict) and all(isinstance(digest, str) for digest in value.values()))),
    "/wall_s": _NUMBER, "/sweep": _OBJECT, "/summary": _OBJECT, "/experiment/cluster": _OBJECT,
    "/experiment/cluster/nodes": _count(1, _MOST_WORKERS),
    "/experiment/cluster/workers_per_node": _count(1, _MOST_WORKERS),
    "/experiment/algorithm": _CHOICE, "/experiment/workload": _CHOICE, "/experiment/description": _TEXT,
    "/experiment/target_accuracy": _NUMBER,
    **{f"/summary/{key}": _NUMBER for key in (
        "time_s", "samples_per_s", "compute_s", "communication_s", "exposed_s", "bytes_intra", "bytes_inter",
        "loss", "accuracy", "worker_accuracy_min", "consensus_distance", "staleness_mean", "cycle_steps")},
    "/summary/step_s": ("a number of 0 or more", lambda value: value is None or (number(value) and value >= 0)),
    "/summary/target": _OBJECT, "/summary/target/epochs": _NUMBER, "/summary/steady": _OBJECT,
    "/summary/steady/step": _count(0, _MOST_STEPS), "/summary/steady/cycle": _count(1, _MOST_STEPS),
    "/summary/steady/left_out": _count(0, _MOST_STEPS),
    "/summary/steps": _count(1, _MOST_STEPS), "/summary/rates": _OBJECT, "/summary/rates/over": _TEXT,
    "/summary/shown_step": _count(0, _MOST_STEPS), "/summary/rates/from_step": _count(0, _MOST_STEPS),
    "/summary/rates/steps": _count(1, _MOST_STEPS), "/summary/rates/steps_made": _NUMBER,
    "/summary/rates/bytes_intra": _NUMBER,
    "/summary/rates/bytes_inter": _NUMBER, "/summary/shortfall": _OBJECT, "/summary/shortfall/why": _TEXT,
    "/summary/shortfall/of": _TEXT, "/summary/paces": _OBJECT,
    **{f"/summary/paces/{who}/samples_per_s": _NUMBER for who in ("slowest", "fastest")},
}
