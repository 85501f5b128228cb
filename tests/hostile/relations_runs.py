"""Relations between runs of different lengths, fidelities and worlds, and between values and times."""

from __future__ import annotations

import random
from typing import Any

import clusters
import draws
from algorithms import BULK, PEERS, TIMING_DEPENDENT
from relations import (SECONDS, TRAFFIC, Json, Relation, Variant, changed, differences, differs, drawn_from, repeated,
                       same, same_in_all, same_times, with_changes)
from sweeps import Result

DETERMINISTIC = BULK + PEERS
# The other algorithms draw their peers, so their steps never repeat.
REPEATING = [a for a in DETERMINISTIC if a.get("graph") != "random_matching" and a["name"] != "gossipgrad"]
# These algorithms exchange models as a whole.
WHOLE_MODEL = {"slowmo", "bmuf", "diloco", "eager_diloco", "co2", "noloco", "sparseloco", "easgd", "moshpit", "ecd_psgd", "choco_sgd", "deepsqueeze"}
# Their last exchange goes on when a worker's last step has ended. In real time, some of its messages are sent earlier
# and count.
OUTLASTING = {
    "delayed_allreduce", "streaming_diloco", "eager_diloco", "co2", "dilocox", "parameter_server",
}
BACKGROUND = {"osgp", "adpsgd", "swarm_sgd", "async_model_average"}
WEIGHTS = ["weights_hash", "loss", "eval_loss", "consensus_distance"]


def longer_run(config: Json, rng: random.Random) -> list[Any]:
    more = config["steps"] + rng.randint(1, 4)
    return [Variant(config), Variant(changed(config, {"/steps": more}))]


def is_prefix(results: list[Result], tolerance: float) -> str:
    """Compares all steps except the last step of the shorter run, which may contain work that the longer run does in
    the next step. The traffic of a step is what has arrived when the slowest worker ends it. If workers wait only for
    their peers, faster ones may then have begun a step that the shorter run does not have, so only times are
    compared."""
    short, long = (r.steps for r in results)
    keys = SECONDS if is_one_of(PEERS, results[0].experiment["algorithm"]) else [*SECONDS, *TRAFFIC]
    wrong = []
    for a, b in zip(short[:-1], long):
        wrong += differences(a, b, keys, tolerance, f"step {a['step']}: ")
    return "; ".join(wrong[:6])


def is_one_of(algorithms: list[Json], algorithm: Json) -> bool:
    """True if an algorithm with all its options has the options of one of these."""
    return any(options.items() <= algorithm.items() for options in algorithms)


def same_weights(results: list[Result], tolerance: float) -> str:
    """Compares weights, and totals of traffic, because the step in which a message arrives depends on time. Of an
    exchange that goes on after the run, some messages may arrive before its end, but a flow does not."""
    checks = [same(*WEIGHTS)]
    if results[0].experiment["algorithm"]["name"] not in OUTLASTING:
        checks.append(same(*TRAFFIC, steps=False))
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
        if differs(float(mean), float(summary[key]), tolerance):
            wrong.append(f"{key}: {summary[key]}, but the mean of the steps is {mean}")
    if differs(steps[-1]["time_s"], summary["time_s"], tolerance):
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
    """Another network between the same number of workers and nodes."""
    cluster = config["cluster"]
    other = clusters.network(rng) | {
        key: cluster[key] for key in ("nodes", "workers_per_node", "topology")
    }
    return [Variant(config), Variant(config | {"cluster": other})]


def priced_as_resnet50(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(config), Variant(changed(config, {"/workload/priced_as": "resnet50"}))]


def with_and_without_values(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(changed(config, {"/workload/values": v})) for v in (True, False)]


def in_threads(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(config), Variant(config | {"runtime": "threads"})]


def draw_training(candidates: list[Json], make_cluster: Any = clusters.cluster) -> Any:
    return drawn_from(candidates, draws.training, make_cluster=make_cluster)


def few_workers(rng: random.Random) -> Json:
    """A cluster without delays, because threads would sleep during delays."""
    drawn = clusters.network(rng)
    shape = {"nodes": rng.choice([2, 4]), "workers_per_node": rng.choice([1, 2])}
    return drawn | {"topology": {"kind": "flat"}} | shape


