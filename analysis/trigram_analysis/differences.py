"""The differences between a resolved experiment and a written one. Options that are left out have the defaults of
configs/schema.json. The program writes that file from the same tables of fields with which it reads experiments, and a
test compares the two. Asking the program for its plan would be as exact, but takes seconds for each large sweep, and
the program may be absent on the machine that makes the report."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, Iterator

from . import units

SCHEMA = Path(__file__).resolve().parents[2] / "configs" / "schema.json"
Difference = tuple[str, Any]  # JSON pointer, the resolved value
# The components that the program uses by default; schema.json has defaults only for options.
_COMPONENTS = {"/runtime": "sim", "/optimizer": "sgd"}
_HIDDEN = {"mlp": [64], "cnn": []}  # default of /workload/hidden; it depends on the model, so schema.json has none


def differences(written: Any, resolved: Any, pointer: str = "") -> Iterator[Difference]:
    """The places where `resolved` differs from `written`, after the defaults have been filled in."""
    return _differences(written, resolved, _schema(), pointer)


def same(a: Any, b: Any) -> bool:
    """True if the values are equal. Quantities are equal however they were written."""
    one, other = units.quantity(a), units.quantity(b)
    if one is None or other is None:
        return a == b
    return one[0] == other[0] and math.isclose(one[1], other[1], rel_tol=1e-9)


def _differences(written: Any, resolved: Any, schema: dict[str, Any], pointer: str) -> Iterator[Difference]:
    if isinstance(resolved, dict):
        written = _as_object(written, resolved)
    elif isinstance(resolved, list) and isinstance(written, (int, float)):
        written = [written]  # one hidden layer
    if isinstance(written, dict) and isinstance(resolved, dict):
        yield from _within(written, resolved, schema, pointer)
    elif isinstance(written, list) and isinstance(resolved, list) and len(written) == len(resolved):
        items = _variant(schema, resolved).get("items", {})
        if any(True for a, b in zip(written, resolved) for _ in _differences(a, b, items, pointer)):
            yield pointer, resolved
    elif not same(written, resolved):
        yield pointer, resolved


def _within(written: dict[str, Any], resolved: dict[str, Any], schema: dict[str, Any],
            pointer: str) -> Iterator[Difference]:
    """The differences of two objects: the whole object if its name or kind differs, else the options that differ."""
    if any(key in written and written[key] != resolved.get(key) for key in ("name", "kind")):
        yield pointer, resolved
        return
    options = _variant(schema, resolved).get("properties", {})
    for key in dict.fromkeys([*written, *resolved]):
        option, place = options.get(key, {}), f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
        if key in resolved:
            asked = written[key] if key in written else _restricted_to(resolved[key], _default(option, place, resolved))
            yield from _differences(asked, resolved[key], option, place)
        elif written[key] is not None:
            yield place, None


def _as_object(written: Any, resolved: dict[str, Any]) -> Any:
    """The object that a text stands for: a name stands for an object of that name, and "profile:PATH" for an object
    with a path, which may be relative to another folder."""
    if not isinstance(written, str):
        return written
    name, _, path = written.partition(":")
    at = {"path": resolved["path"]} if path and str(resolved.get("path", "")).endswith(path.lstrip("./")) else {}
    return {"name": name} | at


def _default(option: dict[str, Any], pointer: str, resolved: dict[str, Any]) -> Any:
    """The default of an option; None if it has none and may therefore be absent."""
    if pointer == "/workload/hidden":
        return _HIDDEN.get(str(resolved.get("model")))
    found = (one["default"] for one in (option, *option.get("anyOf", ())) if "default" in one)
    return next(found, _COMPONENTS.get(pointer))


def _restricted_to(resolved: Any, default: Any) -> Any:
    """The part of a default object that the run has: options that it lacks are newer than the run."""
    if not (isinstance(resolved, dict) and isinstance(default, dict)):
        return default
    return {key: _restricted_to(resolved[key], value) for key, value in default.items() if key in resolved}


def _variant(schema: dict[str, Any], resolved: Any) -> dict[str, Any]:
    """The alternative of a schema to which a resolved value belongs, by its name or kind."""
    kind = "object" if isinstance(resolved, dict) else "array"
    found = [s for s in _alternatives(schema) if s.get("type") == kind]
    for each in found:
        consts = {key: option["const"] for key, option in each.get("properties", {}).items() if "const" in option}
        if consts and all(resolved.get(key) == value for key, value in consts.items()):
            return each
    return found[0] if found else {}


def _alternatives(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for each in schema.get("anyOf", ()):
        yield from _alternatives(each)


@cache
def _schema() -> dict[str, Any]:
    return json.loads(SCHEMA.read_text(encoding="utf-8"))
