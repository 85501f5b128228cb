"""The unit of a column of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from . import units


@dataclass(frozen=True)
class Unit:
    """One unit for a whole column, so that its numbers are easy to compare."""

    name: str
    factor: float = 1.0
    decimals: int | None = None  # None: three significant digits, at most three places
    exponent: bool = False  # two significant digits, with an exponent where they are far from the point

    def decimals_of(self, value: float) -> int:
        if self.decimals is not None:
            return self.decimals
        return min(units.decimals(value * self.factor), 3)

    def show(self, value: float) -> str:
        if self.exponent:
            return f"{value * self.factor:.2g}"
        text = f"{value * self.factor:,.{self.decimals_of(value)}f}"
        return text if text.strip("-0.") else text.lstrip("-")  # no negative zero

    def show_spread(self, spread: float, value: float) -> str:
        return f" ±{self.show(spread)}" if self.exponent else f" ±{spread * self.factor:.{self.decimals_of(value)}f}"


def seconds_unit(largest: float) -> Unit:
    if largest >= 1:
        return Unit("s")
    return Unit("ms", 1e3) if largest >= 1e-3 else Unit("µs", 1e6)


def bytes_unit(largest: float) -> Unit:
    for limit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if largest >= limit:
            return Unit(name, 1 / limit)
    return Unit("B")


def dollars_unit(largest: float) -> Unit:
    """US dollars, or thousandths or millionths of one."""
    for limit, name, factor in ((0.1, "$", 1.0), (1e-4, "m$", 1e3)):
        if largest >= limit:
            return Unit(name, factor)
    return Unit("µ$", 1e6)


def energy_unit(largest: float) -> Unit:
    """For values in kWh."""
    for limit, name, factor in ((1.0, "kWh", 1.0), (1e-3, "Wh", 1e3)):
        if largest >= limit:
            return Unit(name, factor)
    return Unit("mWh", 1e6)


def percent_unit(largest: float) -> Unit:
    return Unit("%", 100.0, 1)


def exponent_unit(largest: float) -> Unit:
    return Unit("", exponent=True)


def plain_unit(decimals: int | None = None) -> Callable[[float], Unit]:
    return lambda largest: Unit("", 1.0, decimals)
