#!/usr/bin/env python3
"""Trains with every algorithm for one epoch and tabulates the accuracies.

    scripts/convergence.py --trigram PROGRAM                print the page
    scripts/convergence.py --trigram PROGRAM --seeds 1 2    use these seeds, not the configuration's
    scripts/convergence.py --trigram PROGRAM -o FILE        write the page to FILE
    scripts/convergence.py --trigram PROGRAM --check FILE   also compare with the page in FILE

The exit code is 3 if an algorithm's accuracy is too far below the accuracy of gradient_allreduce, or if the page in
FILE is out of date. The script performs the runs of configs/convergence.json; each row of its "zip" is a row of the
table.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "configs" / "convergence.json"
BASELINE = "gradient_allreduce"
# A mean may be this many percentage points below the baseline's.
TOLERANCE = 2.0
# With other compilers and libraries, a mean may differ from the committed one by this many points.
DRIFT = 0.5


@dataclass
class Case:
    """One row: an algorithm with its settings."""

    algorithm: dict
    optimizer: dict
    note: str = ""
    accuracies: list = field(default_factory=list)  # per cent, one per seed
    baseline: float = 0.0  # mean of the baseline with the same optimizer, in per cent

    @property
    def name(self):
        return self.algorithm["name"]

    @property
    def label(self):
        options = [f"{key} {value}" for key, value in self.algorithm.items() if key != "name"]
        return ", ".join([f"`{self.name}`", *options])

    @property
    def rule(self):
        options = [f"{key} {value:g}" for key, value in self.optimizer.items() if key != "name"]
        return ", ".join([self.optimizer["name"], *options])

    @property
    def mean(self):
        return statistics.fmean(self.accuracies)

    @property
    def points(self):
        return self.mean - self.baseline


def as_object(component):
    return {"name": component} if isinstance(component, str) else component


def cases_of(config):
    """The rows of the table, in the order of the configuration's "zip"."""
    return [
        Case(
            as_object(row["/algorithm"]),
            as_object(row.get("/optimizer", config["optimizer"])),
            row.get("/description", ""),
        )
        for row in config["zip"]
    ]


def set_baselines(cases):
    """Sets the baseline of every case: the mean of the baseline algorithm with the same optimizer. Learning rates may
    differ."""
    means = {case.optimizer["name"]: case.mean for case in cases if case.name == BASELINE}
    for case in cases:
        case.baseline = means[case.optimizer["name"]]


def missing_algorithms(cases, listed):
    """The names in `listed` that no case has, except "stages", which is made of the others."""
    return sorted(set(listed) - {case.name for case in cases} - {"stages"})


def stated_shortfall(source):
    """The points below the baseline that the banner of an algorithm's source states, or None."""
    banner = " ".join(re.findall(r"^//(.*)$", source.split("#include")[0], re.MULTILINE))
    found = re.search(rf"(\d+\.\d) points below {BASELINE}", re.sub(r"\s+", " ", banner))
    return float(found[1]) if found else None


def failures(cases, source_of):
    """Yields a message for each case that is too far below the baseline, unless its source states
    the shortfall. `source_of` returns the source of the algorithm with a given name."""
    for case in cases:
        below = -case.points
        if below <= TOLERANCE:
            continue
        stated = stated_shortfall(source_of(case.name))
        if stated is None or abs(stated - below) > DRIFT:
            yield (
                f"{case.label}: {below:.2f} points below {BASELINE}; expected at most"
                f" {TOLERANCE:g}. Improve its options in {CONFIG.name}, or state"
                f" \"{below:.1f} points below {BASELINE}\" and the cause in the banner of"
                f" algorithms/{case.name}.cpp"
            )


def aligned(rows):
    """A Markdown table with aligned columns. The first row holds the titles; the title of a column of
    numbers ends with a colon, which is not printed."""
    right = [title.endswith(":") for title in rows[0]]
    rows = [[title.rstrip(":") for title in rows[0]], *rows[1:]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(right))]

    def line(cells):
        return "| " + " | ".join(
            cell.rjust(width) if r else cell.ljust(width)
            for cell, width, r in zip(cells, widths, right)
        ) + " |"

    rule = "|" + "|".join("-" * (w + 1) + (":" if r else "-") for w, r in zip(widths, right)) + "|"
    return "\n".join([line(rows[0]), rule, *map(line, rows[1:])])


def table(cases):
    rows = [["algorithm", "optimizer", "mean (%):", "lowest:", "highest:", "points:", "note"]]
    for case in cases:
        numbers = (case.mean, min(case.accuracies), max(case.accuracies))
        points = "" if case.name == BASELINE else f"{case.points:+.2f}"
        rows.append(
            [case.label, case.rule, *(f"{number:.2f}" for number in numbers), points, case.note]
        )
    return aligned(rows)


