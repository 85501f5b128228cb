"""The options that have no effect on a simulation's results, with the reasons why that is right."""

from __future__ import annotations

import re

from option_schema import Option

# Patterns of labels, each with the reason why these options have no effect on a simulation's results.
SILENT: dict[str, str] = {
    r"/\$schema": "editors read it",
    "/(name|description)": "they are for readers",
    "/workload/data of fashion_mnist": "the same images in another folder are the same images",
    "/cluster/run_times/kind": "each kind has numbers of its own, without which it is refused",
    "/cluster/topology/(k of fat_tree|(groups|routers_per_group|nodes_per_router) of dragonfly)": (
        "topologies have exactly the cluster's nodes: another size alone is refused"
    ),
    "/algorithm/codec/unbiased of (?!bytegrad|qsgd).* of randk": (
        "what is unbiased can lose more than it is given; where losses are coded again it is refused"
    ),
    "/algorithm/graph/.* of (?!sgp|osgp).* of (n_peer_exponential|shuffled_exponential)": (
        "the mixing matrix of a directed graph is not symmetric: refused"
    ),
    "/algorithm/graph/.* of (dcd_psgd|ecd_psgd|choco_sgd|deepsqueeze|dsgd_aau) of (bipartite|butterfly|base_k)": (
        "the peers of these graphs change from step to step: refused"
    ),
    "/algorithm/graph/.* of adpsgd of (butterfly|base_k)": (
        "of these graphs of 8 workers one alone has two sides that only meet each other"
    ),
    "/workload/accelerator/.* of ddppo": (
        "the profile has no rates of its accelerator: a warning says that it cannot be scaled"
    ),
    "/workload/values of replay": "what a replay learns is nothing; it takes memory, or does not",
    "/algorithm/allreduce/compute_capability of (half_precision_allreduce|decentralized|moshpit|async_model_average|eager_sgd|wagma) of nccl": (
        "it decides between tree and ring for a narrow range of lengths, which theirs are not in; others' are"
    ),
    "/algorithm/allreduce/nic of (async_model_average|eager_sgd|wagma) of nccl": "as compute_capability",
    "/runtime/(bucket_depth|shaping) of threads": "real time differs by itself; cli/test_emulation.py",
    "/runtime/.* of (threads|mpi|nccl)": "real time differs by itself; see the tests of that world",
}


def is_silent(option: Option) -> bool:
    return any(re.fullmatch(pattern, option.label) for pattern in SILENT)
