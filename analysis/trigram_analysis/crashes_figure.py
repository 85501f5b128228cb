"""The figure of when simulated jobs lost work and recovered."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from . import failure_costs, style
from .markup import plain
from .results import Run

_MOST_RUNS = 40
_COLOURS = {"training": "compute", "lost work": "inter", "recovery": "wait"}


def figure(runs: list[Run]) -> Figure | None:
    """One bar per run: training, lost work and recovery against the time of the job; a mark at each crash. None if
    nothing interrupted the runs."""
    interrupted = sorted(failure_costs.interrupted(runs), key=lambda run: plain(run.sweep))[:_MOST_RUNS]
    if not interrupted:
        return None
    fig, (ax,) = style.figure(width=8.6, height=1.1 + 0.32 * len(interrupted), lines=True)
    for row, run in enumerate(interrupted):
        parts = failure_costs.parts(run)
        for kind, colour in _COLOURS.items():
            bars = [(begin, end - begin) for name, begin, end in parts if name == kind]
            ax.broken_barh(bars, (row - 0.35, 0.7), facecolor=style.KIND_COLOURS[colour],
                           hatch=style.KIND_HATCHES[colour], edgecolor="white", linewidth=0)
        crashes = failure_costs.crashes(run)
        ax.plot([c["at_s"] for c in crashes], [row] * len(crashes), "|", color=style.INK, markersize=12)
    ax.set_yticks(range(len(interrupted)), [plain(run.sweep) or run.id for run in interrupted], fontsize=8)
    ax.set_ylim(len(interrupted) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.grid(False, axis="y")
    style.time_axis(ax.xaxis, "time of the job")
    style.legend_above(fig, ax, [Patch(facecolor=style.KIND_COLOURS[colour], hatch=style.KIND_HATCHES[colour],
                                       edgecolor="white", linewidth=0, label=kind)
                                 for kind, colour in _COLOURS.items()])
    return fig
