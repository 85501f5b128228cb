"""The settings with which each option has an effect."""

from __future__ import annotations

import copy
import re
from typing import Any

from option_schema import Json, Option

BASE: Json = {
    "cluster": {
        "nodes": 4,
        "workers_per_node": 2,
        "inter": {"bandwidth": "100Mbps", "latency": "50us"},
        "intra": {"bandwidth": "1Gbps", "latency": "5us"},
        "accelerator": {"flops": "3GFLOP/s", "memory_bandwidth": "1GB/s"},
    },
    "algorithm": "gradient_allreduce",
    "workload": {"name": "quadratic", "dimension": 512, "tensors": 4, "noise": 0.1, "heterogeneity": 0.5},
    "optimizer": {"name": "sgd", "lr": 0.01, "momentum": 0.9},
    "steps": 12,
    "eval_every": 4,
}

# Files that the experiments below read.
FILES = {
    "mine.csv": """# name: mine
# accelerator: P100
# flops: 9.3TFLOP/s
# memory_bandwidth: 732GB/s
# batch: 4
tensor,numel,forward_s,backward_s,forward_flops,backward_flops
first,5000,0.001,0.002,1000000,2000000
second,20003,0.002,0.004,2000000,4000000
""",
    "no_flops.csv": """# accelerator: none
tensor,numel,forward_s,backward_s
only,700,0.001,0.002
""",
    "lines.txt": "".join(f"line {i} {'abcde'[i % 5] * (i * 7 % 11)}\n" for i in range(200)),
    "other_lines.txt": "".join(f"another {i} {'xyz'[i % 3] * (i * 5 % 13)}\n" for i in range(200)),
    "other.csv": """# accelerator: none
tensor,numel,forward_s,backward_s,forward_flops,backward_flops
only,700,0.001,0.002,50000,90000
""",
}

