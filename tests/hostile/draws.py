"""Random experiments: a cluster, an algorithm and a model, small enough to run in milliseconds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import algorithms
import clusters

Json = dict[str, Any]

PROFILES = 6
TIMES = (0.5, 1, 2)  # each profile also exists with all times multiplied by these
SIZES = (1, 2)  # and with all tensors multiplied by these


def profile_name(index: int, time: float = 1, size: float = 1) -> str:
    return f"model{index}_time{time}_size{size}.json"


def profile(index: int, time: float, size: float) -> Json:
    """A profile whose tensors divide evenly among up to 16 workers, so that all chunks are equally long."""
    rng = random.Random(f"profile {index}")
    tensors = []
    for i in range(rng.randint(3, 6)):
        forward_s, backward_s = (rng.randint(20, 2000) * 1e-6 for _ in range(2))
        tensors.append(
            {
                "tensor": f"t{i}",
                "numel": int(720_720 * rng.choice([1, 1, 2, 3]) * size),
                "forward_s": forward_s * time,
                "backward_s": backward_s * time,
            }
        )
    return {"name": f"model{index}", "accelerator": "none", "batch": 4, "tensors": tensors}


def write_profiles(folder: Path) -> None:
    for index in range(PROFILES):
        for time in TIMES:
            for size in SIZES:
                path = folder / profile_name(index, time, size)
                path.write_text(json.dumps(profile(index, time, size)))


def other_profile(experiment: Json, time: float = 1, size: float = 1) -> str:
    """The workload of the drawn `experiment`, with other times or sizes."""
    index = int(experiment["workload"].removeprefix("profile:model").split("_")[0])
    return f"profile:{profile_name(index, time, size)}"


def experiment(rng: random.Random, candidates: list[Json], make_cluster: Any = clusters.cluster) -> Json:
    """An experiment without values: its tensors only have sizes."""
    cluster = make_cluster(rng)
    shape = cluster["nodes"], cluster["workers_per_node"]
    return {
        "runtime": {"name": "sim"},
        "cluster": cluster,
        "algorithm": algorithms.draw(rng, candidates, *shape),
        "workload": f"profile:{profile_name(rng.randrange(PROFILES))}",
        "optimizer": {"name": "adam", "lr": 0.01},
        "steps": rng.randint(3, 6),
        "seed": rng.randrange(1000),
    }


def training(rng: random.Random, candidates: list[Json], make_cluster: Any = clusters.cluster) -> Json:
    """An experiment with values: it minimises a quadratic function."""
    drawn = experiment(rng, candidates, make_cluster)
    drawn["workload"] = {
        "name": "quadratic",
        "dimension": rng.choice([32, 64, 97]),
        "tensors": rng.randint(1, 5),
        "heterogeneity": 1.0,
        "noise": 0.1,
    }
    return drawn
