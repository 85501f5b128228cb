"""The algorithms to draw from, grouped by what their times and weights depend on."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

# Bulk-synchronous algorithms: every worker sends the same messages in the same order in every step, and all workers
# wait for all others. The messages of an exchange travel at the same time, or one after another.
BULK: list[Json] = [
    {"name": "gradient_allreduce"},
    {"name": "gradient_allreduce", "allreduce": "recursive_doubling"},
    {"name": "gradient_allreduce", "allreduce": "rabenseifner"},
    {"name": "gradient_allreduce", "allreduce": "double_tree"},
    {"name": "gradient_allreduce", "allreduce": {"name": "ring", "channels": 2}},
    {"name": "half_precision_allreduce"},
    {"name": "delayed_allreduce"},
    {"name": "local_sgd", "sync_every": 2},
    {"name": "hierarchical_local_sgd", "node_every": 1, "all_every": 2},
    {"name": "post_local_sgd", "switch_step": 2, "sync_every": 2},
    {
        "name": "stages",
        "stages": [{"until": 2, "algorithm": "gradient_allreduce"}, {"algorithm": {"name": "local_sgd", "sync_every": 2}}],
    },
    {"name": "slowmo", "sync_every": 2},
    {"name": "bmuf", "sync_every": 2},
    {"name": "diloco", "sync_every": 2},
    {"name": "streaming_diloco", "sync_every": 2},
    {"name": "eager_diloco", "sync_every": 2},
    {"name": "co2", "sync_every": 2},
    {"name": "easgd", "sync_every": 2},
    {"name": "bytegrad"},
    {"name": "bytegrad", "phase2": "direct"},
    {"name": "qsgd"},
    {"name": "terngrad"},
    {"name": "onebit_sgd"},
    {"name": "ef_signsgd"},
    {"name": "signsgd_majority"},
    {"name": "onebit_adam", "warmup_steps": 2},
    {"name": "zeroone_adam", "freeze_step": 2, "local_doubling": 1, "max_local_steps": 2},
    {"name": "qadam", "warmup_steps": 2},
    {"name": "powersgd", "rank": 2},
    {"name": "dion"},
    {"name": "dilocox", "sync_every": 2, "rank": 2},
    {"name": "sparseloco", "sync_every": 2},
    {"name": "topk"},
    {"name": "ef21"},
    {"name": "demo"},
    {"name": "gtopk"},
    {"name": "oktopk", "threshold_every": 2, "rebalance_every": 2},
    {"name": "dgc", "density": 0.01},
    {"name": "parameter_server", "servers": 1},
    {"name": "decentralized", "mode": "all"},
]
# The messages are the same in every step, but a worker waits only for some of the other workers, so workers may be in
# different steps.
PEERS: list[Json] = [
    {"name": "decentralized", "mode": "ring"},
    {"name": "decentralized", "mode": "shift_one"},
    {"name": "dpsgd", "graph": "ring"},
    {"name": "dpsgd", "graph": "complete"},
    {"name": "dpsgd", "graph": "random_matching"},
    {"name": "sgp"},
    {"name": "gossipgrad"},
    {"name": "moshpit"},
    {"name": "noloco", "sync_every": 2},
    {"name": "dcd_psgd"},
    {"name": "ecd_psgd"},
    {"name": "choco_sgd", "codec": "sign"},
    {"name": "deepsqueeze", "codec": "sign"},
    {"name": "parameter_server", "partition": "500kB"},
]
# Timing decides which workers exchange messages, and when.
TIMING_DEPENDENT: list[Json] = [
    {"name": "osgp"},
    {"name": "async_model_average", "interval_steps": 2},
    {"name": "eager_sgd", "mode": "solo", "sync_every": 3},
    {"name": "wagma", "tau": 3, "group_size": 2},
    {"name": "async_parameter_server"},
    {"name": "ssp", "staleness": 1},
    {"name": "async_diloco", "sync_every": 2},
    {"name": "adpsgd"},
    {"name": "dsgd_aau"},
    {"name": "swarm_sgd", "local_steps": 1},
    {"name": "dropcompute", "micro_batches": 3, "profile_steps": 2},
    {"name": "dedloc", "target_batch": 16},
]
HIERARCHICAL = {a["name"] for a in BULK + PEERS}
BUCKETED = {
    "gradient_allreduce", "half_precision_allreduce", "bytegrad", "qsgd", "onebit_sgd", "topk",
    "local_sgd", "powersgd", "decentralized", "dpsgd", "sgp", "parameter_server", "dgc",
}
PAIRED = {"random_matching", "shift_one"}


def fits(algorithm: Json, nodes: int, workers_per_node: int) -> bool:
    """False if the algorithm is known not to run on this number of workers. The program refuses further
    combinations."""
    workers = nodes * workers_per_node
    exchanging = nodes if algorithm.get("hierarchical") else workers
    if algorithm.get("allreduce") == "double_tree" or algorithm["name"] == "gtopk":
        return exchanging > 1
    if PAIRED & {algorithm.get("mode"), algorithm.get("graph")}:
        return exchanging % 2 == 0
    if algorithm["name"] == "wagma":
        return workers >= 2 and workers & (workers - 1) == 0
    if algorithm["name"] == "dsgd_aau":
        return workers > 1
    return algorithm["name"] not in ("adpsgd", "swarm_sgd") or workers % 2 == 0


def draw(rng: random.Random, candidates: list[Json], nodes: int, workers_per_node: int) -> Json:
    while True:
        algorithm = dict(rng.choice(candidates))
        if algorithm["name"] in HIERARCHICAL:
            algorithm["hierarchical"] = workers_per_node > 1 and rng.random() < 0.5
        if algorithm["name"] in BUCKETED:
            algorithm["bucket"] = rng.choice(["0B", "1MB", "10MiB"])
        if fits(algorithm, nodes, workers_per_node):
            return algorithm
