"""Figures of several panels, one per setting: the settings that are shown, their titles, and the axes of the panels.
`swept` is the index of an option that varies, as in Comparison.axes."""

from __future__ import annotations

import math
import textwrap

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter

from . import shortfall, units
from .comparison import Comparison, Point, Setting

_MOST = 6
_MAX_TICKS = 8
LETTERS_PER_INCH = 13  # the smallest number in a title


def chosen(settings: list[Setting]) -> list[Setting]:
    """All settings, or `_MOST` of them, evenly spread."""
    if len(settings) <= _MOST:
        return settings
    last = len(settings) - 1
    return [settings[round(i * last / (_MOST - 1))] for i in range(_MOST)]


def without(setting: Setting, swept: int) -> Setting:
    return setting[:swept] + setting[swept + 1:]


def join(comparison: Comparison, others: Setting, swept: int) -> str:
    full = others[:swept] + (others + others)[:1] + others[swept:]  # with a filler in place of the swept setting
    return comparison.label(full, skip=swept) if others else ""


def set_title(ax: Axes, title: str) -> None:
    """Breaks the title into lines that end before the next panel begins."""
    columns = ax.get_subplotspec().get_gridspec().ncols
    inches = ax.figure.get_figwidth() / columns - 0.6
    ax.set_title(textwrap.fill(title, max(int(inches * LETTERS_PER_INCH), 10)))


def row_label(comparison: Comparison, point: Point) -> str:
    where = comparison.label(point.setting)
    mark = f" {shortfall.MARK}" if point.shortfall else ""
    return f"{point.algorithm}, {where}{mark}" if where else point.algorithm + mark


def dimension(comparison: Comparison, swept: int) -> str:
    return comparison.settings[0][swept].dimension or "number"


def label_axis(ax: Axes, comparison: Comparison, swept: int) -> None:
    factor, unit = units.AXIS[dimension(comparison, swept)]
    title = comparison.axes[swept].title
    ax.set_xlabel(f"{title} ({unit})" if unit else title)
    values = sorted({s[swept].number * factor for s in comparison.settings})
    if values[0] > 0 and values[-1] / values[0] >= 4:
        ax.set_xscale("log")
    ticks = values[::math.ceil(len(values) / _MAX_TICKS)]
    ax.set_xticks(ticks, [f"{v:g}" for v in ticks])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()


def log_ticks(axis: Axis, dense: bool) -> None:
    """Ticks at 1, 2, 5, 10, or at powers of ten."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if dense else (1,)))
    axis.set_minor_formatter(NullFormatter())
