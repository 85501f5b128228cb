#!/usr/bin/env python3
"""Compares the simulator's predictions for other transports with measurements.

The transports are Open MPI's own allreduce and all-to-all, gloo's allreduce under PyTorch (alone, and in a training
step of DistributedDataParallel), and Trigram's world `mpi`. They run on networks of four nodes with one or two ranks
each, which `trigram emulate` creates in the kernel. Networks with latency need netem; if this kernel lacks it,
scripts/in_vm runs the measurements in a virtual machine.

    scripts/compare_transports.py [-o FILE]            measure the cells missing in FILE, and compare
    scripts/compare_transports.py --predict [-o FILE]  compare FILE's cells with new predictions

The script prints a table, and the median and the greatest error. For pairs of cells on one network whose measured
times differ by more than 15 %, it prints how often the predicted order is right. Exit code 2: the request cannot be
met; 77: something is missing that scripts/setup --transports, or --vm, installs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator

from transports.cells import MATRIX, SIZES, Cell
from transports.table import print_comparison

SOURCE = Path(__file__).resolve().parent.parent
DRIVERS = SOURCE / "scripts" / "transports"
PYTHON = "/usr/bin/python3"  # the distribution's, for which its packages are installed
RESULT_PREFIX = "RESULT "
WARM_UP, REPEAT = 2, 3
JOB_LIMIT_S = 900


def fail(code: int, text: str) -> None:
    print(f"compare_transports: {text}", file=sys.stderr)
    sys.exit(code)


def rank_command(cells: list[Cell], trigram: Path, folder: Path, netem: bool) -> str:
    """The command line that each rank runs for the cells of one job."""
    collectives = " ".join(cell.collective for cell in cells)
    times = f"--bytes {' '.join(map(str, SIZES))} --warm-up {WARM_UP} --repeat {REPEAT}"
    if cells[0].stack == "gloo":
        return (f"GLOO_SOCKET_IFNAME=eth0 {PYTHON} -B {DRIVERS}/gloo_driver.py {collectives}"
                f" --workers {cells[0].workers} --store 10.77.0.1 {times}")
    if cells[0].stack == "open_mpi":
        if cells[0].start == "together":
            times += " --together"
        return f"{PYTHON} -B {DRIVERS}/mpi_driver.py {collectives} {times}"
    emulated = "bandwidth_and_latency" if netem else "bandwidth"
    world = json.dumps({"name": "mpi", "padded": True, "emulated": emulated})
    algorithms = " ".join(f"--algorithm {cell.algorithm}" for cell in cells)
    return (f"{trigram} bench {collectives} {algorithms} --runtime '{world}'"
            f" --cluster {folder}/cluster.json {bench_sizes(SIZES)} --json")


def bench_sizes(sizes: tuple[int, ...]) -> str:
    return (f"--min-bytes {sizes[0]}B --max-bytes {sizes[-1]}B --factor {SIZES[1] // SIZES[0]}"
            f" --warmup {WARM_UP} --iters {REPEAT} --no-check")


def launcher_options(cells: list[Cell]) -> list[str]:
    """The options for Open MPI's algorithms and for its protocol for long messages."""
    if cells[0].stack == "gloo":
        return []
    if cells[0].stack == "trigram":
        return ["--mca", "btl_tcp_flags", "send"]  # as `trigram emulate` does for its own runs
    options = ["--mca", "coll_tuned_use_dynamic_rules", "1"]
    if cells[0].flags:
        options += ["--mca", "btl_tcp_flags", cells[0].flags]
    for cell in cells:
        parameter = {"allreduce": "allreduce", "all_to_all": "alltoall"}[cell.collective]
        options += ["--mca", f"coll_tuned_{parameter}_algorithm", str(cell.number)]
    return options


def kernel_has_netem() -> bool:
    name = f"compare-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    result = subprocess.run(["tc", "-n", name, *"qdisc add dev lo root netem delay 1ms".split()],
                          capture_output=True)
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return result.returncode == 0


