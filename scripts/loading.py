#!/usr/bin/env python3
"""Measures what load-balanced loading saves 8 workers whose mini-batches take uneven times, beside its prediction.

    scripts/loading.py --trigram PROGRAM            print the table
    scripts/loading.py --trigram PROGRAM --check    exit with 3 if a saving is not within 15 % of its prediction
    scripts/loading.py ... --worlds sim             only simulated time

Each row is an epoch of configs/loading.json, with verses or with times drawn from a published distribution. The
prediction takes only the distribution: c is the time of a worker's mini-batch, for verses the sum of their lengths.
Workers wait for the largest of R, so they are idle for the share 1 - E[c] / E[max of R draws] of the time if
mini-batches are drawn at random. Balanced loading saves that share.
"""

import argparse
import json
import math
import statistics
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
# A model so wide that attention, whose time follows the squares of the lengths, takes a small part of the time.
WIDE = {"name": "text", "width": 512, "values": False, "loader": {}}


def bounded(smallest, largest, mean, deviation):
    """The quantile function of `smallest` plus a lognormal time, cut off at `largest`."""
    mean -= smallest
    variance = math.log1p((deviation / mean) ** 2)
    normal = statistics.NormalDist(-variance / 2, math.sqrt(variance))
    return lambda share: min(largest, smallest + mean * math.exp(normal.inv_cdf(share)))


def quartiles(*points):
    """The quantile function that is linear between five points."""

    def quantile(share):
        quarter = min(3, int(4 * share))
        return points[quarter] + (4 * share - quarter) * (points[quarter + 1] - points[quarter])

    return quantile


# Seconds, of the sources that docs/machines.md names.
PUBLISHED = {
    "wmt17_transformer": quartiles(0.05, 0.19, 0.26, 0.365, 0.72),
    "wmt16_transformer": bounded(0.179, 3.482, 0.475, 0.144),
    "ucf101_lstm": bounded(0.201, 3.410, 1.235, 0.706),
    "resnet50_cloud": bounded(0.399, 1.892, 0.454, 0.116),
}


def idle_share_of_quantiles(quantile, workers, pieces=100_000):
    """1 - E[c] / E[max of `workers` draws], by the midpoint rule: the largest of n draws is below the quantile of u
    with probability u^n."""

    def mean_of_largest(draws):
        shares = [((i / pieces) ** draws, ((i + 1) / pieces) ** draws) for i in range(pieces)]
        return sum(quantile((i + 0.5) / pieces) * (b - a) for i, (a, b) in enumerate(shares))

    return 1 - mean_of_largest(1) / mean_of_largest(workers)


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


def of_verses(settings):
    """By order: the settings of a run on verses."""
    return {order: settings | {"/workload/loader/order": order} for order in ("random", "balanced")}


def of_published(name, steps):
    """By order: the settings of a run whose times are drawn from a published distribution."""
    times = {"kind": "published", "name": name}
    workload = {"/workload": {"name": "transformer_base", "step_time": "40ms"}}
    return {
        "random": workload | {"/cluster/run_times": times},
        "balanced": workload | {"/cluster/run_times": times | {"order": "balanced", "epoch_steps": steps}},
    }


def measure(trigram, settings, steps):
    """By order: the seconds of an epoch and the idle share."""
    measured = {}
    for order, of_order in settings.items():
        step_s, compute_s = run(trigram, of_order | {"/sweep": {}, "/steps": steps})
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
    cases = [("verses", world, of_verses({"/runtime": world}), predicted) for world in arguments.worlds]
    if "sim" in arguments.worlds:
        own_time = of_verses({"/workload": WIDE, "/cluster/accelerator": CORE})
        cases.append(("verses, the model's own time", "sim", own_time, predicted))
        for name, quantile in PUBLISHED.items():
            settings = of_published(name, steps)
            cases.append((f"`{name}`", "sim", settings, idle_share_of_quantiles(quantile, WORKERS)))
    print("| mini-batches | world | random: epoch (s) | idle | balanced: epoch (s) | idle | saved | predicted |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    within = True
    for batches, world, settings, predicted in cases:
        measured = measure(arguments.trigram, settings, steps)
        saved = 1 - measured["balanced"][0] / measured["random"][0]
        within &= abs(saved / predicted - 1) <= TOLERANCE
        cells = [f"{seconds:.2f} | {100 * idle:.1f} %" for seconds, idle in measured.values()]
        print(f"| {batches} | `{world}` | {cells[0]} | {cells[1]} | {100 * saved:.1f} % | "
              f"{100 * predicted:.1f} % |", flush=True)
    print(f"\n{len(lengths):,} lines of {sum(lengths) / len(lengths):.0f} bytes on average, {LINES} per worker and "
          f"step, {steps} steps, {WORKERS} workers")
    if arguments.check and not within:
        sys.exit(3)


if __name__ == "__main__":
    main()
