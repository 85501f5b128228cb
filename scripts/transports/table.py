"""The table of predicted and measured times, and what it comes to."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import Any

from transports.cells import Cell

DIFFERS = 0.15  # of measured times, from which on their order counts


@dataclass
class Row:
    cell: Cell
    nbytes: int
    predicted_s: float
    measured_s: float
    machine: str

    @property
    def error(self) -> float:
        return self.predicted_s / self.measured_s - 1


def rows_of(cell: Cell, predicted: dict[int, float], measured: dict[str, Any]) -> list[Row]:
    """A training step computes before it communicates, for as long as it does without."""
    return [Row(cell, m["bytes"], predicted[m["bytes"]] + m.get("compute", 0), m["seconds"],
                measured["machine"]) for m in measured["rows"]]


def size(nbytes: int) -> str:
    return f"{nbytes >> 20}MiB" if nbytes >= 1 << 20 else f"{nbytes >> 10}KiB"


def line(row: Row) -> list[str]:
    cell = row.cell
    return [cell.stack, f"{cell.collective}/{cell.label}", size(row.nbytes), f"4x{cell.workers}",
            f"{cell.mbps}Mbps", f"{cell.latency_ms}ms", size(cell.window) if cell.window else "linux",
            "vm" if "virtual" in row.machine else "host", f"{1e3 * row.predicted_s:.1f}",
            f"{1e3 * row.measured_s:.1f}", f"{100 * row.error:+.1f}%"]


HEAD = ["library", "collective", "bytes", "ranks", "bandwidth", "latency", "window", "on",
        "predicted [ms]", "measured [ms]", "error"]
TEXT_COLUMNS = 8


def aligned(lines: list[list[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*lines)]
    return "\n".join(
        "  ".join(cell.ljust(width) if i < TEXT_COLUMNS else cell.rjust(width)
                  for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()
        for cells in lines)


def orders(rows: list[Row]) -> tuple[int, list[tuple[Row, Row]]]:
    """How many pairs of one network and size differ when measured, and those in the wrong order."""
    count, wrong = 0, []
    for a, b in itertools.combinations(rows, 2):
        if (a.cell.network, a.nbytes) != (b.cell.network, b.nbytes):
            continue
        less, more = sorted((a, b), key=lambda row: row.measured_s)
        if more.measured_s <= (1 + DIFFERS) * less.measured_s:
            continue
        count += 1
        if less.predicted_s >= more.predicted_s:
            wrong.append((less, more))
    return count, wrong


def summary(name: str, rows: list[Row]) -> str:
    errors = sorted(rows, key=lambda row: abs(row.error))
    median = statistics.median(abs(row.error) for row in rows)
    beyond = sum(abs(row.error) > 0.3 for row in rows)
    return (f"{name}: {len(rows)} times, median error {100 * median:.1f} %, greatest"
            f" {100 * errors[-1].error:+.1f} %; {beyond} beyond 30 %")


def print_comparison(compared: list[tuple[Cell, dict[int, float], dict[str, Any]]]) -> None:
    rows = [row for entry in compared for row in rows_of(*entry)]
    print(aligned([HEAD, *map(line, rows)]))
    for stack in dict.fromkeys(row.cell.stack for row in rows):
        print(summary(stack, [row for row in rows if row.cell.stack == stack]))
    print(summary("all", rows))
    count, wrong = orders(rows)
    print(f"order: {count - len(wrong)} of {count} pairs on one network that differ by more than"
          f" {100 * DIFFERS:.0f} % agree")
    for less, more in wrong:
        print(f"  {less.cell.key} {size(less.nbytes)} is shorter than {more.cell.key}")
