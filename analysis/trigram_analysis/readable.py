"""Checks that the files of a run can be used: the types and ranges of the values that tables, charts and claims read.
Runs are checked once, when they are loaded, so that an unusable run is listed and does not stop the other runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from .pointer import lookup

# Sums, squares and ratios of numbers in this range are finite. No measurement lies outside this range.
LARGEST, SMALLEST = 1e150, 1e-150
_DEEPEST = 40
_MOST_STEPS, _MOST_WORKERS = 10**8, 10**6  # the limits of configurations


def read_text(path: Path, errors: str = "strict") -> str:
    """The content of a regular file. Raises OSError for anything else, because reading a pipe might never end."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path.name} is not a file")
    return path.read_text(encoding="utf-8", errors=errors)


def is_usable_number(value: Any) -> bool:
    """True if `value` is a number that can be computed with."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (
        value == 0 or SMALLEST <= abs(value) <= LARGEST)


def problem(manifest: dict[str, Any]) -> str:
    """The reason why a manifest cannot be used; empty if it can be used."""
    if found := bad_value(manifest):
        return found
    for pointer, (what, fits) in _EXPECTED.items():
        if not fits(lookup(manifest, pointer)):
            return f"{pointer} is not {what}"
    shortfall, steady = lookup(manifest, "/summary/shortfall"), lookup(manifest, "/summary/steady")
    if shortfall and None in (shortfall.get("why"), shortfall.get("of")):
        return "/summary/shortfall does not say what the run lacks"
    if steady and None in (steady.get("step"), steady.get("cycle"), steady.get("left_out")):
        return "/summary/steady does not say which steps were left out"
    return ""


def bad_value(value: Any, pointer: str = "", depth: int = 0) -> str:
    """The reason why a parsed JSON value at `pointer` cannot be used; empty if it can be used."""
    if depth > _DEEPEST:
        return "it is nested too deep"
    if isinstance(value, dict):
        return next((reason for key, child in value.items()
                     if (reason := _bad_text(key, pointer) or bad_value(child, f"{pointer}/{key}", depth + 1))), "")
    if isinstance(value, list):
        return next((reason for child in value if (reason := bad_value(child, pointer, depth + 1))), "")
    if isinstance(value, str):
        return _bad_text(value, pointer)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not is_usable_number(value):
        return f"{pointer} is no number to compute with"
    return ""


def _bad_text(text: str, pointer: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"a text of {pointer or 'the manifest'} is no Unicode"
    return ""


_Check = tuple[str, Callable[[Any], bool]]


def _optional(what: str, *types: type) -> _Check:
    return what, lambda value: value is None or (isinstance(value, types) and not isinstance(value, bool))


def _count(least: int, most: int) -> _Check:
    return f"a whole number of {least} to {most}", lambda value: value is None or (
        isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)


def _is_trial(trial: Any) -> bool:
    """True for what a run says of one bucket size (`autotune`)."""
    size, time = _count(0, 1 << 62)[1], _optional("", int, float)[1]
    return isinstance(trial, dict) and trial.get("bucket") is not None and size(trial["bucket"]) and time(
        trial.get("step_s"))


_TEXT, _NUMBER, _OBJECT = _optional("a text", str), _optional("a number", int, float), _optional("an object", dict)
_CHOICE = _optional("a name or an object", str, dict)
_EXPECTED = {
    **{f"/{key}": _TEXT for key in ("id", "name", "version", "git", "started", "finished", "world", "status")},
    "/inputs": ("an object of texts", lambda value: value is None or (
        isinstance(value, dict) and all(isinstance(digest, str) for digest in value.values()))),
    "/wall_s": _NUMBER, "/sweep": _OBJECT, "/summary": _OBJECT, "/experiment/cluster": _OBJECT,
    "/experiment/cluster/nodes": _count(1, _MOST_WORKERS),
    "/experiment/cluster/workers_per_node": _count(1, _MOST_WORKERS),
    "/experiment/algorithm": _CHOICE, "/experiment/workload": _CHOICE, "/experiment/description": _TEXT,
    "/experiment/target_accuracy": _NUMBER, "/experiment/target_loss": _NUMBER,
    **{f"/summary/{key}": _NUMBER for key in (
        "time_s", "samples_per_s", "compute_s", "communication_s", "exposed_s", "bytes_intra", "bytes_inter",
        "loss", "eval_loss", "accuracy", "worker_accuracy_min", "consensus_distance", "staleness_mean", "cycle_steps",
        "gradient_noise_scale")},
    "/summary/step_s": ("a number of 0 or more",
                        lambda value: value is None or (is_usable_number(value) and value >= 0)),
    "/summary/target": _OBJECT, "/summary/target/epochs": _NUMBER, "/summary/steady": _OBJECT,
    "/summary/steady/step": _count(0, _MOST_STEPS), "/summary/steady/cycle": _count(1, _MOST_STEPS),
    "/summary/steady/left_out": _count(0, _MOST_STEPS),
    "/summary/steps": _count(1, _MOST_STEPS), "/summary/rates": _OBJECT, "/summary/rates/over": _TEXT,
    "/summary/autotune": _OBJECT, "/summary/autotune/bucket": _count(0, 1 << 62),
    "/summary/autotune/from_step": _count(0, _MOST_STEPS), "/summary/autotune/paid_off_step": _count(0, _MOST_STEPS),
    "/summary/autotune/step_s": _NUMBER, "/summary/autotune/slower_s": _NUMBER,
    "/summary/autotune/tried": ("a list of sizes and times", lambda value: value is None or (
        isinstance(value, list) and all(map(_is_trial, value)))),
    "/summary/failures": _OBJECT, "/summary/failures/lost_s": _NUMBER, "/summary/failures/recovery_s": _NUMBER,
    "/summary/failures/goodput": _NUMBER,
    "/summary/failures/crashes": _optional("a list", list), "/summary/failures/generations": _optional("a list", list),
    "/summary/failures/time_s": _NUMBER,
    "/summary/failures/recovery": _TEXT,
    "/summary/failures/participation": _NUMBER, "/summary/failures/late_rounds": _NUMBER,
    "/summary/failures/absences": _optional("a list", list),
    "/summary/failures/false_suspicions": _count(0, 1 << 62), "/summary/failures/suspected_s": _NUMBER,
    "/summary/failures/suspicions": _optional("a list", list), "/summary/failures/longest_heartbeat_s": _NUMBER,
    "/summary/shown_step": _count(0, _MOST_STEPS), "/summary/rates/from_step": _count(0, _MOST_STEPS),
    "/summary/rates/steps": _count(1, _MOST_STEPS), "/summary/rates/steps_made": _NUMBER,
    "/summary/rates/bytes_intra": _NUMBER,
    "/summary/rates/bytes_inter": _NUMBER, "/summary/shortfall": _OBJECT, "/summary/shortfall/why": _TEXT,
    "/summary/shortfall/of": _TEXT, "/summary/paces": _OBJECT,
    **{f"/summary/paces/{worker}/samples_per_s": _NUMBER for worker in ("slowest", "fastest")},
}
