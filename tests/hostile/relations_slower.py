"""Relations of order: a worse network or machine never makes training faster."""

from __future__ import annotations

import random
from typing import Any

import clusters
from algorithms import BULK
from quantities import multiplied
from relations import Json, Relation, Variant, changed, with_changes, drawn_from, never_faster

BETWEEN = "/cluster/inter/"
INSIDE = "/cluster/intra/"

TOLERANCE = 0.02
TOLERANCE_REASON = (
    "where buckets or trees share links, a delay may separate two messages that would have contended, "
    "and the later one then ends sooner: 5 of 580 checks, by 1.3 % at most"
)
SCOPE = "algorithms in which all workers wait for all, so that the order of messages does not depend on chance"


def multiplied_by(factor: float) -> Any:
    return lambda text: multiplied(text, factor)


def never_faster_with(name: str, statement: str, changes: dict[str, Any], **options: Any) -> Relation:
    defaults = {"scope": SCOPE, "draw": drawn_from(BULK), "tolerance": TOLERANCE, "tolerance_reason": TOLERANCE_REASON}
    return Relation(name, statement, with_changes(changes), never_faster, **(defaults | options))


def has_several_nodes(config: Json) -> bool:
    return config["cluster"]["nodes"] > 1


def has_link_options(config: Json) -> bool:
    return has_several_nodes(config) and config["cluster"]["topology"]["kind"] not in ("flat", "wan")


def has_no_transport(config: Json) -> bool:
    return has_several_nodes(config) and "transport" not in config["cluster"]


def balanced_and_random(config: Json, rng: random.Random) -> list[Variant]:
    times = {"kind": "lognormal", "variation": 0.5, "seed": rng.randrange(99)}
    balanced = times | {"order": "balanced", "epoch_steps": config["steps"]}
    return [Variant(changed(config, {"/cluster/run_times": drawn})) for drawn in (balanced, times)]


