"""Relations of identity: the same experiment, written in another way or run by another method."""

from __future__ import annotations

import random
from typing import Any

from algorithms import BULK, PEERS
from base import SOURCE, read_json
from relations import Json, Relation, Variant, drawn_from, flat_equal_nodes, repeated, same_in_all
from sweeps import Result


def as_resolved(config: Json, rng: random.Random) -> list[Any]:
    def read_again(results: list[Result]) -> Variant:
        stored = {k: v for k, v in results[0].experiment.items() if k not in ("name", "seed")}
        return Variant(stored)

    return [Variant(config), read_again]


def same_id(results: list[Result], tolerance: float) -> str:
    first, second = results
    if first.id != second.id:
        return f"ids {first.id} and {second.id}"
    return same_in_all(results, tolerance)


def inlined_preset(config: Json, rng: random.Random) -> list[Any]:
    presets = ["ethernet_10g", "ib_100g", "pcie_4gpu_10gbps", "bagua_v100_25gbps"]
    path = SOURCE / "configs" / "clusters" / f"{rng.choice(presets)}.json"
    smaller = {"cluster/nodes": 2, "cluster/workers_per_node": 2}  # the keys of a row are pointers
    return [Variant(config | {"cluster": c} | smaller) for c in (read_json(path), str(path))]


def builtin_profile(config: Json, rng: random.Random) -> list[Any]:
    name = rng.choice(["resnet50", "vgg16", "bert_base"])
    path = SOURCE / "configs" / "profiles" / f"{name}.csv"
    return [Variant(config | {"workload": w}) for w in (name, f"profile:{path}")]


RELATIONS = [
    Relation(
        "stored and read again",
        "The experiment in a manifest is complete: it makes the same run, with the same id.",
        as_resolved,
        same_id,
    ),
    Relation("made twice", "A simulation depends only on its description.", repeated("sweep"), same_id),
    Relation("one job at a time", "Simulations that run at the same time share nothing.", repeated("one job"), same_id),
    Relation("the sweep in reverse order", "Earlier runs do not change a run.", repeated("reversed"), same_id),
    Relation(
        "made in shards", "The shards of a sweep together make the same runs as the sweep.", repeated("shards"), same_id
    ),
    Relation(
        "set on the command line",
        "A field that --set sets has the same effect as a field in the file.",
        repeated("set"),
        same_id,
    ),
    Relation(
        "a preset and its contents",
        "A cluster given by the path of its file equals the contents of the file.",
        inlined_preset,
        same_id,
        draw=drawn_from(BULK[:6], make_cluster=flat_equal_nodes),
    ),
    Relation(
        "a profile by its name and by its file",
        "The name of a built-in profile means the same as the path of its file.",
        builtin_profile,
        same_in_all,
        draw=drawn_from((BULK + PEERS)[:12], make_cluster=flat_equal_nodes),
    ),
]
