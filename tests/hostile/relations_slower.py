"""Relations of order: a worse network or machine never makes training faster."""

from __future__ import annotations

from typing import Any

import clusters
from algorithms import BULK
from quantities import times
from relations import Json, Relation, against, drawn_from, never_faster

BETWEEN = "/cluster/inter/"
INSIDE = "/cluster/intra/"

ORDER = 0.02
WHY = (
    "where buckets or trees share links, a delay may pull two messages apart that would have met, "
    "and the later one then ends sooner: 5 of 580 checks, by 1.3 % at most"
)
IN_ORDER = "algorithms in which all workers wait for all, so that no order of messages is luck"


def by(factor: float) -> Any:
    return lambda text: times(text, factor)


def worse(name: str, holds: str, changes: dict[str, Any], **options: Any) -> Relation:
    given = {
        "where": IN_ORDER,
        "draw": drawn_from(BULK),
        "tolerance": ORDER,
        "because": WHY,
    }
    return Relation(
        name=name,
        holds=holds,
        variants=against(changes),
        check=never_faster,
        **(given | options),
    )


def has_nodes(config: Json) -> bool:
    return config["cluster"]["nodes"] > 1


def has_link_options(config: Json) -> bool:
    return has_nodes(config) and config["cluster"]["topology"]["kind"] not in ("flat", "wan")


def alone_in_transport(config: Json) -> bool:
    return has_nodes(config) and "transport" not in config["cluster"]


