"""A column of the comparison table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Literal

from .column_unit import Unit
from .comparison import Point
from .measures import Measure


@dataclass(frozen=True)
class Column:
    title: str
    value: Callable[[Point], float | None]
    unit: Callable[[float], Unit]  # chosen by the largest value of the column
    help: str
    better: Literal["low", "high"] | None = None
    spread: Callable[[Point], float | None] = lambda point: None
    brief: bool = True  # shown in terminals, too, and not only in reports
    intervals: Measure | None = None  # the measure whose values are known as intervals, which the cells show
    rate: bool = False  # true for a mean per step or second, as in Measure
    whole_runs_only: bool = False  # true if a column is not ranked when runs stop at a target
    suffix: Callable[[Point], str] = lambda point: ""  # a text after the value


def measured(title: str, key: str, unit: Callable[[float], Unit], help: str,
             better: Literal["low", "high"] | None = None, brief: bool = True, rate: bool = False,
             whole_runs_only: bool = False) -> Column:
    """A column of a number of the summary."""
    spread = (lambda p: None) if not brief else (lambda p: p.spread(key))
    return Column(title, lambda p: p.mean(key), unit, help, better, spread, brief, rate=rate,
                  whole_runs_only=whole_runs_only)