def rows_of(stack: str, text: str) -> list[dict[str, Any]]:
    if stack == "trigram":
        return [{"collective": row["operation"], "bytes": row["bytes"], "seconds": row["time_s"]}
                for row in json.loads(text[text.index("{"):])["rows"]]
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def measure(cells: list[Cell], trigram: Path, netem: bool) -> list[dict[str, Any]]:
    """Measures the cells in one job, on a network that is created for this job."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        cluster = cells[0].cluster()
        (folder / "cluster.json").write_text(json.dumps(cluster))
        experiment = {"runtime": "mpi", "algorithm": "gradient_allreduce", "workload": "quadratic",
                      "steps": 1, "cluster": cluster}
        (folder / "network.json").write_text(json.dumps(experiment))
        command = [str(trigram), "--quiet", "emulate", str(folder / "network.json"), "--program",
                   rank_command(cells, trigram, folder, netem), "--", *launcher_options(cells)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=JOB_LIMIT_S)
        if result.returncode:
            raise RuntimeError(f"{cells[0].key}: {' '.join(command)}\n{result.stdout}{result.stderr}")
        return rows_of(cells[0].stack, result.stdout)


def jobs_of(cells: list[Cell]) -> list[list[Cell]]:
    jobs: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        jobs.setdefault(cell.job, []).append(cell)
    return list(jobs.values())


def measured_here(cells: list[Cell], trigram: Path, machine: str) -> Iterator[dict[str, Any]]:
    netem = kernel_has_netem()
    for job in jobs_of(cells):
        try:
            rows = measure(job, trigram, netem)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(error, file=sys.stderr, flush=True)
            continue
        for cell in job:
            yield {"cell": cell.key, "machine": machine,
                   "rows": [row for row in rows if row["collective"] == cell.collective]}


def measured_in_vm(cells: list[Cell], trigram: Path, limit_s: int) -> Iterator[dict[str, Any]]:
    command = [str(SOURCE / "scripts" / "in_vm"), "--limit", str(limit_s), "--", PYTHON, "-B",
               __file__, "--trigram", str(trigram), "--measure", *[cell.key for cell in cells]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        if line.startswith(RESULT_PREFIX):
            yield json.loads(line[len(RESULT_PREFIX):])
    if code := process.wait():
        print(f"compare_transports: the virtual machine ended with {code}", file=sys.stderr)


def check_machine(cells: list[Cell]) -> None:
    if os.geteuid() != 0:
        fail(2, "network namespaces need root")
    for package in ("torch", "mpi4py"):
        search = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec('{package}'))"
        if subprocess.run([PYTHON, "-c", search]).returncode:
            fail(77, f"{PYTHON} has no {package}; scripts/setup --transports installs it")


def read_results(file: Path) -> dict[str, dict[str, Any]]:
    if not file.exists():
        return {}
    return {entry["cell"]: entry for entry in map(json.loads, file.read_text().splitlines())}


def measure_missing(cells: list[Cell], options: argparse.Namespace) -> None:
    missing = [cell for cell in cells if cell.key not in read_results(options.output)]
    if not missing:
        return
    check_machine(missing)
    netem = kernel_has_netem()
    here = [cell for cell in missing if netem or not cell.in_vm]
    in_vm = [cell for cell in missing if not netem and cell.in_vm]
    results = itertools.chain(
        measured_here(here, options.trigram, "this machine") if here else (),
        measured_in_vm(in_vm, options.trigram, options.limit) if in_vm else ())
    for number, result in enumerate(results, start=1):
        print(f"[{number}/{len(missing)}] {result['cell']}", file=sys.stderr, flush=True)
        with options.output.open("a") as out:
            out.write(json.dumps(result) + "\n")


def predict(cell: Cell, trigram: Path) -> dict[int, tuple[float, ...]]:
    """For each number of bytes, the possible seconds of a repeated collective, in ascending order. Which of these times
    occurs depends on how far apart the ranks begin. The connections' windows are open, because earlier repetitions have
    opened them."""
    runs = [predict_one(cell, trigram, chain) for chain in cell.predicted_starts]
    return {nbytes: tuple(sorted(run[nbytes] for run in runs)) for nbytes in runs[0]}


def predict_one(cell: Cell, trigram: Path, chain: str) -> dict[int, float]:
    with tempfile.TemporaryDirectory() as folder:
        cluster = Path(folder) / "cluster.json"
        cluster.write_text(json.dumps(cell.predicted_cluster()))
        command = [str(trigram), "bench", cell.predicted_operation, "--algorithm",
                   cell.predicted_algorithm, "--runtime", "sim", "--cluster", str(cluster),
                   "--chain", chain, *bench_sizes(cell.sizes).split(), "--json"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            fail(2, f"{' '.join(command)}\n{result.stderr}")
        return {row["bytes"]: row["time_s"] for row in json.loads(result.stdout)["rows"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trigram", type=lambda p: Path(p).resolve(),
                        default=SOURCE / "build/dev/experiments/trigram")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/transports.jsonl"))
    parser.add_argument("--predict", action="store_true", help="measure nothing")
    parser.add_argument("--cells", nargs="+", help="only cells whose names have one of these parts")
    parser.add_argument("--limit", type=int, default=7200, help="seconds of the virtual machine")
    parser.add_argument("--measure", nargs="+", metavar="CELL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.trigram.exists():
        fail(77, f"no {options.trigram}; build it, or say --trigram")
    by_key = {cell.key: cell for cell in MATRIX}
    if options.measure:
        machine = "virtual machine"
        for result in measured_here([by_key[key] for key in options.measure], options.trigram, machine):
            print(RESULT_PREFIX + json.dumps(result), flush=True)
        return 0
    cells = [cell for cell in MATRIX
             if not options.cells or any(part in cell.key for part in options.cells)]
    if not cells:
        fail(2, f"no cell has {' or '.join(options.cells)} in its name, such as {MATRIX[0].key}")
    if not options.predict:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        measure_missing(cells, options)
    results = read_results(options.output)
    measured = [cell for cell in cells if cell.key in results]
    if not measured:
        fail(2, f"{options.output} has nothing that was measured")
    print_comparison([(cell, predict(cell, options.trigram), results[cell.key]) for cell in measured])
    return 0


if __name__ == "__main__":
    sys.exit(main())
