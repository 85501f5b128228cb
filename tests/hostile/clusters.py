"""Random clusters: machines, networks of every topology, transports, and unequal workers."""

from __future__ import annotations

import math
import random
from typing import Any

Json = dict[str, Any]


def log_uniform(rng: random.Random, least: float, most: float) -> float:
    """A number with three digits whose logarithm is uniformly distributed."""
    return float(f"{math.exp(rng.uniform(math.log(least), math.log(most))):.3g}")


def bandwidth(rng: random.Random, least_Mbps: float, most_Mbps: float) -> str:
    return f"{log_uniform(rng, least_Mbps, most_Mbps)}Mbps"


def duration(rng: random.Random, least_us: float, most_us: float) -> str:
    return f"{log_uniform(rng, least_us, most_us)}us"


def fat_tree(rng: random.Random) -> tuple[int, Json]:
    if rng.random() < 0.3:
        return rng.choice([4, 8]), {"kind": "fat_tree", "k": 4}
    leaf = rng.choice([2, 3, 4])
    taper = rng.choice([t for t in (1, 2, 3, 4) if leaf % t == 0])
    return leaf * rng.choice([2, 3] if leaf < 4 else [2]), {"kind": "fat_tree", "nodes_per_leaf": leaf, "taper": taper}


def dragonfly(rng: random.Random) -> tuple[int, Json]:
    groups, routers, hosts = rng.choice([(2, 2, 1), (3, 2, 1), (2, 2, 2), (4, 2, 1)])
    topology: Json = {
        "kind": "dragonfly",
        "groups": groups,
        "routers_per_group": routers,
        "nodes_per_router": hosts,
        "global_links_per_router": 2,
    }
    if rng.random() < 0.5:
        topology["global_bandwidth"] = bandwidth(rng, 500, 50_000)
        topology["global_latency"] = duration(rng, 1, 1000)
    return groups * routers * hosts, topology


def torus(rng: random.Random) -> tuple[int, Json]:
    dimensions = rng.choice([[3], [4], [2, 2], [3, 2], [4, 2], [2, 2, 2], [8]])
    return math.prod(dimensions), {"kind": "torus", "dimensions": dimensions}


def hammingmesh(rng: random.Random) -> tuple[int, Json]:
    board, boards = rng.choice([([1, 2], [2, 2]), ([2, 2], [2, 1]), ([2, 1], [1, 3])])
    return math.prod(board + boards), {"kind": "hammingmesh", "board": board, "boards": boards}


def wan(rng: random.Random) -> tuple[int, Json]:
    sizes = rng.choice([[1, 1], [2, 2], [2, 1, 1], [1, 1, 1, 1]])

    def matrix(draw: Any) -> list[list[Any]]:
        return [[None if i == j else draw() for j in range(len(sizes))] for i in range(len(sizes))]

    def access_link() -> Json:
        return {way: bandwidth(rng, 200, 10_000) for way in ("up", "down") if rng.random() < 0.2}

    return sum(sizes), {
        "kind": "wan",
        "delay_is": "one_way",
        "regions": [{"name": f"r{i}", "nodes": n, **access_link()} for i, n in enumerate(sizes)],
        "delay": matrix(lambda: duration(rng, 100, 50_000)),
        "bandwidth": matrix(lambda: bandwidth(rng, 200, 10_000)),
    }


def flat(rng: random.Random) -> tuple[int, Json]:
    return rng.choice([1, 2, 2, 3, 4, 4, 5, 6, 8]), {"kind": "flat"}


TOPOLOGIES = {
    "flat": flat,
    "fat_tree": fat_tree,
    "dragonfly": dragonfly,
    "torus": torus,
    "hammingmesh": hammingmesh,
    "wan": wan,
}


def network(rng: random.Random) -> Json:
    """A cluster with equal workers and with links that do not change."""
    kind = rng.choice(["flat"] * 3 + list(TOPOLOGIES))
    nodes, topology = TOPOLOGIES[kind](rng)
    if kind in ("fat_tree", "dragonfly", "torus", "hammingmesh") and rng.random() < 0.5:
        topology["bandwidth"] = bandwidth(rng, 500, 50_000)
        topology["latency"] = duration(rng, 1, 1000)
    intra: Json = {"bandwidth": bandwidth(rng, 20e3, 1.2e6), "latency": duration(rng, 1, 20)}
    if rng.random() < 0.3:
        intra["kind"] = "pcie"
        intra["bridge_bandwidth"] = bandwidth(rng, 20e3, 400e3)
        intra["gpudirect"] = rng.random() < 0.5
    return {
        "nodes": nodes,
        "workers_per_node": rng.choice([w for w in (1, 1, 2, 3, 4) if w * nodes <= 16]),
        "inter": {
            "bandwidth": bandwidth(rng, 200, 100_000),
            "latency": "0s" if rng.random() < 0.1 else duration(rng, 1, 3000),
        },
        "intra": intra,
        "nics": rng.choice(["shared", "shared", "per_worker"]),
        "topology": topology,
        "accelerator": {"flops": "15.7TFLOP/s", "memory_bandwidth": "900GB/s", "launch_overhead": "5us"},
    }


def transport(rng: random.Random) -> Json:
    options: Json = {"protocol": rng.choice(["eager", "eager", "rendezvous"])}
    choices: Json = {
        "goodput": round(rng.uniform(0.5, 1), 3),
        "node_cap": bandwidth(rng, 500, 50_000),
        "connection_cap": bandwidth(rng, 500, 50_000),
        "message_overhead": duration(rng, 1, 50),
        "stage_overhead": duration(rng, 1, 50),
        "channels": rng.choice([2, 4]),
        "efficiency": {"leaders": 0.8, "all_to_all": 0.7, "point_to_point": 0.9, "server": 0.6},
    }
    for key in rng.sample(list(choices), rng.choice([0, 1, 2])):
        options[key] = choices[key]
    return options


def unequal_workers(rng: random.Random, workers: int) -> Json:
    choices: Json = {
        "slow_workers": [{"rank": rng.randrange(workers), "factor": round(rng.uniform(1, 3), 2)}],
        "stragglers": {"count": 1, "delay": duration(rng, 100, 5000), "seed": rng.randrange(99)},
        "skew": {"smallest": "0s", "largest": duration(rng, 100, 5000)},
        "run_times": {"kind": "lognormal", "variation": 0.3, "seed": rng.randrange(99)},
        "worker_variation": 0.1,
        "bandwidth_jitter": 0.2,
    }
    return {key: choices[key] for key in rng.sample(list(choices), rng.choice([1, 1, 2]))}


def cluster(rng: random.Random) -> Json:
    """A cluster with all features except changes with time."""
    drawn = network(rng)
    if rng.random() < 0.3:
        drawn["transport"] = transport(rng)
    if rng.random() < 0.4:
        drawn |= unequal_workers(rng, drawn["nodes"] * drawn["workers_per_node"])
    return drawn
