#!/usr/bin/env python3
"""Holds simulated failures to real ones: one schedule of crashes, in the worlds sim, threads and mpi.

  scripts/failure_efficiency.py --trigram build/release/experiments/trigram

Two workers take modelled times for their steps, and write checkpoints. `trigram launch` kills them at the times of the
schedule, in real time, and starts them again. Prints for each world the efficiency: the time of a run without crashes,
divided by the time with them. The simulator is told only how long an undisturbed job takes to start, which is measured
before. The exit code is 3 if it misses an efficiency by more than 5 points.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import one_machine

STEP_S, EVERY, STEPS = 0.05, 100, 2000
MEAN_INTERVAL_S = 20  # between crashes: 180 in an hour
TOLERANCE = 0.05


def schedule(seed):
    """Crashes of alternate workers; the intervals are exponential, but none is shorter than 5 s."""
    draw, at_s, events = random.Random(seed), 0.0, []
    while at_s < 10 * STEP_S * STEPS:
        at_s += 5 + draw.expovariate(1 / (MEAN_INTERVAL_S - 5))
        events.append({"at": f"{at_s:.3f}s", "kind": "crash", "rank": len(events) % 2})
    return events


def later(events, by_s):
    return [event | {"at": f"{float(event['at'][:-1]) + by_s:.6f}s"} for event in events]


def experiment(folder, world, failures):
    tensor = {"tensor": "w", "numel": 1000, "forward_s": 0.4 * STEP_S, "backward_s": 0.6 * STEP_S}
    (folder / "profile.json").write_text(json.dumps({"name": "one", "batch": 1, "tensors": [tensor]}))
    path = folder / "failing.json"
    path.write_text(json.dumps({
        "name": "failing", "runtime": world, "cluster": {"nodes": 2, "failures": failures},
        "algorithm": "gradient_allreduce", "workload": {"name": "profile", "path": "profile.json"},
        "steps": STEPS, "checkpoint": {"every": EVERY}}))
    return path


def run(options, world, failures, command):
    """The time that training took by its own clock and, for `launch`, the time of the whole job and its crashes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [options.trigram, command, experiment(folder, world, failures), "-o", folder / "results"]
        if command == "launch":
            words += ["--max-restarts", "1000"]
        done = subprocess.run([str(word) for word in words], env=os.environ | one_machine.ENVIRONMENT,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{world}: {done.stderr}")
        results = folder / "results" / "failing"
        summary = json.loads(next(results.glob("*/manifest.json")).read_text())["summary"]
        if command == "run":
            return summary["time_s"], None, len((summary.get("failures") or {}).get("crashes", []))
        record = json.loads((results / "launch.json").read_text())
        return summary["time_s"], record["generations"][-1]["end_s"], len(record["failures"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trigram", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--seed", type=int, default=1, help="of the schedule of crashes")
    parser.add_argument("--worlds", default="threads,mpi")
    options = parser.parse_args()
    events, worst = schedule(options.seed), 0.0
    print(f"{'world':8} {'start (s)':>10} {'crashes':>8} {'time (s)':>9} {'efficiency':>11} {'simulated':>10} {'off by':>7}")
    for world in options.worlds.split(","):
        trained_s, whole_s, _ = run(options, world, [], "launch")
        start_s = whole_s - trained_s
        _, failed_s, crashes = run(options, world, events, "launch")
        simulated_s, _, _ = run(options, "sim", [], "run")
        # A job's clock begins when it is launched, and a simulated one when it has started.
        restart = {"events": [e for e in later(events, -start_s)], "restart": f"{start_s:.6f}s"}
        with_crashes_s, _, _ = run(options, "sim", restart, "run")
        real = whole_s / failed_s
        predicted = (start_s + simulated_s) / (start_s + with_crashes_s)
        worst = max(worst, abs(real - predicted))
        print(f"{world:8} {start_s:10.2f} {crashes:8} {failed_s:9.1f} {real:11.1%} {predicted:10.1%} "
              f"{100 * (predicted - real):+7.1f}", flush=True)
    return 3 if worst > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
