"""Relations of equality: changes of an experiment that do not change its times, or multiply them by a known factor."""

from __future__ import annotations

import random
from typing import Any

import clusters
import draws
from algorithms import BULK, PEERS, TIMING_DEPENDENT
from quantities import multiplied, scaled
from relations import (SECONDS, TRAFFIC, Json, Relation, Variant, changed, differs, drawn_from, flat_equal_nodes, same,
                       same_in_all, same_times, with_changes)
from sweeps import Result

ROUNDING = 1e-9
ROUNDING_REASON = "the same quantity in another unit is rounded to another binary number, and so are sums"
DETERMINISTIC = BULK + PEERS


def rewritten(config: Any, write: Any) -> Any:
    if isinstance(config, dict):
        return {key: rewritten(value, write) for key, value in config.items()}
    if isinstance(config, list):
        return [rewritten(value, write) for value in config]
    return write(config) if isinstance(config, str) else config


def in_other_units(text: str) -> str:
    for unit, other, factor in (("Mbps", "kbps", 1000), ("us", "ns", 1000), ("MB", "kB", 1000)):
        number = text.removesuffix(unit)
        if number != text and number.replace(".", "", 1).isdigit():
            return f"{float(number) * factor!r}{other}"
    return text


def other_units(config: Json, rng: random.Random) -> list[Any]:
    return [Variant(config), Variant(rewritten(config, in_other_units))]


def with_longer_times(factor: float) -> Any:
    def variants(config: Json, rng: random.Random) -> list[Any]:
        slow = scaled(config, time=factor)
        return [Variant(config), Variant(slow | {"workload": draws.other_profile(config, time=factor)})]

    return variants


def with_larger_sizes(config: Json, rng: random.Random) -> list[Any]:
    config = changed(config, {"/cluster/transport/buffer": "4MiB"})  # not the default, which would not be scaled
    large = scaled(config, size=2)
    return [Variant(config), Variant(large | {"workload": draws.other_profile(config, size=2)})]


def times_factor(factor: float) -> Any:
    def check(results: list[Result], tolerance: float) -> str:
        short, long = (r.summary for r in results)
        wrong = [
            f"{key}: {short[key]} and {long[key]}, not {factor} times as long"
            for key in SECONDS
            if differs(short[key] * factor, long[key], tolerance)
        ]
        wrong += [f"{k}: {short[k]} and {long[k]}" for k in TRAFFIC if short[k] != long[k]]
        return "; ".join(wrong)

    return check


NEUTRAL: Json = {
    "/cluster/slow_workers": [{"rank": 0, "factor": 1}],
    "/cluster/stragglers": {"count": 0},
    "/cluster/skew": {"smallest": "0s", "largest": "0s", "rotates": False},
    "/cluster/run_times": {"kind": "constant"},
    "/cluster/worker_variation": 0,
    "/cluster/bandwidth_jitter": 0,
    "/cluster/transport": {
        "goodput": 1,
        "streams": 1,
        "channels": 1,
        "loss": 0,
        "variation": 0,
        "message_overhead": "0s",
        "stream_overhead": "7us",
        "tcp": "none",
    },
    "/cluster/accelerator/overlap_slowdown": 1,
    "/timeline": {"step": 1, "ranks": 2},
    "/until_steady": False,
}


def slow_worker_moved(config: Json, rng: random.Random) -> list[Any]:
    """Moves a slow worker to the same place in another node."""
    cluster = config["cluster"]
    workers_per_node = cluster["workers_per_node"]
    rank = rng.randrange(workers_per_node)
    moved = rank + workers_per_node * rng.randrange(1, cluster["nodes"])
    return [
        Variant(changed(config, {"/cluster/slow_workers": [{"rank": place, "factor": 2.5}]}))
        for place in (rank, moved)
    ]


def single_workers(rng: random.Random) -> Json:
    drawn = clusters.cluster(rng)
    workers = {k: v for k, v in drawn.items() if k not in ("slow_workers", "nics")}
    return workers | {"workers_per_node": 1}


def one_node(rng: random.Random) -> Json:
    return clusters.network(rng) | {
        "topology": {"kind": "flat"},
        "nodes": 1,
        "workers_per_node": rng.randint(2, 8),
    }


def hierarchical(flag: bool) -> Any:
    return {"/algorithm/hierarchical": flag}


def two_variants(first: Json, second: Json) -> Any:
    return lambda config, rng: [Variant(changed(config, first)), Variant(changed(config, second))]


