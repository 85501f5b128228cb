"""The comparison that a set of runs makes: contenders (algorithms) at each setting that varies."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Callable

from . import units
from .accuracy import Partly, Reached, best_accuracy, mean_reached
from .axes import Axes, Setting, is_function, key_of
from .naming import algorithm_name, algorithm_order
from .results import Run
from .shortfall import shortfall


@dataclass
class Point:
    """The runs of one algorithm at one setting. They differ in their seeds, or in options that do not affect results,
    such as which step is recorded for the timeline."""

    setting: Setting
    algorithm: str
    runs: list[Run]

    def mean(self, measure: str | Callable[[Run], float | None]) -> float | None:
        values = self._values(measure)
        return statistics.fmean(values) if values else None

    def spread(self, measure: str | Callable[[Run], float | None]) -> float | None:
        """Standard deviation over the seeds; None with fewer than two."""
        values = self._values(measure)
        return statistics.stdev(values) if len(values) > 1 else None

    def _values(self, measure: str | Callable[[Run], float | None]) -> list[float]:
        """One value for each seed: the mean over the runs with that seed."""
        get = measure if callable(measure) else lambda run: run.number(measure)
        of_seeds = [[v for v in map(get, runs) if v is not None and math.isfinite(v)] for runs in self.by_seed]
        return [statistics.fmean(values) for values in of_seeds if values]

    @cached_property
    def by_seed(self) -> list[list[Run]]:
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(run.seeds, []).append(run)
        return list(groups.values())

    def reached(self, target: float) -> Reached | None:
        """When the runs reach `target` accuracy, in the mean; None unless every run reaches it."""
        return mean_reached(self.runs, target)

    def time_to(self, target: float) -> float | None:
        found = self.reached(target)
        return found and found.time_s

    def partly(self, interval: Callable[[Run], tuple[float, float] | None]) -> Partly | None:
        """The range of the intervals of those runs that have one; None if all runs have one, or none has."""
        there = [found for run in self.runs if (found := interval(run))]
        if len(there) in (0, len(self.runs)):
            return None
        kind = "seeds" if len(self.by_seed) == len(self.runs) else "runs"
        return Partly(len(there), len(self.runs), min(b for b, _ in there), max(e for _, e in there), kind)

    @property
    def epochs_to_target(self) -> float | None:
        """Mean number of epochs to the accuracy at which runs were to stop; None unless every run reaches it."""
        values = [run.target.get("epochs") for run in self.runs]
        return None if None in values else statistics.fmean(values)

    @property
    def stopped(self) -> bool:
        """True if a run stopped at its target accuracy, and thus learned no longer than it had to."""
        return any(run.target.get("time_s") is not None for run in self.runs)

    @property
    def drawn_run(self) -> Run:
        """The run whose timeline is drawn: the lowest seed, then the earliest recorded step."""
        return min(self.runs, key=lambda run: (units.natural(str(run.seed)), run.recorded_step))

    @property
    def shortfall(self) -> str:
        """Why this point does not show what the algorithm costs; empty if it does."""
        return self.lack(rates=True)

    def lack(self, rates: bool) -> str:
        """Why this point never comes first: in means per step if `rates`, else in any measure; empty if it may."""
        return next((why for run in self.runs if (why := shortfall(run, rates))), "")

    @property
    def paces(self) -> tuple[float, float] | None:
        """Samples per second of the slowest and the fastest worker; None if no run's workers differ much."""
        found = [run.paces for run in self.runs if run.paces]
        return (min(s for s, _ in found), max(f for _, f in found)) if found else None

    @property
    def oversubscribed(self) -> bool:
        return any(run.manifest.get("oversubscribed") for run in self.runs)


