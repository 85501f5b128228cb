"""Relations between runs of different lengths, fidelities and worlds, and between values and
times."""

from __future__ import annotations

import random
from typing import Any

import clusters
import draws
from algorithms import BULK, FREE, PEERS
from relations import (
    SECONDS,
    TRAFFIC,
    Json,
    Relation,
    Variant,
    against,
    changed,
    differences,
    drawn_from,
    far,
    made,
    same,
    same_in_all,
    same_times,
)
from sweeps import Result

SETTLED = BULK + PEERS
# Algorithms that draw their peers, or that depend on time, make all steps and say so.
REPEATING = [a for a in SETTLED if a.get("graph") != "random_matching" and a["name"] != "gossipgrad"]
# These algorithms exchange models as a whole.
UNCUT = {"slowmo", "bmuf", "diloco", "easgd", "moshpit", "ecd_psgd", "choco_sgd", "deepsqueeze"}
BACKGROUND = {"osgp", "adpsgd", "swarm_sgd", "async_model_average"}
WEIGHTS = ["weights_hash", "loss", "eval_loss", "consensus_distance"]


def longer_run(config: Json, rng: random.Random) -> list[Any]:
    more = config["steps"] + rng.randint(1, 4)
    return [Variant(config), Variant(changed(config, {"/steps": more}))]


def is_prefix(results: list[Result], tolerance: float) -> str:
    """Compares all steps except the last of the shorter run, which may end with work that the
    longer run does in the next step."""
    short, long = (r.steps for r in results)
    wrong = []
    for a, b in zip(short[:-1], long):
        wrong += differences(a, b, [*SECONDS, *TRAFFIC], tolerance, f"step {a['step']}: ")
    return "; ".join(wrong[:6])


def same_weights(results: list[Result], tolerance: float) -> str:
    """Compares weights and totals of traffic. Time decides in which step a message arrives."""
    checks = same(*WEIGHTS), same(*TRAFFIC, steps=False)
    return "; ".join(filter(None, (check(results, tolerance) for check in checks)))


def sums_of_steps(results: list[Result], tolerance: float) -> str:
    summary, steps = results[0].summary, results[0].steps
    wrong = []
    for key in TRAFFIC:
        total = sum(step[key] for step in steps)
        if total != summary[key]:
            wrong.append(f"{key}: {summary[key]}, but {total} in all steps")
    rates = summary["rates"]
    rated = steps[rates["from_step"] : rates["from_step"] + rates["own_steps"]]
    for key in ("compute_s", "communication_s", "exposed_s"):
        mean = sum(step[key] for step in rated) / len(rated)
        if far(float(mean), float(summary[key]), tolerance):
            wrong.append(f"{key}: {summary[key]}, but the mean of the steps is {mean}")
    if far(steps[-1]["time_s"], summary["time_s"], tolerance):
        wrong.append(f"time_s: {summary['time_s']}, the last step ends at {steps[-1]['time_s']}")
    if not 0 <= summary["lower_bound_s"] <= summary["time_s"] * (1 + tolerance):
        wrong.append(f"time_s {summary['time_s']}, lower_bound_s {summary['lower_bound_s']}")
    return "; ".join(wrong)


def until_steady(config: Json, rng: random.Random) -> list[Any]:
    return [
        Variant(changed(config, {"/steps": 40, "/until_steady": steady}))
        for steady in (False, True)
    ]


def other_network(config: Json, rng: random.Random) -> list[Any]:
    """Another network between as many workers on as many nodes."""
    cluster = config["cluster"]
    other = clusters.network(rng) | {
        key: cluster[key] for key in ("nodes", "workers_per_node", "topology")
    }
    return [Variant(config), Variant(config | {"cluster": other})]


def priced(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(config), Variant(changed(config, {"/workload/priced_as": "resnet50"}))]


def valued(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(changed(config, {"/workload/values": v})) for v in (True, False)]


def in_threads(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(config), Variant(config | {"runtime": "threads"})]


def trained(among: list[Json], make_cluster: Any = clusters.cluster) -> Any:
    return drawn_from(among, draws.training, make_cluster=make_cluster)


def few_workers(rng: random.Random) -> Json:
    """A cluster without delays, because the real world would sleep for them."""
    drawn = clusters.network(rng)
    shape = {"nodes": rng.choice([2, 4]), "workers_per_node": rng.choice([1, 2])}
    return drawn | {"topology": {"kind": "flat"}} | shape


