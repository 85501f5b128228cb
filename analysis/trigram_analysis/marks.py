"""Marks in figures for runs that do not show what their algorithm costs."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import shortfall, style
from .caveats import remarks
from .column_unit import seconds_unit
from .comparison import Comparison, Point
from .measures import time_to
from .target import Target
from .time_to_target import PartlyReached, coarse_legend, interval, partly_legend, partly_text


def draw_hollow(ax: Axes, styles: style.Styles, algorithm: str, places: list[tuple[float, float]]) -> None:
    """Draws hollow marks over the points whose runs do not show what the algorithm costs."""
    for x, y in places:
        ax.plot(x, y, **styles.line(algorithm) | {"markerfacecolor": "white", "markersize": 9})


def algorithm_with_mark(comparison: Comparison, algorithm: str) -> str:
    """The name of an algorithm, with a mark if some run does not show what the algorithm costs."""
    short = any(p.shortfall for p in comparison.points if p.algorithm == algorithm)
    return algorithm + f" {shortfall.MARK}" * short


def footnote(fig: Figure, comparison: Comparison) -> None:
    """Writes below the figure the meaning of the marks, and remarks on what the runs do not take into account."""
    short = dict.fromkeys(p.shortfall for p in comparison.points if p.shortfall)
    lines = [f"{shortfall.MARK} {'; '.join(short)}"] if short else []
    if warnings := remarks(comparison.runs):
        lines.append("; ".join(warnings))
    write_below(fig, lines)


def write_below(fig: Figure, lines: list[str]) -> None:
    """Writes lines below the figure, wrapped to its width, after the lines written there before."""
    size, spacing = style.small_text(), 1.2  # points; line heights
    wide_in = 0.0075 * size  # mean inches per letter
    wrapped = [part for line in lines for part in textwrap.wrap(line, int(fig.get_figwidth() / wide_in))]
    before = sum(text.get_text().count("\n") + 1 for text in fig.texts if text.get_position()[1] < 0)
    if wrapped:
        y = -0.02 - before * spacing * size / 72 / fig.get_figheight()
        fig.text(0.01, y, "\n".join(wrapped), fontsize=size, va="top", linespacing=spacing)


def interval_of(point: Point, target: Target) -> str:
    """The interval in which a point reached a target, in the format of tables. The point must have reached it."""
    found = point.reached(target)
    unit = seconds_unit(found.time_s)
    return interval(found.after_s, found.time_s, unit.show, unit.name)


def coarse(point: Point, target: Target) -> str:
    """The mark of a time that is known from few evaluations only; else empty."""
    found = point.reached(target)
    return "~" if found and found.coarse else ""


def draw_some_seeds(ax: Axes, partly: PartlyReached, place: float, colour: str, upright: bool) -> None:
    """Draws a dotted line over the values that only some seeds reach, with the number of these seeds."""
    along, across = [partly.least, partly.most], [place, place]
    ax.plot(*((across, along) if upright else (along, across)), color=colour, linestyle=":", linewidth=2.5,
            marker="_" if upright else "|", markersize=8)
    if upright:
        ax.annotate(f"{partly.reached} of {partly.runs}", (place, partly.most), xytext=(0, 3), ha="center",
                    textcoords="offset points", color=style.INK, fontsize=style.small_text())
    else:
        unit = seconds_unit(partly.most)
        ax.annotate(partly_text(partly, unit.show, unit.name), (partly.most, place), xytext=(4, 0), va="center",
                    textcoords="offset points", color=style.INK)


def footnotes_of_target(fig: Figure, comparison: Comparison, target: Target) -> None:
    """Writes below the figure the meaning of the marks on times to a target."""
    partly = time_to(target).partly
    marks = (coarse_legend(target.quality), lambda p: coarse(p, target)), (partly_legend(target.quality), partly)
    write_below(fig, [legend for legend, is_marked in marks if any(map(is_marked, comparison.points))])