class Comparison:
    """The runs of one experiment, arranged by setting and algorithm."""

    def __init__(self, name: str, runs: list[Run]):
        self.name = name
        self.runs = runs
        self._axes = Axes(runs)
        self.axes = self._axes.independent
        self._chosen_by_setting: dict[str, None] = {}
        self._names = self._algorithm_labels()
        self.points = self._points()
        self.algorithms = sorted({p.algorithm for p in self.points}, key=algorithm_order)
        self.settings: list[Setting] = sorted(
            {p.setting for p in self.points}, key=lambda s: [v.order for v in s]
        )

    def at(self, setting: Setting) -> list[Point]:
        """The contenders at one setting, in the order of `algorithms`."""
        return self._by_setting.get(setting, [])

    @property
    def middle_setting(self) -> Setting:
        """The setting for figures that show only one: the middle of those with the most contenders,
        where computation and communication both matter."""
        most = max(len(self.at(s)) for s in self.settings)
        full = [s for s in self.settings if len(self.at(s)) == most]
        return full[len(full) // 2]

    @cached_property
    def declared_target(self) -> float | None:
        """The target accuracy, if all runs declare the same one."""
        declared = {run.experiment.get("target_accuracy") for run in self.runs}
        return declared.pop() if len(declared) == 1 else None

    @cached_property
    def target(self) -> float | None:
        """The accuracy for time-to-accuracy: the declared target if there is one. Otherwise it is the
        highest whole per cent that every run reaches, or 90 % of the best accuracy if some run falls
        behind that."""
        if self.declared_target is not None:
            return self.declared_target
        compared = [p for p in self.points if not p.lack(rates=False)] or self.points
        reached = [a for p in compared for a in map(best_accuracy, p.runs) if a is not None]
        if not reached:
            return None
        worst, best = min(reached), max(reached)
        return _whole_per_cent(worst if worst >= 0.9 * best else 0.9 * best)

    @property
    def coupled(self) -> list[str]:
        """One line for each group of settings that vary without being an axis, with what they vary with."""
        leaders = [(axis.title, [other.title for other in others])
                   for axis, others in self._axes.coupled.items()]
        leaders.append(("the algorithm", [axis.title for axis in self._axes.of_algorithms]))
        leaders.append((" and ".join(axis.title for axis in self.axes),
                        [f"algorithm {leaf.split('/')[-1]}" for leaf in self._chosen_by_setting]))
        return [f"varies with {leader}: {', '.join(names)}" for leader, names in leaders if names]

    def numeric_axis(self) -> int | None:
        """The axis to draw against: a bandwidth if there is one, else the numeric axis with the
        most values."""

        def rank(i: int) -> tuple[bool, int]:
            values = {s[i] for s in self.settings}
            return any(v.dimension == "bandwidth" for v in values), len(values)

        numeric = [i for i in range(len(self.axes))
                   if all(s[i].number is not None for s in self.settings)
                   and len({s[i].dimension for s in self.settings}) == 1]
        return max(numeric, key=rank, default=None)

    def label(self, setting: Setting, skip: int | None = None) -> str:
        """A setting in words, without the axis `skip`."""
        parts = [
            value.label if value.dimension == "bandwidth" or axis.pointer.startswith("/runtime")
            else f"{axis.title} {value.label}"
            for i, (axis, value) in enumerate(zip(self.axes, setting))
            if i != skip
        ]
        return ", ".join(parts)

    def run_label(self, run: Run) -> str:
        """Says which run a timeline shows: its seed if the runs have several seeds, and its step if the runs recorded
        different steps or if the run's steps are not all alike."""
        unlike = self._unlike(run)
        parts = [(f"seed {run.seed}", len({str(r.seed) for r in self.runs}) > 1),
                 (f"step {run.recorded_step}", len({r.recorded_step for r in self.runs}) > 1 or unlike),
                 (unlike, unlike)]
        return ", ".join(text for text, told in parts if told)

    @staticmethod
    def _unlike(run: Run) -> str:
        """How the recorded step differs from other steps of the run; empty if no difference is known."""
        every = run.number("cycle_steps") or 1
        if run.recorded_step < run.warm_up_steps:
            return "in the warm-up"
        return f"exchanges every {every:,.3g} steps" if every > 1 else ""

    @cached_property
    def _by_setting(self) -> dict[Setting, list[Point]]:
        order = {algorithm: i for i, algorithm in enumerate(self.algorithms)}
        groups: dict[Setting, list[Point]] = {}
        for point in sorted(self.points, key=lambda p: order[p.algorithm]):
            groups.setdefault(point.setting, []).append(point)
        return groups

    def _points(self) -> list[Point]:
        points: dict[tuple[Setting, str], Point] = {}
        for run in self.runs:
            key = (self._axes.setting(run), self._names[run.path])
            points.setdefault(key, Point(*key, [])).runs.append(run)
        return list(points.values())

    def _algorithm_labels(self) -> dict[Path, str]:
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(algorithm_name(run), []).append(run)
        labels: dict[Path, str] = {}
        for name, runs in groups.items():
            leaves = [x for x in self._axes.varying_leaves(runs)
                      if x.startswith("/algorithm/") and not self._goes_with_setting(x, runs)]
            for run in runs:
                mine = {leaf: self._axes.leaf(run, leaf) for leaf in leaves}
                options = [f"{leaf.split('/')[-1]}={units.show(value)}"
                           for leaf, value in mine.items() if value is not None]
                labels[run.path] = f"{name} ({', '.join(options)})" if options else name
        return labels

    def _goes_with_setting(self, leaf: str, runs: list[Run]) -> bool:
        """True if an experiment sets this option of one algorithm by the setting, as a library chooses
        a different allreduce on two nodes than on more."""
        goes = self._axes.was_swept(leaf) and is_function(
            (self._axes.setting(run), key_of(self._axes.leaf(run, leaf))) for run in runs)
        if goes:
            self._chosen_by_setting[leaf] = None
        return goes


def _whole_per_cent(share: float) -> float:
    """The highest whole per cent not above `share`, compared as shares: 100 * share may fall below the number meant."""
    nearest = round(100 * share)
    return (nearest if nearest / 100 <= share else nearest - 1) / 100
