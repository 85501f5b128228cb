#!/usr/bin/env python3
"""Fits the description of BAGUA's testbed, configs/clusters/bagua_v100_limited.json, to BAGUA's figure of BERT-Large.

    scripts/calibrate_bagua.py --trigram build/release/experiments/trigram

The script fits the columns of 1, 4 and 100 Gbps; the other columns are held out, and --score simulates them. It fits
the parameters in stages, then all together, then once more without the parameters that the data do not determine. The
loss is soft-L1 on logarithms of simulated / published. The rows of VGG16 on one server then determine the rate of
BytePS's host copies and the variation of VGG16's step times. A second description, for VGG16, has this variation. The
script prints every parameter, its meaning, and how precisely the data determine it. Finished simulations are kept in
the folder --cache, so that an interrupted calibration continues where it stopped.
"""

import argparse
import sys
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True

from bagua_calibration import cells, one_server, stages, tables  # noqa: E402
from bagua_calibration.identifiability import profiles, without_each  # noqa: E402
from bagua_calibration.parameters import PARAMETERS, Values, description  # noqa: E402
from bagua_calibration.simulator import SimulationError, Simulator, table  # noqa: E402


def cell_simulator(simulator: Simulator):
    """Returns a function that simulates the times of (values, cell) pairs. A cell is simulated only once for all
    values of parameters that do not affect its algorithm."""
    priors = {p.name: p.prior for p in PARAMETERS}

    def description_for(values: Values, cell: cells.Cell) -> dict:
        return description({p.name: values[p.name] if not p.affects or cell.algorithm in p.affects else priors[p.name]
                            for p in PARAMETERS})

    return lambda pairs: simulator([(description_for(v, c), c.algorithm, c.gbps) for v, c in pairs])


def score(simulate, values: Values, rows: list[cells.Cell]) -> None:
    """Prints simulated over published for `rows`."""
    ratios = {(c.algorithm, c.gbps): t / c.published for c, t in zip(rows, simulate([(values, c) for c in rows]))}
    print(tables.ratios(ratios))
    errors = [abs(r - 1) for r in ratios.values()]
    print(f"error over {len(errors)} cells: median {median(errors):.1%}, greatest {max(errors):.1%}")


def fit_one_server(server: one_server.OneServer, values: Values) -> tuple[Values, float]:
    """Fits the rows of one server: returns the values with the rate of BytePS's host copies, and the variation of
    VGG16's steps."""
    ratios = server.variations(description(values))
    variation = one_server.best(ratios)
    one_server.print_variations(ratios, tables.say)
    rates = server.host_bandwidths(one_server.with_variation(description(values), variation))
    host_bandwidth = one_server.crossing(rates)
    tables.say(f"what hosts copy, of BytePS on one server: accelerator.host_bandwidth = {host_bandwidth:g}")
    return values | {"accelerator.host_bandwidth": host_bandwidth}, variation


def calibrate(arguments, simulate, all_cells: list[cells.Cell]) -> None:
    columns = tuple(arguments.columns)
    calibration = stages.Calibration(simulate, cells.distinct(all_cells, columns), say=tables.say)
    values, model = calibration.run(arguments.evaluations, arguments.rounds)
    server = one_server.OneServer(arguments.trigram, arguments.cache, arguments.jobs)
    values, vgg16_variation = fit_one_server(server, values)
    values = calibration.with_servers(values)
    published, simulated = stages.floor(simulate, all_cells, values)
    print(f"asynchronous rows, computation alone: published {published:.3g} s, simulated {simulated:.3g} s\n")
    print(tables.parameters(profiles(model) + calibration.unpinned, values))
    print(tables.left_out(model.problem, without_each(model), values))
    if arguments.output:
        fitted = description(values)
        arguments.output.write_text(tables.file(fitted), encoding="utf-8")
        vgg16_file = arguments.output.with_stem(f"{arguments.output.stem}_vgg16")
        vgg16_file.write_text(tables.file(one_server.with_variation(fitted, vgg16_variation)), encoding="utf-8")
    if arguments.score:
        rows = [c for c in all_cells if c.gbps not in columns and c.algorithm not in stages.SERVER.algorithms]
        score(simulate, values, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trigram", type=Path, required=True, help="the trigram program")
    parser.add_argument("--cache", type=Path, default=Path("results/calibration"), help="folder for finished simulations")
    parser.add_argument("--jobs", type=int, default=0, help="simulations at a time; 0: one per core")
    parser.add_argument("--evaluations", type=int, default=5, help="evaluations of all cells in a round of the joint refinement")
    parser.add_argument("--rounds", type=int, default=1, help="rounds of the joint refinement; each computes new derivatives")
    parser.add_argument("--columns", nargs="+", default=cells.COLUMNS, help="Gbps that are fitted: 1 4 100")
    parser.add_argument("--score", action="store_true", help="simulate all other columns, too, except for BytePS, which takes minutes")
    parser.add_argument("-o", "--output", type=Path, help="file for the description, such as configs/clusters/bagua_v100_limited.json; the description for "
                        "VGG16 is written beside it")
    arguments = parser.parse_args()
    try:
        simulate = cell_simulator(Simulator(arguments.trigram, arguments.cache, arguments.jobs))
        calibrate(arguments, simulate, cells.read(table()))
    except (OSError, SimulationError) as error:
        print(f"calibrate_bagua.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
