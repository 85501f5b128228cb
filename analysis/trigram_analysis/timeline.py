"""One step of a run, drawn from its trace.json (Chrome trace events)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from . import style
from .comparison import Comparison, Setting

_KINDS = ("compute", "transfer", "wait")
_NAMES = {"compute": "computation", "transfer": "communication", "wait": "waiting"}


@dataclass(frozen=True)
class Box:
    rank: int
    stream: str
    kind: str
    begin_s: float
    length_s: float

    @property
    def end_s(self) -> float:
        return self.begin_s + self.length_s


def boxes(path: Path) -> list[Box]:
    """The computations, transfers and waits of a trace; nothing if it cannot be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    events = document.get("traceEvents", []) if isinstance(document, dict) else document
    events = [e for e in events if isinstance(e, dict)] if isinstance(events, list) else []
    names = {
        (e.get("pid"), e.get("tid")): str(e.get("args", {}).get("name"))
        for e in events
        if e.get("ph") == "M" and e.get("name") == "thread_name"
    }
    return [box for e in events if (box := _box(e, names)) is not None]


def _box(event: dict[str, Any], names: dict[tuple[Any, Any], str]) -> Box | None:
    kind = next((k for k in _KINDS if k in (event.get("cat"), event.get("name"))), None)
    if event.get("ph") != "X" or kind is None:
        return None
    try:
        track = (event["pid"], event["tid"])
        return Box(int(event["pid"]), names.get(track, str(event["tid"])), kind,
                   1e-6 * float(event["ts"]), 1e-6 * float(event["dur"]))
    except (KeyError, TypeError, ValueError):
        return None


def figure(comparison: Comparison, setting: Setting) -> Figure | None:
    """A step of every algorithm at one setting, on one time scale: two workers of the first node
    and the first of the next, one row per stream."""
    traces = []
    for point in comparison.at(setting):
        run = point.runs[0]
        drawn = _shown(boxes(run.path / "trace.json"), run.experiment.get("cluster"))
        if drawn:
            traces.append((point.algorithm, drawn))
    if not traces:
        return None
    rows = [_rows(drawn) for _, drawn in traces]
    fig, axes = style.figure(
        len(traces), width=8.6, height=0.9 + sum(0.5 + 0.24 * len(r) for r in rows), sharex=True,
        gridspec_kw={"height_ratios": [1 + 0.6 * len(r) for r in rows]},
    )
    longest = max(max(b.end_s for b in drawn) for _, drawn in traces)
    for ax, (algorithm, drawn), tracks in zip(axes, traces, rows):
        _draw(ax, drawn, tracks, resolution_s=longest / 2000)
        ax.set_title(algorithm)
    axes[-1].set_xlim(0, longest)
    style.time_axis(axes[-1].xaxis, "time since the start of the step")
    style.legend_above(fig, axes[0],
                       [Patch(color=style.KIND_COLOURS[k], label=_NAMES[k]) for k in _KINDS])
    return fig


def _draw(ax: Axes, drawn: list[Box], tracks: list[tuple[int, str]], resolution_s: float) -> None:
    for row, track in enumerate(tracks):
        for kind in _KINDS:
            bars = [b for b in drawn if (b.rank, b.stream) == track and b.kind == kind]
            ax.broken_barh(_merged(bars, resolution_s), (row - 0.4, 0.8),
                           facecolor=style.KIND_COLOURS[kind], linewidth=0)
    ax.set_yticks(range(len(tracks)), [f"worker {r}, {s}" for r, s in tracks], fontsize=8)
    ax.set_ylim(len(tracks) - 0.5, -0.5)
    ax.grid(False, axis="y")


def _merged(bars: list[Box], resolution_s: float) -> list[tuple[float, float]]:
    """(begin, length) of bars, those that no eye could tell apart as one."""
    merged: list[tuple[float, float]] = []
    for bar in sorted(bars, key=lambda b: b.begin_s):
        if merged and bar.begin_s - sum(merged[-1]) < resolution_s:
            begin_s = merged[-1][0]
            merged[-1] = (begin_s, max(sum(merged[-1]), bar.end_s) - begin_s)
        else:
            merged.append((bar.begin_s, bar.length_s))
    return merged


def _shown(found: list[Box], cluster: Any) -> list[Box]:
    """The boxes of the workers that are drawn, timed from the start of the step: what another
    stream began before is cut there."""
    per_node = cluster.get("workers_per_node", 1) if isinstance(cluster, dict) else 1
    shown = [b for b in found if b.rank in {0, 1, per_node} and b.length_s > 0]
    start_s = min((b.begin_s for b in shown if b.stream == "main"), default=0.0)
    cut = [replace(b, begin_s=max(b.begin_s - start_s, 0.0),
                   length_s=b.end_s - max(b.begin_s, start_s)) for b in shown]
    return [b for b in cut if b.length_s > 0]


def _rows(drawn: list[Box]) -> list[tuple[int, str]]:
    """(rank, stream) from top to bottom, the main stream first."""
    tracks = {(b.rank, b.stream) for b in drawn}
    return sorted(tracks, key=lambda t: (t[0], t[1] != "main", t[1]))
