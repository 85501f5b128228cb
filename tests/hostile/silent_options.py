"""The options without an effect on a simulation's results, each with the reason."""

from __future__ import annotations

import re

from option_schema import Option

# By a pattern of labels: the reason why these options have no effect.
SILENT: dict[str, str] = {
    r"/\$schema": "editors read it",
    "/(name|description)": "they are texts for people",
    "/tune(/.*)?": "only trigram tune reads it",
    "/workload/data of fashion_mnist": "another folder has the same images",
    "/workload/context of text": "it only limits the length of lines",
    "/cluster/run_times/kind": "each kind needs its own options, without which it is refused",
    "/cluster/topology/(k of fat_tree|(groups|routers_per_group|nodes_per_router) of dragonfly)": (
        "topologies have exactly the cluster's nodes: another size alone is refused"
    ),
    "/checkpoint/keep": "it decides only how many files remain",
    "/algorithm/codec/unbiased of (?!bytegrad|qsgd|zeropp|qadam|ecd_psgd).* of randk": (
        "the error of an unbiased codec may exceed its input, so it is refused with error feedback"
    ),
    "/algorithm/(codec/mean of (dcd_psgd|ecd_psgd|choco_sgd|deepsqueeze|adpsgd|async_parameter_server|async_diloco|ssp)|gather_codec/mean of zeropp) of dct_topk": (
        "these algorithms decode codes one by one, and average none"
    ),
    "/algorithm/graph/.* of (?!sgp|osgp|gossipgrad).* of (n_peer_exponential|shuffled_exponential)": (
        "the mixing matrix of a directed graph is not symmetric: refused"
    ),
    "/algorithm/graph/.* of (dcd_psgd|ecd_psgd|choco_sgd|dsgd_aau) of (bipartite|butterfly|base_k)": (
        "the peers of these graphs change from step to step: refused"
    ),
    "/algorithm/graph/.* of adpsgd of (butterfly|base_k)": ("only one of these graphs is bipartite for 8 workers"),
    "/workload/accelerator/.* of (ddppo|diloco_.*)": (
        "the profile has no rates of its accelerator: a warning says that it cannot be scaled"
    ),
    "/algorithm/spacing of streaming_diloco": "if fragments divide the steps, its values mean the same; else one is refused",
    "/workload/values of replay": "a replay learns nothing; the option affects only memory",
    "/algorithm/allreduce/compute_capability of (half_precision_allreduce|dion|decentralized|moshpit|async_model_average|eager_sgd|eager_diloco|wagma) of nccl": (
        "it decides between tree and ring for a narrow range of lengths, which these algorithms do not use"
    ),
    "/algorithm/allreduce/nic of (async_model_average|eager_sgd|eager_diloco|co2|wagma) of nccl": "as compute_capability",
}
# Runs in real time differ from each other by themselves. The tests of those worlds test these options.
REAL_TIME = "/runtime/.* of (threads|mpi|nccl)"
# A build may lack PyTorch; tests/cli/test_torch_workload.py tests these options.
NEEDS_TORCH = "/workload/.* of torchscript"


def is_silent(option: Option) -> bool:
    return any(re.fullmatch(pattern, option.label) for pattern in SILENT)
