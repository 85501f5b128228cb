"""Options of algorithms that are refused, each with the name of its mistake and a part of the error message."""

from __future__ import annotations

from bad_configurations import changed_cluster
from harness import experiment

# mistake: (configuration, pointer, part of the message)
CASES = {
    "unknown key of a component": (
        experiment(algorithm={"name": "bytegrad", "overlp": True}),
        "/algorithm/overlp", 'did you mean "overlap"?',
    ),
    "unknown algorithm": (
        experiment(algorithm="gradient_alreduce"),
        "/algorithm", 'did you mean "gradient_allreduce"?',
    ),
    "native collectives in a world without them": (
        experiment(algorithm={"name": "gradient_allreduce", "allreduce": "native"}),
        "/algorithm/allreduce", "has no collectives of its own; expected ring",
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
        experiment(algorithm={"name": "gradient_allreduce", "allreduce": {"name": "double_tree", "channels": 2}}),
        "/algorithm/allreduce/channels", "only ring and nccl have options",
    ),
    "a ring's option of nccl": (
        experiment(algorithm={"name": "gradient_allreduce", "allreduce": {"name": "nccl", "channels": 2}}),
        "/algorithm/allreduce/channels", 'unknown',
    ),
    "a NIC without bandwidth": (
        experiment(algorithm={"name": "gradient_allreduce", "allreduce": {"name": "nccl", "nic": "0Gbps"}}),
        "/algorithm/allreduce/nic", "expected",
    ),
    "graph whose groups have more members than there are workers": (
        experiment(algorithm={"name": "dpsgd", "graph": {"name": "butterfly", "group": 128}}),
        "/algorithm/graph", "its groups have 128 members",
    ),
    "directed graph": (
        experiment(algorithm={"name": "dpsgd", "graph": "static_exponential"}),
        "/algorithm/graph", "is directed, and dpsgd needs a symmetric mixing matrix",
    ),
    "a graph that changes with the step": (
        experiment(algorithm={"name": "choco_sgd", "graph": "random_matching"}),
        "/algorithm/graph", "needs the same ones in every step",
    ),
    "groups of one member": (
        experiment(algorithm={"name": "dpsgd", "graph": {"name": "butterfly", "group": 1}}),
        "/algorithm/graph", "1 member",
    ),
    "compensated errors of a code that can lose more than its input": (
        experiment(algorithm={"name": "zeropp", "error_decay": 0.5, "inter_codec": "randk"}),
        "/algorithm/inter_codec", "expected a codec whose error is smaller than its input",
    ),
    "fragments that do not divide the steps between exchanges": (
        experiment(algorithm={"name": "streaming_diloco", "sync_every": 100, "fragments": 3}),
        "/algorithm/fragments",
        'expected a divisor of the sync_every of 100 or "spacing": "rounded", not 3',
    ),
    "fragments at equal distances that do not divide the steps between exchanges": (
        experiment(algorithm={"name": "streaming_diloco", "sync_every": 100, "fragments": 3, "spacing": "equal"}),
        "/algorithm/fragments", "expected a divisor of the sync_every of 100",
    ),
    "more fragments than layers": (
        experiment(algorithm={"name": "streaming_diloco", "sync_every": 100, "fragments": 50}),
        "/algorithm/fragments", "expected at most 4, the number of layers (buckets) of this workload, not 50",
    ),
    "a fragment that is still exchanged when it is due again": (
        experiment(algorithm={"name": "streaming_diloco", "sync_every": 4, "overlap_steps": 4}),
        "/algorithm/overlap_steps", "expected less than the sync_every of 4, not 4",
    ),
    "fragments of decoupled_diloco that do not divide the steps between exchanges": (
        experiment(algorithm={"name": "decoupled_diloco", "sync_every": 100, "fragments": 3}),
        "/algorithm/fragments", "expected a divisor of the sync_every of 100, not 3",
    ),
    "more fragments of decoupled_diloco than layers": (
        experiment(algorithm={"name": "decoupled_diloco", "sync_every": 100, "fragments": 50}),
        "/algorithm/fragments", "expected at most 4, the number of layers (buckets) of this workload, not 50",
    ),
    "a quorum above the number of workers": (
        experiment(algorithm={"name": "decoupled_diloco", "quorum": 1000}),
        "/algorithm/quorum", "the number of workers, not 1000",
    ),
    "more servers of outer parameters than workers": (
        experiment(algorithm={"name": "async_diloco", "servers": 1000}),
        "/algorithm/servers", "not 1000",
    ),
    "error feedback where sums are encoded": (
        experiment(
            algorithm={"name": "diloco", "codec": "minmax_uint8", "reduction": "ring", "error_feedback": True}
        ),
        "/algorithm/error_feedback", "whose hops encode sums",
    ),
    "codes of differences in rounds that close early": (
        experiment(algorithm={"name": "diloco", "codec": "fp16", "quorum": 1}),
        "/algorithm/codec", 'expected "none" beside a "quorum"',
    ),
    "an adapted period in rounds that close early": (
        experiment(algorithm={"name": "local_sgd", "adapt_every": "1s", "quorum": 1}),
        "/algorithm/adapt_every", 'expected null beside a "quorum"',
    ),
    "a period that follows the loss of a workload without values": (
        experiment(
            algorithm={"name": "local_sgd", "adapt_every": "1s"}, workload={"name": "quadratic", "values": False}
        ),
        "/workload", "decisions based on the values",
    ),
    "error feedback of a codec whose error may exceed its input": (
        experiment(algorithm={"name": "topk", "codec": "randk"}),
        "/algorithm/codec", 'such as randk with "unbiased": false',
    ),
    "too few levels for error feedback": (
        experiment(algorithm={"name": "qsgd", "error_feedback": True, "codec": {"name": "qsgd", "levels": 1}}),
        "/algorithm/codec", "more levels or smaller buckets",
    ),
    **{
        f"too few levels for {name}": (
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
            "diloco",
            "dilocox",
            "async_diloco",
        )
    },
    "a grid and its number of dimensions": (
        experiment(algorithm={"name": "moshpit", "grid": [2, 2], "dimensions": 2}),
        "/algorithm/dimensions", "`grid` already gives the number of dimensions",
    ),
    "too small a grid": (
        experiment(algorithm={"name": "moshpit", "grid": [1]}),
        "/algorithm/grid", "1 place is too few",
    ),
    "a hierarchy for an algorithm that has none": (
        experiment(algorithm={"name": "swarm_sgd", "hierarchical": True}),
        "/algorithm/hierarchical", "swarm_sgd",
    ),
    "an overlap of zero steps": (
        experiment(algorithm={"name": "osgp", "overlap_steps": 0}),
        "/algorithm/overlap_steps", "64",
    ),
    "a graph that changes, for an algorithm of neighbour groups": (
        experiment(algorithm={"name": "dsgd_aau", "graph": "random_matching"}),
        "/algorithm/graph", "same",
    ),
    "Elias codes without a bound": (
        experiment(algorithm={"name": "qsgd", "codec": {"name": "qsgd", "norm": "max", "coding": "elias"}}),
        "/algorithm/codec/coding", "Euclidean norm",
    ),
    "too little slack": (experiment(algorithm={"name": "oktopk", "slack": 0.5}), "/algorithm/slack", "1024"),
    "a variance that is frozen before the first step": (
        experiment(algorithm={"name": "zeroone_adam", "freeze_step": 0}, optimizer="adam"),
        "/algorithm/freeze_step", "1",
    ),
    "a variance without a warm-up": (
        experiment(algorithm={"name": "onebit_adam", "warmup_steps": 0}, optimizer="adam"),
        "/algorithm/warmup_steps", "expected at least 1",
    ),
    "separate servers with a hierarchy": (
        experiment(algorithm={"name": "parameter_server", "servers": 1, "placement": "beside", "hierarchical": True}),
        "/algorithm/hierarchical", 'expected "placement": "among"',
    ),
    "a store with a hierarchy": (
        experiment(algorithm={"name": "sparseloco", "through": "store", "hierarchical": True}),
        "/algorithm/hierarchical", 'expected "through": "peers"',
    ),
    "a store and no worker": (
        experiment(
            algorithm={"name": "sparseloco", "through": "store"},
            cluster={**experiment()["cluster"], "nodes": 1, "workers_per_node": 1},
        ),
        "/algorithm/through", 'a single rank cannot have a store beside it; expected "peers"',
    ),
    "codes through something unknown": (
        experiment(algorithm={"name": "sparseloco", "through": "stores"}),
        "/algorithm/through", '"store"',
    ),
    "more servers than leaders": (
        experiment(algorithm={"name": "parameter_server", "servers": 3, "hierarchical": True}),
        "/algorithm/servers", "expected at most 2",
    ),
    "a first bucket of an algorithm without buckets": (
        experiment(algorithm={"name": "eager_sgd", "first_bucket": "1MiB"}),
        "/algorithm/first_bucket", "has no buckets",
    ),
    "a first bucket for an algorithm that sends weights": (
        experiment(algorithm={"name": "wagma", "first_bucket": "1MiB"}),
        "/algorithm/first_bucket", "wagma has no separate first bucket",
    ),
    "no worker beside the servers": (
        experiment(algorithm={"name": "parameter_server", "servers": 4, "placement": "beside"}),
        "/algorithm/servers", "expected from 1 to 3 servers, not 4",
    ),
    "channels of an allreduce that is no ring": (
        experiment(algorithm={"name": "gradient_allreduce", "allreduce": {"name": "rabenseifner", "channels": 2}}),
        "/algorithm/allreduce/channels", "only ring and nccl have options",
    ),
    "an allreduce that a codec replaces": (
        experiment(algorithm={"name": "wagma", "codec": "topk", "group_allreduce": "ring"}),
        "/algorithm/group_allreduce", "beside a codec",
    ),
    "an allreduce that the codec of diloco replaces": (
        experiment(algorithm={"name": "diloco", "codec": "int4", "allreduce": "ring"}),
        "/algorithm/allreduce", "beside a codec",
    ),
    "an allreduce that the codec of streaming_diloco replaces": (
        experiment(algorithm={"name": "streaming_diloco", "codec": "int4", "allreduce": "ring"}),
        "/algorithm/allreduce", "beside a codec",
    ),
    "allreduce of a mode without one": (
        experiment(algorithm={"name": "decentralized", "mode": "ring", "allreduce": "ring"}),
        "/algorithm/allreduce", 'applies only to "mode": "all"',
    ),
    "two intervals": (
        experiment(algorithm={"name": "async_model_average", "interval": "1ms", "interval_steps": 2}),
        "/algorithm/interval", "one of the two",
    ),
    "error feedback of unscaled signs": (
        experiment(algorithm={"name": "onebit_sgd", "codec": {"name": "sign", "scale": "one"}}),
        "/algorithm/codec", "whose error is smaller than its input",
    ),
    "a threshold and steps to find one": (
        experiment(algorithm={"name": "dropcompute", "threshold": "1s", "profile_steps": 5}),
        "/algorithm/profile_steps", "has no effect beside a threshold",
    ),
    "a threshold of zero": (
        experiment(algorithm={"name": "dropcompute", "threshold": "0s"}),
        "/algorithm/threshold", "above zero",
    ),
    "a majority vote with a codec": (
        experiment(algorithm={"name": "signsgd_majority", "codec": "topk"}),
        "/algorithm/codec", "codec",
    ),
    "gossip with a step size of zero": (
        experiment(algorithm={"name": "choco_sgd", "gamma": 0}),
        "/algorithm/gamma", "a number above 0 to 1",
    ),
    "a momentum of one": (
        experiment(algorithm={"name": "slowmo", "slow_momentum": 1}),
        "/algorithm/slow_momentum", "a number from 0 and below 1",
    ),
    "segments without a hierarchy": (
        experiment(algorithm={"name": "gradient_allreduce", "segment": "4MiB"}),
        "/algorithm/segment", 'expected "hierarchical": true',
    ),
    "servers with synchronization of the host": (
        experiment(algorithm={"name": "parameter_server", "synchronize": True}),
        "/algorithm/synchronize", "the host never waits",
    ),
    "an option without effect at any point of a sweep": (
        experiment(
            algorithm={"name": "gradient_allreduce", "segment": "4MiB"},
            sweep={"/algorithm/hierarchical": [False], "/seed": [1, 2]},
        ),
        "/algorithm/segment",
        'expected "hierarchical": true',
    ),
    "an option without effect in one of several swept objects": (
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
        "/algorithm/codec", 'did you mean "none"?',
    ),
    "unknown graph": (
        experiment(algorithm={"name": "sgp", "graph": "exponential"}),
        "/algorithm/graph", "one_peer_exponential",
    ),
    "negative size": (experiment(algorithm={"name": "bytegrad", "bucket": "-1MiB"}), "/algorithm/bucket", "-1MiB"),
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
        "/algorithm/hierarchical", "expected no execution option",
    ),
    "fusion that an algorithm lacks": (
        experiment(algorithm={"name": "choco_sgd", "bucket": "10MiB"}),
        "/algorithm/bucket", "expected one of its options, H",
    ),
}
