"""The table of predicted and measured times, and its summary."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import Any

from transports.cells import Cell

ORDER_THRESHOLD = 0.15  # the order is checked for pairs whose measured times differ by more than this share


@dataclass
class Row:
    cell: Cell
    nbytes: int
    predicted_s: tuple[float, ...]  # the possible times, which depend on how ranks begin, in ascending order
    measured_s: float
    machine: str

    @property
    def error(self) -> float:
        """The relative error of the possible time that is nearest to the measured time."""
        return min((s / self.measured_s - 1 for s in self.predicted_s), key=abs)


def rows_of(cell: Cell, predicted: dict[int, tuple[float, ...]],
            measured: dict[str, Any]) -> list[Row]:
    """The rows of a cell. A training step computes before it communicates, so its time without
    communication is added to the predictions."""
    return [Row(cell, m["bytes"], tuple(s + m.get("compute", 0) for s in predicted[m["bytes"]]),
                m["seconds"], measured["machine"]) for m in measured["rows"]]


def size(nbytes: int) -> str:
    return f"{nbytes >> 20}MiB" if nbytes >= 1 << 20 else f"{nbytes >> 10}KiB"


def milliseconds(row: Row) -> str:
    """The possible times as text. A time within 5 % of the previous shown time is left out."""
    shown: list[float] = []
    for seconds in row.predicted_s:
        if not shown or seconds > 1.05 * shown[-1]:
            shown.append(seconds)
    return " or ".join(f"{1e3 * seconds:.1f}" for seconds in shown)


def line(row: Row) -> list[str]:
    cell = row.cell
    collective = "/".join(filter(None, (cell.collective, cell.label, cell.start)))
    return [cell.stack, collective, size(row.nbytes), f"4x{cell.workers}",
            f"{cell.mbps}Mbps", f"{cell.latency_ms}ms", size(cell.window) if cell.window else "linux",
            "vm" if "virtual" in row.machine else "host", milliseconds(row),
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


@dataclass
class Orders:
    """The pairs of rows of one network and one size whose measured times differ, by whether the predicted order is
    right."""
    right: int
    undecided: int  # the predicted ranges overlap, so either order is possible
    wrong: list[tuple[Row, Row]]  # (measured as shorter, measured as longer)

    @property
    def count(self) -> int:
        return self.right + self.undecided + len(self.wrong)


def orders(rows: list[Row]) -> Orders:
    found = Orders(0, 0, [])
    for a, b in itertools.combinations(rows, 2):
        if (a.cell.network, a.nbytes) != (b.cell.network, b.nbytes):
            continue
        shorter, longer = sorted((a, b), key=lambda row: row.measured_s)
        if longer.measured_s <= (1 + ORDER_THRESHOLD) * shorter.measured_s:
            continue
        if shorter.predicted_s[0] >= longer.predicted_s[-1]:
            found.wrong.append((shorter, longer))
        elif shorter.predicted_s[-1] >= longer.predicted_s[0]:
            found.undecided += 1
        else:
            found.right += 1
    return found


def summary(name: str, rows: list[Row]) -> str:
    errors = sorted(rows, key=lambda row: abs(row.error))
    median = statistics.median(abs(row.error) for row in rows)
    beyond = sum(abs(row.error) > 0.3 for row in rows)
    return (f"{name}: {len(rows)} times, median error {100 * median:.1f} %, greatest"
            f" {100 * errors[-1].error:+.1f} %; {beyond} beyond 30 %")


def print_comparison(
        compared: list[tuple[Cell, dict[int, tuple[float, ...]], dict[str, Any]]]) -> None:
    rows = [row for entry in compared for row in rows_of(*entry)]
    print(aligned([HEAD, *map(line, rows)]))
    for stack in dict.fromkeys(row.cell.stack for row in rows):
        print(summary(stack, [row for row in rows if row.cell.stack == stack]))
    print(summary("all", rows))
    found = orders(rows)
    print(f"order: {found.right} of {found.count} pairs on one network that differ by more than"
          f" {100 * ORDER_THRESHOLD:.0f} % agree, {found.undecided} may come out either way,"
          f" {len(found.wrong)} disagree")
    for shorter, longer in found.wrong:
        print(f"  {shorter.cell.key} {size(shorter.nbytes)} is shorter than {longer.cell.key}")