RELATIONS = [
    worse(
        "half the bandwidth between nodes",
        "Every message between nodes takes longer, and all else as long.",
        {BETWEEN + "bandwidth": by(0.5)},
        applies=has_nodes,
    ),
    worse(
        "ten times the latency between nodes",
        "Every message between nodes arrives later.",
        {BETWEEN + "latency": lambda text: times(text, 10) if text != "0s" else "100us"},
        applies=has_nodes,
    ),
    worse(
        "a quarter of the bandwidth inside nodes",
        "Every message inside a node takes longer.",
        {INSIDE + "bandwidth": by(0.25)},
    ),
    worse(
        "ten times the latency inside nodes",
        "Every message inside a node arrives later.",
        {INSIDE + "latency": by(10)},
    ),
    worse(
        "narrow links of the topology",
        "Links between switches with a tenth of a NIC's bandwidth delay the messages that pass them.",
        {"/cluster/topology/bandwidth": "20Mbps"},
        applies=has_link_options,
    ),
    worse(
        "long links of the topology",
        "Links between switches with a latency of 20 ms delay the messages that pass them.",
        {"/cluster/topology/latency": "20ms"},
        applies=has_link_options,
    ),
    worse(
        "headers that take half of the network",
        "Payload gets half of the bandwidth of every link between nodes.",
        {"/cluster/transport": {"goodput": 0.5}},
        applies=alone_in_transport,
    ),
    worse(
        "software that moves little",
        "A node's software moves less than its NIC could.",
        {"/cluster/transport": {"node_cap": "100Mbps"}},
        applies=alone_in_transport,
    ),
    worse(
        "connections that move little",
        "A message is no faster than its connection.",
        {"/cluster/transport": {"connection_cap": "50Mbps"}},
        applies=alone_in_transport,
    ),
    worse(
        "small windows",
        "A stream moves at most a window in each round trip.",
        {"/cluster/transport": {"tcp": {"window": "8KiB"}}},
        applies=alone_in_transport,
    ),
    worse(
        "software that takes time for messages",
        "A connection is busy with every message before its bytes leave.",
        {"/cluster/transport": {"message_overhead": "200us"}},
        applies=alone_in_transport,
    ),
    worse(
        "software that takes time for stages",
        "A sender spends time on each batch of messages.",
        {"/cluster/transport": {"stage_overhead": "200us"}},
        applies=alone_in_transport,
    ),
    worse(
        "patterns that networks carry badly",
        "The bytes of a message are divided by the share of the bandwidth that its pattern of traffic gets.",
        {
            "/cluster/transport": {
                "efficiency": {
                    "leaders": 0.5,
                    "all_to_all": 0.5,
                    "point_to_point": 0.5,
                    "server": 0.5,
                }
            }
        },
        applies=alone_in_transport,
    ),
    worse(
        "strict rates of NICs",
        "A token bucket without credit never moves more than its rate.",
        {BETWEEN + "shaping": {"rate": "50Mbps"}},
        applies=has_nodes,
    ),
    worse(
        "bandwidth that is lost after a while",
        "From then on every message between nodes takes longer.",
        {BETWEEN + "profile": [{"at": "1ms", "bandwidth": 0.25}]},
        applies=lambda c: alone_in_transport(c),
    ),
    worse(
        "traffic of others",
        "Flows of others take a share of the NICs that they pass.",
        {BETWEEN + "background": {"load": 0.5, "flow": "300kB"}},
        applies=lambda c: alone_in_transport(c) and c["cluster"]["topology"]["kind"] == "flat",
    ),
    worse(
        "a host bridge in place of a crossbar",
        "All messages inside a node share it, and no port becomes wider.",
        {INSIDE + "kind": "pcie", INSIDE + "bridge_bandwidth": "5Gbps", INSIDE + "gpudirect": True},
        applies=lambda c: "kind" not in c["cluster"]["intra"],
    ),
    worse(
        "NICs that workers share",
        "The workers of a node share one NIC, instead of having one each.",
        {"/cluster/nics": "shared"},
        applies=lambda c: has_nodes(c) and c["cluster"]["nics"] == "per_worker",
        draw=drawn_from(BULK, make_cluster=lambda rng: clusters.network(rng) | {"nics": "per_worker"}),
    ),
    worse(
        "a very slow worker",
        "All wait for a worker that takes ten times as long for the same computation.",
        {"/cluster/slow_workers": [{"rank": 0, "factor": 10}]},
        applies=lambda c: "slow_workers" not in c["cluster"],
    ),
    worse(
        "a straggler in every step",
        "All wait for a worker that is delayed by 30 ms before each step.",
        {"/cluster/stragglers": {"count": 1, "delay": "30ms"}},
        applies=lambda c: "stragglers" not in c["cluster"],
    ),
    worse(
        "delays that grow from worker to worker",
        "All wait for the worker with the longest delay.",
        {"/cluster/skew": {"smallest": "20ms", "largest": "30ms"}},
        applies=lambda c: "skew" not in c["cluster"],
    ),
    worse(
        "slow memory",
        "Codecs, sums, copies and the optimizer move the same bytes more slowly.",
        {"/cluster/accelerator/memory_bandwidth": by(0.1)},
    ),
    worse(
        "slow launches",
        "Every operation of an accelerator takes longer.",
        {"/cluster/accelerator/launch_overhead": by(10)},
    ),
    worse(
        "computation that suffers from messages",
        "Computation takes three times as long while a message is in flight.",
        {"/cluster/accelerator/overlap_slowdown": 3},
    ),
    worse(
        "slow codecs, sums and copies",
        "They move the same bytes more slowly.",
        {
            "/cluster/accelerator/codec_bandwidth": "5GB/s",
            "/cluster/accelerator/reduction_bandwidth": "5GB/s",
            "/cluster/accelerator/copy_bandwidth": "5GB/s",
        },
    ),
    worse(
        "a slower model",
        "Every layer takes twice as long.",
        {"/workload": lambda text: text.replace("_time1_", "_time2_")},
    ),
    worse(
        "a larger model",
        "Every tensor has twice as many elements, and layers take as long.",
        {"/workload": lambda text: text.replace("_size1.", "_size2.")},
    ),
    worse(
        "two more steps",
        "A run of more steps contains the shorter one.",
        {"/steps": lambda n: n + 2},
    ),
    worse(
        "one more node",
        "A ring of more workers on nodes that are alike has more hops, and each worker sends more.",
        {"/cluster/nodes": lambda n: n + 1},
        where="rings of all workers on a flat network of nodes that are alike",
        draw=drawn_from(
            [{"name": "gradient_allreduce"}],
            make_cluster=lambda rng: clusters.network(rng)
            | {"topology": {"kind": "flat"}, "nodes": rng.randint(2, 6), "workers_per_node": 1},
        ),
    ),
]