RELATIONS = [
    Relation(
        "the first steps of a longer run",
        "Later steps do not change earlier steps.",
        longer_run,
        is_prefix,
        scope="all steps but the last of the shorter run, in which workers may skip work that only "
        "the next step needs",
        draw=drawn_from(DETERMINISTIC),
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
        scope="algorithms that exchange in the background",
        draw=drawn_from([a for a in TIMING_DEPENDENT if a["name"] in BACKGROUND]),
    ),
    Relation(
        "until steady and in full",
        "Steps that are left out because steps repeat count like the steps of the last cycle.",
        until_steady,
        same(*SECONDS, *TRAFFIC, "samples_per_s", "lower_bound_s", steps=False),
        2e-9,
        "steps count as equal if they differ by less than 1e-9 of a cycle",
        scope="algorithms whose messages do not depend on chance",
        draw=drawn_from(REPEATING),
    ),
    Relation(
        "flows where they agree with messages",
        "The fidelity auto uses flows only if these take the same time as their messages.",
        with_changes({"/runtime": {"name": "sim", "fidelity": "auto"}}),
        same("time_s", "step_s", *TRAFFIC, steps=False),
        0.01,
        "messages whose times differ by less than a thousandth count as equal; tests of the "
        "simulator hold flows to 1 %",
        scope="algorithms in which all workers wait for all, on networks of equal links: between regions "
        "with very different delays, flows of hierarchical rings were up to 3.6 % off",
        draw=drawn_from(BULK),
        applies=lambda c: c["cluster"]["topology"]["kind"] != "wan",
    ),
    Relation(
        "weights at every fidelity",
        "Flows carry the values of the messages that they stand for, in the same order.",
        with_changes({"/runtime": {"name": "sim", "fidelity": "fluid"}}),
        same_weights,
        scope="algorithms whose exchanges do not depend on timing",
        draw=draw_training(DETERMINISTIC),
        applies=lambda c: c["cluster"].get("transport", {}).get("protocol") != "rendezvous",
    ),
    Relation(
        "weights in the simulator and between threads",
        "The same source computes the same sums in the same order in every world.",
        in_threads,
        same(*WEIGHTS, steps=False),
        scope="algorithms whose exchanges do not depend on timing",
        draw=draw_training(DETERMINISTIC, few_workers),
    ),
    Relation(
        "traffic in the simulator and between threads",
        "The same source sends the same messages in every world.",
        in_threads,
        same(*TRAFFIC, steps=False),
        scope="algorithms whose exchanges do not depend on timing, and end with the last step",
        draw=draw_training([a for a in DETERMINISTIC if a["name"] not in OUTLASTING], few_workers),
    ),
    Relation(
        "weights on another network",
        "Networks affect when values arrive, and not which values arrive.",
        other_network,
        same_weights,
        scope="algorithms whose exchanges do not depend on timing",
        draw=draw_training(DETERMINISTIC),
    ),
    Relation(
        "weights of a model that is priced as another",
        "A price changes times and bytes, not values.",
        priced_as_resnet50,
        same(*WEIGHTS),
        scope="algorithms whose sums and codes do not depend on how tensors are cut into buckets",
        draw=draw_training([a for a in DETERMINISTIC if a["name"] in WHOLE_MODEL]),
    ),
    Relation(
        "tensors without values",
        "A phantom has the sizes of the tensor, and therefore the same times.",
        with_and_without_values,
        same_times,
        scope="codes whose length does not depend on values",
        draw=draw_training(DETERMINISTIC),
    ),
    Relation(
        "evaluations in between",
        "Evaluations are excluded from times and change no weights.",
        with_changes({"/eval_every": 1}),
        same(*SECONDS, *TRAFFIC, *WEIGHTS, steps=False),
        1e-12,
        "sums of times with and without pauses",
        scope="algorithms whose workers wait for all others",
        draw=draw_training(BULK),
    ),
    Relation(
        "training made twice",
        "Draws depend only on the seed: values and times are the same to the last bit.",
        repeated("one job"),
        same_in_all,
        draw=draw_training(DETERMINISTIC + TIMING_DEPENDENT),
    ),
    Relation(
        "weights with more noise",
        "Different gradients lead to different weights, so the hash does depend on the weights.",
        with_changes({"/workload/noise": 0.2}),
        lambda results, tolerance: ""
        if results[0].summary["weights_hash"] != results[1].summary["weights_hash"]
        else "twice the noise leaves the weights as they are",
        draw=draw_training(DETERMINISTIC),
    ),
]
