"""Options of algorithms that are refused, each with the name of its mistake and a part of the error message."""

from __future__ import annotations

from bad_configurations import changed_cluster
from harness import experiment

# description: (config, pointer, expected text)
CASES = {
    "unknown key of a component": (
        experiment(algorithm={"name": "bytegrad", "overlp": True}),
        "/algorithm/overlp",
        'did you mean "overlap"?',
    ),
    "unknown algorithm": (
        experiment(algorithm="gradient_alreduce"),
        "/algorithm",
        'did you mean "gradient_allreduce"?',
    ),
    "native collectives in a world without them": (
        experiment(algorithm={"name": "gradient_allreduce", "allreduce": "native"}),
        "/algorithm/allreduce",
        "has no collectives of its own; expected ring",
    ),
    "a tree on one rank": (
        experiment(
            algorithm={"name": "gradient_allreduce", "allreduce": "double_tree"},
            cluster={"nodes": 1, "workers_per_node": 1},
        ),
        "/algorithm/allreduce",
        '"double_tree" needs at least two ranks, and this cluster has one;',
    ),
    "options of a tree": (
        experiment(
            algorithm={
                "name": "gradient_allreduce",
                "allreduce": {"name": "double_tree", "channels": 2},
            }
        ),
        "/algorithm/allreduce/channels",
        "only ring and nccl have options",
    ),
    "a ring's option of nccl": (
        experiment(
            algorithm={
                "name": "gradient_allreduce",
                "allreduce": {"name": "nccl", "channels": 2},
            }
        ),
        "/algorithm/allreduce/channels",
        'unknown',
    ),
    "a NIC that moves nothing": (
        experiment(
            algorithm={
                "name": "gradient_allreduce",
                "allreduce": {"name": "nccl", "nic": "0Gbps"},
            }
        ),
        "/algorithm/allreduce/nic",
        "expected",
    ),
    "graph whose groups have more members than there are workers": (
        experiment(algorithm={"name": "dpsgd", "graph": {"name": "butterfly", "group": 128}}),
        "/algorithm/graph",
        "its groups have 128 members",
    ),
    "directed graph": (
        experiment(algorithm={"name": "dpsgd", "graph": "static_exponential"}),
        "/algorithm/graph",
        "is directed, and dpsgd needs a symmetric mixing matrix",
    ),
    "graph that changes": (
        experiment(algorithm={"name": "choco_sgd", "graph": "random_matching"}),
        "/algorithm/graph",
        "needs the same ones in every step",
    ),
    "groups in which nobody averages": (
        experiment(algorithm={"name": "dpsgd", "graph": {"name": "butterfly", "group": 1}}),
        "/algorithm/graph",
        "1 member",
    ),
    "feedback of a code that can lose more than its input": (
        experiment(algorithm={"name": "topk", "codec": "randk"}),
        "/algorithm/codec",
        'such as randk with "unbiased": false',
    ),
    "few levels, with feedback": (
        experiment(
            algorithm={
                "name": "qsgd",
                "error_feedback": True,
                "codec": {"name": "qsgd", "levels": 1},
            }
        ),
        "/algorithm/codec",
        "more levels or smaller buckets",
    ),
    **{
        f"few levels in {name}": (
            experiment(algorithm={"name": name, "codec": {"name": "qsgd", "levels": 3}}),
            "/algorithm/codec",
            "whose error is smaller than its input",
        )
        for name in (
            "choco_sgd",
            "dcd_psgd",
            "deepsqueeze",
            "wagma",
            "adpsgd",
            "async_parameter_server",
            "ssp",
        )
    },
    "sides of a grid beside their number": (
        experiment(algorithm={"name": "moshpit", "grid": [2, 2], "dimensions": 2}),
        "/algorithm/dimensions",
        "`grid` already gives the number of dimensions",
    ),
    "too small a grid": (
        experiment(algorithm={"name": "moshpit", "grid": [1]}),
        "/algorithm/grid",
        "1 place is too few",
    ),
    "a hierarchy of pairs": (
        experiment(algorithm={"name": "swarm_sgd", "hierarchical": True}),
        "/algorithm/hierarchical",
        "swarm_sgd",
    ),
    "pushes that are not late": (
        experiment(algorithm={"name": "osgp", "overlap_steps": 0}),
        "/algorithm/overlap_steps",
        "64",
    ),
    "groups of neighbours that change": (
        experiment(algorithm={"name": "dsgd_aau", "graph": "random_matching"}),
        "/algorithm/graph",
        "same",
    ),
    "Elias codes without a bound": (
        experiment(
            algorithm={"name": "qsgd", "codec": {"name": "qsgd", "norm": "max", "coding": "elias"}}
        ),
        "/algorithm/codec/coding",
        "Euclidean norm",
    ),
    "messages with less space than a region needs": (
        experiment(algorithm={"name": "oktopk", "slack": 0.5}),
        "/algorithm/slack",
        "1024",
    ),
    "variance that is never updated": (
        experiment(algorithm={"name": "zeroone_adam", "freeze_step": 0}, optimizer="adam"),
        "/algorithm/freeze_step",
        "1",
    ),
    "variance that is never seen": (
        experiment(algorithm={"name": "onebit_adam", "warmup_steps": 0}, optimizer="adam"),
        "/algorithm/warmup_steps",
        "expected at least 1",
    ),
    "servers beside nodes that push by their leaders": (
        experiment(
            algorithm={
                "name": "parameter_server",
                "servers": 1,
                "placement": "beside",
                "hierarchical": True,
            },
        ),
        "/algorithm/hierarchical",
        'expected "placement": "among"',
    ),
    "more servers than leaders": (
        experiment(
            algorithm={"name": "parameter_server", "servers": 3, "hierarchical": True},
        ),
        "/algorithm/servers",
        "expected at most 2",
    ),
    "a first bucket of an algorithm without buckets": (
        experiment(algorithm={"name": "eager_sgd", "first_bucket": "1MiB"}),
        "/algorithm/first_bucket",
        "has no buckets",
    ),
    "a first bucket of weights": (
        experiment(algorithm={"name": "wagma", "first_bucket": "1MiB"}),
        "/algorithm/first_bucket",
        "wagma has no separate first bucket",
    ),
    "servers beside nobody": (
        experiment(
            algorithm={"name": "parameter_server", "servers": 4, "placement": "beside"},
        ),
        "/algorithm/servers",
        "expected from 1 to 3 servers, not 4",
    ),
    "channels of an allreduce that is no ring": (
        experiment(
            algorithm={
                "name": "gradient_allreduce",
                "allreduce": {"name": "rabenseifner", "channels": 2},
            }
        ),
        "/algorithm/allreduce/channels",
        "only ring and nccl have options",
    ),
    "allreduce that codes replace": (
        experiment(
            algorithm={"name": "wagma", "codec": "topk", "group_allreduce": "ring"},
        ),
        "/algorithm/group_allreduce",
        "beside a codec",
    ),
    "allreduce of a mode without one": (
        experiment(algorithm={"name": "decentralized", "mode": "ring", "allreduce": "ring"}),
        "/algorithm/allreduce",
        'applies only to "mode": "all"',
    ),
    "two intervals": (
        experiment(
            algorithm={"name": "async_model_average", "interval": "1ms", "interval_steps": 2}
        ),
        "/algorithm/interval",
        "one of the two",
    ),
    "bare signs that are fed back": (
        experiment(
            algorithm={"name": "onebit_sgd", "codec": {"name": "sign", "scale": "one"}}
        ),
        "/algorithm/codec",
        "whose error is smaller than its input",
    ),
    "a threshold that is given and found": (
        experiment(
            algorithm={"name": "dropcompute", "threshold": "1s", "profile_steps": 5}
        ),
        "/algorithm/profile_steps",
        "has no effect beside a threshold",
    ),
    "a threshold of no time": (
        experiment(algorithm={"name": "dropcompute", "threshold": "0s"}),
        "/algorithm/threshold",
        "above zero",
    ),
    "a vote by other means": (
        experiment(algorithm={"name": "signsgd_majority", "codec": "topk"}),
        "/algorithm/codec",
        "codec",
    ),
    "gossip that does not move": (
        experiment(algorithm={"name": "choco_sgd", "gamma": 0}),
        "/algorithm/gamma",
        "a number above 0 to 1",
    ),
    "momentum that never decays": (
        experiment(algorithm={"name": "slowmo", "slow_momentum": 1}),
        "/algorithm/slow_momentum",
        "a number from 0 and below 1",
    ),
    "segments without a hierarchy": (
        experiment(algorithm={"name": "gradient_allreduce", "segment": "4MiB"}),
        "/algorithm/segment",
        'expected "hierarchical": true',
    ),
    "servers whose exchanges the host does not wait for": (
        experiment(algorithm={"name": "parameter_server", "synchronize": True}),
        "/algorithm/synchronize",
        "the host never waits",
    ),
    "an option that means nothing at any point of a sweep": (
        experiment(
            algorithm={"name": "gradient_allreduce", "segment": "4MiB"},
            sweep={"/algorithm/hierarchical": [False], "/seed": [1, 2]},
        ),
        "/algorithm/segment",
        'expected "hierarchical": true',
    ),
    "an option that means nothing in one of several swept objects": (
        experiment(
            sweep={
                "/algorithm": [
                    {"name": "bytegrad", "hierarchical": True, "segment": "4MiB"},
                    {"name": "gradient_allreduce", "segment": "4MiB"},
                ]
            }
        ),
        "/algorithm/segment",
        'expected "hierarchical": true',
    ),
    "no codec, misspelt": (
        experiment(algorithm={"name": "adpsgd", "codec": "None"}),
        "/algorithm/codec",
        'did you mean "none"?',
    ),
    "unknown graph": (
        experiment(algorithm={"name": "sgp", "graph": "exponential"}),
        "/algorithm/graph",
        "one_peer_exponential",
    ),
    "negative size": (
        experiment(algorithm={"name": "bytegrad", "bucket": "-1MiB"}),
        "/algorithm/bucket",
        "-1MiB",
    ),
    "odd number of workers": (
        experiment(
            cluster=changed_cluster(nodes=3, workers_per_node=1),
            algorithm={"name": "decentralized", "mode": "shift_one"},
        ),
        "/algorithm",
        "even",
    ),
    "option that an algorithm lacks": (
        experiment(algorithm={"name": "async_model_average", "hierarchical": True}),
        "/algorithm/hierarchical",
        "expected no execution option",
    ),
    "fusion that an algorithm lacks": (
        experiment(algorithm={"name": "choco_sgd", "bucket": "10MiB"}),
        "/algorithm/bucket",
        "expected one of its options, H",
    ),
}
