"""Times MPI's collectives as one rank of a job. Rank 0 prints a line of JSON for each time.

The collectives are Open MPI's, called through mpi4py. `coll_tuned_*` in the environment chooses their algorithms.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Callable

import numpy
from mpi4py import MPI

from timing import median_seconds


def collective(name: str, nbytes: int) -> Callable[[], None]:
    comm = MPI.COMM_WORLD
    count = nbytes // 4 // comm.size * comm.size
    x, y = numpy.ones(count, numpy.float32), numpy.empty(count, numpy.float32)
    if name == "allreduce":
        return lambda: comm.Allreduce(x, y)
    return lambda: comm.Alltoall(x, y)


def check(name: str) -> None:
    """Checks the results of the collective `name`."""
    comm = MPI.COMM_WORLD
    x = numpy.full(comm.size, comm.rank + 1, numpy.float32)
    y = numpy.empty_like(x)
    comm.Allreduce(x, y) if name == "allreduce" else comm.Alltoall(x, y)
    inputs = numpy.arange(1, comm.size + 1, dtype=numpy.float32)  # of all ranks
    expected = numpy.full_like(x, inputs.sum()) if name == "allreduce" else inputs
    assert (y == expected).all(), (name, y)


def start_together() -> None:
    """Returns on all ranks at the same time, if all ranks read the same clock."""
    begin = MPI.COMM_WORLD.allreduce(time.perf_counter(), MPI.MAX) + 0.2
    while time.perf_counter() < begin:
        time.sleep(0)


def seconds_of(run: Callable[[], None], options: argparse.Namespace) -> float:
    """The median seconds of consecutive repetitions, on the rank where this median is largest."""
    if options.together:
        start_together()
    return MPI.COMM_WORLD.allreduce(median_seconds(run, options.warm_up, options.repeat), MPI.MAX)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collectives", nargs="+", choices=["allreduce", "all_to_all"])
    parser.add_argument("--bytes", type=int, nargs="+", required=True)
    parser.add_argument("--warm-up", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--together", action="store_true", help="ranks begin at the same time, not"
                        " when each has ended the previous collective")
    options = parser.parse_args()
    for name in options.collectives:
        check(name)
        for nbytes in options.bytes:
            slowest = seconds_of(collective(name, nbytes), options)
            if MPI.COMM_WORLD.rank == 0:
                print(json.dumps({"collective": name, "bytes": nbytes, "seconds": slowest}), flush=True)


if __name__ == "__main__":
    main()