RELATIONS = [
    Relation(
        "other units",
        "1 Gbps is 1000 Mbps: spelling a quantity in another unit makes the same experiment.",
        other_units,
        same_times,
        ROUNDING,
        ROUNDING_REASON,
        scope="algorithms whose order of messages does not depend on rounding",
        draw=drawn_from(BULK),
    ),
    Relation(
        "half of all times",
        "Halving all times and doubling all rates halves the result, since nothing else has a unit.",
        with_longer_times(0.5),
        times_factor(0.5),
        ROUNDING,
        ROUNDING_REASON,
        scope="algorithms whose order of messages does not depend on rounding",
        draw=drawn_from(BULK),
    ),
    Relation(
        "twice all times",
        "Doubling all times and halving all rates doubles the result, since nothing else has a unit.",
        with_longer_times(2),
        times_factor(2),
        ROUNDING,
        ROUNDING_REASON,
        scope="algorithms whose order of messages does not depend on rounding",
        draw=drawn_from(BULK),
    ),
    Relation(
        "twice all sizes and rates",
        "With twice the bytes at twice the rates, all times stay the same.",
        with_larger_sizes,
        same(*SECONDS, "messages_intra", "messages_inter"),
        ROUNDING,
        ROUNDING_REASON,
        scope="rings of full precision, whose messages have sizes in proportion to the model",
        draw=drawn_from([{"name": "gradient_allreduce"}, {"name": "local_sgd", "sync_every": 2}]),
    ),
    Relation(
        "options that change nothing",
        "An option whose value has no effect costs no time: a factor of 1, no delay, a timeline.",
        with_changes(NEUTRAL),
        same_in_all,
        scope="clusters of equal workers whose transport costs nothing",
        draw=lambda rng: draws.experiment(rng, DETERMINISTIC + TIMING_DEPENDENT, clusters.network),
    ),
    Relation(
        "a hair more bandwidth",
        "A bandwidth that is larger by 1e-7 changes times equally little, and does not change the order of messages.",
        with_changes({f"/cluster/{link}/bandwidth": lambda text: multiplied(text, 1 + 1e-7)
                      for link in ("inter", "intra")}),
        same("time_s", "step_s", *TRAFFIC, steps=False),
        1e-5,
        "a hundred times the change, for steps that wait on several messages",
        scope="algorithms in which all workers wait for all",
        draw=drawn_from(BULK),
    ),
    Relation(
        "limits that nobody reaches",
        "A limit above the bandwidth of the links has no effect.",
        with_changes({"/cluster/transport": {"node_cap": "90Tbps", "connection_cap": "90Tbps"}}),
        same_times,
        ROUNDING,
        "limits are separate links, so shares are added in another order",
        scope="algorithms whose order of messages does not depend on rounding",
        draw=drawn_from(BULK, make_cluster=clusters.network),
    ),
    Relation(
        "a slow worker on another node",
        "Nodes on a switch without a bottleneck are equal, and a ring looks the same from each of them.",
        slow_worker_moved,
        same("time_s", "step_s", *TRAFFIC, steps=False),
        ROUNDING,
        "the same times are added in another order",
        scope="rings on flat networks, in which all chunks are equally long",
        draw=drawn_from(
            [{"name": "gradient_allreduce"}, {"name": "half_precision_allreduce"}],
            make_cluster=flat_equal_nodes,
        ),
    ),
    Relation(
        "a hierarchy of nodes of one worker",
        "Every worker is the leader of its node, so there is nothing to do inside nodes.",
        two_variants(hierarchical(False), hierarchical(True)),
        same_times,
        ROUNDING,
        "the leaders' ring may have another traffic pattern, which gets the same share of the bandwidth",
        scope="algorithms that can be hierarchical, on nodes of one worker",
        draw=drawn_from(
            [a for a in BULK if a["name"] != "parameter_server"],
            make_cluster=lambda rng: {
                k: v for k, v in single_workers(rng).items() if k != "transport"
            },
        ),
    ),
    Relation(
        "a fabric that nobody uses",
        "Nodes of one worker send nothing inside nodes.",
        with_changes({"/cluster/intra": {"bandwidth": "1Gbps", "latency": "3ms"}}),
        same_times,
        scope="nodes of one worker, whose messages do not pass the hosts",
        draw=drawn_from(
            [a for a in DETERMINISTIC + TIMING_DEPENDENT if a.get("allreduce") != "nccl"],
            make_cluster=lambda rng: single_workers(rng)
            | {"intra": {"bandwidth": "500Gbps", "latency": "5us"}},
        ),
        applies=lambda c: "bandwidth_jitter" not in c["cluster"],
    ),
    Relation(
        "a network that nobody uses",
        "Workers of one node send nothing between nodes.",
        with_changes({"/cluster/inter": {"bandwidth": "1Gbps", "latency": "3ms"}}),
        same_times,
        scope="one node",
        draw=drawn_from(DETERMINISTIC + TIMING_DEPENDENT, make_cluster=one_node),
    ),
    Relation(
        "another learning rate",
        "Times do not depend on values.",
        lambda config, rng: [
            Variant(changed(config, {"/optimizer/lr": lr})) for lr in (0.01, 0.02)
        ],
        same_times,
        scope="experiments whose tensors have sizes but no values",
        draw=drawn_from(DETERMINISTIC + TIMING_DEPENDENT),
    ),
]
