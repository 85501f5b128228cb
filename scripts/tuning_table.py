#!/usr/bin/env python3
"""Compares the methods of `trigram tune` on four networks and three models, with 128 workers.

First evaluates every point of the space of configs/tuning.json once for each network and model, which takes minutes the
first time; the results are kept. Then the program's own search, driven by its ask/tell protocol, looks its points up in
these results, so that many seeds cost little. Prints, for each network and model, the best step time of the grid, and
for each method the median number of evaluations over the seeds until a point is within 3 % of it, and the worst result
of any seed after all evaluations.

  scripts/tuning_table.py --trigram build/release/experiments/trigram
"""

import argparse
import json
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "configs" / "tuning.json"
NETWORKS = {  # bandwidth and latency between servers
    "100 Gbps": ("100Gbps", "50us"), "25 Gbps": ("25Gbps", "50us"),
    "10 Gbps": ("10Gbps", "50us"), "100 Gbps, 2 ms": ("100Gbps", "2ms")}
MODELS = ["bert_large", "vgg16", "resnet50"]
METHODS = ["bayesian", "random", "bagua"]
NEAR = 1.03


def settings_of(network, model):
    bandwidth, latency = NETWORKS[network]
    name = f"tuning-{model}-{bandwidth}-{latency}"
    workload = json.dumps({"name": model, "accelerator": "cluster"})  # layer times of another GPU are scaled
    return [f"/name={name}", f"/workload={workload}", f"/cluster/inter/bandwidth={bandwidth}",
            f"/cluster/inter/latency={latency}"]


def command(options, settings):
    words = [options.trigram, "tune", str(CONFIG), "-o", str(options.output), "-j", str(options.jobs)]
    return words + [word for setting in settings for word in ("--set", setting)]


def key(point):
    return json.dumps(point, sort_keys=True)


def grid(options, network, model):
    """The cost of every point of the space, by point; None if it is invalid. Reads an earlier record if there is
    one."""
    settings = settings_of(network, model)
    record = options.output / settings[0].partition("=")[2] / "tuning.json"
    whole = ["/tune/method=grid", "/tune/evaluations=100000", "/tune/batch=4096"]
    if not record.exists():
        done = subprocess.run(["nice", *command(options, settings + whole), "--quiet"], stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{network}, {model}: the grid could not be evaluated")
    return {key(tried["point"]): tried["value"] for tried in json.loads(record.read_text())["tried"]}


def search(options, network, model, costs, method, seed):
    """The costs that a search of one method finds, in order; invalid points are infinite."""
    settings = settings_of(network, model) + [
        f"/tune/method={method}", f"/tune/seed={seed}", f"/tune/evaluations={options.evaluations}"]
    found = []
    with subprocess.Popen(command(options, settings) + ["--ask-tell"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as tuner:
        def answer(request):
            tuner.stdin.write(json.dumps(request) + "\n")
            tuner.stdin.flush()
            return json.loads(tuner.stdout.readline())

        for _ in range(options.evaluations):
            told = []
            for point in answer({"ask": 1})["points"]:
                value = costs[key(point)]
                told.append({"point": point, "value": value})
                found.append(float("inf") if value is None else value)
            answer({"tell": told})
        tuner.stdin.close()
    return found


def until_near(found, best):
    """The number of evaluations until a cost is near the best; one more than there are if none is."""
    return next((i for i, cost in enumerate(found, 1) if cost <= NEAR * best), len(found) + 1)


def number(count, options):
    return f"> {options.evaluations}" if count > options.evaluations else f"{count:g}"


def row(options, pool, network, model):
    costs = grid(options, network, model)
    valid = [cost for cost in costs.values() if cost is not None]
    best = min(valid)
    near = sum(cost <= NEAR * best for cost in valid)
    cells = [network, model, f"{len(costs)}", f"{1e3 * best:.4g}", f"{near}"]
    medians = {}
    for method in METHODS:
        searches = list(pool.map(lambda seed: search(options, network, model, costs, method, seed),
                                 range(1, options.seeds + 1)))
        medians[method] = statistics.median(until_near(found, best) for found in searches)
        worst = max(min(found) for found in searches) / best - 1
        cells += [number(medians[method], options), f"{100 * worst:.1f}"]
    return cells, medians


def line(cells, header):
    """A row of the table, as wide as its header; rows are printed as soon as they are known."""
    widths = [max(len(title), 14 if i < 2 else 6) for i, title in enumerate(header)]
    return "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                     for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trigram", required=True, help="the program, such as build/release/experiments/trigram")
    parser.add_argument("-o", "--output", type=Path, default=Path("results"), help="folder for results")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="runs and searches at a time")
    parser.add_argument("--seeds", type=int, default=20, help="searches for each method")
    parser.add_argument("--evaluations", type=int, default=60, help="evaluations of a search")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    options = parser.parse_args()
    header = ["between nodes", "model", "points", "best (ms)", "within 3 %"]
    for method in METHODS:
        header += [method, "worst (%)"]
    medians = []
    print(line(header, header), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for network in options.networks:
            for model in options.models:
                cells, found = row(options, pool, network, model)
                medians.append(found)
                print(line(cells, header), flush=True)
    print(f"\nEach method: median over {options.seeds} seeds of the evaluations until a step time is within 3 % of the "
          f"best of all points,\nand how much slower the worst seed's best step is after {options.evaluations}.")
    for other in METHODS[1:]:
        fewer = sum(found["bayesian"] < found[other] for found in medians)
        equal = sum(found["bayesian"] == found[other] for found in medians)
        print(f"bayesian needs fewer evaluations than {other} in {fewer} of {len(medians)} rows, as many in {equal}")


if __name__ == "__main__":
    main()
