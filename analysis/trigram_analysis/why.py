"""Explains one step of a run by its critical path, or the difference between the steps of two runs."""

from __future__ import annotations

from typing import Any

from . import critical_path, units
from .caveats import caveats
from .critical_path import PS_PER_S, CriticalPath, Part, text_of
from .naming import own_name
from .results import Run

# Parts that better hardware, or fewer or shorter messages, could shorten; and what they depend on.
_DEPENDS = {
    Part("bandwidth", "between nodes"): "bandwidth between nodes",
    Part("bandwidth", "inside nodes"): "bandwidth inside nodes",
    Part("latency", "between nodes"): "latency between nodes",
    Part("latency", "inside nodes"): "latency inside nodes",
    Part("contention", "between nodes"): "other traffic and overheads between nodes",
    Part("contention", "inside nodes"): "other traffic and overheads inside nodes",
    Part("compute"): "speed of computation",
}
_NEGLIGIBLE = 1e-3  # of the step
_SHORTEST_S = 1e-9  # that is worth a number


def as_json(runs: list[Run]) -> dict[str, Any]:
    paths = [_path(run) for run in runs]
    return {
        "runs": [
            {
                "id": run.id,
                "algorithm": own_name(run),
                "step": run.recorded_step,
                "step_s": path.length / PS_PER_S,
                "mean_step_s": run.number("step_s"),
                "hidden_s": path.hidden / PS_PER_S,
                "narrowest_link": path.narrowest_link,
                "messages_on_path": path.hops,
                "parts": [{"kind": p.kind, "where": p.detail, "seconds": t / PS_PER_S} for p, t in path.sorted],
            }
            for run, path in zip(runs, paths)
        ],
        "on_no_path": on_no_path(paths),
        "caveats": caveats(runs, "AB"[:len(runs)]),
    }


def as_text(runs: list[Run]) -> str:
    paths = [_path(run) for run in runs]
    lines = [f"{label}: {own_name(run)}, step {run.recorded_step}: {units.seconds(path.length / PS_PER_S)}"
             + _mean(run, path) for label, run, path in zip("AB", runs, paths)]
    lines += ["", *_table(paths), ""]
    lines += [f"{label} is bound by {bound_by(path)}" for label, path in zip("AB", paths)]
    if len(paths) == 2:
        lines.append(_difference(*paths, step=runs[1].recorded_step))
    if any(_hides_messages(path) for path in paths):
        lines.append("messages in collectives that are simulated as a whole are not on a path; for what they wait for, make "
                     "runs with --set /runtime/fidelity=message")
    if free := on_no_path(paths):
        lines.append(f"at most {100 * _NEGLIGIBLE:g}% of {'either' if len(paths) == 2 else 'the'} critical path, so better "
                     f"values would hardly shorten {'a' if len(paths) == 2 else 'this'} step: {', '.join(free)}")
    notes = caveats(runs, "AB"[:len(runs)])
    return "\n".join(lines + [""] * bool(notes) + notes)


def _mean(run: Run, path: CriticalPath) -> str:
    """The mean step of the run if the step that is explained is another one by more than a per cent."""
    mean_s, step_s = run.number("step_s"), path.length / PS_PER_S
    return f" (mean step {units.seconds(mean_s)})" if mean_s and abs(mean_s - step_s) > 0.01 * step_s else ""


def bound_by(path: CriticalPath, most: int = 3) -> str:
    """The largest parts in words: "computation 61%, bandwidth between nodes 30% (NIC 0 > switch)"."""
    texts = []
    for part, time in path.sorted[:most]:
        if time < 0.02 * path.length and texts:
            break
        link = f" ({path.narrowest_link})" if part.kind == "bandwidth" and path.narrowest_link else ""
        texts.append(f"{text_of(part)} {100 * time / path.length:.0f}%{link}")
    return ", ".join(texts)


def on_no_path(paths: list[CriticalPath]) -> list[str]:
    """What at most 0.1% of each step depends on, as far as it is known."""
    hidden = any(_hides_messages(path) for path in paths)
    free = [text for part, text in _DEPENDS.items()
            if not (hidden and part.detail)
            and all(path.parts.get(part, 0) <= _NEGLIGIBLE * path.length for path in paths)]
    for kind, text in (("operations", "speed of coding and reducing"), ("straggler", "slow workers")):
        if all(sum(t for p, t in path.parts.items() if p.kind == kind) <= _NEGLIGIBLE * path.length for path in paths):
            free.append(text)
    return free


def _hides_messages(path: CriticalPath) -> bool:
    """True if the path contains collectives whose messages were not simulated one by one."""
    return path.parts.get(Part("collective"), 0) > _NEGLIGIBLE * path.length


def _path(run: Run) -> CriticalPath:
    path = critical_path.of_file(run.path / "trace.json")
    if path is None or path.length <= 0:
        raise ValueError(f"{run.path / 'trace.json'}: no step to explain; expected a run of this version with "
                         "timeline/ranks above 0")
    return path


def _table(paths: list[CriticalPath]) -> list[str]:
    parts = sorted({part for path in paths for part in path.parts},
                   key=lambda part: -max(path.parts.get(part, 0) for path in paths))
    rows = [["part of the critical path", *"AB"[:len(paths)]] + (["B - A"] if len(paths) == 2 else [])]
    for part in parts:
        rows.append([text_of(part), *(_time(path.seconds(part)) for path in paths)])
        if len(paths) == 2:
            rows[-1].append(_signed(paths[1].seconds(part) - paths[0].seconds(part)))
    rows.append(["sum: the step", *(_time(path.length / PS_PER_S) for path in paths)])
    if len(paths) == 2:
        rows[-1].append(_signed((paths[1].length - paths[0].length) / PS_PER_S))
    rows.append(["hidden: exchanges while the worker computes", *(_time(path.hidden / PS_PER_S) for path in paths)])
    if len(paths) == 2:
        rows[-1].append(_signed((paths[1].hidden - paths[0].hidden) / PS_PER_S))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))])
            for row in rows]


def _time(seconds: float) -> str:
    return ("< 1 ns" if seconds < _SHORTEST_S else units.seconds(seconds)) if seconds else "-"


def _signed(seconds: float) -> str:
    return f"{'+' if seconds > 0 else '-'}{units.seconds(abs(seconds))}" if abs(seconds) >= _SHORTEST_S else "0"


def _difference(a: CriticalPath, b: CriticalPath, step: int) -> str:
    """Names the part whose change is nearest to the whole difference."""
    whole = b.length - a.length
    if abs(whole) <= _NEGLIGIBLE * a.length:
        return f"these steps differ by at most {100 * _NEGLIGIBLE:g}%"
    changes = {part: b.parts.get(part, 0) - a.parts.get(part, 0) for part in {**a.parts, **b.parts}}
    part = max(changes, key=lambda p: changes[p] if whole > 0 else -changes[p])
    longer = ("longer", "shorter")[whole < 0]
    text = f"B's step {step} is {units.seconds(abs(whole) / PS_PER_S)} {longer}; "
    if abs(changes[part]) <= abs(whole):
        return text + f"{text_of(part)} makes {100 * changes[part] / whole:.0f}% of that"
    more, less = ("more", "less") if whole > 0 else ("less", "more")
    return text + (f"{text_of(part)}: {units.seconds(abs(changes[part]) / PS_PER_S)} {more}, and the rest: "
                   f"{units.seconds(abs(changes[part] - whole) / PS_PER_S)} {less}")
