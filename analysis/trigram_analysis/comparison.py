"""What a set of runs compares: contenders (algorithms) at points of the settings that vary."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Callable, Iterable

from . import units
from .accuracy import best_accuracy, time_to_accuracy
from .naming import algorithm_name, algorithm_order
from .results import Run

_MISSING = "–"
_NOT_AXES = ("algorithm", "seed", "name", "description", "timeline", "$schema")
_TITLES = {
    "/cluster/inter/bandwidth": "inter-node bandwidth",
    "/cluster/inter/latency": "inter-node latency",
    "/cluster/intra/bandwidth": "intra-node bandwidth",
    "/cluster/intra/latency": "intra-node latency",
    "/cluster/nodes": "nodes",
    "/cluster/workers_per_node": "workers per node",
    "/runtime": "world",
    "/runtime/name": "world",
    "/workload": "workload",
    "/workload/name": "workload",
}


@dataclass(frozen=True)
class Axis:
    """A setting that varies between runs."""

    pointer: str

    @property
    def title(self) -> str:
        known = _TITLES.get(self.pointer)
        return known or " ".join(self.pointer.strip("/").split("/")[-2:]).replace("_", " ")


@dataclass(frozen=True)
class Value:
    """Where a run lies on an axis. Equal settings are equal however they were written."""

    key: str
    label: str
    dimension: str | None = None
    number: float | None = None

    @property
    def order(self) -> tuple[int, float, str]:
        return (0, self.number, "") if self.number is not None else (1, 0.0, self.label)


Setting = tuple[Value, ...]


@dataclass
class Point:
    """The runs of one algorithm at one setting; they differ in their seeds."""

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
        get = measure if callable(measure) else lambda run: run.number(measure)
        return [v for v in map(get, self.runs) if v is not None and math.isfinite(v)]

    def time_to(self, target: float) -> float | None:
        """Mean time to `target` accuracy; None unless every seed got there."""
        return self._mean_of_all(lambda run: time_to_accuracy(run, target))

    @property
    def epochs_to_target(self) -> float | None:
        """Mean number of epochs to the accuracy that the runs were to end at; as above."""
        return self._mean_of_all(lambda run: run.target.get("epochs"))

    def _mean_of_all(self, measure: Callable[[Run], float | None]) -> float | None:
        values = [measure(run) for run in self.runs]
        return None if None in values else statistics.fmean(values)  # type: ignore[arg-type]

    @property
    def oversubscribed(self) -> bool:
        return any(run.manifest.get("oversubscribed") for run in self.runs)


class Comparison:
    """The runs of one experiment, arranged."""

    def __init__(self, name: str, runs: list[Run]):
        self.name = name
        self.runs = runs
        self._leaves = {run.path: dict(_leaves(run.experiment, "")) for run in runs}
        self._varying_of: dict[tuple[str, str], set[str]] = {}
        self.axes = [Axis(pointer) for pointer in self._varying_pointers()]
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
        """One for figures that show one, of those with the most contenders: computation and
        communication both matter there."""
        most = max(len(self.at(s)) for s in self.settings)
        full = [s for s in self.settings if len(self.at(s)) == most]
        return full[len(full) // 2]

    @cached_property
    def declared_target(self) -> float | None:
        """The accuracy that all runs were to end at, if it is one."""
        declared = {run.experiment.get("target_accuracy") for run in self.runs}
        return declared.pop() if len(declared) == 1 else None

    @cached_property
    def target(self) -> float | None:
        """The accuracy that time-to-accuracy is taken at: the one that all runs were to end at; else
        the highest whole per cent that every point reaches, or 90 % of the best where some point
        falls far behind."""
        if self.declared_target is not None:
            return self.declared_target
        reached = [a for a in (p.mean(best_accuracy) for p in self.points) if a is not None]
        if not reached:
            return None
        worst, best = min(reached), max(reached)
        return math.floor(100 * (worst if worst >= 0.9 * best else 0.9 * best)) / 100

    def numeric_axis(self) -> int | None:
        """The axis to draw against: a bandwidth if there is one, else the numeric axis with the
        most values."""

        def rank(i: int) -> tuple[bool, int]:
            values = {s[i] for s in self.settings}
            return any(v.dimension == "bandwidth" for v in values), len(values)

        numeric = [
            i
            for i in range(len(self.axes))
            if all(s[i].number is not None for s in self.settings)
        ]
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

    def _varying_pointers(self) -> list[str]:
        swept = {pointer for run in self.runs for pointer in run.sweep}
        pointers: dict[str, None] = {}
        for leaf in self._varying_leaves(self.runs):
            if leaf.split("/")[1] not in _NOT_AXES and not self._is_of_algorithms(leaf):
                pointers[self._collapse(leaf, swept)] = None
        return list(pointers)

    def _is_of_algorithms(self, leaf: str) -> bool:
        """Whether it is of an optimizer that each algorithm has one of, such as a learning rate that
        suits it: then it is no setting that algorithms are compared at."""
        by_algorithm: dict[str, list[Run]] = {}
        for run in self.runs:
            by_algorithm.setdefault(_key(run.experiment.get("algorithm")), []).append(run)
        return leaf.startswith("/optimizer/") and not any(
            leaf in self._varying_leaves(runs) for runs in by_algorithm.values())

    @cached_property
    def _varying(self) -> set[str]:
        return set(self._varying_leaves(self.runs))

    @cached_property
    def _by_setting(self) -> dict[Setting, list[Point]]:
        order = {algorithm: i for i, algorithm in enumerate(self.algorithms)}
        groups: dict[Setting, list[Point]] = {}
        for point in sorted(self.points, key=lambda p: order[p.algorithm]):
            groups.setdefault(point.setting, []).append(point)
        return groups

    def _varying_leaves(self, runs: Iterable[Run]) -> list[str]:
        tables = [self._leaves[run.path] for run in runs]
        leaves = dict.fromkeys(leaf for table in tables for leaf in table)
        return [leaf for leaf in leaves if len({_key(t.get(leaf)) for t in tables}) > 1]

    def _collapse(self, leaf: str, swept: set[str]) -> str:
        """The pointer that stands for `leaf`: the swept one above it, or the component whose
        choice by name brought the leaf along."""
        parts = leaf.split("/")
        above = ["/".join(parts[: n + 1]) for n in range(1, len(parts))]
        for pointer in above:
            if pointer in swept:
                return pointer
        for pointer in above:
            if f"{pointer}/name" in self._varying:
                return pointer
        return leaf

    def _points(self) -> list[Point]:
        points: dict[tuple[Setting, str], Point] = {}
        names = self._algorithm_labels()
        for run in self.runs:
            setting = tuple(self._value(run, axis) for axis in self.axes)
            key = (setting, names[run.path])
            points.setdefault(key, Point(setting, names[run.path], [])).runs.append(run)
        return list(points.values())

    def _value(self, run: Run, axis: Axis) -> Value:
        found = _lookup(run.experiment, axis.pointer)
        found = run.sweep.get(axis.pointer) if found is None else found
        parsed = units.quantity(found)
        if parsed:
            return Value(f"{parsed[0]} {parsed[1]!r}", units.show(found), *parsed)
        return Value(_key(found), self._object_label(found, axis.pointer))

    def _object_label(self, found: Any, pointer: str) -> str:
        if found is None:
            return _MISSING
        if not isinstance(found, dict):
            return units.show(found)
        name = found.get("name")
        varying = self._varying if name is None else self._varying_within(pointer, str(name))
        options = [
            f"{leaf[len(pointer) + 1:]}={units.show(value)}"
            for leaf, value in _leaves(found, pointer)
            if leaf in varying and not leaf.endswith("/name")
        ]
        return ", ".join(([] if name is None else [str(name)]) + options) or _MISSING

    def _varying_within(self, pointer: str, name: str) -> set[str]:
        """What varies among the runs that have the same component at `pointer`."""
        key = (pointer, name)
        if key not in self._varying_of:
            same = [r for r in self.runs if self._leaves[r.path].get(f"{pointer}/name") == name]
            self._varying_of[key] = set(self._varying_leaves(same))
        return self._varying_of[key]

    def _algorithm_labels(self) -> dict[Path, str]:
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(algorithm_name(run), []).append(run)
        labels: dict[Path, str] = {}
        for name, runs in groups.items():
            leaves = [x for x in self._varying_leaves(runs) if x.startswith("/algorithm/")]
            for run in runs:
                mine = self._leaves[run.path]
                options = [
                    f"{leaf.split('/')[-1]}={units.show(mine[leaf])}"
                    for leaf in leaves
                    if leaf in mine
                ]
                labels[run.path] = f"{name} ({', '.join(options)})" if options else name
        return labels


def _leaves(value: Any, pointer: str) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _leaves(child, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    else:
        yield pointer, value


def _lookup(value: Any, pointer: str) -> Any:
    for key in pointer.split("/")[1:]:
        if not isinstance(value, dict):
            return None
        value = value.get(key.replace("~1", "/").replace("~0", "~"))
    return value


def _key(value: Any) -> str:
    parsed = units.quantity(value)
    return f"{parsed[0]} {parsed[1]!r}" if parsed else json.dumps(value, sort_keys=True)
