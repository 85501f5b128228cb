"""The calibrated parameters of the cluster's description. No parameter was added only to match a single published
value."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent.parent / "configs"

# Algorithms by their pattern of traffic. With BERT-Large, algorithms of the first two patterns exchange only among
# the leaders of nodes, while DDP and Horovod exchange among all workers. The data therefore determine one share for
# traffic of leaders, not one share for each pattern.
ALL_TO_ALL = ("bytegrad", "onebit_adam")
POINT_TO_POINT = ("decentralized", "low_precision_decentralized")
SERVER = ("byteps",)
RINGS = ("pytorch_ddp", "horovod", "bytegrad", "onebit_adam", "async_model_average")
WAITING = ("pytorch_ddp", "horovod", "bytegrad", "onebit_adam", "decentralized", "low_precision_decentralized", "byteps")
SYNCHRONIZED = ALL_TO_ALL + POINT_TO_POINT  # the host waits after every bucket

VARIATION = 0.22  # standard deviation of the logarithm, from the source of /transport/variation
MEAN_MIN_OF_4 = -1.03  # mean of the smallest of four standard normal variables


def slowest_moves(gb_per_s: float) -> float:
    """The rate of the median connection or node if the slowest of four moves `gb_per_s`."""
    return round(gb_per_s * math.exp(-MEAN_MIN_OF_4 * VARIATION), 2)


@dataclass(frozen=True)
class Parameter:
    """A number of the description, in `unit`."""

    pointer: str
    unit: str
    meaning: str
    low: float  # start of the plausible range
    high: float  # end of the plausible range
    prior: float  # where the fit starts
    source: str  # source of the range and of the prior
    width: float | None = None  # width of the prior, in the logarithm; None: only the range limits the value
    affects: tuple[str, ...] = ()  # algorithms that it affects; empty: all
    affects_bandwidth_bound: bool = False  # true if it affects cells whose time the bandwidth determines
    also: tuple[str, ...] = ()  # pointers that get the same value

    @property
    def name(self) -> str:
        return self.pointer.strip("/").replace("/", ".")

    def written(self, value: float) -> Any:
        """The value as it is written in a description, to five digits, so that simulations use exactly the written
        value."""
        return f"{value:.5g}{self.unit}" if self.unit else float(f"{value:.5g}")


PARAMETERS = (
    Parameter("/transport/goodput", "", "share of a link's bandwidth that is payload", 0.85, 0.98, 0.941,
              "1,448 of 1,538 bytes of an Ethernet frame; less with losses, more with jumbo frames",
              affects_bandwidth_bound=True),
    Parameter("/transport/efficiency/leaders", "", "share of it for traffic of one worker per node, in any pattern", 0.5, 1,
              0.9, "nothing lost, or half of it", affects=ALL_TO_ALL + POINT_TO_POINT, affects_bandwidth_bound=True,
              also=("/transport/efficiency/all_to_all", "/transport/efficiency/point_to_point")),
    Parameter("/transport/efficiency/server", "", "share of it that traffic of servers gets", 0.5, 1, 0.9,
              "nothing lost, or half of it", affects=SERVER, affects_bandwidth_bound=True),
    Parameter("/transport/connection_cap", "GB/s", "maximum of a ring's sockets between two workers, for the median pair",
              1, 12.5, slowest_moves(3.36), "Bagua-Net's curve: NCCL's sockets from 16 MiB on, as a ring of 32 on 4 nodes",
              width=0.2, affects=RINGS),
    Parameter("/transport/stream_cap", "GB/s", "maximum of one socket; a ring has two", 1, 6, 2,
              "at least half of what a ring's two move", affects=ALL_TO_ALL + POINT_TO_POINT + SERVER),
    Parameter("/transport/node_cap", "GB/s", "maximum of the software of the median node", 3, 12.5,
              slowest_moves(5.34), "Bagua-Net's curve: two streams from 16 MiB on, on 4 nodes; at most 100 Gbps", width=0.3),
    Parameter("/transport/variation", "", "how much connections and nodes differ", 0.05, 0.6, VARIATION,
              "the slowest of 2, 4 and 8 flows (NVIDIA/nccl#450): 0.85, 0.89, 0.70 of their mean", width=0.4),
    Parameter("/run_times/variation", "", "how much steps of a worker differ", 0.005, 0.15, 0.015,
              "V100s of a cluster differ by 8 % (arXiv 2208.11035, abstract), taken as 2.7 standard deviations to either side",
              width=0.3, affects=WAITING),
    Parameter("/transport/stage_overhead", "us", "overhead of a batch of messages between nodes", 0.5, 500, 5,
              "Bagua-Net's curve: 10 us for a stage of small messages, latency and launch included"),
    Parameter("/accelerator/launch_overhead", "us", "overhead of each operation of the accelerator", 2, 50, 5,
              "a launch of a CUDA kernel takes some microseconds; frameworks add to it", width=1),
    Parameter("/accelerator/synchronize_overhead", "us", "time until the host continues after it has waited for a bucket", 5, 900,
              50, "a thread wakes up in tens of microseconds; published steps of low-precision gossip, 0.121 s longer than "
              "computation of which the codes' transfer takes 53 ms, leave at most 0.9 ms to each of its 73 buckets",
              width=1.5, affects=SYNCHRONIZED),
    Parameter("/accelerator/host_bandwidth", "GB/s", "rate at which hosts copy and add up the data of servers", 0.5, 8, 2,
              "from one thread that copies and adds up, to several threads", affects=SERVER),
    Parameter("/intra/bandwidth", "GB/s", "bandwidth of a worker's port inside the node", 20, 150, 120,
              "six NVLinks of 25 GB/s (NVIDIA V100 data sheet), of which NCCL gets a part", width=0.5),
)

Values = dict[str, float]  # by the names of parameters


def base() -> dict[str, Any]:
    """The testbed as published. In addition, NICs limit the bandwidth and save credit while idle, rings have NCCL's two
    channels, and connections have Linux's windows."""
    described = json.loads((FOLDER / "clusters" / "bagua_v100_100gbps.json").read_text())
    described["inter"] |= {"latency": "5us", "shaping": {"rate": "10Gbps", "depth": "1GB", "initial": "0B"}}
    described["transport"] = {"channels": 2, "tcp": "linux"}
    described["run_times"] = {"kind": "lognormal"}
    return described


def description(values: Values, parameters: tuple[Parameter, ...] = PARAMETERS,
                unfitted: dict[str, Any] | None = None) -> dict[str, Any]:
    """The description `unfitted` of a cluster (by default base()), with these values."""
    described = copy.deepcopy(base() if unfitted is None else unfitted)
    for parameter in parameters:
        if parameter.name not in values:
            continue
        for pointer in (parameter.pointer, *parameter.also):
            *folders, key = pointer.split("/")[1:]
            parent = described
            for folder in folders:
                parent = parent.setdefault(folder, {})
            parent[key] = parameter.written(values[parameter.name])
    return described
