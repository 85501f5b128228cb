"""How figures mark what does not show what an algorithm costs."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import shortfall, style
from .accuracy import COARSE_LEGEND, interval
from .caveats import remarks
from .column_unit import seconds_unit
from .comparison import Comparison, Point


def hollow(ax: Axes, styles: style.Styles, algorithm: str, places: list[tuple[float, float]]) -> None:
    """Empty marks over those of runs that do not show what the algorithm costs."""
    for x, y in places:
        ax.plot(x, y, **styles.line(algorithm) | {"markerfacecolor": "white", "markersize": 9})


def marked(comparison: Comparison, algorithm: str) -> str:
    """The name of an algorithm; marked if some run does not show what it costs."""
    short = any(p.shortfall for p in comparison.points if p.algorithm == algorithm)
    return algorithm + f" {shortfall.MARK}" * short


def footnote(fig: Figure, comparison: Comparison) -> None:
    """What the marks mean, and what the runs do not take into account."""
    short = dict.fromkeys(p.shortfall for p in comparison.points if p.shortfall)
    lines = [f"{shortfall.MARK} {'; '.join(short)}"] if short else []
    if said := remarks(comparison.runs):
        lines.append("; ".join(said))
    if lines:
        fig.text(0.01, -0.02, "\n".join(lines), fontsize=8, va="top")


def interval_of(point: Point, target: float) -> str:
    """When a point that gets there reached an accuracy, as tables show it."""
    found = point.reached(target)
    unit = seconds_unit(found.time_s)
    return interval(found.after_s, found.time_s, unit.show, unit.name)


def coarse(point: Point, target: float) -> str:
    """The mark of what few evaluations tell; else empty."""
    found = point.reached(target)
    return "~" if found and found.coarse else ""


def coarse_footnote(fig: Figure, comparison: Comparison, target: float) -> None:
    if any(coarse(p, target) for p in comparison.points):
        fig.text(0.01, -0.08, COARSE_LEGEND, fontsize=8, va="top")
