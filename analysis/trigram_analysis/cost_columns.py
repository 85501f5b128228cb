"""Columns of the comparison table: slow steps and what they cost, money and energy."""

from __future__ import annotations

from typing import Callable

from .column import Column, measured
from .column_unit import Unit, dollars_unit, energy_unit, percent_unit
from .comparison import Comparison

_LEAST_SHARE = 0.001  # of the time lost to slow workers, for a column in terminals

def tail_columns(comparison: Comparison, per_step: Callable[[float], Unit]) -> list[Column]:
    """In terminals, only if steps differ or workers lose time to others."""
    tail = any(run.has_tail for run in comparison.runs)
    slow = any((run.number("straggler_share") or 0) > _LEAST_SHARE for run in comparison.runs)
    return [
        measured("p50", "step_p50_s", per_step, "half of the steps take at most this time", brief=False),
        measured("p95", "step_p95_s", per_step, "95 % of the steps take at most this time", brief=False),
        measured("p99", "step_p99_s", per_step, "99 % of the steps take at most this time", "low", tail, rate=True),
        measured("stragglers", "straggler_share", percent_unit,
                 "share of the time by which the slowest worker's computation exceeds the mean", "low", slow, rate=True),
    ]


def cost_columns(comparison: Comparison) -> list[Column]:
    def column(title: str, key: str, unit: Callable[[float], Unit], help: str, brief: bool) -> Column:
        return Column(title, lambda p: p.mean(lambda run: run.cost(key)), unit, help, "low", brief=brief,
                      rate="to_target" not in key)

    declared = comparison.declared_target is not None
    return [
        column("cost/step", "usd_per_step", dollars_unit, "price of the nodes and of the traffic of a step",
               not declared),
        column("energy/step", "kwh_per_step", energy_unit, "electrical energy of the accelerators in a step",
               not declared),
        column("cost/Msamples", "usd_per_million_samples", dollars_unit, "price of a million samples", False),
        column("cost", "usd_to_target", dollars_unit, "price of the run until the target is reached", True),
        column("energy", "kwh_to_target", energy_unit, "energy of the accelerators until the target is reached", True),
    ]
