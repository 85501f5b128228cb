"""Finds the cell of a published table to which a run belongs, and the run's value for this cell."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from .pointer import lookup
from .results import Run
from .units import quantity


class ClaimError(ValueError):
    """claims.json or a table that it names is invalid, or a run has no value for a cell."""


def value_of(run: Run, claim: dict[str, Any]) -> float:
    """The measure that the claim describes, in the claim's unit: a number of the run's summary, or a number that
    follows from the mean step time. The mean excludes the last step, which waits for all messages in flight, and the
    steps before `from_step`, which warm up or use up saved credit of links."""
    measure = claim["measure"]
    if "summary" in measure:
        return measure.get("times", 1) * _summary_value(run, claim)
    step_s = _mean_step_s(run, claim)
    if "computing_s" in measure:
        return _computing_or_waiting(run, step_s, claim)
    if "moves" in measure:
        moved = cell_of(run, claim["cell"][measure["moves"]])
        try:
            return float(moved) * measure.get("times", 1) / step_s
        except ValueError as error:
            raise ClaimError(f"{claim['id']}: run {run.id} moves {moved}, no number of {measure['moves']}") from error
    if "steps" in measure:
        return step_s * measure["steps"]
    cluster = run.experiment.get("cluster") or {}
    if not (cluster.get("nodes") and cluster.get("workers_per_node")):
        raise ClaimError(f"{claim['id']}: run {run.id} does not say how many workers it has")
    return measure["samples_per_worker"] * cluster["nodes"] * cluster["workers_per_node"] / step_s


def _summary_value(run: Run, claim: dict[str, Any]) -> float:
    key = claim["measure"]["summary"]
    value = run.number(key)
    if value is None:
        raise ClaimError(f"{claim['id']}: run {run.id} has no {key} in its summary")
    return value


def _computing_or_waiting(run: Run, step_s: float, claim: dict[str, Any]) -> float:
    """The share of a step during which workers compute. If the measure has `every`, the result is the time, in seconds,
    during which workers do not compute in that many steps."""
    measure = claim["measure"]
    if "every" not in measure:
        return measure["computing_s"] / step_s
    steps = float(cell_of(run, claim["cell"][measure["every"]]))
    return (step_s - measure["computing_s"]) * steps


def _mean_step_s(run: Run, claim: dict[str, Any]) -> float:
    """The mean time, in seconds, of the steps that count."""
    first = claim["measure"].get("from_step", 0)
    try:
        steps = run.step_times[first:-1]
        step_s = fmean(steps) if steps else None
    except (KeyError, TypeError) as error:
        raise ClaimError(f"{claim['id']}: run {run.id} has steps without their time") from error
    if step_s is None:
        raise ClaimError(f"{claim['id']}: run {run.id} has no step between step {first} and its last")
    if step_s <= 0:
        raise ClaimError(f"{claim['id']}: run {run.id} has steps that take no time")
    return step_s


def cell_of(run: Run, rule: dict[str, Any]) -> str:
    """The text for a run's value at the rule's pointer. If the rule has cases, the first case whose members all equal
    the value's gives the text. If no case applies, or the rule has only names, the text is the name of the value, which
    `names` may translate. Without cases and names, the value is a quantity, which `times` converts to the rule's
    unit."""
    value = run.sweep.get(rule["pointer"], lookup(run.experiment, rule["pointer"]))
    for case in rule.get("cases", []):
        if isinstance(value, dict) and all(value.get(key) == wanted for key, wanted in case["where"].items()):
            return str(case["name"])
    if "names" in rule or "cases" in rule:
        name = value.get("name") if isinstance(value, dict) else value
        return rule.get("names", {}).get(str(name), str(name))
    parsed = quantity(value)
    if parsed is None:
        raise ClaimError(f"run {run.id}: {rule['pointer']} is {value!r}, no quantity")
    return f"{parsed[1] * rule.get('times', 1):g}"
