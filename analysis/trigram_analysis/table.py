"""The comparison table: one row per algorithm and setting, the best of each setting marked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable

from . import measures, shortfall, units
from .caveats import caveats, outcomes, recorded
from .column import Column, measured
from .column_unit import Unit, bytes_unit, exponent_unit, percent_unit, plain_unit, seconds_unit
from .comparison import Comparison, Point
from .cost_columns import cost_columns, tail_columns
from .measures import Measure
from .printable import printable
from .samples_of_steps import BASELINE, SAMPLES, STEP, ranked, speedup
from .target import LOSS, Target
from .time_to_target import Reached, best_quality, coarse_legend, interval, partly_legend, partly_text
from .winner_map import contenders, leaders, order_unknown, rivals, unranked

MAX_WIDTH = 150  # of a line in a terminal, in characters
_LEFT_OUT_FIRST = ("consensus", "worst worker", "stragglers", "energy/step", "p99", "samples/s", "sent/step",
                   "speed-up")  # in this order


@dataclass(frozen=True)
class Cell:
    text: str
    sort: float | str  # the key by which the page sorts the column
    best: bool = False


@dataclass(frozen=True)
class Table:
    """The first `keys` columns identify a row; the other columns have numbers. `helps` explains the columns."""

    titles: list[str]
    helps: list[str]
    keys: int
    rows: list[list[Cell]]
    notes: list[str]


def build(comparison: Comparison, brief: bool = False) -> Table:
    columns = []
    for column in _columns(comparison):
        values = [v for p in comparison.points if (v := _shown(column, p)) is not None]
        if values and (column.brief or not brief):
            columns.append((column, column.unit(max(map(abs, values)))))
    rows = []
    for setting in comparison.settings:
        points = comparison.at(setting)
        winners = [_winners(ranked(column, points), unit, points) for column, unit in columns]
        for point in points:
            row = [Cell(v.label, v.number if v.number is not None else v.label) for v in setting]
            row.append(Cell(point.algorithm + _point_marks(point), point.algorithm))
            row += [_cell(column, unit, point, point.algorithm in best)
                    for (column, unit), best in zip(columns, winners)]
            rows.append(row)
    keys = [axis.title for axis in comparison.axes] + ["algorithm"]
    titles = [f"{c.title} ({u.name})" if u.name else c.title for c, u in columns]
    helps = [""] * len(keys) + [c.help for c, _ in columns]
    return Table(keys + titles, helps, len(keys), rows, _notes(comparison, rows))


def _shown(column: Column, point: Point) -> float | None:
    """The largest number in a cell: the value, or the end of the interval if only some seeds reach the target."""
    value, partly = column.value(point), column.intervals and column.intervals.partly(point)
    return partly.most if partly else value


def _columns(comparison: Comparison) -> list[Column]:
    longest_step_s = max((s for p in comparison.points if (s := p.mean("step_s"))), default=0.0)

    def per_step(_: float) -> Unit:
        return seconds_unit(longest_step_s)

    columns = [
        measured(STEP, "step_s", per_step, "mean time of a step", "low", rate=True),
        *tail_columns(comparison, per_step),
        Column("speed-up", lambda p: speedup(comparison, p), plain_unit(2),
               f"step time of {BASELINE} over this one's, same setting; samples/s of this one over {BASELINE}'s, if "
               "their steps have different numbers of samples"),
        measured("compute", "compute_s", per_step, "computation on the main stream, per step and worker", brief=False),
        measured("exposed", "exposed_s", per_step, "communication that computation waits for, per step and worker"),
        measured("computing", "compute_utilisation", percent_unit, "share of the time in which workers compute",
                  "high", rate=True, brief=False),
        Column(SAMPLES, lambda p: p.mean("samples_per_s"), plain_unit(),
               "of all workers together; under priced_as, samples of the model that times are of, unless a warning "
               "says otherwise", suffix=_paces),
        Column("sent/step", lambda p: p.mean(lambda run: run.per_step("bytes_inter")), bytes_unit,
               "bytes between nodes, all workers together"),
        Column("stale", _staleness, plain_unit(1), "mean age of an applied update, in steps"),
        measured("loss", "loss", plain_unit(3), "of the training batches, at the end"),
        measured("accuracy", "accuracy", percent_unit, "of the mean model on the test set, at the end",
                  "high", whole_runs_only=True),
        *([measured("held-out loss", LOSS.column, plain_unit(3), "of the mean model on held-out data, at the end",
                     "low", whole_runs_only=True)] if comparison.quality is LOSS else []),
        measured("worst worker", "worker_accuracy_min", percent_unit,
                  "lowest accuracy of a worker's own model, at the end"),
        measured("consensus", "consensus_distance", exponent_unit,
                  "mean squared distance of the workers' weights from their mean, at the end"),
    ]
    target = comparison.target
    if target is not None:
        columns.append(_interval_column(f"to {target.short}", measures.time_to(target), seconds_unit,
                               f"time of the first evaluation at {target.bound}, from the one before or, if the "
                               f"{target.quality.name} goes up and down, an earlier one"))
    if comparison.declared_target is not None:
        columns.append(_interval_column("epochs", measures.epochs_to(comparison.declared_target), plain_unit(2),
                               "passes over the training data until then"))
    if measures.has_noise_scale(comparison):
        if target is not None:
            columns.append(_interval_column("steps", measures.steps_to(target), plain_unit(), "steps until then"))
        columns.append(measured("noise scale", measures.NOISE_SCALE, plain_unit(),
                                 "gradient noise scale, in samples: larger batches save steps up to about this size"))
    columns += cost_columns(comparison)
    return columns + [measured("total", "time_s", seconds_unit, "time of the whole run", brief=False)]


def _paces(point: Point) -> str:
    return " ({} to {})".format(*map(units.significant, point.paces)) if point.paces else ""


def _interval_column(title: str, measure: Measure, unit: Callable[[float], Unit], help: str) -> Column:
    return Column(title, measure.value, unit, help, measure.better, intervals=measure)


def _point_marks(point: Point) -> str:
    return (" †" if point.oversubscribed else "") + (f" {shortfall.MARK}" if point.shortfall else "")


def _staleness(point: Point) -> float | None:
    return point.mean("staleness_mean") or None  # 0: an algorithm without staleness shows no value


def _winners(column: Column, unit: Unit, points: list[Point]) -> set[str]:
    """The algorithms that are marked as best in a column. Several are marked if their values look equal in the table,
    or if their intervals leave open which is first. Empty if rivals that cannot be ranked may be earlier."""
    if column.better is None or len(points) < 2 or (column.whole_runs_only and any(p.stopped for p in points)):
        return set()
    if column.intervals:
        ranked, not_ranked = contenders(points, column.intervals), unranked(points, column.intervals)
        undecided = order_unknown(ranked) or (ranked and rivals(ranked, not_ranked))
        return set() if undecided else {c.algorithm for c in leaders(ranked)}
    values = {p.algorithm: v for p in points if not p.exclusion(column.rate) and (v := column.value(p)) is not None}
    best = unit.show((min if column.better == "low" else max)(values.values())) if values else None
    return {name for name, value in values.items() if unit.show(value) == best}


def _cell(column: Column, unit: Unit, point: Point, best: bool) -> Cell:
    value = column.value(point)
    if value is None:
        partly = column.intervals and column.intervals.partly(point)
        return Cell(partly_text(partly, unit.show) if partly else "–", math.inf)
    spread = column.spread(point)
    text = unit.show(value) + ("" if spread is None else unit.show_spread(spread, value))
    least = column.intervals and column.intervals.least(point)
    return Cell((text if least is None else interval(least, value, unit.show)) + column.suffix(point), value, best)


def _notes(comparison: Comparison, rows: list[list[Cell]]) -> list[str]:
    seeds = {len(p.by_seed) for p in comparison.points}
    simulated = {run.simulated for run in comparison.runs}
    notes = ["* best of its setting"] if any(cell.best for row in rows for cell in row) else []
    if comparison.steps_differ:
        notes.append("the steps of some runs of a setting have more samples than those of other runs: samples/s are ranked "
                     "there, not steps, and speed-ups are those of samples/s")
    if simulated == {True}:
        notes.append("times are simulated")
    elif simulated == {False}:
        notes.append("times are wall-clock times of this machine")
    else:
        notes.append(f"times are simulated in the world {_worlds(comparison, True)}, and wall-clock times of this "
                     f"machine in {_worlds(comparison, False)}")
    notes += comparison.incomplete + comparison.coupled
    if max(seeds) > 1:
        count = "–".join(str(n) for n in sorted({min(seeds), max(seeds)}))
        notes.append(f"mean ± standard deviation over {count} seeds")
    if len({(run.manifest.get("version"), run.manifest.get("git")) for run in comparison.runs}) > 1:
        notes.append("the runs are of different versions of the program")
    notes += _notes_of_target(comparison)
    if any(p.oversubscribed for p in comparison.points):
        notes.append("† more ranks than cores: its times say little about a real cluster")
    return notes + _notes_of_lengths(comparison.points) + outcomes(comparison.runs) + caveats(comparison.runs)


def _notes_of_lengths(points: list[Point]) -> list[str]:
    """Notes on runs that are too short, on means over some of the steps, and on workers with different paces."""
    notes: dict[str, dict[str, None]] = {}
    for p in points:
        if p.shortfall:
            never = "never best" if p.exclusion(rates=False) else "never best per step"
            notes.setdefault(f"{shortfall.MARK} {never}", {})[p.shortfall] = None
        for steps in filter(None, (run.averaged_steps for run in p.runs)):
            notes.setdefault(f"means over {steps}", {})[p.algorithm] = None
        if p.paces:
            slowest, fastest = map(units.significant, p.paces)
            notes.setdefault("samples/s add up workers that do not wait for each other", {})[
                f"{p.algorithm}, slowest {slowest}, fastest {fastest}"] = None
    return [f"{title}: {'; '.join(details)}" for title, details in notes.items()]


def _worlds(comparison: Comparison, simulated: bool) -> str:
    found = {str(run.manifest.get("world") or "?") for run in comparison.runs if run.simulated == simulated}
    return ", ".join(sorted(found))


def _when(reached: list[Reached], target: Target) -> str:
    if not any(r.after_step for r in reached):
        return "by the first evaluation, which does not tell when before"
    if all(r.step - r.after_step <= 1 for r in reached):
        return "at the end of the interval shown: all models were evaluated"
    return (f"in the interval shown, unless the {target.quality.name} goes up and down more between evaluations than at "
            "them")


def _notes_of_target(comparison: Comparison) -> list[str]:
    target = comparison.target
    if target is None:
        return []
    measure = measures.time_to(target)
    partly = [p for p in comparison.points if measure.partly(p)]
    times = [p.reached(target) for p in comparison.points if p not in partly]
    reached = [time for time in times if time]
    notes = [partly_legend(target.quality)] if partly else []
    if None in times:
        notes.append(f"– {target.any} is not reached at any evaluation")
    if reached:
        notes.append(f"{target.short} is reached {_when(reached, target)}")
    if any(r.coarse for r in reached):
        notes.append(coarse_legend(target.quality))
    return notes


def as_text(table: Table, max_width: float = math.inf) -> str:
    """Aligned columns, with an empty line between settings, and then one line for each note. If the table is wider than
    `max_width`, some columns are left out, and the last line names them."""
    columns = [_padded(table, i) for i in range(len(table.titles))]
    shown, left_out = list(range(len(columns))), []
    for title in _LEFT_OUT_FIRST:
        if sum(len(columns[i][0]) + 2 for i in shown) - 2 > max_width:
            left_out += [i for i in shown if i >= table.keys and table.titles[i].startswith(title)]
            shown = [i for i in shown if i not in left_out]
    lines = ["  ".join(columns[i][line] for i in shown).rstrip() for line in range(len(table.rows) + 1)]
    printed = [lines[0], "  ".join("-" * len(columns[i][0]) for i in shown)]
    for i, line in enumerate(lines[1:]):
        new_setting = i and _setting(table, i) != _setting(table, i - 1)
        printed += ([""] if new_setting and table.keys > 1 else []) + [line]
    dropped = ", ".join(table.titles[i] for i in sorted(left_out))
    printed += ["", *table.notes]
    if dropped:
        printed.append(f"left out, as the table is wide: {dropped}; the report and the CSV file have all columns")
    return "\n".join(map(printable, printed))


def _padded(table: Table, i: int) -> list[str]:
    """The title and the cells of column i, all equally long."""
    cells = [row[i] for row in table.rows]
    starred = any(cell.best for cell in cells)
    texts = [table.titles[i]] + [cell.text + (" *" if cell.best else "  " * starred) for cell in cells]
    width = max(map(len, texts))
    return [text.ljust(width) if i < table.keys else text.rjust(width) for text in texts]


def _setting(table: Table, row: int) -> list[str]:
    return [cell.text for cell in table.rows[row][: table.keys - 1]]


def as_records(comparison: Comparison) -> list[dict[str, Any]]:
    """One record for each algorithm and setting, with plain numbers in base units, for CSV."""
    records = []
    columns, quality = _columns(comparison), comparison.quality
    for setting in comparison.settings:
        for point in comparison.at(setting):
            record: dict[str, Any] = {axis.pointer: value.label for axis, value in zip(comparison.axes, setting)}
            record |= {"algorithm": point.algorithm, "seeds": len(point.by_seed)}
            record |= {column.title: column.value(point) for column in columns}
            intervals = {column.title: column.intervals for column in columns if column.intervals}
            record |= {f"{title}, from": measure.least(point) for title, measure in intervals.items()}
            record |= {f"{title}, not ranked": str(measure.partly(point) or "") for title, measure in intervals.items()}
            record["shortfall"] = point.shortfall
            record[f"best {quality.title}"] = point.mean(lambda run: best_quality(run, quality))
            record |= {key: recorded(point.runs, key) for key in ("warnings", "assumed")}
            records.append(record)
    return records
