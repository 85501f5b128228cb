#!/usr/bin/env python3
"""Trains a small language model with algorithms of low communication, and says which orders of losses hold.

    scripts/low_communication.py --trigram PROGRAM
    scripts/low_communication.py --trigram PROGRAM --seeds 1    use this seed, not the configuration's

The script performs the runs of configs/low_communication_orders.json and prints a table of the losses, means over the
seeds, and a table of the orders that papers report. The exit code is 3 if an order does not hold that EXPECTED_MISSES
does not name, or if one that it names holds.
"""
import json
import statistics
import sys
from dataclasses import dataclass, field

import convergence_text
from convergence import ROOT, Sweep, aligned, as_object, row_of, sweep_parser
from convergence_text import Order, options_of, settings_of

CONFIG = ROOT / "configs" / "low_communication_orders.json"
# Orders that do not hold, by the beginning of their texts, and why.
EXPECTED_MISSES = {
    "Outer parameters are better": "they and the mean differ by less than seeds do; both are better than one worker's model",
    "`diloco`: the more steps": "periods of 25 to 100 steps differ by less than seeds do; then the loss rises",
    "`sparseloco` is within": "the cause is not known",
    "`async_diloco`: delayed": "delayed momentum is better than the other, but with 0.9 both are worse than none",
}


@dataclass
class Case:
    """One row: an algorithm with its settings, and the losses on held-out lines in bits per byte, one per seed."""

    algorithm: dict
    losses: list = field(default_factory=list)  # of the model that is evaluated
    worker_losses: list = field(default_factory=list)  # mean over the workers' own models

    @property
    def label(self):
        return ", ".join([f"`{self.algorithm['name']}`", *options_of(self.algorithm)])

    @property
    def loss(self):
        return statistics.fmean(self.losses)

    @property
    def worker_loss(self):
        return statistics.fmean(self.worker_losses)


def cases_of(config, manifests):
    """The rows of the configuration's "zip", with their losses."""
    cases = {settings_of(row): Case(as_object(row["/algorithm"])) for row in config["zip"]}
    for manifest in manifests:
        case = cases[settings_of(row_of(manifest))]
        case.losses.append(manifest["summary"]["eval_loss"])
        case.worker_losses.append(manifest["summary"]["worker_loss_mean"])
    return list(cases.values())


def one(cases, name, **options):
    """The row of an algorithm that has exactly these options, besides its period and outer learning rate."""
    common = ("name", "sync_every", "fragments", "outer_lr")
    [found] = [c for c in cases if c.algorithm["name"] == name
               and {k: v for k, v in c.algorithm.items() if k not in common} == options]
    return found


def rising(losses):
    return all(a < b for a, b in zip(losses, losses[1:]))


def shares(losses):
    """Losses, and by how much each is above the first."""
    return ", ".join([f"{losses[0]:.3f}", *(f"{loss:.3f} ({loss / losses[0] - 1:+.1%})" for loss in losses[1:])])


def outer_parameters(cases):
    """The outer parameters are better than the mean of the workers' models, and this is better than a worker's."""
    workers = one(cases, "streaming_diloco", evaluate="workers")
    losses = [one(cases, "streaming_diloco").loss, workers.loss, workers.worker_loss]
    return Order("Outer parameters are better than the mean of the workers' models, and this mean is better than one of them",
                 shares(losses), rising(losses))


def more_local_steps(cases):
    """The more steps between exchanges, the higher the loss."""
    losses = [case.loss for case in sorted((c for c in cases if c.algorithm["name"] == "diloco"),
                                           key=lambda case: case.algorithm["sync_every"])]
    return Order("`diloco`: the more steps between exchanges, the higher the loss", shares(losses), rising(losses))


def four_bits(cases):
    """Outer gradients of four bits cost less than 0.5 %."""
    losses = [one(cases, "streaming_diloco").loss, one(cases, "streaming_diloco", codec="e3m0").loss]
    return Order("`streaming_diloco`: codes of 4 bits (`e3m0`) cost less than 0.5 %", shares(losses),
                 losses[1] < losses[0] * 1.005)


def sparse(cases):
    """SparseLoCo stays within 2 % of DiLoCo with the same period."""
    sparseloco = one(cases, "sparseloco")
    [diloco] = [c for c in cases if c.algorithm["name"] == "diloco"
                and c.algorithm["sync_every"] == sparseloco.algorithm["sync_every"]]
    losses = [diloco.loss, sparseloco.loss]
    return Order("`sparseloco` is within 2 % of `diloco`", shares(losses), losses[1] < losses[0] * 1.02)


def late_momentum(cases):
    """Momentum along every late change hurts, and delayed momentum does not."""
    losses = [one(cases, "async_diloco", **options).loss
              for options in ({}, {"outer_momentum": 0}, {"momentum": "nesterov"})]
    return Order("`async_diloco`: delayed momentum is better than none, and none is better than momentum along every change",
                 shares(losses), rising(losses))


def orders(cases):
    return [order(cases) for order in (outer_parameters, more_local_steps, four_bits, sparse, late_momentum)]


def losses_table(cases):
    rows = [["algorithm", "loss:", "lowest:", "highest:", "workers' mean:"]]
    for case in cases:
        workers = "" if case.worker_loss == case.loss else f"{case.worker_loss:.3f}"
        rows.append([case.label, *(f"{x:.3f}" for x in (case.loss, min(case.losses), max(case.losses))), workers])
    return aligned(rows)


def main():
    parser = sweep_parser(__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", help="seeds, instead of those of the configuration")
    options = parser.parse_args()

    config = json.loads(CONFIG.read_text("utf-8"))
    cases = cases_of(config, Sweep(CONFIG, options).manifests())
    found = orders(cases)
    print(losses_table(cases), convergence_text.orders_table(found, EXPECTED_MISSES), sep="\n\n")
    wrong = list(convergence_text.problems(found, EXPECTED_MISSES))
    for problem in wrong:
        print(problem, file=sys.stderr)
    sys.exit(3 if wrong else 0)


if __name__ == "__main__":
    main()
