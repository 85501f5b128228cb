#!/usr/bin/env python3
"""Compares the simulator's step times for this machine with the step times of MPI on it.

For each number of ranks, the script repeats three steps: it runs `trigram calibrate` in a job of that many ranks, runs
the experiment over MPI, and simulates the experiment with the description that the calibration wrote. It prints both
step times and the median of their ratios. With --check, the exit code is 3 if a ratio differs from 1 by more than
--tolerance. --quantile selects the quantile of repeated times that is used, both in the calibration and for the steps;
use a low quantile on a machine that other users share.

By default communication does not overlap with computation, because ranks that compute on all cores leave no core for
communication. With --overlap, communication overlaps with slept computation. Two ranks train fashion_mnist. More
ranks, which share cores, replay a profile: they sleep for its computation and pad their messages to its sizes. Phantom
tensors cost no computation in real time, so the simulated accelerator costs nothing for them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from one_machine import ENVIRONMENT

ALGORITHMS: dict[str, dict[str, Any]] = {
    "gradient_allreduce": {"name": "gradient_allreduce"},
    "bytegrad": {"name": "bytegrad"},
    "decentralized": {"name": "decentralized", "mode": "shift_one"},
}
TRAINED = {"name": "fashion_mnist", "hidden": [512, 512], "batch": 128}
# An accelerator that costs no time.
FREE = {
    "name": "free",
    "flops": "1e6TFLOP/s",
    "memory_bandwidth": "1e9GB/s",
    "launch_overhead": "0s",
}
TENSORS, NUMEL, FORWARD_S, BACKWARD_S = 8, 500_000, 0.0015, 0.003
STEPS, FIRST = 44, 4  # the steps before FIRST warm up


def profile() -> str:
    """A model of 16 MB whose step computes for 36 ms."""
    head = "# name: replayed\n# accelerator: none\n# batch: 1\n# source: made up for this comparison\n"
    rows = (f"layer{i},{NUMEL},{FORWARD_S},{BACKWARD_S}\n" for i in range(TENSORS))
    return head + "tensor,numel,forward_s,backward_s\n" + "".join(rows)


class Comparison:
    def __init__(self, options: argparse.Namespace, folder: Path, ranks: int) -> None:
        self.trigram, self.folder, self.ranks = options.trigram.resolve(), folder, ranks
        self.quantile = options.quantile
        self.trains = ranks == 2
        self.overlap = options.overlap and not self.trains
        (folder / "replayed.csv").write_text(profile())

    def environment(self) -> dict[str, str]:
        """Binds each rank to a core if there are enough cores, so that a waiting rank takes no time from another
        rank."""
        cores = len(os.sched_getaffinity(0))
        binding = "core" if self.ranks <= cores else "none"
        return {**ENVIRONMENT, "OMPI_MCA_hwloc_base_binding_policy": binding, **os.environ}

    def run(self, *arguments: Any, job: bool) -> None:
        launcher = ["mpirun", "-n", str(self.ranks)] if job else []
        command = [*launcher, str(self.trigram), *map(str, arguments)]
        result = subprocess.run(
            command, cwd=self.folder, env=self.environment(), capture_output=True, text=True
        )
        if result.returncode:
            sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")

    def calibrate(self, cluster: Path) -> None:
        probes = ["--max-bytes", "16MiB", "--quantile", str(self.quantile)]
        if self.trains:
            probes += ["--workload", json.dumps(TRAINED)]
        self.run("calibrate", "-o", cluster, *probes, job=True)
        if not self.trains:
            lines = cluster.read_text().splitlines()
            description = json.loads("\n".join(lines[1:]))
            description["accelerator"] = FREE
            cluster.write_text(json.dumps(description))

    def experiment(self, world: str, cluster: Path, name: str) -> dict[str, Any]:
        runtime: dict[str, Any] = {"name": world}
        if world == "mpi" and not self.trains:
            runtime |= {"padded": True, "modelled_compute": "slept"}
        return {
            "name": name,
            "runtime": runtime,
            "cluster": str(cluster),
            "workload": TRAINED if self.trains else "profile:replayed.csv",
            "steps": STEPS,
            "sweep": {"/algorithm": [a | {"overlap": self.overlap} for a in ALGORITHMS.values()]},
        }

    def step_times(self, world: str, cluster: Path, name: str) -> dict[str, float]:
        """Algorithm -> seconds of a step."""
        config = self.folder / f"{name}.json"
        config.write_text(json.dumps(self.experiment(world, cluster, name)))
        self.run("--quiet", "run", config, job=world == "mpi")
        times = {}
        for run in (mark.parent for mark in self.folder.glob(f"results/{name}/*/DONE")):
            manifest = json.loads((run / "manifest.json").read_text())
            steps = (run / "metrics.jsonl").read_text().splitlines()[FIRST:]
            algorithm = manifest["experiment"]["algorithm"]["name"]
            step_times = sorted(json.loads(step)["step_s"] for step in steps)
            times[algorithm] = step_times[int(self.quantile * len(step_times))]
        return times

    def run_round(self, number: int) -> dict[str, tuple[float, float]]:
        """Algorithm -> predicted and measured step time."""
        cluster = self.folder / f"cluster{number}.json"
        self.calibrate(cluster)
        measured = self.step_times("mpi", cluster, f"mpi{number}")
        predicted = self.step_times("sim", cluster, f"sim{number}")
        return {name: (predicted[name], measured[name]) for name in ALGORITHMS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trigram", type=Path, default=Path("build/release/experiments/trigram"))
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=0.2)
    parser.add_argument("--quantile", type=float, default=0.5)
    parser.add_argument("--overlap", action="store_true")
    parser.add_argument("--check", action="store_true", help="end with 3 where a ratio is far off")
    options = parser.parse_args()
    print(f"{'ranks':>5}  {'compute':8} {'algorithm':20}"
          f" {'predicted (ms)':>14} {'measured (ms)':>14} {'ratio':>6}  of all rounds")
    missed = 0
    for ranks in options.ranks:
        with tempfile.TemporaryDirectory() as folder:
            comparison = Comparison(options, Path(folder), ranks)
            rounds = [comparison.run_round(i) for i in range(options.rounds)]
        for name in ALGORITHMS:
            predicted = statistics.median(r[name][0] for r in rounds)
            measured = statistics.median(r[name][1] for r in rounds)
            ratios = [r[name][0] / r[name][1] for r in rounds]
            ratio = statistics.median(ratios)
            missed += abs(ratio - 1) > options.tolerance
            compute = "real" if comparison.trains else "slept"
            print(f"{ranks:>5}  {compute:8} {name:20} {1e3 * predicted:>14.2f}"
                  f" {1e3 * measured:>14.2f} {ratio:>6.2f}  "
                  + " ".join(f"{r:.2f}" for r in ratios), flush=True)
    return 3 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
