"""What a resolved experiment has that a written one does not ask for. Options that are left out are at their
defaults, which configs/schema.json knows: the program writes it from the same tables of fields that it reads
experiments by, and a test holds it to them. To ask the program for its plan would be as exact, but takes
seconds for each large sweep, and the program need not be there where a report is made."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, Iterator

from . import units

SCHEMA = Path(__file__).resolve().parents[2] / "configs" / "schema.json"
Difference = tuple[str, Any]  # JSON pointer, the resolved value
# What the program takes where a whole component is left out: schema.json has defaults of options alone.
_COMPONENTS = {"/runtime": "sim", "/optimizer": "sgd"}
_HIDDEN = {"mlp": [64], "cnn": []}  # default of /workload/hidden by the model, so schema.json has none


def differences(written: Any, resolved: Any, pointer: str = "") -> Iterator[Difference]:
    """Where `resolved` is not what `written` and the defaults make."""
    return _differences(written, resolved, _schema(), pointer)


def same(a: Any, b: Any) -> bool:
    """Quantities are the same however they were written."""
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
    """Of objects: all of a component that is another one, else option by option."""
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
    """A name may stand for an object; "profile:PATH" for one with a path, which may be written from elsewhere."""
    if not isinstance(written, str):
        return written
    name, _, path = written.partition(":")
    at = {"path": resolved["path"]} if path and str(resolved.get("path", "")).endswith(path.lstrip("./")) else {}
    return {"name": name} | at


def _default(option: dict[str, Any], pointer: str, resolved: dict[str, Any]) -> Any:
    """None where there is none: then the option may be left out altogether."""
    if pointer == "/workload/hidden":
        return _HIDDEN.get(str(resolved.get("model")))
    found = (one["default"] for one in (option, *option.get("anyOf", ())) if "default" in one)
    return next(found, _COMPONENTS.get(pointer))


def _restricted_to(resolved: Any, default: Any) -> Any:
    """Of a default object, the options that the run has: others are newer than it."""
    if not (isinstance(resolved, dict) and isinstance(default, dict)):
        return default
    return {key: _restricted_to(resolved[key], value) for key, value in default.items() if key in resolved}


def _variant(schema: dict[str, Any], resolved: Any) -> dict[str, Any]:
    """Of a schema's alternatives the one that a resolved value is of, by its name or kind."""
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