RELATIONS = [
    never_faster_with(
        "half the bandwidth between nodes",
        "Every message between nodes takes longer, and everything else takes as long as before.",
        {BETWEEN + "bandwidth": multiplied_by(0.5)},
        applies=has_several_nodes,
    ),
    never_faster_with(
        "ten times the latency between nodes",
        "Every message between nodes arrives later.",
        {BETWEEN + "latency": lambda text: multiplied(text, 10) if text != "0s" else "100us"},
        applies=has_several_nodes,
    ),
    never_faster_with(
        "a quarter of the bandwidth inside nodes",
        "Every message inside a node takes longer.",
        {INSIDE + "bandwidth": multiplied_by(0.25)},
    ),
    never_faster_with(
        "ten times the latency inside nodes",
        "Every message inside a node arrives later.",
        {INSIDE + "latency": multiplied_by(10)},
    ),
    never_faster_with(
        "narrow links of the topology",
        "Links between switches with a tenth of a NIC's bandwidth delay the messages that pass them.",
        {"/cluster/topology/bandwidth": "20Mbps"},
        applies=has_link_options,
    ),
    never_faster_with(
        "long links of the topology",
        "Links between switches with a latency of 20 ms delay the messages that pass them.",
        {"/cluster/topology/latency": "20ms"},
        applies=has_link_options,
    ),
    never_faster_with(
        "two micro-batches in each step",
        "Workers compute twice as long before the exchange, and add up gradients.",
        {"/micro_batches": 2},
    ),
    never_faster_with(
        "gradients clipped by their norm",
        "Workers also compute a norm, and no bucket is updated before the last one has arrived.",
        {"/clip_norm": 1.0},
    ),
    never_faster_with(
        "headers that take half of the network",
        "Payload gets half of the bandwidth of every link between nodes.",
        {"/cluster/transport": {"goodput": 0.5}},
        applies=has_no_transport,
    ),
    never_faster_with(
        "software that moves little",
        "The software of a node moves fewer bytes per second than its NIC could.",
        {"/cluster/transport": {"node_cap": "100Mbps"}},
        applies=has_no_transport,
    ),
    never_faster_with(
        "connections that move little",
        "A message is not faster than its connection.",
        {"/cluster/transport": {"connection_cap": "50Mbps"}},
        applies=has_no_transport,
    ),
    never_faster_with(
        "small windows",
        "A stream moves at most a window in each round trip.",
        {"/cluster/transport": {"tcp": {"window": "8KiB"}}},
        applies=has_no_transport,
    ),
    never_faster_with(
        "software that takes time for messages",
        "A connection is busy with every message before its bytes leave.",
        {"/cluster/transport": {"message_overhead": "200us"}},
        applies=has_no_transport,
    ),
    never_faster_with(
        "software that takes time for stages",
        "A sender spends time on each batch of messages.",
        {"/cluster/transport": {"stage_overhead": "200us"}},
        applies=has_no_transport,
    ),
    never_faster_with(
        "patterns that networks carry badly",
        "The bytes of a message are divided by the share of the bandwidth that its pattern of traffic gets.",
        {
            "/cluster/transport": {
                "efficiency": {"leaders": 0.5, "all_to_all": 0.5, "point_to_point": 0.5, "server": 0.5}
            }
        },
        applies=has_no_transport,
    ),
    never_faster_with(
        "strict rates of NICs",
        "A token bucket without credit never moves more than its rate.",
        {BETWEEN + "shaping": {"rate": "50Mbps"}},
        applies=has_several_nodes,
    ),
    never_faster_with(
        "bandwidth that is lost after a while",
        "After the change, every message between nodes takes longer.",
        {BETWEEN + "profile": [{"at": "1ms", "bandwidth": 0.25}]},
        applies=has_no_transport,
    ),
    never_faster_with(
        "traffic of others",
        "Flows of other jobs take a share of the NICs that they pass.",
        {BETWEEN + "background": {"load": 0.5, "flow": "300kB"}},
        applies=lambda c: has_no_transport(c) and c["cluster"]["topology"]["kind"] == "flat",
    ),
    never_faster_with(
        "a host bridge in place of a crossbar",
        "All messages inside a node share it, and no port becomes wider.",
        {INSIDE + "kind": "pcie", INSIDE + "bridge_bandwidth": "5Gbps", INSIDE + "gpudirect": True},
        applies=lambda c: "kind" not in c["cluster"]["intra"],
    ),
    never_faster_with(
        "NICs that workers share",
        "The workers of a node share a NIC, and do not have separate NICs any more.",
        {"/cluster/nics": "shared"},
        applies=lambda c: has_several_nodes(c) and c["cluster"]["nics"] == "per_worker",
        draw=drawn_from(BULK, make_cluster=lambda rng: clusters.network(rng) | {"nics": "per_worker"}),
    ),
    never_faster_with(
        "a very slow worker",
        "All wait for a worker that takes ten times as long for the same computation.",
        {"/cluster/slow_workers": [{"rank": 0, "factor": 10}]},
        applies=lambda c: "slow_workers" not in c["cluster"],
    ),
    never_faster_with(
        "a straggler in every step",
        "All wait for a worker that is delayed by 30 ms before each step.",
        {"/cluster/stragglers": {"count": 1, "delay": "30ms"}},
        applies=lambda c: "stragglers" not in c["cluster"],
    ),
    never_faster_with(
        "delays that grow from worker to worker",
        "All wait for the worker with the longest delay.",
        {"/cluster/skew": {"smallest": "20ms", "largest": "30ms"}},
        applies=lambda c: "skew" not in c["cluster"],
    ),
    Relation(
        "batches dealt at random",
        "The sum of the longest times of all steps is least if the times are sorted and cut into steps.",
        balanced_and_random,
        never_faster,
        scope="equal workers that wait for all in every step",
        draw=drawn_from([{"name": "gradient_allreduce"}], make_cluster=clusters.network),
        tolerance=TOLERANCE,
        tolerance_reason=TOLERANCE_REASON,
    ),
    never_faster_with(
        "slow memory",
        "Codecs, sums, copies and the optimizer move the same bytes more slowly.",
        {"/cluster/accelerator/memory_bandwidth": multiplied_by(0.1)},
    ),
    never_faster_with(
        "slow launches",
        "Every operation of an accelerator takes longer.",
        {"/cluster/accelerator/launch_overhead": multiplied_by(10)},
    ),
    never_faster_with(
        "computation that suffers from messages",
        "Computation takes three times as long while a message is in flight.",
        {"/cluster/accelerator/overlap_slowdown": 3},
    ),
    never_faster_with(
        "slow codecs, sums and copies",
        "Codecs, sums and copies move the same bytes more slowly.",
        {
            "/cluster/accelerator/codec_bandwidth": "5GB/s",
            "/cluster/accelerator/reduction_bandwidth": "5GB/s",
            "/cluster/accelerator/copy_bandwidth": "5GB/s",
        },
    ),
    never_faster_with(
        "a slower model",
        "Every layer takes twice as long.",
        {"/workload": lambda text: text.replace("_time1_", "_time2_")},
    ),
    never_faster_with(
        "a larger model",
        "Every tensor has twice as many elements, and layers take the same time.",
        {"/workload": lambda text: text.replace("_size1.", "_size2.")},
    ),
    never_faster_with("two more steps", "A longer run contains the shorter run.", {"/steps": lambda n: n + 2}),
    never_faster_with(
        "one more node",
        "A ring of more workers on equal nodes has more hops, and each worker sends more.",
        {"/cluster/nodes": lambda n: n + 1},
        scope="rings of all workers on a flat network of equal nodes",
        draw=drawn_from(
            [{"name": "gradient_allreduce"}],
            make_cluster=lambda rng: clusters.network(rng)
            | {"topology": {"kind": "flat"}, "nodes": rng.randint(2, 6), "workers_per_node": 1},
        ),
    ),
]
