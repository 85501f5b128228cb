#!/usr/bin/env python3
"""Trains the small language model with every algorithm on the same number of tokens and tabulates the losses.

    scripts/convergence_text.py --trigram PROGRAM            print the page
    scripts/convergence_text.py --trigram PROGRAM -o FILE    write the page to FILE

The script performs the runs of configs/convergence_text.json; each row of its "zip" is a row of the table. It then
compares the losses with orders that theory or publications expect, and says which hold. The exit code is 3 if an order
does not hold that EXPECTED_MISSES does not name, or if one that it names holds.
"""
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from convergence import BASELINE, ROOT, Sweep, aligned, as_object, missing_algorithms, row_of, sweep_parser

CONFIG = ROOT / "configs" / "convergence_text.json"
# Orders that do not hold, by the beginning of their texts, and why.
EXPECTED_MISSES = {
    "`topk`, codec topk, density 0.01": "an element is sent once in 100 steps on average, and the run has 150",
    "The mean model": "`gossipgrad` mixes little, so models lie in different valleys, and their mean in none",
}
ROUNDING = 1e-4  # losses that differ by a smaller share are equal
WITH_ERROR_FEEDBACK = ("onebit_sgd", "ef_signsgd", "topk", "powersgd")


def options_of(component):
    """The options of an algorithm or codec as texts."""
    for key, value in component.items():
        if isinstance(value, dict):
            yield f"{key} {value['name']}"
            yield from options_of(value)
        elif key != "name":
            yield f"{key} {value}"


@dataclass
class Case:
    """One row: an algorithm with its settings, and how its run ended."""

    algorithm: dict
    optimizer: dict
    note: str
    loss: float  # of the mean model on held-out lines, in bits per byte
    worker_loss: float  # mean over the workers' own models, in bits per byte

    @property
    def name(self):
        return self.algorithm["name"]

    @property
    def label(self):
        return ", ".join([f"`{self.name}`", *options_of(self.algorithm)])

    @property
    def rule(self):
        return f"{self.optimizer['name']}, lr {self.optimizer['lr']:g}"


def settings_of(row):
    """A row of "zip" without its description, as a text."""
    return json.dumps({pointer: value for pointer, value in row.items() if pointer != "/description"}, sort_keys=True)


def cases_of(config, manifests):
    """The rows of the table, in the order of the configuration's "zip", from one run each."""
    summaries = {settings_of(row_of(manifest)): manifest["summary"] for manifest in manifests}
    cases = []
    for row in config["zip"]:
        summary = summaries[settings_of(row)]
        optimizer = row.get("/optimizer", config["optimizer"])
        cases.append(Case(as_object(row["/algorithm"]), optimizer, row.get("/description", ""),
                          summary["eval_loss"], summary["worker_loss_mean"]))
    return cases


@dataclass
class Order:
    """An order of losses that is expected, and what the runs have."""

    text: str
    found: str
    holds: bool


def full_of(cases, case):
    """The row of BASELINE with the same optimizer as `case`; learning rates may differ."""
    return next(other for other in cases if other.name == BASELINE and other.optimizer["name"] == case.optimizer["name"])


def more_local_steps(cases):
    """Workers that average less often end with a higher loss."""
    rising = sorted((case.algorithm["sync_every"], case.loss) for case in cases if case.name == "local_sgd")
    found = ", ".join(f"{every}: {loss:.3f}" for every, loss in rising)
    holds = len(rising) > 1 and all(a[1] < b[1] for a, b in zip(rising, rising[1:]))
    return Order("`local_sgd`: the more steps between averages (`sync_every`), the higher the loss", found, holds)


def error_feedback(cases, case):
    """Compression with error feedback costs at most 1 %."""
    over = case.loss / full_of(cases, case).loss - 1
    return Order(f"{case.label} with {case.optimizer['name']}: with error feedback, compression costs at most 1 %",
                 f"{over:+.1%}", over <= 0.01)


def mean_models(cases):
    """The mean of the workers' models is at least as good as they are on average."""
    over = {case.label: case.loss / case.worker_loss - 1 for case in cases}
    worse = [f"{label} ({share:+.2%})" for label, share in over.items() if share > ROUNDING]
    differing = sum(case.loss != case.worker_loss for case in cases)
    return Order("The mean model's loss is at most the mean of the workers' losses",
                 f"{differing} rows with workers that differ; not in: {', '.join(worse) or 'none'}", not worse)


