"""The comparison of a set of runs: the algorithms at each setting."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Callable

from . import units
from .axes import Axes, Setting, is_function, key_of
from .naming import algorithm_name, algorithm_order
from .results import Run
from .shortfall import shortfall
from .target import ACCURACY, QUALITIES, Quality, Target, declared, reached_by_all
from .time_to_target import PartlyReached, Reached, best_quality, mean_reached


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
        """The standard deviation over the seeds; None if there are fewer than two seeds."""
        values = self._values(measure)
        return statistics.stdev(values) if len(values) > 1 else None

    def _values(self, measure: str | Callable[[Run], float | None]) -> list[float]:
        """One value for each seed: the mean over the runs with that seed."""
        get = measure if callable(measure) else lambda run: run.number(measure)
        values_by_seed = [[v for v in map(get, runs) if v is not None and math.isfinite(v)] for runs in self.by_seed]
        return [statistics.fmean(values) for values in values_by_seed if values]

    @cached_property
    def by_seed(self) -> list[list[Run]]:
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(run.seeds, []).append(run)
        return list(groups.values())

    def reached(self, target: Target) -> Reached | None:
        """The interval in which the runs reach `target`, as a mean; None unless every run reaches it."""
        return mean_reached(self.runs, target)

    def time_to(self, target: Target) -> float | None:
        found = self.reached(target)
        return found and found.time_s

    def partly(self, interval: Callable[[Run], tuple[float, float] | None]) -> PartlyReached | None:
        """The range of the intervals of those runs that have one; None if all runs have one, or none has."""
        reaching = [found for run in self.runs if (found := interval(run))]
        if len(reaching) in (0, len(self.runs)):
            return None
        kind = "seeds" if len(self.by_seed) == len(self.runs) else "runs"
        return PartlyReached(len(reaching), len(self.runs), min(begin for begin, _ in reaching),
                             max(end for _, end in reaching), kind)

    @property
    def epochs_to_target(self) -> float | None:
        """The mean number of epochs until the runs reach their declared target; None unless every run reaches it."""
        values = [run.target.get("epochs") for run in self.runs]
        return None if None in values else statistics.fmean(values)

    @property
    def stopped(self) -> bool:
        """True if a run stopped when it reached its target. A longer run might have become better."""
        return any(run.target.get("time_s") is not None for run in self.runs)

    @property
    def drawn_run(self) -> Run:
        """The run whose timeline is drawn: among the runs with the lowest seed, the run with the earliest recorded
        step."""
        return min(self.runs, key=lambda run: (units.natural(str(run.seed)), run.recorded_step))

    @property
    def shortfall(self) -> str:
        """Why this point does not show what the algorithm costs; empty if it does."""
        return self.exclusion(rates=True)

    def exclusion(self, rates: bool) -> str:
        """Why this point never comes first: in means per step if `rates`, else in any measure. Empty if it may come
        first."""
        return next((why for run in self.runs if (why := shortfall(run, rates))), "")

    @property
    def paces(self) -> tuple[float, float] | None:
        """Samples per second of the slowest and of the fastest worker; None if no run's workers differ much."""
        found = [run.paces for run in self.runs if run.paces]
        return (min(s for s, _ in found), max(f for _, f in found)) if found else None

    @property
    def oversubscribed(self) -> bool:
        return any(run.manifest.get("oversubscribed") for run in self.runs)


_MOST_SETTINGS_NAMED = 4


def samples_differ(points: list[Point]) -> bool:
    """True if a step of some points has at least 1 % more samples than a step of others: times of steps then do not say
    which trains faster. Points whose means are not compared do not count."""
    compared = [p for p in points if not p.exclusion(True)]
    samples = [rate * step for p in compared if (rate := p.mean("samples_per_s")) and (step := p.mean("step_s"))]
    return len(samples) > 1 and max(samples) > 1.01 * min(samples)


