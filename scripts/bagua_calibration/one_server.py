"""Fits two values to measurements on one server, which need no network: the variation of VGG16's step times, and the
rate at which hosts copy for BytePS.

The workers of one server are slower than as many single workers because they wait for each other and because they sum
inside the server. The description already includes the time of these sums. How much step times vary depends on the
model and its data: hosts that decode images during training make step times vary more than hosts that read text. VGG16
therefore has a separate description, which differs only in this variation.
"""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np

from .parameters import FOLDER
from .simulator import SimulationError, claim, results, run

EXPERIMENT, CLAIM = "vgg16_scaling", "bagua_vgg16_scaling"
BYTEPS = "../systems/byteps.json"
VARIATION, HOST_BANDWIDTH = "/cluster/run_times/variation", "/cluster/accelerator/host_bandwidth"
VARIATIONS = tuple(round(0.01 * i, 2) for i in range(1, 13))
HOSTS_GB_PER_S = tuple(round(float(rate), 3) for rate in np.geomspace(0.5, 8, 25))
STEPS = 60  # steps of a run; its result is the mean over this many random step times

Ratios = dict[float, dict[str, float]]  # simulated / published, by value and system


def with_variation(described: dict[str, Any], variation: float) -> dict[str, Any]:
    return described | {"run_times": described["run_times"] | {"variation": variation}}


def experiment(described: dict[str, Any], byteps: bool, pointer: str, values: tuple[Any, ...]) -> dict[str, Any]:
    """The part of the paper's experiment on one server, for BytePS or for all other systems, swept over the values of
    one option."""
    whole = json.loads((FOLDER / "papers" / f"{EXPERIMENT}.json").read_text())
    rows = [row for row in whole["zip"] if row["/cluster/nodes"] == 1 and (row["/algorithm"] == BYTEPS) == byteps]
    return whole | {"cluster": described, "steps": STEPS, "zip": rows, "sweep": whole["sweep"] | {pointer:
    list(values)}}


@dataclass
class OneServer:
    """Simulates the rows of one server."""

    trigram: Path
    folder: Path
    jobs: int = 0

    def variations(self, described: dict[str, Any]) -> Ratios:
        """The ratios of the systems on NCCL, by variation."""
        return self._ratios(VARIATION, experiment(described, False, VARIATION, VARIATIONS))

    def host_bandwidths(self, described: dict[str, Any]) -> Ratios:
        """The ratios of BytePS, by the rate of the hosts in GB/s."""
        texts = tuple(f"{rate}GB/s" for rate in HOSTS_GB_PER_S)
        by_text = self._ratios(HOST_BANDWIDTH, experiment(described, True, HOST_BANDWIDTH, texts))
        return {rate: by_text[text] for rate, text in zip(HOSTS_GB_PER_S, texts)}

    def _ratios(self, pointer: str, swept: dict[str, Any]) -> dict[Any, dict[str, float]]:
        runs = self.folder / "one-server"
        shutil.rmtree(runs, ignore_errors=True)
        if failed := run(self.trigram.resolve(), self.folder, swept, runs, self.jobs):
            raise SimulationError(failed)
        found: dict[Any, dict[str, float]] = {}
        for finished in results.load(runs).runs:
            (cell,) = (c for c in claim(CLAIM, [finished]).cells if c.ratio is not None)
            found.setdefault(finished.sweep[pointer], {})[cell.key["system"]] = cell.ratio
        return found


def best(ratios: Ratios) -> float:
    """The value with the smallest sum of squared log ratios."""
    return min(sorted(ratios), key=lambda v: sum(math.log(r) ** 2 for r in ratios[v].values()))


def crossing(ratios: Ratios) -> float:
    """The value at which a system is as fast as published; the system must get faster as the value grows."""
    values = sorted(ratios)
    logs = [math.log(ratio) for v in values for ratio in ratios[v].values()]
    if not logs[0] < 0 < logs[-1]:
        raise SimulationError(f"no value from {values[0]:g} to {values[-1]:g} gives what was published")
    return float(f"{math.exp(np.interp(0, logs, np.log(values))):.3g}")


def print_variations(ratios: Ratios, say: Callable[[str], None] = print) -> None:
    systems = sorted(next(iter(ratios.values())))
    say("variation  " + "  ".join(f"{s:>11}" for s in systems) + "  (VGG16 on one server, simulated / published)")
    for v in sorted(ratios):
        say(f"{v:<9.2f}  " + "  ".join(f"{ratios[v][s]:11.3f}" for s in systems))
    say(f"steps of VGG16 vary by {best(ratios):.2f}")
