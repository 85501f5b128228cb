"""Loads result folders: results/<name>/<id>/{manifest.json, metrics.jsonl, trace.json, DONE}."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Iterable, Iterator

from . import readable

SCHEMA = 1  # schema version of manifests


@dataclass
class Run:
    """One finished run."""

    path: Path
    manifest: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.manifest.get("name") or self.path.parent.name)

    @property
    def id(self) -> str:
        return str(self.manifest.get("id") or self.path.name)

    @property
    def experiment(self) -> dict[str, Any]:
        return _object(self.manifest, "experiment")

    @property
    def sweep(self) -> dict[str, Any]:
        return _object(self.manifest, "sweep")

    @property
    def inputs(self) -> dict[str, str]:
        """SHA-256 of each input file by its path; empty for older programs, which do not record it."""
        return _object(self.manifest, "inputs")

    @property
    def summary(self) -> dict[str, Any]:
        return _object(self.manifest, "summary")

    @property
    def target(self) -> dict[str, Any]:
        """When the run reached its target; empty if it has no target."""
        return _object(self.summary, "target")

    @property
    def seed(self) -> Any:
        return self.experiment.get("seed")

    @property
    def seeds(self) -> str:
        """The run's seeds as a text. Runs that differ in nothing else are repetitions of one experiment."""
        return json.dumps([self.seed, _object(self.experiment, "cluster").get("jitter_seed")])

    @property
    def steps(self) -> int | None:
        """The number of steps that the run's totals cover, which may be smaller than the configured number."""
        steps = self.summary.get("steps")
        if steps is not None:
            return steps
        time_s, step_s = self.number("time_s"), self.number("step_s")
        if time_s and step_s:
            return max(round(time_s / step_s), 1)
        configured = self.experiment.get("steps")
        return configured if isinstance(configured, int) and configured > 0 else None

    def per_step(self, key: str) -> float | None:
        """A total of the summary, such as bytes, divided by the number of steps. If the summary has separate totals for
        the steps that the run's means cover, these are used. If workers make different numbers of steps, the divisor is
        their mean number."""
        if rates := _object(self.summary, "rates"):
            total, steps = rates.get(key), rates.get("steps_made", rates.get("steps"))
        else:
            total, steps = self.number(key), self.steps
        return total / steps if total is not None and steps else None

    @property
    def warm_up_steps(self) -> int:
        """The number of steps before the first step that the run's means cover."""
        return _object(self.summary, "rates").get("from_step") or 0

    @property
    def averaged_steps(self) -> str:
        """The steps that the run's means cover, in words; empty if they cover all steps."""
        return _object(self.summary, "rates").get("over") or ""

    @property
    def paces(self) -> tuple[float, float] | None:
        """Samples per second of the slowest and of the fastest worker; None if these do not differ much."""
        paces = _object(self.summary, "paces")
        found = [_object(paces, worker).get("samples_per_s") for worker in ("slowest", "fastest")]
        return (found[0], found[1]) if None not in found else None

    @property
    def recorded_step(self) -> int:
        """The step that trace.json shows: the configured one, or the last step of a run that is shorter."""
        if isinstance(shown := self.summary.get("shown_step"), int):
            return shown
        configured, steps = _object(self.experiment, "timeline").get("step"), self.experiment.get("steps")
        step = configured if isinstance(configured, int) else 2
        return min(step, steps - 1) if isinstance(steps, int) and steps > 0 else step

    @property
    def workers_per_node(self) -> int:
        return self._cluster_number("workers_per_node")

    @property
    def workers(self) -> int:
        return self._cluster_number("nodes") * self.workers_per_node

    def _cluster_number(self, key: str) -> int:
        number = _object(self.experiment, "cluster").get(key)
        return number if isinstance(number, int) and number > 0 else 1

    @property
    def simulated(self) -> bool:
        return self.manifest.get("time_kind") != "wall"

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """One object per step; a line that cannot be read is skipped."""
        return list(_json_lines(self.path / "metrics.jsonl"))

    @cached_property
    def step_times(self) -> list[float]:
        """The time of each step, in seconds. If the run ended early because its steps repeated a cycle, the steps that
        were left out are filled in with the last cycle before the run was found steady."""
        times = [record["step_s"] for record in self.records]
        steady = _object(self.summary, "steady")
        if not steady:
            return times
        end = steady["step"] + 1
        cycle = times[end - steady["cycle"]:end]
        return times[:end] + steady["left_out"] // steady["cycle"] * cycle + times[end:]

    @cached_property
    def _evaluated(self) -> list[dict[str, Any]]:
        records = _json_lines(self.path / "metrics.jsonl", containing=("accuracy", "eval_loss"))
        return [record for record in records if None not in (record.get("step"), record.get("time_s"))]

    def evaluations(self, column: str) -> list[tuple[float, float, float | None]]:
        """(steps made, seconds of training, value) of each evaluation that has the column, such as "accuracy". The
        value is None if it is no usable number."""
        return [(record["step"] + 1, record["time_s"], record[column])
                for record in self._evaluated if column in record]

    def cost(self, key: str) -> float | None:
        """A number of the summary's "cost", in dollars or kWh; None if the cluster has no price or power."""
        value = _object(self.summary, "cost").get(key)
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def has_tail(self) -> bool:
        """True if a step in a hundred takes clearly longer than the median step."""
        median, tail = self.number("step_p50_s"), self.number("step_p99_s")
        return median is not None and tail is not None and tail > 1.02 * median

    def number(self, key: str) -> float | None:
        """A number of the summary; None if it is absent or does not apply."""
        value = self.summary.get(key)
        return float(value) if isinstance(value, (int, float)) else None


