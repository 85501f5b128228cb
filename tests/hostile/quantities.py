"""Quantities with units, as in configurations."""

from __future__ import annotations

import re
from typing import Any

QUANTITY = re.compile(
    r"^([0-9.]+(?:[eE][-+]?[0-9]+)?) *"
    r"(?:((?:[kMGT]|[KMG]i)?(?:bps|B/s)|[MGTP]?FLOP/s)|((?:[kMG]|[KMG]i)?B)|((?:n|u|m)?s|min))$"
)


def multiplied(text: str, factor: float) -> str:
    """The quantity `text`, multiplied by `factor`, in the same unit."""
    found = QUANTITY.match(text)
    assert found, text
    number, unit = found[1], text[found.end(1) :].strip()
    return f"{float(number) * factor!r}{unit}"


def scaled(config: Any, time: float = 1, size: float = 1) -> Any:
    """`config` with all times multiplied by `time`, all sizes by `size`, and all rates by `size / time`."""
    if isinstance(config, dict):
        return {key: scaled(value, time, size) for key, value in config.items()}
    if isinstance(config, list):
        return [scaled(value, time, size) for value in config]
    found = QUANTITY.match(config) if isinstance(config, str) else None
    if not found:
        return config
    factor = size / time if found[2] else size if found[3] else time
    return config if factor == 1 else multiplied(config, factor)
