"""Quantities with units, as configurations contain them and as people read them."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Iterator

_PREFIX = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_DURATION = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_QUANTITY = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-zµ/]*)\s*")


def quantity(value: Any) -> tuple[str, float] | None:
    """The dimension and the value in base units: ("bandwidth", bits per second), ("duration", seconds), ("bytes",
    bytes), ("flop rate", FLOP/s) or ("number", n); None if `value` is no quantity."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return "number", float(value)
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if not match:
        return None
    try:
        number = float(match[1])
    except ValueError:
        return None
    return _with_unit(number, match[2])


_LENGTH = re.compile(r"([0-9.]+)(mm|cm|in)")


def length_in(text: str) -> float | None:
    """A length such as "85mm" in inches; None if it is no length."""
    match = _LENGTH.fullmatch(text)
    try:
        return float(match[1]) / {"mm": 25.4, "cm": 2.54, "in": 1.0}[match[2]] if match else None
    except ValueError:
        return None


def _with_unit(number: float, unit: str) -> tuple[str, float] | None:
    if not unit:
        return "number", number
    if unit in _DURATION:
        return "duration", number * _DURATION[unit]
    for suffix, dimension, scale in (
        ("bps", "bandwidth", 1.0),
        ("bit/s", "bandwidth", 1.0),
        ("B/s", "bandwidth", 8.0),
        ("FLOP/s", "flop rate", 1.0),
        ("B", "bytes", 1.0),
    ):
        prefix = unit.removesuffix(suffix)
        if prefix != unit:
            factor = _PREFIX.get(prefix) or _BINARY.get(prefix)
            return (dimension, number * scale * factor) if factor else None
    return None


NaturalKey = list[tuple[int, float, str]]
_IN_TEXT = re.compile(r"([0-9]+(?:\.[0-9]+)?(?: ?[A-Za-zµ]+(?:/s)?)?)")


def natural(text: str) -> NaturalKey:
    """A key that sorts texts by the sizes of quantities in them: "a 64KiB" before "a 1MiB"."""
    parts = ((quantity(part), part) for part in _IN_TEXT.split(text) if part)
    return [(0, parsed[1], parsed[0]) if parsed else (1, 0.0, part) for parsed, part in parts]


AXIS = {  # dimension: (factor from base units, unit shown on an axis)
    "bandwidth": (1e-9, "Gbps"),
    "duration": (1e6, "µs"),
    "bytes": (2.0**-20, "MiB"),
    "flop rate": (1e-12, "TFLOP/s"),
    "number": (1.0, ""),
}
_LONG = ((60.0, (1 / 60, "min")), (1.0, (1.0, "s")))  # the least duration of an axis, and its factor and unit


def axis(dimension: str, least: float) -> tuple[float, str]:
    """The factor from base units, and the unit, of an axis whose least value is `least`."""
    if dimension == "duration":
        return next((unit for limit, unit in _LONG if least >= limit), AXIS[dimension])
    return AXIS[dimension]


def decimals(value: float) -> int:
    """The number of decimal places that show `value` with three significant digits."""
    if value == 0 or not math.isfinite(value):
        return 0
    return max(2 - math.floor(math.log10(abs(value))), 0)


def significant(value: float) -> str:
    """`value` with three significant digits, without an exponent: 0.0123, 4.57, 123."""
    return f"{value:,.{decimals(value)}f}"


def percent(share: float) -> str:
    """A share in per cent, with as many digits as the share has."""
    return f"{100 * share:g}%"


def _time_unit(value: float, rounding: float = 0.0) -> tuple[float, str]:
    """The factor from seconds to the unit that suits a time, and the unit. `rounding` is a relative error."""
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if 0 < abs(value) < limit * (1 - rounding):
            return scale, unit
    return 1, "s"


def seconds(value: float) -> str:
    scale, unit = _time_unit(value)
    return f"{significant(value * scale)} {unit}"


def nbytes(value: float) -> str:
    for limit, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(value) >= limit:
            return f"{significant(value / limit)} {unit}"
    return f"{significant(value)} B"


def binary_bytes(value: float) -> str:
    """A size as configurations write it: 4 MiB, if it is a multiple."""
    for size, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value} B"


_LONGEST_LIST = 40  # characters


def _quantities(value: Any) -> Iterator[tuple[float, str]]:
    """Yields each quantity with a unit in nested lists, and its text."""
    for item in value if isinstance(value, list) else []:
        parsed = quantity(item)
        if parsed and isinstance(item, str):
            yield parsed[1], item
        yield from _quantities(item)


def show(value: Any) -> str:
    """A configured value for people: "25Gbps" and "3.125GB/s" both become "25 Gbps". A long list or matrix of
    quantities becomes the range of its values."""
    parsed = quantity(value)
    if parsed is None:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        quantities = sorted(_quantities(value))
        if len(text) <= _LONGEST_LIST or not quantities:
            return text
        return f"{show(quantities[0][1])} to {show(quantities[-1][1])}"
    dimension, number = parsed
    if dimension == "duration":
        scale, unit = _time_unit(number, rounding=1e-9)
        return f"{number * scale:,.6g} {unit}"
    if dimension == "bandwidth":
        return f"{number * 1e-9:,.6g} Gbps"
    if dimension == "bytes" and number % 2**20 == 0 and number:
        return f"{number / 2**20:,.6g} MiB"
    if dimension == "bytes" and number % 2**10 == 0 and 0 < number < 2**20:
        return f"{number / 2**10:,.6g} KiB"
    if dimension == "bytes":
        return nbytes(number)
    if dimension == "flop rate":
        return f"{number * 1e-12:,.6g} TFLOP/s"
    return f"{number:,.6g}"
