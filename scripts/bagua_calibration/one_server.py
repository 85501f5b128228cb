"""What one server tells of a model's computation: how unlike steps are.

Workers of one server have no network between them, so what they lose against so many single workers is what they
wait for each other, and what sums inside a server take, which the description has. How unlike steps are belongs to the
model and its data as the time of a step does: hosts that decode images beside training make steps vary more than hosts
that read text.
"""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any, Callable

from .parameters import FOLDER
from .simulator import SimulationError, claim, results, run

EXPERIMENT, CLAIM = "vgg16_scaling", "bagua_vgg16_scaling"
VARIATION = "/cluster/run_times/variation"
OTHERS = "../systems/byteps.json"  # its row gave what hosts copy
SCAN = tuple(round(0.02 + 0.01 * i, 2) for i in range(11))
STEPS = 60  # of which draws are the mean

Ratios = dict[float, dict[str, float]]  # simulated / published, by variation and system


def experiment() -> dict[str, Any]:
    """What of the paper's experiment is of one server on NCCL, with every variation."""
    described = json.loads((FOLDER / "papers" / f"{EXPERIMENT}.json").read_text())
    rows = [row for row in described["zip"] if row["/cluster/nodes"] == 1 and row["/algorithm"] != OTHERS]
    return described | {"steps": STEPS, "zip": rows, "sweep": described["sweep"] | {VARIATION: list(SCAN)}}


def simulate(trigram: Path, folder: Path, jobs: int) -> Ratios:
    runs = folder / "one-server"
    shutil.rmtree(runs, ignore_errors=True)
    if failed := run(trigram.resolve(), folder, experiment(), runs, jobs):
        raise SimulationError(failed)
    found: Ratios = {}
    for made in results.load(runs).runs:
        (cell,) = (c for c in claim(CLAIM, [made]).cells if c.ratio is not None)
        found.setdefault(made.sweep[VARIATION], {})[cell.key["system"]] = cell.ratio
    return found


def best(ratios: Ratios) -> float:
    """The variation with the least squares of logarithms."""
    return min(sorted(ratios), key=lambda v: sum(math.log(r) ** 2 for r in ratios[v].values()))


def tell(ratios: Ratios, say: Callable[[str], None] = print) -> None:
    systems = sorted(next(iter(ratios.values())))
    say("variation  " + "  ".join(f"{s:>11}" for s in systems) + "  (simulated / published, 8 GPUs)")
    for v in sorted(ratios):
        say(f"{v:<9.2f}  " + "  ".join(f"{ratios[v][s]:11.3f}" for s in systems))
    say(f"steps of VGG16 vary by {best(ratios):.2f}")
