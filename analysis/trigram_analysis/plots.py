"""The figures of a comparison."""

from __future__ import annotations

import textwrap
from typing import Callable, Iterator

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from . import map_figure, marks, measures, panels, style, units
from .comparison import Comparison, Point, Setting
from .target import ACCURACY, LOSS, Quality
from .time_to_target import PartlyReached

Value = Callable[[Point], float | None]
Text = Callable[[Point], str]
PartlyReachedOf = Callable[[Point], PartlyReached | None]
Spread = Callable[[Point], tuple[float, float] | None]  # lengths of the error bar below and above the value

_MAX_LABEL_LETTERS = 60


def figures(comparison: Comparison,
            is_wanted: Callable[[str], bool] = lambda stem: True) -> Iterator[tuple[str, str, Figure]]:
    """Yields (file stem, caption, figure) for every wanted figure for which the results have data. A figure has at most six
    panels; if there are more settings, it shows six that are evenly spread. A figure is closed when the next one is
    requested."""
    styles = style.Styles(comparison.algorithms)
    drawings: list[tuple[str, str, Callable[[Comparison, style.Styles], Figure | None]]] = [
        ("winner_map", "The best algorithm at each setting, and its lead over the next.", map_figure.figure),
        ("step_time", "Mean time per step; error bars are one standard deviation over the seeds. A dashed line, if "
         "there is one, is the shortest mean computation time of any algorithm and setting.", _step_time),
        ("goodput", "Share of the time that is neither lost to crashes nor recovery from them.", _goodput),
        ("step_parts", "Mean step time, split into computation, exposed communication and other time.",
         _step_parts),
        ("loss", "Training loss against time. Thick lines are means over the seeds and over intervals of steps; faint "
         "lines are the values of single runs.", _loss),
        ("accuracy", "Accuracy of the mean model on the test set against time, one mark per evaluation: the mean over "
         "the seeds. The dashed line is the target accuracy.", _quality_curves(ACCURACY)),
    ]
    if comparison.quality is LOSS:
        drawings.append((
            "held_out_loss", "Loss of the mean model on held-out data against time, one mark per evaluation: the mean "
            "over the seeds. The dashed line is the target loss.", _quality_curves(LOSS)))
    name, side = comparison.quality.name, "above" if comparison.quality.better == "high" else "below"
    drawings.append((
        f"time_to_{name}", f"Time of the first evaluation at or {side} the target {name}. The error bar reaches back "
        "to the previous evaluation. A dotted line shows that only some seeds reach the target; algorithms that "
        "never reach it have no mark.", _time_to_target))
    for stem, caption, draw in drawings:
        fig = draw(comparison, styles) if is_wanted(stem) else None
        if fig is not None:
            marks.footnote(fig, comparison)
            yield stem, caption, fig
            plt.close(fig)


def _step_time(comparison: Comparison, styles: style.Styles) -> Figure | None:
    compute = [c for p in comparison.points if (c := p.mean("compute_s"))]
    return _against_swept(comparison, styles, lambda p: p.mean("step_s"), _deviation_over_seeds("step_s"),
                         f"{panels.time_title(comparison)} per step", floor=min(compute, default=None))


def _goodput(comparison: Comparison, styles: style.Styles) -> Figure | None:
    def value(point: Point) -> float | None:
        found = [g for run in point.runs if (g := (run.summary.get("failures") or {}).get("goodput")) is not None]
        return sum(found) / len(found) if found else None

    return _against_swept(comparison, styles, value, lambda point: None, "goodput",
                         text=lambda p: f"{value(p):.1%}", is_share=True)


def _deviation_over_seeds(measure: str) -> Spread:
    def spread(point: Point) -> tuple[float, float] | None:
        found = point.spread(measure)
        return None if found is None else (found, found)

    return spread