class Comparison:
    """The runs of one experiment, arranged by setting and algorithm."""

    def __init__(self, name: str, runs: list[Run], labels: dict[Path, str] | None = None):
        """`labels`, by the folders of the runs, are the names of candidates that are all compared at one setting,
        whatever else differs between them, in the order in which they are shown. By default, settings and names follow from the options that vary."""
        self.name = name
        self.runs = runs
        self._axes = Axes(runs if labels is None else [])
        self.axes = self._axes.independent
        self._chosen_by_setting: dict[str, None] = {}
        self._names = self._algorithm_labels() if labels is None else labels
        self.points = self._points()
        found = {p.algorithm for p in self.points}
        self.algorithms = [a for a in labels.values() if a in found] if labels else sorted(found, key=algorithm_order)
        self.settings: list[Setting] = sorted(
            {p.setting for p in self.points}, key=lambda s: [v.order for v in s]
        )

    def at(self, setting: Setting) -> list[Point]:
        """The points of one setting, in the order of `algorithms`."""
        return self._by_setting.get(setting, [])

    @cached_property
    def steps_differ(self) -> bool:
        """True if, at some setting, steps of different algorithms have different numbers of samples."""
        return any(samples_differ(self.at(setting)) for setting in self.settings)

    @property
    def middle_setting(self) -> Setting:
        """The setting for figures that show only one setting: the middle of the settings with the most algorithms.
        Computation and communication usually both matter there."""
        most = max(len(self.at(s)) for s in self.settings)
        full = [s for s in self.settings if len(self.at(s)) == most]
        return full[len(full) // 2]

    @cached_property
    def declared_target(self) -> Target | None:
        """The target that all runs declare; None if some runs declare another target, or none."""
        targets = {declared(run.experiment) for run in self.runs}
        return targets.pop() if len(targets) == 1 else None

    @cached_property
    def target(self) -> Target | None:
        """The target for times to a target: the declared one if there is one. Otherwise, it is the hardest level that
        every run reaches, of the accuracy or, if no run has an accuracy, of the held-out loss."""
        if self.declared_target is not None:
            return self.declared_target
        compared = [p for p in self.points if not p.exclusion(rates=False)] or self.points
        for quality in QUALITIES:
            best = {run.path: best_quality(run, quality) for run in self.runs}
            if any(value is not None for value in best.values()):
                reached = [value for p in compared for run in p.runs if (value := best[run.path]) is not None]
                return reached_by_all(quality, reached) if reached else None
        return None

    @property
    def quality(self) -> Quality:
        """The quality by which models are judged: that of the target."""
        return self.target.quality if self.target else ACCURACY

    @property
    def coupled(self) -> list[str]:
        """One line for each group of options that vary without being axes. The line names the axis, or the algorithm,
        from which the options follow."""
        leaders = [(axis.title, [other.title for other in others])
                   for axis, others in self._axes.coupled.items()]
        leaders.append(("the algorithm", [axis.title for axis in self._axes.algorithm_options]))
        leaders.append((" and ".join(axis.title for axis in self.axes),
                        [f"algorithm {leaf.split('/')[-1]}" for leaf in self._chosen_by_setting]))
        return [f"varies with {leader}: {', '.join(names)}" for leader, names in leaders if names]

    def without_run(self, setting: Setting) -> list[str]:
        """The algorithms that were run elsewhere, but not at this setting."""
        present = {p.algorithm for p in self.at(setting)}
        return [a for a in self.algorithms if a not in present]

    @property
    def incomplete(self) -> list[str]:
        """A line that names the settings where an algorithm that was run elsewhere has no run, so that another
        algorithm may be marked as best there; none if there is no such setting."""
        lacking = [(self.label(setting), names) for setting in self.settings if (names := self.without_run(setting))]
        texts = [f"{label}: {', '.join(names)}" for label, names in lacking[:_MOST_SETTINGS_NAMED]]
        if len(lacking) > len(texts):
            texts.append(f"and at {len(lacking) - len(texts)} more settings")
        prefix = "best means best of the algorithms that have a run at a setting; without a run at "
        return [prefix + "; ".join(texts)] if texts else []

    def numeric_axis(self) -> int | None:
        """The index of the axis that figures draw horizontally: a bandwidth if there is one, else the numeric axis with
        the most values; None if no axis is numeric."""

        def rank(i: int) -> tuple[bool, int]:
            values = {s[i] for s in self.settings}
            return any(v.dimension == "bandwidth" for v in values), len(values)

        numeric = [i for i in range(len(self.axes))
                   if all(s[i].number is not None for s in self.settings)
                   and len({s[i].dimension for s in self.settings}) == 1]
        return max(numeric, key=rank, default=None)

    def label(self, setting: Setting, skip: int | None = None) -> str:
        """A setting in words, without the axis with the index `skip`."""
        parts = [
            value.label if value.dimension == "bandwidth" or axis.pointer.startswith("/runtime")
            else f"{axis.title} {value.label}"
            for i, (axis, value) in enumerate(zip(self.axes, setting))
            if i != skip
        ]
        return ", ".join(parts)

    def run_label(self, run: Run) -> str:
        """Says which run a timeline shows: its seed if the runs have several seeds, and its step if the runs recorded
        different steps, or if the recorded step differs from other steps of the run."""
        peculiarity = self._peculiarity(run)
        parts = [(f"seed {run.seed}", len({str(r.seed) for r in self.runs}) > 1),
                 (f"step {run.recorded_step}", len({r.recorded_step for r in self.runs}) > 1 or peculiarity),
                 (peculiarity, peculiarity)]
        return ", ".join(text for text, applies in parts if applies)

    @staticmethod
    def _peculiarity(run: Run) -> str:
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
                      if x.startswith("/algorithm/") and not self._follows_from_setting(x, runs)]
            for run in runs:
                values = {leaf: self._axes.leaf(run, leaf) for leaf in leaves}
                options = [f"{leaf.split('/')[-1]}={units.show(value)}"
                           for leaf, value in values.items() if value is not None]
                labels[run.path] = f"{name} ({', '.join(options)})" if options else name
        return labels

    def _follows_from_setting(self, leaf: str, runs: list[Run]) -> bool:
        """True if the setting determines this option of an algorithm in an experiment. For example, a library may use
        another allreduce on two nodes than on more nodes."""
        follows = self._axes.was_swept(leaf) and is_function(
            (self._axes.setting(run), key_of(self._axes.leaf(run, leaf))) for run in runs)
        if follows:
            self._chosen_by_setting[leaf] = None
        return follows
