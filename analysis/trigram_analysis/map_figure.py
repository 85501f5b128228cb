"""The winner map as a figure for papers."""

from __future__ import annotations

import re

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from . import marks, overview, style
from .comparison import Comparison
from .time_to_target import partly_legend
from .winner_map import Winner, map_axes, unranked, winner

_CELL_IN, _TEXT_POINTS, _LETTERS = 1.45, 7.2, 21  # the width of a cell, its text, and the letters in a line
_LEAST_POINTS = 5.0


def figure(comparison: Comparison, styles: style.Styles) -> Figure | None:
    """The winner of the deciding measure in each cell, its value and its margin. Options beyond the two of the map are
    fixed at the middle setting."""
    measure = overview.deciding(comparison)
    x, y = map_axes(comparison)
    if measure is None or x is None or len(comparison.algorithms) < 2:
        return None
    middle = comparison.middle_setting
    columns, rows = overview.axis_values(comparison, x), overview.axis_values(comparison, y)
    fig, (ax,) = style.figure(width=max(_CELL_IN * len(columns), 4) + 1, height=0.75 * len(rows) + 0.9, lines=True)
    share = min((fig.get_figwidth() - 0.7) / len(columns) / _CELL_IN, 1)  # of the usual width of a cell
    points = max(_TEXT_POINTS * share, _LEAST_POINTS)
    letters = max(int(_LETTERS * share * _TEXT_POINTS / points), 8)
    text = {"ha": "center", "va": "center", "fontsize": points}
    for setting in comparison.settings:
        if any(setting[i] != middle[i] for i in range(len(setting)) if i not in (x, y)):
            continue
        best = winner(comparison, setting, measure)
        place = columns.index(setting[x]), 0 if y is None else rows.index(setting[y])
        if best is None:
            ax.text(*place, overview.reason_without_winner(comparison, measure, setting), **text)
            continue
        tie = overview.undecided(best)
        ax.add_patch(Rectangle((place[0] - 0.48, place[1] - 0.48), 0.96, 0.96, linewidth=1.2,
                               edgecolor=styles.colour(best.leaders[0]),
                               facecolor=("none" if tie else styles.colour(best.leaders[0]) + "40"),
                               linestyle="--" if tie else "-"))
        lines = (_wrapped(overview.leaders_text(best), letters), overview.value_text(best, measure),
                 _margin(best, letters))
        ax.text(*place, "\n".join(filter(None, lines)), **text)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xticks(range(len(columns)), [v.label for v in columns])
    ax.set_yticks(range(len(rows)), [v.label if v else "" for v in rows])
    ax.set_xlabel(comparison.axes[x].title)
    ax.set_ylabel("" if y is None else comparison.axes[y].title)
    ax.set_title(f"first in {measure.title}")
    ax.grid(False)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    if any(unranked(comparison.at(setting), measure) for setting in comparison.settings):
        marks.write_below(fig, [partly_legend(comparison.quality)])
    return fig


def _margin(best: Winner, letters: int) -> str:
    if best.rivals:
        qualification = "with every seed;" if best.some_seeds else "as far as known;"
        return f"{qualification}\n{_wrapped(overview.rivals_text(best), letters)}"
    return "" if best.margin is None else f"{best.margin:.3g}× ahead"


def _wrapped(names: str, width: int) -> str:
    """Breaks `names` into lines that fit a cell, after characters that separate words."""
    lines = [""]
    for word in re.findall(r"[^ _/,(=]*[ _/,(=]?", names):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)
