#!/usr/bin/env python3
"""Measures what load-balanced loading saves when 8 workers train on verses, beside its prediction.

    scripts/loading.py --trigram PROGRAM            print the table
    scripts/loading.py --trigram PROGRAM --check    exit with 3 if a saving is not within 15 % of its prediction
    scripts/loading.py ... --worlds sim             only simulated time

Each row is one epoch of configs/loading.json. The prediction takes only the lengths of the lines: c is the sum of the
lengths of a worker's mini-batch of lines drawn at random, and workers wait for the largest of R sums, so they are idle
for the share 1 - E[c] / E[max of R sums] of the time. Balanced loading saves that share.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import language_model

CONFIG = Path(__file__).resolve().parent.parent / "configs" / "loading.json"
WORKERS, LINES = 8, 4
TOLERANCE = 0.15
# A core of a CPU, on which a small model takes a time that depends on its mini-batch more than on overheads.
CORE = {"name": "core", "flops": "20GFLOP/s", "memory_bandwidth": "10GB/s", "launch_overhead": "100ns"}
OWN_TIME = {"/workload": {"name": "text", "values": False, "loader": {}}, "/cluster/accelerator": CORE}


def distribution(lengths, count):
    """Probabilities of the sums 0, 1, ... of `count` lengths drawn independently."""
    single = [0.0] * (max(lengths) + 1)
    for length in lengths:
        single[length] += 1 / len(lengths)
    total = [1.0]
    for _ in range(count):
        convolved = [0.0] * (len(total) + len(single) - 1)
        for i, p in enumerate(total):
            if p > 0:
                for j, q in enumerate(single):
                    convolved[i + j] += p * q
        total = convolved
    return total


def expected_maximum(probabilities, draws):
    """The mean of the largest of independent draws: the sum over x of P(the largest is above x)."""
    mean, below = 0.0, 0.0
    for p in probabilities:
        below += p
        mean += 1 - min(1.0, below) ** draws
    return mean


def predicted_idle_share(lengths, lines, workers):
    sums = distribution(lengths, lines)
    return 1 - expected_maximum(sums, 1) / expected_maximum(sums, workers)


def run(trigram, settings):
    """Makes a run; returns the means over its steps of the step's time and of a worker's computation, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [trigram, "run", str(CONFIG), "-o", folder, "--no-table"]
        for pointer, value in settings.items():
            command += ["--set", f"{pointer}={json.dumps(value)}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (done,) = Path(folder).glob("**/DONE")
        records = [json.loads(line) for line in (done.parent / "metrics.jsonl").read_text().splitlines()]
    return [sum(record[key] for record in records) / len(records) for key in ("step_s", "compute_s")]


def measure(trigram, settings, steps):
    """By order: the seconds of an epoch and the idle share."""
    measured = {}
    for order in ("random", "balanced"):
        step_s, compute_s = run(trigram, settings | {"/workload/loader/order": order, "/sweep": {}, "/steps": steps})
        measured[order] = step_s * steps, 1 - compute_s / step_s
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trigram", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worlds", nargs="+", default=["sim", "threads"], choices=["sim", "threads"])
    arguments = parser.parse_args()
    train, _ = language_model.split(language_model.lines_of(language_model.BIBLE), 64)
    lengths = [len(line) + 1 for line in train]
    steps = len(lengths) // (WORKERS * LINES)
    predicted = predicted_idle_share(lengths, LINES, WORKERS)
    cases = [(world, "priced", {"/runtime": world}) for world in arguments.worlds]
    if "sim" in arguments.worlds:
        cases.append(("sim", "the model's own", OWN_TIME))
    print("| world | computation | random: epoch (s) | idle | balanced: epoch (s) | idle | saved | predicted |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    within = True
    for world, computation, settings in cases:
        measured = measure(arguments.trigram, settings, steps)
        saved = 1 - measured["balanced"][0] / measured["random"][0]
        within &= abs(saved / predicted - 1) <= TOLERANCE
        cells = [f"{seconds:.2f} | {100 * idle:.1f} %" for seconds, idle in measured.values()]
        print(f"| `{world}` | {computation} | {cells[0]} | {cells[1]} | {100 * saved:.1f} % | {100 * predicted:.1f} % |",
              flush=True)
    print(f"\n{len(lengths):,} lines of {sum(lengths) / len(lengths):.0f} bytes on average, {LINES} per worker and step, "
          f"{steps} steps")
    if arguments.check and not within:
        sys.exit(3)


if __name__ == "__main__":
    main()