def page(cases, config, ranks, seeds):
    cluster, workload = config["cluster"], config["workload"]
    return f"""# Convergence

After reading this page you know how accurate a model every algorithm trains in one epoch, compared with
`{BASELINE}`. Accuracies are those of the mean model on the test set of `{workload["name"]}`. This command
writes the page:

```
make convergence
```

It runs `configs/convergence.json`: {ranks} workers with batches of {workload["batch"]} samples train for {config["steps"]} steps with {len(seeds)} seed{"s" if len(seeds) > 1 else ""}.
The table has the mean, lowest and highest accuracy over the seeds.
*Points* are percentage points of accuracy above (+) or below (−) `{BASELINE}` with the same
optimizer. Options that the table does not name have their default values. The runs are simulated on
{cluster["nodes"]} nodes at {cluster["inter"]["bandwidth"]} with the computation times and message sizes of `{workload["priced_as"]}`. In every step {cluster["stragglers"]["count"]} worker,
drawn at random, is delayed by {cluster["stragglers"]["delay"]}, so that asynchronous methods have a delay to avoid. `make slow` fails if a mean is more than {TOLERANCE:g} points
below `{BASELINE}`, unless the algorithm's source file states the shortfall and its cause.

{table(cases)}
"""


def committed_means(text):
    """(algorithm, optimizer) -> mean, read from the table of a page."""
    cells = [re.split(r"\s*\|\s*", line)[1:4] for line in text.splitlines() if "| `" in line]
    return {(label, rule): float(mean) for label, rule, mean in cells}


def drift(cases, text):
    """Yields a message for each row in which a committed page differs from the cases by more than
    DRIFT."""
    before = committed_means(text)
    now = {(case.label, case.rule): case.mean for case in cases}
    for row in sorted(before.keys() ^ now.keys()):
        where = "missing from the committed table" if row in now else "only in the committed table"
        yield f"{row[0]} with {row[1]}: {where}; run make convergence"
    for row in sorted(before.keys() & now.keys()):
        if abs(before[row] - now[row]) > DRIFT:
            yield (
                f"{row[0]} with {row[1]}: mean accuracy {now[row]:.2f} %, but {before[row]:.2f} % in"
                " the committed table; run make convergence"
            )


def sweep_parser(description):
    """A parser of the options that Sweep needs, besides `seeds`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--trigram", required=True, help="the trigram executable")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder for the results of runs")
    parser.add_argument("--jobs", type=int, default=0, help="simulations at a time; 0: one per core")
    parser.add_argument("--keep", action="store_true", help="use finished runs in the folder")
    return parser


class Sweep:
    """Performs the runs of a configuration by calling the program."""

    def __init__(self, config, options):
        self.config = config
        self.program, self.results = os.path.abspath(options.trigram), options.results
        self.seeds = options.seeds
        self.jobs = options.jobs
        self.force = [] if options.keep else ["--force"]

    def call(self, *arguments, **options):
        """Calls the program and returns its output; exits with its exit code if it fails."""
        result = subprocess.run([self.program, *map(str, arguments)], text=True, check=False, **options)
        if result.returncode != 0:
            sys.exit(result.returncode)
        return result.stdout

    def run_arguments(self):
        arguments = ["run", self.config, "-o", self.results]
        return arguments + (["--set", f"/seed={json.dumps(self.seeds)}"] if self.seeds else [])

    def manifests(self):
        """Performs all runs, by default even if they are already finished, and returns their manifests."""
        self.call(*self.run_arguments(), *self.force, "--jobs", self.jobs, stdout=subprocess.DEVNULL)
        planned = self.call(*self.run_arguments(), "--dry-run", stdout=subprocess.PIPE)
        folder = self.results / self.config.stem
        ids = [line.split()[0] for line in planned.splitlines()]
        return [json.loads((folder / i / "manifest.json").read_text("utf-8")) for i in ids]

    def algorithms(self):
        text = self.call("list", "algorithms", "--json", stdout=subprocess.PIPE)
        return [algorithm["name"] for algorithm in json.loads(text)["algorithms"]]


def main():
    parser = sweep_parser(__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", help="seeds, instead of those of the configuration")
    parser.add_argument("-o", "--output", type=Path, help="file to write the page to")
    parser.add_argument("--check", type=Path, metavar="FILE", help="committed page to compare with")
    options = parser.parse_args()

    config = json.loads(CONFIG.read_text("utf-8"))
    cases = cases_of(config)
    sweep = Sweep(CONFIG, options)
    if missing := missing_algorithms(cases, sweep.algorithms()):
        sys.exit(f"no row in {CONFIG.name} for: {', '.join(missing)}; add one to its \"zip\"")
    for manifest in sweep.manifests():
        case = cases[config["zip"].index(row_of(manifest))]
        case.accuracies.append(100 * manifest["summary"]["accuracy"])
    set_baselines(cases)
    cluster = config["cluster"]
    text = page(
        cases,
        config,
        cluster["nodes"] * cluster["workers_per_node"],
        options.seeds or config["seed"],
    )
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    print(text if not options.output else options.output)
    problems = list(failures(cases, source_of))
    if options.check:
        problems += drift(cases, options.check.read_text("utf-8"))
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(3 if problems else 0)


def row_of(manifest):
    """The row of "zip" to which a run belongs."""
    return {key: value for key, value in manifest["sweep"].items() if key != "/seed"}


def source_of(name):
    return (ROOT / "algorithms" / f"{name}.cpp").read_text("utf-8")


if __name__ == "__main__":
    main()