def orders(cases):
    """The expected orders, with what the cases have. Error feedback is theory for SGD."""
    compressed = [case for case in cases if case.name in WITH_ERROR_FEEDBACK and case.optimizer["name"] == "sgd"]
    return [more_local_steps(cases), *(error_feedback(cases, case) for case in compressed), mean_models(cases)]


def reason(order, misses):
    """Why the order does not hold, or None if it is expected to hold."""
    return next((why for text, why in misses.items() if order.text.startswith(text)), None)


def problems(found, misses):
    """Yields a message for each order whose verdict is not the expected one. `misses` is like EXPECTED_MISSES."""
    for order in found:
        if order.holds == (reason(order, misses) is not None):
            yield f"{order.text}: {'holds' if order.holds else 'does not hold'}, unlike EXPECTED_MISSES; {order.found}"


def table(cases):
    rows = [["algorithm", "optimizer", "loss:", "over full:", "workers' mean:", "note"]]
    for case in cases:
        workers = "" if case.worker_loss == case.loss else f"{case.worker_loss:.3f}"
        full = full_of(cases, case)
        over = "" if case is full else f"{case.loss / full.loss - 1:+.1%}"
        rows.append([case.label, case.rule, f"{case.loss:.3f}", over, workers, case.note])
    return aligned(rows)


def orders_table(found, misses):
    rows = [["expected", "found", "verdict"]]
    for order in found:
        verdict = "holds" if order.holds else f"**does not hold**: {reason(order, misses) or 'not explained'}"
        rows.append([order.text, order.found, verdict])
    return aligned(rows)


def page(cases, config, found):
    cluster, workload = config["cluster"], config["workload"]
    ranks = cluster["nodes"] * cluster["workers_per_node"]
    return f"""# Convergence on text

After reading this page you know which loss every algorithm reaches on the [small language
model](workloads.md#train-a-language-model) after the same number of samples. This command writes the page, in about
half an hour on two cores:

```
make convergence-text
```

It runs `configs/convergence_text.json`: {ranks} workers, each with {workload["batch"]} lines per step, train for {config["steps"]} steps. Losses are
those of the mean model on held-out lines, in bits per byte; less is better. *Over full* compares with
the row of `{BASELINE}` with the same optimizer. *Workers' mean* is the mean of the losses of the workers' own models, where they
differ. Options that the table does not name have their default values. The runs are simulated on
{cluster["nodes"]} nodes at {cluster["inter"]["bandwidth"]} with the computation times and message sizes of `{workload["priced_as"]}`. In every step {cluster["stragglers"]["count"]} worker,
drawn at random, is delayed by {cluster["stragglers"]["delay"]}. Each row is one run, so differences of a few tenths of a per cent may be due to the seed.

{table(cases)}

Error feedback is proved for SGD. Adam divides by the variance of the gradients that it gets, and here these are the
compressed ones: with Adam, algorithms that send signs or few elements of gradients end far above the full gradient.
`onebit_adam`, `zeroone_adam` and `qadam` are made for Adam.

## Orders that are expected

{orders_table(found, EXPECTED_MISSES)}
"""


def main():
    parser = sweep_parser(__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, help="file to write the page to")
    options = parser.parse_args()
    options.seeds = None

    config = json.loads(CONFIG.read_text("utf-8"))
    sweep = Sweep(CONFIG, options)
    named = [Case(as_object(row["/algorithm"]), {}, "", 0, 0) for row in config["zip"]]
    if missing := missing_algorithms(named, sweep.algorithms()):
        sys.exit(f"no row in {CONFIG.name} for: {', '.join(missing)}; add one to its \"zip\"")
    cases = cases_of(config, sweep.manifests())
    found = orders(cases)
    text = page(cases, config, found)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text if not options.output else options.output)
    wrong = list(problems(found, EXPECTED_MISSES))
    for problem in wrong:
        print(problem, file=sys.stderr)
    sys.exit(3 if wrong else 0)


if __name__ == "__main__":
    main()
