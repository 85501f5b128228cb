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
import subprocess
import sys
from pathlib import Path
from typing import Callable

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "analysis"))

from trigram_analysis import claims, results  # noqa: E402

from .parameters import FOLDER  # noqa: E402
from .simulator import SimulationError  # noqa: E402

EXPERIMENT, CLAIM = "vgg16_scaling", "bagua_vgg16_scaling"
VARIATION = "/cluster/run_times/variation"
OTHERS = "../systems/byteps.json"  # its row gave what hosts copy
SCAN = tuple(round(0.02 + 0.01 * i, 2) for i in range(11))
STEPS = 60  # of which draws are the mean

Ratios = dict[float, dict[str, float]]  # simulated / published, by variation and system


def rows() -> list[dict]:
    """Those of the experiment that are of one server, on NCCL."""
    zipped = json.loads((FOLDER / "papers" / f"{EXPERIMENT}.json").read_text())["zip"]
    return [row for row in zipped if row["/cluster/nodes"] == 1 and row["/algorithm"] != OTHERS]


def simulate(trigram: Path, folder: Path, jobs: int) -> Ratios:
    """Every row with every variation."""
    configs, runs = folder / "configs", folder / "one-server"
    shutil.copytree(FOLDER, configs, dirs_exist_ok=True)
    experiment = json.loads((FOLDER / "papers" / f"{EXPERIMENT}.json").read_text())
    experiment |= {"name": EXPERIMENT, "steps": STEPS, "zip": rows()}
    experiment["sweep"][VARIATION] = list(SCAN)
    config = configs / "papers" / "one_server.json"
    config.write_text(json.dumps(experiment))
    shutil.rmtree(runs, ignore_errors=True)
    done = subprocess.run([trigram.resolve(), "run", config, "-o", runs, "--jobs", str(jobs), "--no-table"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SimulationError(done.stderr.strip().splitlines()[-1])
    described = next(c for c in json.loads(claims.CLAIMS.read_text(encoding="utf-8"))["claims"] if c["id"] == CLAIM)
    found: Ratios = {}
    for run in results.load(runs).runs:
        claim = claims.Claim(described, claims.CLAIMS.parent, [run])
        (cell,) = (c for c in claim.cells if c.ratio is not None)
        found.setdefault(run.sweep[VARIATION], {})[cell.key["system"]] = cell.ratio
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
