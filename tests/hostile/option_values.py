"""Values of options other than their defaults."""

from __future__ import annotations

import re
from typing import Any

from option_schema import Option, other_values

# The number of tensors of each model whose profile is supplied.
MODELS = {
    "vgg16": 32,
    "resnet50": 161,
    "bert_large": 391,
    "bert_base": 199,
    "transformer_base": 185,
    "lstm_alexnet": 27,
    "gpt2": 148,
    "llama_1b": 146,
    "llama_8b": 291,
    "diloco_1b": 26,
    "diloco_10b": 50,
    "diloco_100b": 110,
    "ddppo": 80,
}

# Values to try for options whose label matches a pattern, if the schema gives no suitable value.
VALUES: dict[str, list[Any]] = {
    "^/jobs$": [[{"name": "a", "nodes": 2}, {"name": "b", "nodes": 2, "algorithm": "local_sgd"}]],
    "^/job$": ["b"],
    "/nic of": ["100Gbps", "1Mbps"],
    "/compute_capability": [80, 60],
    "/allreduce/slice": ["64B"],
    "/allreduce/segment of powersgd": ["4KiB"],
    "/slow_start|/restart_after": [False],
    "/levels of": [100],
    "/(slow|block)_momentum|/decay_factor": [0.9],
    "/outer_momentum": [0.5, 0.2],
    "/failures/mtbf": ["100ms"],
    "/momentum of noloco": [0.9],
    "/block of .*int2": [8],
    "/hadamard of": [16, 2],
    "/keep of .*dct_topk": [1000],
    "/sync_every of (streaming_diloco|decoupled_diloco|sparta)": [4],
    "/algorithm/(first_)?bucket of (streaming|decoupled)_diloco": ["1kB"],
    "/clip of co2": [1e-6],
    "/gap_penalty": [3],
    "/adapt_every": ["1us"],
    "/grid": [[2, 4]],
    "/clip_norm": [1e-3],
    "/autotune/every": [4],
    "/autotune/(smallest|largest)": ["512B"],
    "/stages of": [[{"until": 5, "algorithm": "gradient_allreduce"}, {"algorithm": "local_sgd"}]],
    "/failures/events": [[{"at": "100us", "kind": "partition", "nodes": [1], "for": "3ms"}]],
    "/failures/seed": [2],
    "/inter/profile": [[{"at": "1ms", "bandwidth": 0.2}]],
    "/quantiles": [[{"share": 0, "time": "1ms"}, {"share": 1, "time": "9ms"}]],
    "/run_times/longest_length": [60],
    "/run_times/variation": [0.5],
    "/topology$": [{"kind": "fat_tree", "nodes_per_leaf": 1, "latency": "90us"}],
    "/nodes_per_leaf": [1],
    "/dimensions of torus": [[4]],
    "/board of": [[2, 1]],
    "/boards of": [[1, 2]],
    "/delay of wan": [[[None, "90ms"], ["90ms", None]]],
    "/bandwidth of wan": [[[None, "5Mbps"], ["5Mbps", None]]],
    "/egress_price_per_GB of wan": [[[None, 0.5], [0.2, None]]],
    "/regions of wan": [[{"name": "a", "nodes": 1}, {"name": "b", "nodes": 3}]],
    "/slow_workers$": [[{"rank": 1, "factor": 2}]],
    "/loss$": [0.1],
    "/steps$": [5],
    "/target_accuracy": [0.01],
    "/target_loss": [100.0],
    "/sweep$": [{"/seed": [2]}],
    "/tune$": [{"space": {"/steps": {"integer": [1, 2]}}}],
    "/zip$": [{"/seed": [2]}],
    "accelerator/name": ["another"],
    "/workload/path": ["other.csv"],
    "/workload/data of text": ["other_lines.txt"],
    "/workload/width of text": [12],
    "/workload/layers of text": [2],
    "/workload/heads of text": [2],
    "/workload/context of text": [2048],
    "/workload/held_out of text": [3],
    "/workload/batch of text": [2],
    "/workload/loader/tokens of text": [60],
    "/workload/profile of replay": ["profile:other.csv"],
    "/workload/buckets of profile": [[["second"], ["first"]]],
    **{f"/workload/buckets of {model}": [[{"first": 0, "last": tensors - 1}]] for model, tensors in MODELS.items()},
}


def values_of(option: Option) -> list[Any]:
    for part, values in VALUES.items():
        if re.search(part, option.label):
            return values
    return other_values(option.schema)
