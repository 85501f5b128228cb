"""Figures of several panels: which settings are shown, and the titles and axes of the panels. `swept` is the index in
Comparison.axes of the option on the horizontal axis."""

from __future__ import annotations

import math
import textwrap

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter

from . import shortfall, style, units
from .comparison import Comparison, Point, Setting

_MAX_PANELS = 6
_MAX_TICKS = 8
CHARACTERS_PER_INCH = 13  # of a title or label: fewer than fit on average, so that wide letters fit, too


def evenly_spread(settings: list[Setting]) -> list[Setting]:
    """All settings, or `_MAX_PANELS` of them that are evenly spread if there are more."""
    if len(settings) <= _MAX_PANELS:
        return settings
    last = len(settings) - 1
    return [settings[round(i * last / (_MAX_PANELS - 1))] for i in range(_MAX_PANELS)]


def without_swept(setting: Setting, swept: int) -> Setting:
    return setting[:swept] + setting[swept + 1:]


def panel_title(comparison: Comparison, other_values: Setting, swept: int) -> str:
    setting = other_values[:swept] + other_values[:1] + other_values[swept:]  # any value on the skipped axis
    return comparison.label(setting, skip=swept) if other_values else ""


def set_title(ax: Axes, title: str) -> None:
    """Breaks the title into lines that end before the next panel begins."""
    columns = ax.get_subplotspec().get_gridspec().ncols
    inches = ax.figure.get_figwidth() / columns - 0.6
    ax.set_title(textwrap.fill(title, style.letters_in(inches, max(int(inches * CHARACTERS_PER_INCH), 10))))


def leftmost(axes: list[Axes]) -> list[Axes]:
    """The panels in the first column, whose vertical axes have labels."""
    return [ax for ax in axes if ax.get_subplotspec().is_first_col()]


def time_title(comparison: Comparison) -> str:
    return "simulated time" if all(r.simulated for r in comparison.runs) else "time"


def row_label(comparison: Comparison, point: Point) -> str:
    where = comparison.label(point.setting)
    mark = f" {shortfall.MARK}" if point.shortfall else ""
    return f"{point.algorithm}, {where}{mark}" if where else point.algorithm + mark


def dimension(comparison: Comparison, swept: int) -> str:
    return comparison.settings[0][swept].dimension or "number"


def scale(comparison: Comparison, swept: int) -> tuple[float, str]:
    """The factor from base units, and the unit, of the horizontal axis."""
    return units.axis(dimension(comparison, swept), min(s[swept].number for s in comparison.settings))


def label_axis(ax: Axes, comparison: Comparison, swept: int) -> None:
    factor, unit = scale(comparison, swept)
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