# By a pattern (a regular expression): the settings that options need whose label contains the pattern. If several
# patterns fit an option, all their settings are applied, in this order.
CONTEXTS: dict[str, Json] = {
    # Tensors that are exchanged one by one, as soon as their gradients are ready.
    "/overlap|/early|/servers of p|/assignment": {"/algorithm/bucket": "0B"},
    "/servers of p|/assignment": {"/algorithm/partition": "256B"},
    "/early|/overlap of parameter_server": {"/workload": {"name": "ddppo"}, "/steps": 2},
    "/cluster/transport/eager_limit": {"/cluster/transport/protocol": "open_mpi"},
    "/early": {"/algorithm/priority": "need"},
    "/placement": {"/algorithm/servers": 2},
    "/broadcast_buffers": {"/workload": {"name": "resnet50"}},
    "/algorithm/segment": {
        "/algorithm/hierarchical": True,
        "/cluster/workers_per_node": 4,
        "/workload/dimension": 4096,
        "/workload/values": False,
    },
    "/phase2": {"/algorithm/hierarchical": False},
    "/shares": {"/algorithm/hierarchical": False, "/cluster/bandwidth_jitter": 0.5},
    "/shares of (?!dedloc)": {"/algorithm/phase2": "direct"},
    "/shares of dedloc": {"/algorithm/codec": "fp16"},
    "of dedloc": {"/algorithm/target_batch": 16},
    "/balance of dedloc": {"/cluster/slow_workers": [{"rank": 1, "factor": 3}]},
    "/smoothing of dedloc": {
        "/algorithm/balance": "throughput",
        "/algorithm/target_batch": 64,
        "/cluster/run_times": {"kind": "lognormal", "variation": 0.5},
    },
    "/(node_every|all_every)|of hierarchical_local": {"/algorithm/node_every": 2, "/algorithm/all_every": 2},
    "of fedavg": {"/algorithm/sync_every": 2},
    # NCCL chooses by the layout's speeds if all workers take part.
    "allreduce/.* of fedavg of nccl": {"/algorithm/fraction": 1},
    "allreduce/.* of hierarchical_local_sgd of nccl": {"/algorithm/hierarchical": False},
    # Vectors that are longer than segments and slices. They have no values, which saves time and memory.
    "allreduce/(segment|slice)": {"/workload/dimension": 4096, "/workload/values": False},
    "allreduce/segment of powersgd": {"/workload": {"name": "ddppo"}, "/steps": 2},
    # Factors of a small rank are short in a small model.
    "(allreduce/(segment|slice)|codec/(keep|block)) of dilocox": {"/workload": {"name": "ddppo"}, "/steps": 6},
    # A setting in which a tree and a ring take about as long.
    "allreduce/nic": {
        "/workload": {"name": "resnet50"},
        "/steps": 4,
        "/cluster/inter/bandwidth": "10Gbps",
        "/cluster/intra/bandwidth": "1Tbps",
    },
    "allreduce/nic of (?!async|eager|wagma)": {"/algorithm/bucket": "0B"},
    "/compute_capability": {
        "/workload": {"name": "vgg16"},
        "/steps": 4,
        "/cluster/inter/bandwidth": "1Gbps",
        "/cluster/intra": {"kind": "pcie", "bandwidth": "100Gbps", "latency": "5us"},
    },
    "/compute_capability of (?!async|eager|wagma)": {"/algorithm/bucket": "0B"},
    "/autotune": {
        "/autotune": {"every": 3, "evaluations": 4, "smallest": "128B", "largest": "2KiB"},
        "/workload/tensors": 16,
        "/steps": 40,
    },
    "of (local_sgd|slowmo|bmuf|(eager_|streaming_|async_|decoupled_)?diloco(?!_)|co2|dilocox|noloco|sparseloco|post_local_sgd)": {
        "/algorithm/sync_every": 2
    },
    "of dilocox": {"/algorithm/rank": 2},
    "/(error_feedback|reduction) of diloco(?!x)": {"/algorithm/codec": "bf16"},
    "/(outer_lr|outer_momentum) of sparta": {"/algorithm/sync_every": 2},
    "/adapt_every": {"/algorithm/sync_every": 8, "/steps": 40},
    "/dynamic_steps": {"/algorithm/sync_every": 4, "/cluster/slow_workers": [{"rank": 1, "factor": 3}]},
    "/error_reset of zeropp": {"/algorithm/error_decay": 0.5},
    "/(beta1|beta2|eps) of dion": {"/workload": {"name": "fashion_mnist", "batch": 4}, "/eval_every": 1, "/steps": 3},
    "of sparta": {"/algorithm/density": 1.0},
    "of post_local_sgd": {"/algorithm/switch_step": 4},
    "of (onebit_adam|qadam)": {"/algorithm/warmup_steps": 2},
    "of zeroone_adam": {"/algorithm/freeze_step": 2},
    "of stages": {"/algorithm/stages": [{"until": 4, "algorithm": "gradient_allreduce"}, {"algorithm": "local_sgd"}]},
    "/max_local_steps": {"/algorithm/local_doubling": 1, "/steps": 40},
    "/divisor": {"/algorithm/threshold": "2ms"},
    # Only codecs whose error is smaller than their input can have error feedback.
    "/codec/levels of .* of qsgd": {"/algorithm/codec/bucket": 16, "/algorithm/codec/levels": 127},
    "/codec/density of .* of randk": {"/algorithm/codec/unbiased": False},
    # Other kinds of traffic.
    "/efficiency/all_to_all": {"/algorithm": "bytegrad"},
    "/efficiency/leaders": {"/algorithm": {"name": "gradient_allreduce", "hierarchical": True}},
    "/efficiency/point_to_point": {"/algorithm": "dpsgd"},
    "/efficiency/server": {"/algorithm": "parameter_server"},
    "/cluster/nics": {"/algorithm": {"name": "gradient_allreduce", "allreduce": "recursive_doubling"}},
    "/intra/kind": {
        "/algorithm": "bytegrad",
        "/workload/dimension": 4096,
        "/workload/values": False,
        "/cluster/workers_per_node": 4,
    },
    "/codec_bandwidth": {"/algorithm": "bytegrad"},
    "/copy_bandwidth": {"/algorithm": {"name": "dpsgd"}},
    "/host_bandwidth": {"/algorithm": {"name": "wagma", "through_host": True}},
    "/idle_watts|/busy_watts": {"/cluster/accelerator/idle_watts": 0, "/cluster/accelerator/busy_watts": 300},
    "/synchronize_overhead": {"/algorithm": {"name": "gradient_allreduce", "synchronize": True}},
    "/cluster/accelerator/name": {"/workload": "resnet50", "/steps": 2},
    "/grace of ": {"/algorithm/quorum": 4},
    "/failures/": {"/cluster/failures": {"events": [{"at": "5ms", "kind": "crash", "rank": 1}]}},
    "/failures/(recovery|replace)": {"/algorithm": "moshpit"},
    "/failures/(mtbf|seed)": {"/algorithm": "adpsgd", "/steps": 200},
    "/background": {"/cluster/inter/background/load": 0.5, "/cluster/inter/background/flow": "16KiB", "/steps": 40},
    "/failures/(detection|restart)": {"/cluster/failures/events": [{"at": "100us", "kind": "crash", "rank": 1}]},
    # The bytes of the bulk data in the network delay heartbeats, so that workers are suspected.
    "/failures/heartbeats": {
        "/cluster/transport": {"tcp": {"slow_start": False}},
        "/cluster/failures": {"heartbeats": {"every": "1ms", "timeout": "3ms"}},
        "/algorithm": {"name": "local_sgd", "sync_every": 2, "quorum": 7, "grace": "1ms"},
        "/workload/dimension": 4096,
        "/cluster/inter/bandwidth": "6Mbps",
    },
    "/checkpoint/(memory_every|read_bandwidth)": {
        "/checkpoint": {"every": 4, "memory_every": 2, "read_bandwidth": "1MB/s"},
        "/cluster/failures": {
            "events": [{"at": "20ms", "kind": "crash", "node": 1}, {"at": "20ms", "kind": "crash", "node": 2}]
        },
    },
    "/checkpoint/(keep|write_bandwidth)": {"/checkpoint": {"every": 4}},
    "/failures/seed": {"/cluster/failures/mtbf": "50ms"},
    "/shaping": {"/cluster/inter/shaping": {"rate": "10Mbps", "depth": "1KiB"}},
    "/(bridge_bandwidth|gpudirect)": {"/cluster/intra/kind": "pcie"},
    "/gpudirect": {"/cluster/intra/bridge_bandwidth": "1Mbps"},
    "/jitter_seed": {"/cluster/bandwidth_jitter": 0.5},
    "/run_times": {
        "/cluster/run_times/kind": "bounded",
        "/cluster/run_times/smallest": "1ms",
        "/cluster/run_times/mean": "2ms",
        "/cluster/run_times/largest": "5ms",
        "/cluster/run_times/deviation": "1ms",
    },
    "/run_times/variation": {"/cluster/run_times": {"kind": "lognormal", "variation": 0.1}},
    "/run_times/(mean_length|length_dev|longest|shortest|sequences|fixed)": {
        "/cluster/run_times": {
            "kind": "sequences",
            "mean_length": 20,
            "length_deviation": 15,
            "shortest_length": 5,
            "longest_length": 80,
        }
    },
    "/run_times/name": {"/cluster/run_times": {"kind": "published", "name": "ucf101_lstm"}},
    "/run_times/quantiles": {
        "/cluster/run_times": {
            "kind": "quantiles",
            "quantiles": [{"share": 0, "time": "1ms"}, {"share": 1, "time": "2ms"}],
        }
    },
    "/run_times/(random_level|epoch_steps)": {"/cluster/run_times/order": "balanced"},
    "/skew/": {"/cluster/skew/largest": "5ms"},
    "/slow_workers/": {"/cluster/slow_workers": [{"rank": 1, "factor": 2}]},
    "/stragglers/": {"/cluster/stragglers": {"count": 1, "delay": "5ms"}},
    "/topology/": {"/algorithm": "bytegrad", "/workload/dimension": 4096, "/workload/values": False},
    "/topology/.* of fat_tree": {"/cluster/topology/nodes_per_leaf": 2, "/cluster/topology/latency": "50us"},
    "/topology/k of fat_tree": {"/cluster/topology": {"kind": "fat_tree", "k": 4}, "/cluster/nodes": 16},
    "/topology/.* of dragonfly": {
        "/cluster/topology": {
            "kind": "dragonfly",
            "groups": 2,
            "routers_per_group": 2,
            "nodes_per_router": 1,
            "global_links_per_router": 1,
            "latency": "50us",
            "global_latency": "90us",
        }
    },
    "/topology/.* of torus": {"/cluster/topology/dimensions": [2, 2], "/cluster/topology/latency": "50us"},
    "/topology/.* of hammingmesh": {
        "/cluster/topology/board": [1, 2],
        "/cluster/topology/boards": [2, 1],
        "/cluster/topology/latency": "50us",
    },
    "/topology/.* of wan": {
        "/cluster/topology": {
            "kind": "wan",
            "regions": [
                {"name": "a", "nodes": 2, "up": "30Mbps", "down": "40Mbps"},
                {"name": "b", "nodes": 2},
            ],
            "delay_is": "one_way",
            "delay": [[None, "10ms"], ["10ms", None]],
            "bandwidth": [[None, "50Mbps"], ["50Mbps", None]],
        }
    },
    "/transport/": {"/cluster/inter/bandwidth": "10Gbps", "/workload": {"name": "ddppo"}, "/steps": 2},
    "/transport/(loss_constant|segment)": {"/cluster/transport/loss": 0.1},
    "/transport/(slice|stream_overhead)": {"/cluster/transport/streams": 4},
    "/transport/(streams|slice)": {"/cluster/transport/stream_cap": "100Mbps"},
    "/transport/channels": {"/cluster/transport/stream_cap": "100Mbps"},
    "/transport/variation": {"/cluster/transport/connection_cap": "100Mbps"},
    "/transport/tcp": {"/cluster/transport/tcp": {}, "/cluster/inter/latency": "5ms", "/cluster/workers_per_node": 1},
    "/restart_after_idle": {"/cluster/stragglers": {"count": 1, "delay": "5s"}},
    "/optimizer/.* of muon": {"/workload": {"name": "fashion_mnist", "batch": 4}, "/eval_every": 1, "/steps": 3},
    "/decay_": {"/optimizer/decay": "step"},
    "/decay_factor": {"/optimizer/decay_every": 2},
    "/target_(accuracy|loss)|/workload/.* of fashion_mnist": {
        "/workload": {"name": "fashion_mnist"},
        "/eval_every": 1,
        "/steps": 3,
    },
    "/workload/.* of fashion_mnist": {"/workload/batch": 4},
    "/workload/.* of text": {
        "/workload": {"name": "text", "data": "lines.txt", "width": 8, "layers": 1, "held_out": 4},
        "/eval_every": 1,
        "/steps": 3,
    },
    "/workload/loader/(random_level|drop_last)": {"/workload/loader": {"order": "balanced"}},
    "/jobs?$": {"/job": "a", "/jobs": [{"name": "a", "nodes": 2}, {"name": "b", "nodes": 2, "seed": 5}]},
    "/until_steady": {"/workload": "ddppo", "/steps": 40},
    "/workload/.* of (llama|diloco)_": {"/steps": 2},
    "of profile": {"/workload/path": "mine.csv"},
    "/priced_with": {"/workload/priced_as": "resnet50"},
    "/priced_with/accelerator": {
        "/workload/priced_with": {"accelerator": {"name": "mine", "flops": "10TFLOP/s", "memory_bandwidth": "1000GB/s"}}
    },
    "/workload/accelerator": {
        "/workload/accelerator": {"name": "mine", "flops": "10TFLOP/s", "memory_bandwidth": "1000GB/s"}
    },
    "of replay": {"/workload/profile": "profile:mine.csv"},
    "/rate of replay": {"/workload/profile": "profile:no_flops.csv", "/workload/rate": "1GFLOP/s"},
}


def experiment_of(option: Option) -> Json:
    """An experiment in which changing `option` has an effect."""
    config = copy.deepcopy(BASE)
    for pointer, name in option.components:
        component, _, key = pointer.rpartition("/")
        set_at(config, component, {key: name})
    for pattern, settings in CONTEXTS.items():
        if re.search(pattern, option.label):
            for pointer, value in settings.items():
                set_at(config, pointer, value)
    return config


def set_at(config: Json, pointer: str, value: Any) -> None:
    """Sets the value at `pointer`. A component that is only a name becomes an object."""
    *parents, last = pointer.split("/")[1:]
    component: Any = config
    for key in parents:
        inside = component.setdefault(key, {})
        if isinstance(inside, str):
            inside = component[key] = {"name": inside}
        component = inside
    component[last] = copy.deepcopy(value)
