"""The measures that the report can draw, in the winner map, the charts and their CSV files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, Literal

from .comparison import Comparison, Point
from .results import Run
from .target import LOSS, Target
from .time_to_target import PartlyReached, reached

# Keys of the summary's "cost" and their titles.
COSTS = {
    "usd_to_target": "dollars to the target",
    "kwh_to_target": "energy to the target (kWh)",
    "usd_per_million_samples": "dollars per million samples",
    "kwh_per_million_samples": "energy per million samples (kWh)",
}
NOISE_SCALE = "gradient_noise_scale"


@dataclass(frozen=True)
class Measure:
    """A number by which points can be compared. `kind` is its unit: "s", "B", "share" (0 to 1) or "" for a plain
    number. If only an interval is known in which the number lies, `value` is the end of the interval and `least` its
    start."""

    key: str
    title: str
    kind: Literal["s", "B", "share", ""]
    value: Callable[[Point], float | None]
    spread: Callable[[Point], float | None]
    better: Literal["low", "high"] | None = None
    least: Callable[[Point], float | None] = lambda point: None
    partly: Callable[[Point], PartlyReached | None] = lambda point: None  # if only some seeds reach it
    rate: bool = False  # true for a mean per step or second, for which a run may be too short


def measures(comparison: Comparison) -> list[Measure]:
    """The measures for which the runs have values. The measure that decides between algorithms comes first."""
    return [m for m in _candidates(comparison) if any(m.value(p) is not None for p in comparison.points)]


def _candidates(comparison: Comparison) -> Iterator[Measure]:
    target = comparison.target
    if target is not None:
        yield time_to(target)
    if comparison.declared_target is not None:
        yield epochs_to(comparison.declared_target)
    if target is not None and has_noise_scale(comparison):
        yield steps_to(target)
    yield _mean_measure(NOISE_SCALE, "gradient noise scale (samples)", "", NOISE_SCALE)
    samples = _mean_measure("samples_per_s", "samples per second", "", "samples_per_s", "high", rate=True)
    # Steps with different numbers of samples are not ranked.
    shorter: Literal["low"] | None = None if comparison.steps_differ else "low"
    if comparison.steps_differ:
        yield samples
    yield _mean_measure("step_s", "time per step", "s", "step_s", shorter, rate=True)
    yield _mean_measure("exposed_s", "exposed communication per step", "s", "exposed_s", shorter, rate=True)
    yield _mean_measure("compute_utilisation", "share of the time in which workers compute", "share",
                        "compute_utilisation", "high", rate=True)
    yield _mean_measure("communication_s", "communication per step, hidden or not", "s", "communication_s")
    if not comparison.steps_differ:
        yield samples
    for percent in (50, 95, 99):
        yield _mean_measure(f"step_p{percent}_s", f"time that {percent} % of the steps take at most", "s",
                            f"step_p{percent}_s", shorter, rate=True)
    yield _mean_measure("straggler_share", "share of the time lost to slow workers", "share", "straggler_share", "low",
                        rate=True)
    for key, title in COSTS.items():
        yield _mean_measure(key, title, "", lambda run, key=key: run.cost(key), "low", rate="to_target" not in key)
    for key, where in (("bytes_inter", "between"), ("bytes_intra", "inside")):
        yield _mean_measure(key, f"bytes per step {where} nodes", "B", lambda run, key=key: run.per_step(key), shorter,
                            rate=True)
    # Runs that stop at a target train for different times, so their final losses and accuracies rank nothing.
    stopped = any(p.stopped for p in comparison.points)
    low, high = (None, None) if stopped else ("low", "high")
    yield _mean_measure("staleness_mean", "staleness (steps)", "", "staleness_mean")
    yield _mean_measure("loss", "training loss at the end", "", "loss", low)
    yield _mean_measure("accuracy", "accuracy at the end", "share", "accuracy", high)
    if comparison.quality is LOSS:
        yield _mean_measure(LOSS.column, "held-out loss at the end", "", LOSS.column, low)
    yield _mean_measure("worker_accuracy_min", "accuracy of the worst worker", "share", "worker_accuracy_min", high)
    yield _mean_measure("consensus_distance", "consensus distance at the end", "", "consensus_distance", low)
    yield _mean_measure("goodput", "share of the time that is not lost to failures", "share",
                        lambda run: (run.summary.get("failures") or {}).get("goodput"), "high")
    yield _mean_measure("time_s", "time of the whole run", "s", "time_s")


def time_to(target: Target) -> Measure:
    def least(point: Point) -> float | None:
        found = point.reached(target)
        return found and found.after_s

    def interval(run: Run) -> tuple[float, float] | None:
        found = reached(run, target)
        return found and (found.after_s, found.time_s)

    return Measure(target.key, f"time to {target.title}", "s", lambda p: p.time_to(target),
                   lambda p: None, "low", least, lambda p: p.partly(interval))


def epochs_to(target: Target) -> Measure:
    def least(point: Point) -> float | None:
        found, epochs = point.reached(target), point.epochs_to_target
        return epochs * found.after_step / found.step if found and epochs is not None else None

    def interval(run: Run) -> tuple[float, float] | None:
        found, epochs = reached(run, target), run.target.get("epochs")
        return (epochs * found.after_step / found.step, epochs) if found and epochs is not None else None

    return Measure("epochs_to", f"epochs to {target.title}", "", lambda p: p.epochs_to_target,
                   lambda p: None, "low", least, lambda p: p.partly(interval))


def steps_to(target: Target) -> Measure:
    def number(point: Point, key: Literal["step", "after_step"]) -> float | None:
        found = point.reached(target)
        return found and getattr(found, key)

    def interval(run: Run) -> tuple[float, float] | None:
        found = reached(run, target)
        return found and (found.after_step, found.step)

    return Measure("steps_to", f"steps to {target.title}", "", lambda p: number(p, "step"), lambda p: None, "low",
                   lambda p: number(p, "after_step"), lambda p: p.partly(interval))


def has_noise_scale(comparison: Comparison) -> bool:
    """The steps to a target are shown beside the gradient noise scale, which says how they depend on the batch."""
    return any(p.mean(NOISE_SCALE) is not None for p in comparison.points)


def _mean_measure(key: str, title: str, kind: Literal["s", "B", "share", ""],
                  measure: str | Callable[[Run], float | None], better: Literal["low", "high"] | None = None,
                  rate: bool = False) -> Measure:
    return Measure(key, title, kind, lambda p: p.mean(measure), lambda p: p.spread(measure), better, rate=rate)
