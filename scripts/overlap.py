#!/usr/bin/env python3
"""Prints how much communication overlaps with computation: overlap.py RESULTS

For every finished run in a results folder, the script prints the milliseconds of a step, of its computation, of its
communication, and of the exposed part of its communication. They are measured on the streams' clocks (GPU events in the
world nccl) and averaged over ranks. Then it prints two ratios: step / max(computation, communication), which is 1 with
perfect overlap, and (computation + communication) / max(computation, communication), the value of the first ratio
without overlap.
"""

import argparse
import json
import sys
from pathlib import Path


def rows(results: Path) -> list[list[str]]:
    table = []
    for path in sorted(results.glob("*/manifest.json")):
        if not (path.parent / "DONE").exists():
            continue
        manifest = json.loads(path.read_text())
        summary = manifest["summary"]
        step, compute, communication = (
            summary[key] for key in ("step_s", "compute_s", "communication_s")
        )
        longer = max(compute, communication)
        table.append(
            [
                manifest["experiment"]["algorithm"]["name"],
                *(f"{1e3 * seconds:.2f}" for seconds in (step, compute, communication)),
                f"{1e3 * summary['exposed_s']:.2f}",
                f"{step / longer:.3f}" if longer > 0 else "-",
                f"{(compute + communication) / longer:.3f}" if longer > 0 else "-",
            ]
        )
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="folder that trigram run has written")
    results = parser.parse_args().results
    table = rows(results)
    if not table:
        print(f"overlap.py: no finished run in {results}", file=sys.stderr)
        return 2
    head = ["algorithm", "step [ms]", "computing", "sending", "exposed", "step/longer", "sum/longer"]
    widths = [max(len(row[i]) for row in [head, *table]) for i in range(len(head))]
    for name, *numbers in [head, *table]:
        cells = [text.rjust(width) for text, width in zip(numbers, widths[1:])]
        print("  ".join([name.ljust(widths[0]), *cells]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
