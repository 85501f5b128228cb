"""Descriptions of networks for tests that show, draw and run them."""

from __future__ import annotations

import copy
import re
from typing import Any

from harness import CLUSTER, CommandTest

DRAGONFLY = {
    "kind": "dragonfly",
    "groups": 9,
    "routers_per_group": 4,
    "nodes_per_router": 2,
    "global_links_per_router": 2,
}
WAN = {
    "kind": "wan",
    "delay_is": "round_trip",
    "regions": [{"name": "here", "nodes": 1}, {"name": "there", "nodes": 3}],
    "delay": [[None, "30ms"], ["30ms", None]],
    "bandwidth": [[None, "1Gbps"], ["2Gbps", None]],
}
TORUS = {"kind": "torus", "dimensions": [4, 3]}


def cluster(nodes: int, topology: Any, **changes: Any) -> dict[str, Any]:
    return {**CLUSTER, "nodes": nodes, "workers_per_node": 1, "topology": topology, **changes}


def wan(**changes: Any) -> dict[str, Any]:
    return cluster(4, {**copy.deepcopy(WAN), **changes})


def dragonfly(nodes: int, **changes: Any) -> dict[str, Any]:
    return cluster(nodes, {**DRAGONFLY, **changes})


class NetworkTest(CommandTest):
    def show(self, description: Any, *arguments: Any) -> dict[str, str]:
        shown = self.trigram("show", "network", self.write(description), *arguments).stdout
        return dict(re.split(r"  +", line, maxsplit=1) for line in shown.splitlines())
