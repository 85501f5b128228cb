#!/usr/bin/env python3
"""Compares the methods of `trigram tune` on four networks and three models, with 128 workers.

First evaluates every point of the space of configs/tuning.json once for each network and model, which takes minutes the
first time; the results are kept. Then the program's own search, driven by its ask/tell protocol, looks its points up in
these results, so that many seeds cost little. Prints, for each network and model, the best step time of the grid, how
many points are within 3 % of it, and for each method the median number of evaluations over the seeds until a point is,
and how much slower the worst seed's best step is after all evaluations. A row is met if every seed of the method
`bayesian` ends within 3 % of the best, and if in the median it needs fewer evaluations than both other methods to get
there.

  scripts/tuning_table.py --trigram build/release/experiments/trigram --check docs/tuning.md

With --check, the exit code is 1 if fewer rows are met than a page's copy of the table says.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "configs" / "tuning.json"
NETWORKS = {  # bandwidth and latency between servers
    "100 Gbps, 50 us": ("100Gbps", "50us"), "100 Gbps, 500 us": ("100Gbps", "500us"),
    "100 Gbps, 2 ms": ("100Gbps", "2ms"), "25 Gbps, 10 ms": ("25Gbps", "10ms")}
MODELS = ["bert_large", "vgg16", "transformer_base"]
METHODS = ["bayesian", "random", "bagua"]
NEAR = 1.03
HEADER = ["between nodes", "model", "best (ms)", "within 3 %", *(f"{method}: median, worst" for method in METHODS),
          "verdict"]


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


def verdict(medians, worst):
    """Judges a row by the median number of evaluations of each method, and by how much slower the worst seed of the
    method `bayesian` ends than the best of all points, as a fraction."""
    failed = [f"not fewer than {method}" for method in METHODS[1:] if medians["bayesian"] >= medians[method]]
    if worst > NEAR - 1:
        failed.insert(0, "a seed misses 3 %")
    return "not met: " + ", ".join(failed) if failed else "met"


def row(options, pool, network, model):
    """The cells of a row."""
    costs = grid(options, network, model)
    valid = [cost for cost in costs.values() if cost is not None]
    best = min(valid)
    cells = [network, model, f"{1e3 * best:.4g}", f"{sum(cost <= NEAR * best for cost in valid)} of {len(costs)}"]
    medians, worst = {}, {}
    for method in METHODS:
        searches = list(pool.map(lambda seed: search(options, network, model, costs, method, seed),
                                 range(1, options.seeds + 1)))
        medians[method] = statistics.median(until_near(found, best) for found in searches)
        worst[method] = max(min(found) for found in searches) / best - 1
        cells.append(f"{number(medians[method], options)}, {100 * worst[method]:.1f} %")
    return [*cells, verdict(medians, worst["bayesian"])]


def line(cells):
    """A row of a Markdown table; rows are printed as soon as they are known."""
    return "| " + " | ".join(cells) + " |"


def verdicts_on(page):
    """The verdicts of a page's copy of the table, by network and model."""
    verdicts = {}
    for text in page.splitlines():
        cells = [cell.strip() for cell in text.strip("| ").split("|")]
        if len(cells) == len(HEADER) and cells[0] in NETWORKS and cells[1] in MODELS:
            verdicts[cells[0], cells[1]] = cells[-1]
    return verdicts


def check(rows, page):
    """An error if fewer of these rows are met than the page says, or if it lacks one; else an empty text."""
    said = verdicts_on(page)
    if missing := [f"{network}, {model}" for network, model, *_ in rows if (network, model) not in said]:
        return f"the page has no row for {'; '.join(missing)}"
    expected = sum(said[cells[0], cells[1]] == "met" for cells in rows)
    met = sum(cells[-1] == "met" for cells in rows)
    return f"{met} of {len(rows)} rows are met, but the page says {expected}" if met < expected else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trigram", required=True, help="the program, such as build/release/experiments/trigram")
    parser.add_argument("-o", "--output", type=Path, default=Path("results"), help="folder for results")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)),
                        help="runs and searches at a time; by default, one for each core")
    parser.add_argument("--seeds", type=int, default=20, help="searches for each method")
    parser.add_argument("--evaluations", type=int, default=60, help="evaluations of a search")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--check", type=Path, help="a page with the table, such as docs/tuning.md")
    options = parser.parse_args()
    rows = []
    print(line(HEADER) + "\n" + line(["---"] * len(HEADER)), flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for network in options.networks:
            for model in options.models:
                rows.append(row(options, pool, network, model))
                print(line(rows[-1]), flush=True)
    print(f"\n{sum(cells[-1] == 'met' for cells in rows)} of {len(rows)} rows are met. Each method: the median over "
          f"{options.seeds} seeds of the evaluations until a step time is\nwithin 3 % of the best of all points, and how "
          f"much slower the worst seed's best step is after {options.evaluations} evaluations.")
    if options.check and (error := check(rows, options.check.read_text())):
        sys.exit(f"{options.check}: {error}")


if __name__ == "__main__":
    main()
