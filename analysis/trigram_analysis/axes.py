"""The axes of a comparison. An axis is an option that varies between runs and does not follow from another option; a
setting is one value on each axis. Runs are compared at equal settings. (The axes that figures draw are other
objects.)"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, Hashable, Iterable

from . import inputs, units
from .pointer import child, lookup
from .results import Run

_MISSING = "–"
_NOT_AXES = ("algorithm", "seed", "name", "description", "timeline", "$schema")
_SEEDS = ("/cluster/jitter_seed",)  # beside the experiment's own seed, which _NOT_AXES has
_INPUTS = "/inputs"  # the content of input files, which experiments name only by path
_TITLES = {  # by pointer, the titles of options that people usually vary
    _INPUTS: "input content",
    "/cluster/inter/bandwidth": "inter-node bandwidth",
    "/cluster/inter/latency": "inter-node latency",
    "/cluster/inter/shaping/rate": "inter-node rate",
    "/cluster/intra/bandwidth": "intra-node bandwidth",
    "/cluster/intra/latency": "intra-node latency",
    "/cluster/nodes": "nodes",
    "/cluster/workers_per_node": "workers per node",
    "/runtime": "world",
    "/runtime/name": "world",
    "/workload": "workload",
    "/workload/name": "workload",
    "/workload/priced_as": "workload priced as",
}
# Several jobs share the network: all of them, and the measured one, whose fields are at the top level.
_JOBS, _JOB = "/jobs", "/job"
# Algorithms are compared only where these are equal, except the transport of a cluster, which is software.
_COMMON = ("/runtime", "/workload", "/cluster", "/target_accuracy", "/target_loss", _JOB, _JOBS)
_TRANSPORT = "/cluster/transport"
_OPTIMIZER = "/optimizer"


@dataclass(frozen=True)
class Axis:
    """An option that varies between runs."""

    pointer: str
    leaves: tuple[str, ...] = ()  # the varying options at or below `pointer` that belong to no other axis
    job: str = ""  # the name of the job whose option it is, if that is another one than the measured job

    @property
    def title(self) -> str:
        known = _TITLES.get(self.pointer)
        parts = self.pointer.strip("/").split("/")
        if self.job:
            return " ".join([self.job, *parts[2:][-2:]]).replace("_", " ")
        shown = 3 if len(parts) > 2 and parts[-2].isdecimal() else 2  # an element of a list is shown with its list
        return known or " ".join(parts[-shown:]).replace("_", " ")


@dataclass(frozen=True)
class Value:
    """The position of a run on an axis. Equal quantities have equal keys however they were written."""

    key: str
    label: str
    dimension: str | None = None
    number: float | None = None

    @property
    def order(self) -> tuple[int, float, units.NaturalKey]:
        return (0, self.number, []) if self.number is not None else (1, 0.0, units.natural(self.label))


Setting = tuple[Value, ...]


class Axes:
    """The axes of some runs. Varying options that follow from an axis or from the algorithm are no axes; `coupled` and
    `algorithm_options` list them."""

    def __init__(self, runs: list[Run]):
        self._runs = runs
        self._swept = {pointer for run in runs for pointer in run.sweep}
        self._leaves = {run.path: dict(self._leaves_of(run.experiment, "")) for run in runs}
        for path, version in inputs.input_versions(runs).items():
            self._leaves[path][_INPUTS] = version
        self._drop_leaves_of_jobs()
        self._varying_by_component: dict[tuple[str, str], set[str]] = {}
        self._algorithm_leaves = [leaf for leaf in self._varying if self._is_algorithm_option(leaf)]
        self._columns: dict[Axis, dict[Path, Value]] = {
            axis: {run.path: self._value(run, axis) for run in runs} for axis in self._candidates()}
        self.independent = self._independent()

    def setting(self, run: Run) -> Setting:
        return tuple(self._columns[axis][run.path] for axis in self.independent)

    @cached_property
    def coupled(self) -> dict[Axis, list[Axis]]:
        """The options that follow from each axis and are therefore no axes."""
        found: dict[Axis, list[Axis]] = defaultdict(list)
        for axis in self._columns:
            if axis not in self.independent:
                leader = next(a for a in self.independent if self._determines(a, axis))
                found[leader].append(axis)
        return found

    @property
    def algorithm_options(self) -> list[Axis]:
        """The options for which each algorithm has its own value, and which are therefore no axes."""
        return [Axis(pointer) for pointer in dict.fromkeys(map(self._collapse, self._algorithm_leaves))]

    def _drop_leaves_of_jobs(self) -> None:
        """Drops the options of other jobs that follow from the measured job: because all runs of that job have the
        same value, or because the other job has always the value of the measured one, such as a swept seed."""
        leaves = {leaf for table in self._leaves.values() for leaf in table if _within(leaf, _JOBS)}
        for leaf in leaves:
            own = "/" + "/".join(leaf.split("/")[3:])
            tables = [self._leaves[run.path] for run in self._runs]
            names = [run.experiment.get("job") for run in self._runs]
            inherited = all(key_of(t[leaf]) == key_of(t.get(own)) for t in tables if leaf in t)
            if inherited or is_function((name, key_of(t.get(leaf))) for name, t in zip(names, tables)):
                for table in tables:
                    table.pop(leaf, None)

    def varying_leaves(self, runs: Iterable[Run]) -> list[str]:
        tables = [self._leaves[run.path] for run in runs]
        leaves = dict.fromkeys(leaf for table in tables for leaf in table)
        return [leaf for leaf in leaves if len({key_of(t.get(leaf)) for t in tables}) > 1]

    def leaf(self, run: Run, pointer: str) -> Any:
        return self._leaves[run.path].get(pointer)

    def was_swept(self, pointer: str) -> bool:
        """True if an experiment varies `pointer`, or an object that contains it, on purpose."""
        return any(_within(pointer, swept) for swept in self._swept)

    @cached_property
    def _varying(self) -> dict[str, None]:
        return dict.fromkeys(self.varying_leaves(self._runs))

    def _is_algorithm_option(self, leaf: str) -> bool:
        """True if each algorithm has its own value, such as a learning rate that suits it; the option is then no axis.
        Runs that were started separately may differ by mistake, so among these runs, only optimizer options count as
        chosen for the algorithm."""
        common = any(_within(leaf, pointer) for pointer in _COMMON) and not _within(leaf, _TRANSPORT)
        if leaf.startswith("/algorithm/") or common:
            return False
        intended = leaf.startswith(_OPTIMIZER + "/") or self.was_swept(leaf)
        return intended and is_function((key_of(run.experiment.get("algorithm")),
                                         key_of(self.leaf(run, leaf))) for run in self._runs)

    def _candidates(self) -> list[Axis]:
        found: dict[str, list[str]] = defaultdict(list)
        for leaf in self._varying:
            if leaf.split("/")[1] not in _NOT_AXES and leaf not in (*_SEEDS, *self._algorithm_leaves):
                found[self._collapse(leaf)].append(leaf)
        return [Axis(pointer, tuple(leaves), self._job_of(pointer)) for pointer, leaves in found.items()]

    def _job_of(self, pointer: str) -> str:
        """The name of the job to which an option below "jobs" belongs; empty if runs give it several names."""
        parts = pointer.split("/")
        if len(parts) < 4 or f"/{parts[1]}" != _JOBS:
            return ""
        names = {str(lookup(run.experiment, "/".join([*parts[:3], "name"]))) for run in self._runs}
        return names.pop() if len(names) == 1 else ""

    def _collapse(self, leaf: str) -> str:
        """The pointer that stands for `leaf`: the nearest swept pointer at or above it; else the component with a
        varying name to which the leaf belongs; else the leaf itself."""
        parts = leaf.split("/")
        above = ["/".join(parts[: n + 1]) for n in range(1, len(parts))]
        for pointer in reversed(above):
            if pointer in self._swept:
                return pointer
        for pointer in above:
            if f"{pointer}/name" in self._varying:
                return pointer
        return leaf

    def _independent(self) -> list[Axis]:
        """The axes, without those that an experiment varies together with another axis. Of several axes that determine
        each other, an axis with a known title is preferred to other axes, and an axis of quantities to an axis of
        texts. If runs were started separately, all axes are kept, because nobody coupled them on purpose."""
        kept = list(self._columns)
        for axis in sorted(reversed(kept), key=self._preference):
            remaining = [a for a in kept if a != axis]
            if axis.pointer != _JOB and any(self._determines(a, axis) for a in remaining):
                kept = remaining
        return kept

    def _preference(self, axis: Axis) -> tuple[bool, bool]:
        return (axis.pointer in _TITLES,
                all(value.number is not None for value in self._columns[axis].values()))

    def _determines(self, axis: Axis, other: Axis) -> bool:
        """True if an experiment varies both axes, and the value on `axis` determines the value on `other`. Every job
        gives its own options on purpose."""
        if axis.pointer != _JOB and not (self.was_swept(axis.pointer) and self.was_swept(other.pointer)):
            return False
        values, other_values = self._columns[axis], self._columns[other]
        return is_function((values[path].key, other_values[path].key) for path in values)

    def _value(self, run: Run, axis: Axis) -> Value:
        found = self.leaf(run, axis.pointer) if axis.pointer == _INPUTS else lookup(run.experiment, axis.pointer)
        if found is None and not _is_of_measured_job(run, axis.pointer):
            found = run.sweep.get(axis.pointer)
        parsed = units.quantity(found)
        if parsed:
            return Value(_quantity_key(parsed), units.show(found), *parsed)
        if not isinstance(found, dict):
            return Value(key_of(found), _MISSING if found is None else units.show(found))
        leaves = [leaf for leaf in axis.leaves if leaf in self._leaves[run.path]]
        key = json.dumps([(leaf, key_of(self.leaf(run, leaf))) for leaf in sorted(leaves)])
        label = self._object_label(found, axis)
        size = units.quantity(label) if _is_profile(found) else None
        return Value(key, units.show(label), *size) if size else Value(key, label)

    def _object_label(self, found: dict[str, Any], axis: Axis) -> str:
        """The name of the object, with the options that vary among objects of this name. A profile is named by
        its file."""
        name, within = found.get("name"), axis.pointer
        varying = set(axis.leaves) if name is None else self._varying_within(axis, str(name))
        head = [] if name is None else [str(name)]
        if _is_profile(found) and self._has_unique_file_names(within):
            head, varying = [_stem(found["path"])], varying - {f"{within}/path"}
        options = [
            f"{leaf[len(within) + 1:]}={units.show(value)}"
            for leaf, value in self._leaves_of(found, within)
            if leaf in varying and not leaf.endswith("/name")
        ]
        return ", ".join(head + options) or _MISSING

    def _leaves_of(self, value: Any, pointer: str) -> Iterable[tuple[str, Any]]:
        """The options at and below `pointer`. A list is one option, unless an experiment varies one of its elements."""
        members: Iterable[tuple[str, Any]] = ()
        if isinstance(value, dict):
            members = value.items()
        elif isinstance(value, list) and (
            pointer == _JOBS or any(swept.startswith(pointer + "/") for swept in self._swept)):
            members = ((str(i), element) for i, element in enumerate(value))
        else:
            yield pointer, value
        for key, member in members:
            yield from self._leaves_of(member, child(pointer, key))

    def _has_unique_file_names(self, pointer: str) -> bool:
        """True if no two profiles at `pointer` have the same file name."""
        paths = {str(self.leaf(run, f"{pointer}/path")) for run in self._runs}
        return len({_stem(path) for path in paths}) == len(paths)

    def _varying_within(self, axis: Axis, name: str) -> set[str]:
        """The options of `axis` that vary among the runs that have the component `name` there."""
        key = (axis.pointer, name)
        if key not in self._varying_by_component:
            same = [r for r in self._runs if self.leaf(r, f"{axis.pointer}/name") == name]
            self._varying_by_component[key] = set(self.varying_leaves(same)) & set(axis.leaves)
        return self._varying_by_component[key]


def _is_of_measured_job(run: Run, pointer: str) -> bool:
    jobs = run.experiment.get("jobs", [])
    return any(job.get("name") == run.experiment.get("job") and _within(pointer, f"{_JOBS}/{i}")
               for i, job in enumerate(jobs))


def is_function(pairs: Iterable[tuple[Hashable, Hashable]]) -> bool:
    """True if the first element of a pair determines the second."""
    known: dict[Hashable, Hashable] = {}
    return all(known.setdefault(first, second) == second for first, second in pairs)


def key_of(value: Any) -> str:
    parsed = units.quantity(value)
    return _quantity_key(parsed) if parsed else json.dumps(value, sort_keys=True)


def _quantity_key(parsed: tuple[str, float]) -> str:
    return f"{parsed[0]} {parsed[1]!r}"


def _is_profile(component: dict[str, Any]) -> bool:
    return component.get("name") == "profile" and isinstance(component.get("path"), str)


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _within(pointer: str, above: str) -> bool:
    return pointer == above or pointer.startswith(above + "/")
