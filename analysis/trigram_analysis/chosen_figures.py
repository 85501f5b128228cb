"""The figures that `trigram plot` writes, all of them or those that the user names."""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from . import crashes_figure, plots, timeline, tuning
from .comparison import Comparison

# All figures, by the names of their files.
NAMES = ("winner_map", "step_time", "goodput", "step_parts", "loss", "accuracy", "held_out_loss", "time_to_accuracy",
         "time_to_loss", "timeline", "tuning", "crashes")


def figures(comparison: Comparison, wanted: Sequence[str]) -> Iterator[tuple[str, Figure]]:
    """Yields (file stem, figure) for those of the figures `wanted` for which the results have data."""
    for stem, _, fig in plots.figures(comparison, lambda stem: stem in wanted):
        yield stem, fig
    others: dict[str, Callable[[], Figure | None]] = {
        "timeline": lambda: timeline.figure(comparison, comparison.middle_setting),
        "tuning": lambda: tuning.figure(comparison.runs),
        "crashes": lambda: crashes_figure.figure(comparison.runs),
    }
    for stem, draw in others.items():
        if stem in wanted and (fig := draw()) is not None:
            yield stem, fig
            plt.close(fig)