def _time_to_target(comparison: Comparison, styles: style.Styles) -> Figure | None:
    target = comparison.target
    if target is None:
        return None

    def since_previous_evaluation(point: Point) -> tuple[float, float] | None:
        found = point.reached(target)
        return found and (found.time_s - found.after_s, 0.0)

    measure = measures.time_to(target)
    fig = _against_swept(comparison, styles, measure.value, since_previous_evaluation,
                        f"{panels.time_title(comparison)} to {target.title}",
                        text=lambda p: marks.interval_of(p, target), mark=lambda p: marks.coarse(p, target),
                        partly=measure.partly)
    if fig is not None:
        marks.footnotes_of_target(fig, comparison, target)
    return fig


def _against_swept(comparison: Comparison, styles: style.Styles,
                  value: Value, spread: Spread, label: str, floor: float | None = None,
                  text: Text | None = None, mark: Text = lambda point: "",
                  partly: PartlyReachedOf = lambda point: None, is_share: bool = False) -> Figure | None:
    """Draws `value` against the numeric option of the sweep, with `mark` beside each point. There is one panel for each
    combination of the other swept options; `floor` is a dashed line in every panel. If no numeric option is swept, the
    figure has bars with `text` beside them, and no `floor`. Values that only some seeds reach (`partly`) are dotted
    lines."""
    if all(value(p) is None and partly(p) is None for p in comparison.points):
        return None
    swept = comparison.numeric_axis()
    if swept is None or len({s[swept] for s in comparison.settings}) < 2:
        return _bars(comparison, styles, value, spread, label, text or (lambda p: units.seconds(value(p))),
                     partly, is_share)
    shown = panels.evenly_spread(sorted({panels.without_swept(s, swept) for s in comparison.settings},
                                 key=lambda s: [v.order for v in s]))
    fig, axes = style.figure(1, len(shown), width=max(6.4, 3.4 * len(shown)), height=3.8,
                             sharey=True)
    for ax, other_values in zip(axes, shown):
        _lines(ax, comparison, styles, swept, other_values, value, spread, mark, partly)
        if floor:
            ax.axhline(floor, color=style.INK, linestyle=(0, (4, 3)), linewidth=1, alpha=0.6)
        panels.set_title(ax, panels.panel_title(comparison, other_values, swept))
        panels.label_axis(ax, comparison, swept)
        if not is_share:
            ax.set_yscale("log")
            panels.log_ticks(ax.yaxis, dense=True)
    for ax in panels.leftmost(axes):
        _label_values(ax.yaxis, label, is_share)
    style.legend_above(fig, axes[0])
    return fig


def _label_values(axis: Axis, label: str, is_share: bool) -> None:
    if not is_share:
        return style.time_axis(axis, label)
    axis.set_label_text(label)
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _lines(ax: Axes, comparison: Comparison, styles: style.Styles, swept: int, other_values: Setting,
           value: Value, spread: Spread, mark: Text, partly: PartlyReachedOf) -> None:
    """Draws one panel: a line per algorithm through its points whose other options have `other_values`."""
    factor = panels.scale(comparison, swept)[0]
    for algorithm in comparison.algorithms:
        in_panel = [p for p in comparison.points
                    if p.algorithm == algorithm and panels.without_swept(p.setting, swept) == other_values]
        for found, p in ((found, p) for p in in_panel if (found := partly(p))):
            marks.draw_some_seeds(ax, found, p.setting[swept].number * factor, styles.colour(algorithm), upright=True)
        points = sorted((p for p in in_panel if value(p) is not None), key=lambda p: p.setting[swept].order)
        x = [p.setting[swept].number * factor for p in points]
        y = [value(p) for p in points]
        short = [p for p in points if p.shortfall]
        ax.plot(x, y, label=marks.algorithm_with_mark(comparison, algorithm), **styles.line(algorithm))
        marks.draw_hollow(ax, styles, algorithm, [(p.setting[swept].number * factor, value(p)) for p in short])
        for *place, text in zip(x, y, map(mark, points)):
            ax.annotate(text, place, xytext=(5, 3), textcoords="offset points", color=style.INK)
        errors = [spread(p) for p in points]
        if any(errors):
            ax.errorbar(x, y, yerr=list(zip(*(e or (0, 0) for e in errors))), fmt="none", capsize=3,
                        color=styles.colour(algorithm))


