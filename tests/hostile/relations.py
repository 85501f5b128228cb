"""Defines relations between runs, and the comparisons that relations make."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import Any, Callable

import clusters
import draws
from algorithms import BULK, FREE, PEERS
from sweeps import Result

Json = dict[str, Any]

SECONDS = ["time_s", "step_s", "compute_s", "communication_s", "exposed_s"]
TRAFFIC = ["bytes_intra", "bytes_inter", "messages_intra", "messages_inter"]
VALUES = ["loss", "eval_loss", "weights_hash", "consensus_distance", "staleness_mean"]
EVERY = BULK + PEERS + FREE


@dataclass(frozen=True)
class Variant:
    config: Json
    how: str = "sweep"  # a key of sweeps.HOW


# The second and later variants may depend on the results of the variants before them.
Later = Variant | Callable[[list[Result]], Variant]


@dataclass(frozen=True)
class Relation:
    name: str
    holds: str  # the statement that must hold, with the reason
    variants: Callable[[Json, random.Random], list[Later]]
    check: Callable[[list[Result], float], str]  # returns the difference found; empty if the relation holds
    tolerance: float = 0.0
    because: str = "the same arithmetic in the same order"
    where: str = "everywhere"
    applies: Callable[[Json], bool] = lambda config: True
    draw: Callable[[random.Random], Json] = lambda rng: draws.experiment(rng, EVERY)
    missed: str = ""  # the reason why the program is known to violate it; then failures are only printed


def drawn_from(among: list[Json], make: Any = draws.experiment, **options: Any) -> Any:
    return lambda rng: make(rng, among, **options)


def flat_and_alike(rng: random.Random) -> Json:
    """At least two nodes, and numbers of workers that divide every tensor evenly."""
    drawn = clusters.network(rng)
    return drawn | {
        "topology": {"kind": "flat"},
        "nodes": rng.choice([2, 3, 4, 5]),
        "workers_per_node": rng.choice([1, 2, 3]),
    }


def changed(config: Json, changes: dict[str, Any]) -> Json:
    """A copy with `changes` by JSON pointer. A change that is a function maps the old value to the
    new."""
    result = copy.deepcopy(config)
    for pointer, change in changes.items():
        *parents, last = pointer.removeprefix("/").split("/")
        place = result
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = change(place.get(last)) if callable(change) else copy.deepcopy(change)
    return result


def against(changes: dict[str, Any], how: str = "sweep") -> Any:
    """Two variants: the experiment as drawn, and the experiment with `changes`."""
    return lambda config, rng: [Variant(config), Variant(changed(config, changes), how)]


def made(how: str) -> Any:
    """Two variants: the same experiment, made in another way."""
    return lambda config, rng: [Variant(config), Variant(config, how)]


def never_faster(results: list[Result], tolerance: float) -> str:
    before, after = (r.summary["time_s"] for r in results)
    if after >= before * (1 - tolerance):
        return ""
    return f"the change makes {before} s to {after} s, a share of {1 - after / before:.3g} less"


def far(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) > tolerance * max(abs(a), abs(b))
    return a != b


def differences(a: Json, b: Json, keys: list[str], tolerance: float, what: str = "") -> list[str]:
    return [
        f"{what}{key}: {a[key]} and {b[key]}"
        for key in keys
        if key in a and far(a[key], b.get(key), tolerance)
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
