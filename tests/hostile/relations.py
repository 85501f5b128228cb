"""Defines relations between runs, and the comparisons that relations make."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import Any, Callable

import clusters
import draws
from algorithms import BULK, PEERS, TIMING_DEPENDENT
from sweeps import Result

Json = dict[str, Any]

SECONDS = ["time_s", "step_s", "compute_s", "communication_s", "exposed_s"]
TRAFFIC = ["bytes_intra", "bytes_inter", "messages_intra", "messages_inter"]
VALUES = ["loss", "eval_loss", "weights_hash", "consensus_distance", "staleness_mean"]
ALL_ALGORITHMS = BULK + PEERS + TIMING_DEPENDENT


@dataclass(frozen=True)
class Variant:
    config: Json
    method: str = "sweep"  # a key of sweeps.HOW


# A variant, or a function that makes it from the results of the variants before it.
VariantOrFunction = Variant | Callable[[list[Result]], Variant]


@dataclass(frozen=True)
class Relation:
    name: str
    statement: str  # the relation in words, with the reason why it holds
    variants: Callable[[Json, random.Random], list[VariantOrFunction]]
    check: Callable[[list[Result], float], str]  # returns the difference; empty if the relation holds
    tolerance: float = 0.0
    tolerance_reason: str = "the same arithmetic in the same order"
    scope: str = "everywhere"
    applies: Callable[[Json], bool] = lambda config: True
    draw: Callable[[random.Random], Json] = lambda rng: draws.experiment(rng, ALL_ALGORITHMS)
    known_failure: str = ""  # the reason why failures are expected; they are then printed and do not count


def drawn_from(candidates: list[Json], make: Any = draws.experiment, **options: Any) -> Any:
    return lambda rng: make(rng, candidates, **options)


def flat_equal_nodes(rng: random.Random) -> Json:
    """A flat cluster of at least two equal nodes. Its number of workers divides every tensor of draws.profile
    evenly."""
    drawn = clusters.network(rng)
    return drawn | {
        "topology": {"kind": "flat"},
        "nodes": rng.choice([2, 3, 4, 5]),
        "workers_per_node": rng.choice([1, 2, 3]),
    }


def changed(config: Json, changes: dict[str, Any]) -> Json:
    """A copy of `config` with `changes` by JSON pointer. A change that is a function gets the old value and returns the
    new value."""
    result = copy.deepcopy(config)
    for pointer, change in changes.items():
        *parents, last = pointer.removeprefix("/").split("/")
        component = result
        for key in parents:
            component = component.setdefault(key, {})
        component[last] = change(component.get(last)) if callable(change) else copy.deepcopy(change)
    return result


def with_changes(changes: dict[str, Any], method: str = "sweep") -> Any:
    """Two variants: the drawn experiment, and the same experiment with `changes`."""
    return lambda config, rng: [Variant(config), Variant(changed(config, changes), method)]


def repeated(method: str) -> Any:
    """Two variants: the same experiment, run by two methods."""
    return lambda config, rng: [Variant(config), Variant(config, method)]


def never_faster(results: list[Result], tolerance: float) -> str:
    before, after = (r.summary["time_s"] for r in results)
    if after >= before * (1 - tolerance):
        return ""
    return f"the change makes {before} s to {after} s, a share of {1 - after / before:.3g} less"


def differs(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) > tolerance * max(abs(a), abs(b))
    return a != b


def differences(a: Json, b: Json, keys: list[str], tolerance: float, what: str = "") -> list[str]:
    return [
        f"{what}{key}: {a[key]} and {b[key]}" for key in keys if key in a and differs(a[key], b.get(key), tolerance)
    ]


def same(*keys: str, steps: bool = True) -> Callable[[list[Result], float], str]:
    """Requires equal numbers in all results, in the summary and in all steps."""

    def check(results: list[Result], tolerance: float) -> str:
        first = results[0]
        wrong = []
        for other in results[1:]:
            wrong += differences(first.summary, other.summary, list(keys), tolerance)
            if steps and len(first.steps) != len(other.steps):
                wrong.append(f"{len(first.steps)} and {len(other.steps)} steps")
            for a, b in zip(first.steps, other.steps) if steps else ():
                wrong += differences(a, b, list(keys), tolerance, f"step {a['step']}: ")
        return "; ".join(wrong[:6])

    return check


same_times = same(*SECONDS, *TRAFFIC)
same_in_all = same(*SECONDS, *TRAFFIC, *VALUES, "samples_per_s", "lower_bound_s")
