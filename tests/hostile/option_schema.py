"""The options that the schema of experiments documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterator

Json = dict[str, Any]


@dataclass(frozen=True)
class Option:
    pointer: str
    schema: Json = field(hash=False)
    components: tuple[tuple[str, str], ...] = ()  # (pointer, name) of the components to which the option belongs

    @property
    def label(self) -> str:
        return " ".join([self.pointer, *(f"of {name}" for _, name in self.components)])


def options(schema: Json, pointer: str = "", components: tuple[tuple[str, str], ...] = ()) -> Iterator[Option]:
    """The options below `schema`: every value that is not an object, and the names of components."""
    for key, value in schema.get("properties", {}).items():
        option_pointer = f"{pointer}/{key}"
        if "const" in value:
            continue
        inner = list(_objects(value))
        if not inner or any("const" in p for form in inner for p in form["properties"].values()):
            yield Option(option_pointer, value, components)
        for form in inner:
            names = tuple((f"{option_pointer}/{k}", p["const"]) for k, p in form["properties"].items() if "const" in p)
            yield from options(form, option_pointer, components + names)


def _objects(schema: Json) -> Iterator[Json]:
    if "properties" in schema:
        yield schema
    for form in _forms(schema):
        yield from _objects(form)


def _forms(schema: Json) -> list[Json]:
    return [*schema.get("anyOf", []), *schema.get("oneOf", [])]


def other_values(schema: Json) -> list[Any]:
    """Values other than the default; those that probably have an effect come first."""
    found: list[Any] = []
    for form in _forms(schema):
        found += other_values({"default": schema.get("default")} | form)
    default = schema.get("default")
    if "enum" in schema:
        found += schema["enum"]
    if schema.get("type") == "boolean":
        found += [True, False]
    if schema.get("type") == "integer":
        default = default if isinstance(default, int) else None
        found += [
            n for n in ((default or 0) + 1, 2, 3, 1, 5, 0) if schema.get("minimum", 0) <= n <= schema.get("maximum", n)
        ]
    if schema.get("type") == "number":
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        high = min(schema.get("maximum", 10), 10)
        found += [low + share * (high - low) for share in (0.5, 0.05, 0.9)]
    if schema.get("type") == "string" and "pattern" in schema:
        found += _quantities(schema["pattern"])
    return [value for value in found if value != default]


def _quantities(pattern: str) -> list[str]:
    for unit, values in (
        ("TFLOP/s", ["3GFLOP/s", "1MFLOP/s"]),
        ("Gbps", ["20Mbps", "7Gbps"]),
        ("MiB", ["512B", "2KiB", "100MiB"]),
        ("ms", ["3ms", "20us", "1s"]),
    ):
        if re.search(rf"\b{unit}\b", pattern):
            return values
    return []
