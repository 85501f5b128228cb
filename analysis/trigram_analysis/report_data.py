"""The data that the page's script draws: the points of a comparison, the curves of its runs, and timelines."""

from __future__ import annotations

import json
from typing import Any

from . import trace, units
from .comparison import Comparison, Point, Setting
from .curves import Row, curve, rounded, thinned, varies
from .appearance import Appearances
from .measures import measures
from .target import LOSS
from .winner_map import map_axes

# Limits that keep a page of thousands of runs small:
_MAX_CURVE_NUMBERS = 300_000  # of all curves together
_CURVE_POINTS = (24, 240)  # the least and the most points of one curve
_MAX_TRACES = 48
_MAX_BOXES = 60_000  # of all timelines together, about
_CURVES = {  # column of metrics.jsonl: (title, kind)
    "loss": ("training loss", ""),
    "accuracy": ("accuracy of the mean model", "share"),
    LOSS.column: ("held-out loss of the mean model", ""),
    "worker_accuracy_min": ("accuracy of the worst worker", "share"),
    "consensus_distance": ("consensus distance", ""),
    "staleness_mean": ("staleness (steps)", ""),
    "step_s": ("time of the step", "s"),
    "exposed_s": ("exposed communication", "s"),
    "bytes_inter": ("bytes between nodes", "B"),
}
_MAY_BE_FLAT = ("loss", "accuracy", LOSS.column)  # other curves are drawn only if they vary


def data(comparison: Comparison) -> dict[str, Any]:
    values = [sorted({s[i] for s in comparison.settings}, key=lambda v: v.order)
              for i in range(len(comparison.axes))]
    places = [{v.key: n for n, v in enumerate(axis)} for axis in values]

    def place(setting: Setting) -> list[int]:
        return [places[i][v.key] for i, v in enumerate(setting)]

    drawn = measures(comparison)
    appearances = Appearances(comparison.algorithms)
    x, y = map_axes(comparison)
    return {
        "name": comparison.name,
        "time": "simulated time" if all(r.simulated for r in comparison.runs) else "time",
        "algorithms": [{"label": a, "look": appearances.appearance(a)} for a in comparison.algorithms],
        "axes": [_axis(axis.title, values[i]) for i, axis in enumerate(comparison.axes)],
        "mapAxes": [x, y],
        "middle": place(comparison.middle_setting),
        "quality": comparison.quality.name,
        "measures": [{"key": m.key, "title": m.title, "kind": m.kind, "better": m.better}
                     for m in drawn],
        "points": [{
            "at": place(p.setting),
            "algorithm": comparison.algorithms.index(p.algorithm),
            "values": [rounded(m.value(p)) for m in drawn],
            "spreads": [rounded(m.spread(p)) for m in drawn] if len(p.runs) > 1 else None,
            "least": {i: rounded(least) for i, m in enumerate(drawn) if (least := m.least(p)) is not None},
            "partly": {i: {"text": str(partly), "least": rounded(partly.least)}
                       for i, m in enumerate(drawn) if (partly := m.partly(p)) is not None},
            "shortfall": p.shortfall,
            "excluded": [i for i, m in enumerate(drawn) if p.exclusion(m.rate)],
            "computeS": rounded(p.mean("compute_s")),
            "runs": [run.id for run in p.runs],
        } for p in comparison.points],
        "curves": _curves(comparison, place),
        "timelines": _timelines(comparison, place),
        "kinds": [{"key": k, "title": trace.NAMES[k]} for k in trace.KINDS],
    }


def as_json(document: dict[str, Any]) -> str:
    """JSON for a <script> element. It escapes "<", because "</script" would end the element."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def _axis(title: str, values: list[Any]) -> dict[str, Any]:
    dimensions = {v.dimension for v in values}
    numeric = all(v.number is not None for v in values) and len(dimensions) == 1
    least = min(v.number for v in values) if numeric else 0.0
    factor, unit = units.axis(values[0].dimension or "number", least) if numeric else (1.0, "")
    return {"title": title, "unit": unit, "numeric": numeric,
            "values": [{"label": v.label, "at": rounded(v.number * factor) if numeric else n}
                       for n, v in enumerate(values)]}


def _curves(comparison: Comparison, place: Any) -> dict[str, Any]:
    found: dict[str, list[list[Row]]] = {}
    for key in _CURVES:
        if key == LOSS.column and comparison.quality is not LOSS:
            continue  # the accuracy shows what was learned
        curves = [curve(p, key) for p in comparison.points]
        if any(curves) and (key in _MAY_BE_FLAT or varies(curves)):
            found[key] = curves
    numbers = max(3 * len(found) * len(comparison.points), 1)
    least, most = _CURVE_POINTS
    points = int(min(max(_MAX_CURVE_NUMBERS / numbers, least), most))
    return {
        "series": [{"key": k, "title": _CURVES[k][0], "kind": _CURVES[k][1]} for k in found],
        "points": [{"at": place(p.setting), "algorithm": comparison.algorithms.index(p.algorithm),
                    "columns": {k: _columns(thinned(curves[i], points))
                                for k, curves in found.items() if curves[i]}}
                   for i, p in enumerate(comparison.points) if found],
    }


def _columns(rows: list[Row]) -> list[list[float | None]]:
    """[steps, times, values]."""
    return [[rounded(v) for v in column] for column in zip(*rows)]


def _timelines(comparison: Comparison, place: Any) -> list[dict[str, Any]]:
    """The timelines of all algorithms at each setting. If there are too many settings, only the setting that the page
    shows first and some evenly spread settings have timelines."""
    timelines, boxes = [], 0
    for setting in _drawn_settings(comparison):
        if boxes >= _MAX_BOXES:
            break
        for point in comparison.at(setting):
            drawn = _timeline(point, comparison.run_label(point.drawn_run))
            if drawn is not None:
                boxes += len(drawn["boxes"]) // 4
                index = comparison.algorithms.index(point.algorithm)
                timelines.append({"at": place(point.setting), "algorithm": index} | drawn)
    return timelines


def _drawn_settings(comparison: Comparison) -> list[Setting]:
    settings = comparison.settings
    widest = max(len(comparison.at(s)) for s in settings)
    count, last = max(min(len(settings), _MAX_TRACES // widest), 1), len(settings) - 1
    spread = [settings[round(i * last / (count - 1))] for i in range(count)] if count > 1 else []
    return list(dict.fromkeys([comparison.middle_setting, *spread]))


def _timeline(point: Point, label: str) -> dict[str, Any] | None:
    """The boxes as a flat list of row, kind, begin and length, in microseconds. `label` is a text that names the
    run."""
    run = point.drawn_run
    drawn = trace.cropped(trace.boxes(run.path / "trace.json", run.workers_per_node),
                        run.workers_per_node)
    if not drawn:
        return None
    longest = max(b.end_s for b in drawn)
    tracks = trace.rows(drawn)
    flat: list[float] = []
    for row, track in enumerate(tracks):
        track_boxes = [b for b in drawn if (b.rank, b.stream) == track]
        for kind, name in enumerate(trace.KINDS):
            for begin_s, length_s in trace.merged([b for b in track_boxes if b.kind == name], longest / 1500):
                flat += [row, kind, round(1e6 * begin_s, 1), round(1e6 * length_s, 1)]
    return {"run": run.id, "label": label, "rows": [f"worker {r}, {s}" for r, s in tracks], "boxes": flat}