@dataclass
class Excluded:
    """The folder of a run that does not count, and the reason."""

    path: Path
    reason: str
    label: str = ""
    experiment: str = ""  # the name of the experiment that the run belongs to


@dataclass
class Results:
    runs: list[Run] = field(default_factory=list)
    failed: list[Excluded] = field(default_factory=list)
    unfinished: list[Excluded] = field(default_factory=list)
    foreign: list[Excluded] = field(default_factory=list)  # from another program, or with another schema

    @property
    def excluded(self) -> list[Excluded]:
        return self.failed + self.unfinished + self.foreign

    def by_name(self) -> dict[str, list[Run]]:
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(run.name, []).append(run)
        return groups


def load(folder: Path, ids: Iterable[str] | None = None) -> Results:
    """All runs in `folder`, which is a run, an experiment's folder, or a folder of experiments; with `ids`, only these
    runs of an experiment's folder. Runs that were interrupted, or are still under way, are unfinished."""
    results = Results()
    for path in sorted(_run_folders(folder) if ids is None else {folder / name for name in ids}):
        _load_run(path, results)
    return results


def _run_folders(folder: Path) -> Iterator[Path]:
    for pattern in (".", "*", "*/*"):
        for path in folder.glob(pattern) if pattern != "." else (folder,):
            if path.is_dir() and (_is_temporary(path) or any((path / f).exists() for f in ("manifest.json", "DONE"))):
                yield path


def _is_temporary(path: Path) -> bool:
    return ".tmp." in path.name


def _load_run(path: Path, results: Results) -> None:
    if _is_temporary(path):
        results.unfinished.append(Excluded(path, "interrupted, or under way", experiment=path.parent.name))
        return
    try:
        manifest = json.loads(readable.read_text(path / "manifest.json"))
        if not isinstance(manifest, dict):
            raise ValueError("not an object")
    except (OSError, ValueError, RecursionError) as error:
        reason = f"no readable manifest.json ({error})"
        results.unfinished.append(Excluded(path, reason, experiment=path.parent.name))
        return
    problem = readable.problem(manifest)
    if problem:  # not even the sweep of this manifest can be shown
        results.foreign.append(Excluded(path, problem, experiment=path.parent.name))
        return
    run = Run(path, manifest)
    excluded, reason = _exclusion(run, results)
    if excluded is None:
        results.runs.append(run)
    else:
        excluded.append(Excluded(path, reason, sweep_label(run.sweep), run.name))


def _exclusion(run: Run, results: Results) -> tuple[list[Excluded] | None, str]:
    """The list of excluded runs to which this run belongs, and the reason; (None, "") if the run counts."""
    incompatibility = _incompatibility(run.manifest)
    if incompatibility:
        return results.foreign, incompatibility
    error = run.manifest.get("error")
    if run.manifest.get("status") == "failed" or error:
        return results.failed, str(error or "no message")
    if not (run.path / "DONE").exists():
        return results.unfinished, "no DONE file"
    return None, ""


def _incompatibility(manifest: dict[str, Any]) -> str:
    """The reason why this program does not read a manifest; empty if it reads it."""
    schema = manifest.get("schema_version")
    if not isinstance(schema, int):
        return "no manifest of Trigram: it has no schema_version"
    if schema != SCHEMA:
        age = "an older" if schema < SCHEMA else "a newer"
        return f"schema version {schema} is of {age} program; this one reads {SCHEMA}"
    if not isinstance(manifest.get("experiment"), dict):
        return "no manifest of Trigram: it has no experiment"
    return ""


def sweep_label(sweep: dict[str, Any]) -> str:
    return ", ".join(f"{pointer} = {_as_text(value)}" for pointer, value in sweep.items())


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _object(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _json_lines(path: Path, containing: tuple[str, ...] = ("",)) -> Iterator[dict[str, Any]]:
    """The objects in those lines that contain one of the texts `containing`. Other lines are not parsed, because a run
    may have millions of steps and few evaluations."""
    try:
        lines = readable.read_text(path, errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        if not any(text in line for text in containing):
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):  # an unusable number counts as absent
            yield {key: value if readable.is_usable_number(value) else None for key, value in record.items()}
