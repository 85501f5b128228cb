"""The figure of what `trigram tune` has tried: the cost of each evaluation, and the best one so far."""

from __future__ import annotations

import json
import math
from itertools import accumulate
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from . import readable, style
from .results import Run


def figure(runs: list[Run]) -> Figure | None:
    """None if no search made these runs."""
    records = [record for folder in sorted({run.path.parent for run in runs}) if (record := _record(folder))]
    return _drawn(records[0]) if records else None


def _record(folder: Path) -> dict[str, Any] | None:
    """The record of a search; None if there is none, or if no point has a cost."""
    try:
        record = json.loads(readable.read_text(folder / "tuning.json"))
        return record if any(_is_cost(tried["value"]) for tried in record["tried"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_cost(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _drawn(record: dict[str, Any]) -> Figure:
    costs = {i: tried["value"] for i, tried in enumerate(record["tried"], 1) if _is_cost(tried["value"])}
    best = list(accumulate(costs.values(), min))
    fig, axes = plt.subplots(figsize=(6.4, 3.6))
    axes.plot(list(costs), list(costs.values()), "o", color=style.KIND_COLOURS["compute"], label="evaluation")
    axes.step(list(costs), best, where="post", color=style.INK, label="best so far")
    invalid = [i for i in range(1, len(record["tried"]) + 1) if i not in costs]
    if invalid:
        axes.plot(invalid, [max(costs.values())] * len(invalid), "x", color=style.KIND_COLOURS["inter"], label="invalid")
    unit = record.get("unit")
    axes.set_xlabel("evaluations")
    axes.set_ylabel(f"{record.get('objective', 'cost')}" + (f" ({unit})" if unit else ""))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if min(costs.values()) > 0 and max(costs.values()) > 5 * min(costs.values()):
        axes.set_yscale("log")
    axes.legend()
    return fig