RELATIONS = [
    Relation(
        "the first steps of a longer run",
        "Later steps do not change earlier ones.",
        longer_run,
        is_prefix,
        where="all steps but the last of the shorter run, in which workers may skip work that only "
        "the next step needs",
        draw=drawn_from(SETTLED),
    ),
    Relation(
        "a summary and its steps",
        "Totals are the sums of the steps, and no time is below the bound of its bytes.",
        lambda config, rng: [Variant(config)],
        sums_of_steps,
        1e-9,
        "sums in another order",
    ),
    Relation(
        "a summary of an asynchronous run",
        "Messages in flight when the last step ends count neither as time nor as bytes.",
        lambda config, rng: [Variant(config)],
        sums_of_steps,
        1e-9,
        "sums in another order",
        where="algorithms that exchange in the background",
        draw=drawn_from([a for a in FREE if a["name"] in BACKGROUND]),
    ),
    Relation(
        "until steady and in full",
        "Steps that repeat themselves count like the last of them.",
        until_steady,
        same(*SECONDS, *TRAFFIC, "samples_per_s", "lower_bound_s", steps=False),
        2e-9,
        "steps count as alike if they differ by less than 1e-9 of a cycle",
        where="algorithms whose messages do not depend on chance",
        draw=drawn_from(REPEATING),
    ),
    Relation(
        "flows where they agree with messages",
        "The fidelity auto uses flows only if these take the same time as their messages.",
        against({"/runtime": {"name": "sim", "fidelity": "auto"}}),
        same("time_s", "step_s", *TRAFFIC, steps=False),
        0.01,
        "messages that take equally long within a thousandth count as alike; tests of the "
        "simulator hold flows to 1 %",
        where="algorithms in which all wait for all, on networks of links that are alike: between regions "
        "with very unlike delays, flows of hierarchical rings were up to 3.6 % off",
        draw=drawn_from(BULK),
        applies=lambda c: c["cluster"]["topology"]["kind"] != "wan",
    ),
    Relation(
        "weights at every fidelity",
        "Flows carry the values of the messages that they stand for, in the same order.",
        against({"/runtime": {"name": "sim", "fidelity": "fluid"}}),
        same_weights,
        where="algorithms that do not go by time",
        draw=trained(SETTLED),
        applies=lambda c: c["cluster"].get("transport", {}).get("protocol") != "rendezvous",
    ),
    Relation(
        "weights in the simulator and between threads",
        "The same source computes the same sums in the same order in every world.",
        in_threads,
        same(*WEIGHTS, *TRAFFIC, steps=False),
        where="algorithms that do not go by time",
        draw=trained(SETTLED, few_workers),
    ),
    Relation(
        "weights on another network",
        "Networks decide when values arrive, not which.",
        other_network,
        same_weights,
        where="algorithms that do not go by time",
        draw=trained(SETTLED),
    ),
    Relation(
        "weights of a model that is priced as another",
        "A price changes times and bytes, not values.",
        priced,
        same(*WEIGHTS),
        where="algorithms whose sums and codes do not depend on how tensors are cut into buckets",
        draw=trained([a for a in SETTLED if a["name"] in UNCUT]),
    ),
    Relation(
        "tensors without values",
        "A phantom has the sizes of the tensor, and therefore the same times.",
        valued,
        same_times,
        where="codes whose length does not depend on values",
        draw=trained(SETTLED),
    ),
    Relation(
        "evaluations in between",
        "Evaluations are excluded from times and change no weights.",
        against({"/eval_every": 1}),
        same(*SECONDS, *TRAFFIC, *WEIGHTS, steps=False),
        1e-12,
        "sums of times with and without pauses",
        where="algorithms whose workers wait for all others",
        draw=trained(BULK),
    ),
    Relation(
        "training made twice",
        "Draws depend only on the seed: values and times are the same to the last bit.",
        made("one job"),
        same_in_all,
        draw=trained(SETTLED + FREE),
    ),
    Relation(
        "weights with more noise",
        "Different gradients lead to different weights, so the hash does depend on the weights.",
        against({"/workload/noise": 0.2}),
        lambda results, tolerance: ""
        if results[0].summary["weights_hash"] != results[1].summary["weights_hash"]
        else "twice the noise leaves the weights as they are",
        draw=trained(SETTLED),
    ),
]
