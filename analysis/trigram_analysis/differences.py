"""The differences between an experiment as somebody wrote it and the resolved experiment of a run. Options that were
not written have the defaults of configs/schema.json. The program generates this file from the tables of fields with
which it reads experiments, and a test checks that the file is up to date. The program could also print its plan, but
that takes seconds for a large sweep, and the machine that makes the report may not have the program."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, Iterator

from . import units
from .pointer import child

SCHEMA = Path(__file__).resolve().parents[2] / "configs" / "schema.json"
Difference = tuple[str, Any]  # JSON pointer, the resolved value
# The components that the program uses by default. The schema has defaults only for options of components.
_COMPONENTS = {"/runtime": "sim", "/optimizer": "sgd"}
_HIDDEN = {"mlp": [64], "cnn": []}  # default of /workload/hidden; it depends on the model, so schema.json has none


def differences(written: Any, resolved: Any) -> Iterator[Difference]:
    """The places where `resolved` differs from `written`, after the defaults have been filled in."""
    return _differences(written, resolved, _schema(), "")


def same(a: Any, b: Any) -> bool:
    """True if the values are equal. Quantities are equal however they were written."""
    first, second = units.quantity(a), units.quantity(b)
    if first is None or second is None:
        return a == b
    return first[0] == second[0] and math.isclose(first[1], second[1], rel_tol=1e-9)


def _differences(written: Any, resolved: Any, schema: dict[str, Any], pointer: str) -> Iterator[Difference]:
    if isinstance(resolved, dict):
        written = _as_object(written, resolved)
    elif isinstance(resolved, list) and isinstance(written, (int, float)):
        written = [written]  # one hidden layer
    if isinstance(written, dict) and isinstance(resolved, dict):
        yield from _object_differences(written, resolved, schema, pointer)
    elif isinstance(written, list) and isinstance(resolved, list) and len(written) == len(resolved):
        items = _variant(schema, resolved).get("items", {})
        if any(True for a, b in zip(written, resolved) for _ in _differences(a, b, items, pointer)):
            yield pointer, resolved
    elif not same(written, resolved):
        yield pointer, resolved


def _object_differences(written: dict[str, Any], resolved: dict[str, Any], schema: dict[str, Any],
                        pointer: str) -> Iterator[Difference]:
    """The differences of two objects: the whole object if its name or kind differs, else the options that differ."""
    if any(key in written and written[key] != resolved.get(key) for key in ("name", "kind")):
        yield pointer, resolved
        return
    options = _variant(schema, resolved).get("properties", {})
    for key in dict.fromkeys([*written, *resolved]):
        option, place = options.get(key, {}), child(pointer, key)
        if key in resolved:
            default = _restricted_to(resolved[key], _default(option, place, resolved))
            yield from _differences(written.get(key, default), resolved[key], option, place)
        elif written[key] is not None:
            yield place, None


def _as_object(written: Any, resolved: dict[str, Any]) -> Any:
    """The object for which a text stands: a name stands for an object of that name, and "profile:PATH" for an object
    with a path. PATH may be relative to another folder than the resolved path."""
    if not isinstance(written, str):
        return written
    name, _, path = written.partition(":")
    same_path = path and str(resolved.get("path", "")).endswith(path.lstrip("./"))
    return {"name": name} | ({"path": resolved["path"]} if same_path else {})


def _default(option: dict[str, Any], pointer: str, resolved: dict[str, Any]) -> Any:
    """The default of an option; None if it has none and may therefore be absent."""
    if pointer == "/workload/hidden":
        return _HIDDEN.get(str(resolved.get("model")))
    found = (schema["default"] for schema in (option, *option.get("anyOf", ())) if "default" in schema)
    return next(found, _COMPONENTS.get(pointer))


def _restricted_to(resolved: Any, default: Any) -> Any:
    """The default object without the options that the run lacks, because they are newer than the run."""
    if not (isinstance(resolved, dict) and isinstance(default, dict)):
        return default
    return {key: _restricted_to(resolved[key], value) for key, value in default.items() if key in resolved}


def _variant(schema: dict[str, Any], resolved: Any) -> dict[str, Any]:
    """The alternative of a schema to which a resolved value belongs, by its name or kind."""
    kind = "object" if isinstance(resolved, dict) else "array"
    found = [s for s in _alternatives(schema) if s.get("type") == kind]
    for alternative in found:
        properties = alternative.get("properties", {})
        consts = {key: option["const"] for key, option in properties.items() if "const" in option}
        if consts and all(resolved.get(key) == value for key, value in consts.items()):
            return alternative
    return found[0] if found else {}


def _alternatives(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for alternative in schema.get("anyOf", ()):
        yield from _alternatives(alternative)


@cache
def _schema() -> dict[str, Any]:
    return json.loads(SCHEMA.read_text(encoding="utf-8"))