def _bars(comparison: Comparison, styles: style.Styles, value: Value, spread: Spread, label: str,
          text: Text, partly: PartlyReachedOf, is_share: bool = False) -> Figure:
    points = [p for s in comparison.settings for p in comparison.at(s)
              if value(p) is not None or partly(p) is not None]
    letters = style.letters_in(0.4 * style.width_of(0), _MAX_LABEL_LETTERS)
    names = [textwrap.fill(panels.row_label(comparison, p), letters) for p in points]
    lines = max((name.count("\n") for name in names), default=0) + 1
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    fig, (ax,) = style.figure(width=max(7.5, 3.5 + longest / panels.CHARACTERS_PER_INCH),
                              height=0.9 + (0.16 + 0.16 * lines) * len(points), lines=True)
    for row, point in enumerate(points):
        if found := partly(point):
            marks.draw_some_seeds(ax, found, row, styles.colour(point.algorithm), upright=False)
            continue
        error = spread(point)
        ax.barh(row, value(point), color=styles.colour(point.algorithm), height=0.7,
                xerr=error and [[end] for end in error], ecolor=style.INK, hatch="//" if point.shortfall else None)
        ax.annotate(text(point), (value(point), row), xytext=(4, 0),
                    textcoords="offset points", va="center", color=style.INK)
    ax.set_yticks(range(len(points)), names)
    ax.set_ylim(len(points) - 0.5, -0.5)
    ax.margins(x=0.12)
    ax.set_xlim(left=0)
    _label_values(ax.xaxis, label, is_share)
    ax.grid(False, axis="y")
    return fig


def _step_parts(comparison: Comparison, styles: style.Styles) -> Figure | None:
    if all(p.mean("exposed_s") is None for p in comparison.points):
        return None
    shown = panels.evenly_spread(comparison.settings)
    tallest = max(len(comparison.at(s)) for s in shown)
    fig, axes = style.figure(1, len(shown), width=max(6.4, 2.6 * len(shown) + 1.5),
                             height=1.3 + 0.36 * tallest, lines=True, sharey=True)
    for ax, setting in zip(axes, shown):
        for algorithm, point in ((p.algorithm, p) for p in comparison.at(setting)):
            row = comparison.algorithms.index(algorithm)
            compute, exposed = point.mean("compute_s") or 0.0, point.mean("exposed_s") or 0.0
            rest = max((point.mean("step_s") or 0.0) - compute - exposed, 0.0)
            left = 0.0
            for part, colour, name in ((compute, style.KIND_COLOURS["compute"], "computation"),
                                       (exposed, style.KIND_COLOURS["transfer"],
                                        "exposed communication"),
                                       (rest, style.KIND_COLOURS["wait"], "other")):
                ax.barh(row, part, left=left, color=colour, height=0.66,
                        label=name if row == 0 else None)
                left += part
        panels.set_title(ax, comparison.label(setting))
        style.time_axis(ax.xaxis, "per step")
        ax.grid(False, axis="y")
    axes[0].set_yticks(range(len(comparison.algorithms)),
                       [marks.algorithm_with_mark(comparison, a) for a in comparison.algorithms])
    axes[0].invert_yaxis()  # the other panels share this axis
    style.legend_above(fig, axes[0])
    return fig


def _loss(comparison: Comparison, styles: style.Styles) -> Figure | None:
    from . import training_figures

    return training_figures.loss(comparison, styles)


def _quality_curves(quality: Quality) -> Callable[[Comparison, style.Styles], Figure | None]:
    def draw(comparison: Comparison, styles: style.Styles) -> Figure | None:
        from . import training_figures

        return training_figures.quality_curves(quality)(comparison, styles)

    return draw
