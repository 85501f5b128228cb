"""One step of every algorithm, drawn from the traces of its runs."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from . import critical_path, marks, style, why
from .comparison import Comparison, Setting
from .results import Run
from .trace import KINDS, NAMES, Box, boxes, merged, rows, cropped


def figure(comparison: Comparison, setting: Setting) -> Figure | None:
    """One step of every algorithm at one setting, on one time scale: two workers of the first node and the first worker
    of the next node, with one row per stream. A title says what bounds the step, if all ranks were recorded."""
    traces = []
    for point in comparison.at(setting):
        run = point.drawn_run
        per_node = run.workers_per_node
        drawn = cropped(boxes(run.path / "trace.json", per_node), per_node)
        if drawn:
            label = comparison.run_label(run)
            title = point.algorithm + (f" ({label})" if label else "")
            traces.append((title + _bounds(run), drawn))
    if not traces:
        return None
    tracks = [rows(drawn) for _, drawn in traces]
    fig, axes = style.figure(
        len(traces), width=8.6, height=0.9 + sum(0.5 + 0.24 * len(t) for t in tracks), lines=True, sharex=True,
        gridspec_kw={"height_ratios": [1 + 0.6 * len(t) for t in tracks]},
    )
    longest = max(max(b.end_s for b in drawn) for _, drawn in traces)
    for ax, (algorithm, drawn), mine in zip(axes, traces, tracks):
        _draw(ax, drawn, mine, resolution_s=longest / 2000)
        ax.set_title(algorithm)
    axes[-1].set_xlim(0, longest)
    style.time_axis(axes[-1].xaxis, "time since the start of the step")
    present = [k for k in KINDS if any(b.kind == k for _, drawn in traces for b in drawn)]
    style.legend_above(fig, axes[0], [Patch(facecolor=style.KIND_COLOURS[k], label=NAMES[k],
                                            hatch=style.KIND_HATCHES[k], edgecolor="white",
                                            linewidth=0) for k in present])
    if label := comparison.label(setting):
        marks.write_below(fig, [f"at {label}"])
    marks.footnote(fig, comparison)
    return fig


def _bounds(run: Run) -> str:
    path = critical_path.of_file(run.path / "trace.json")
    if path is None or path.length <= 0 or any(part.kind == "unknown" for part in path.parts):
        return ""
    return f": {why.bound_by(path)}"


def _draw(ax: Axes, drawn: list[Box], tracks: list[tuple[int, str]], resolution_s: float) -> None:
    for row, track in enumerate(tracks):
        for kind in KINDS:
            bars = [b for b in drawn if (b.rank, b.stream) == track and b.kind == kind]
            ax.broken_barh(merged(bars, resolution_s), (row - 0.4, 0.8),
                           facecolor=style.KIND_COLOURS[kind], hatch=style.KIND_HATCHES[kind],
                           edgecolor="white", linewidth=0)
    ax.set_yticks(range(len(tracks)), [f"worker {r}, {s}" for r, s in tracks], fontsize=style.small_text())
    ax.set_ylim(len(tracks) - 0.5, -0.5)
    ax.grid(False, axis="y")
