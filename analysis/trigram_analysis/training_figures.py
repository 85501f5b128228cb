"""The figures of training: the loss, and the evaluations, against time. They need pandas, which takes half a second to
load, so plots.py imports this module only when it draws them."""

from __future__ import annotations

from typing import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from . import marks, panels, style
from .comparison import Comparison, Point
from .target import ACCURACY, Quality


def loss(comparison: Comparison, styles: style.Styles) -> Figure | None:
    def draw(ax: Axes, point: Point) -> None:
        colour = styles.colour(point.algorithm)
        tables = [pd.DataFrame(run.records) for run in point.runs]
        tables = [table[["step", "time_s", "loss"]].dropna() for table in tables if {"loss", "time_s"} <= set(table)]
        for table in tables:
            ax.plot(table["time_s"], table["loss"], color=colour, linewidth=0.6, alpha=0.25)
        if tables:
            mean = _smoothed(pd.concat(tables).groupby("step").mean())
            ax.plot(mean["time_s"], mean["loss"], linewidth=1.6, markersize=4, markevery=max(len(mean) // 8, 1),
                    label=marks.algorithm_with_mark(comparison, point.algorithm), **styles.line(point.algorithm))

    return _against_time(comparison, draw, "training loss", column="loss")


def _smoothed(table: pd.DataFrame) -> pd.DataFrame:
    """Means over intervals of steps. Each doubling of the steps has eight intervals, so that they look equally long on
    a logarithmic axis."""
    steps = np.arange(1, len(table) + 1)
    return table.groupby(np.floor(8 * np.log2(steps)).astype(int)).mean()


def quality_curves(quality: Quality) -> Callable[[Comparison, style.Styles], Figure | None]:
    """Draws the evaluations of a quality against time, and the target if it is of this quality."""
    def drawing(comparison: Comparison, styles: style.Styles) -> Figure | None:
        def draw(ax: Axes, point: Point) -> None:
            curves = [rows for run in point.runs
                      if (rows := [row for row in run.evaluations(quality.column) if row[2] is not None])]
            if curves:
                times = pd.DataFrame([[time_s for _, time_s, _ in curve] for curve in curves]).mean()
                means = pd.DataFrame([[value for _, _, value in curve] for curve in curves]).mean()
                label = marks.algorithm_with_mark(comparison, point.algorithm)
                ax.plot(times, means, label=label, **styles.line(point.algorithm))

        fig = _against_time(comparison, draw, quality.title, column=quality.column)
        target = comparison.target
        for ax in fig.axes if fig is not None else []:
            if quality is ACCURACY:
                ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            if target is not None and target.quality is quality:
                ax.axhline(target.level, color=style.INK, linestyle=(0, (4, 3)), linewidth=1, alpha=0.6)
        return fig

    return drawing


def _against_time(comparison: Comparison, draw: Callable[[Axes, Point], None], label: str,
                  column: str) -> Figure | None:
    """A figure of one panel per setting with a logarithmic time axis. `draw` draws a point into its panel. None if no
    run has values in `column` of its metrics."""
    if not any(record.get(column) is not None for run in comparison.runs for record in run.records):
        return None
    shown = panels.evenly_spread(comparison.settings)
    fig, axes = style.figure(1, len(shown), width=max(6.4, 3.2 * len(shown)), height=3.4,
                             sharey=True)
    for ax, setting in zip(axes, shown):
        for point in comparison.at(setting):
            draw(ax, point)
        panels.set_title(ax, comparison.label(setting))
        ax.set_xscale("log")
        panels.log_ticks(ax.xaxis, dense=ax.get_xlim()[1] < 50 * ax.get_xlim()[0])
        style.time_axis(ax.xaxis, panels.time_title(comparison))
    for ax in panels.leftmost(axes):
        ax.set_ylabel(label)
    style.legend_above(fig, max(axes, key=lambda a: len(a.get_legend_handles_labels()[0])))
    return fig
