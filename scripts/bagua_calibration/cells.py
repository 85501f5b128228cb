"""The published cells, and the choice of the cells that are fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Times below this multiple of the table's smallest time, which is an asynchronous row's, are determined by computation
# and software; longer times are determined by bandwidth.
PLATEAU = 2.2
COLUMNS = ("1", "4", "100")  # Gbps that are fitted; all others are held out


@dataclass(frozen=True)
class Cell:
    """A published time in seconds."""

    algorithm: str
    gbps: str
    published: float
    approximate: bool  # the point is partly hidden in the figure, so it has half the weight
    plateau: bool  # the time is determined by software and computation, not by bandwidth

    @property
    def weight(self) -> float:
        return 0.5 if self.approximate else 1.0


def read(rows: list[dict[str, str]]) -> list[Cell]:
    """All cells of the table."""
    floor = min(float(row["epoch_s"]) for row in rows)
    return [Cell(row["algorithm"], row["gbps"], float(row["epoch_s"]), row["approx"] == "1",
                 float(row["epoch_s"]) < PLATEAU * floor) for row in rows]


def distinct(cells: list[Cell], columns: tuple[str, ...]) -> list[Cell]:
    """The cells of `columns`, except cells with the same time as at the next higher bandwidth, so that each plateau
    counts once."""
    kept = []
    for cell in cells:
        wider = [c for c in cells if c.algorithm == cell.algorithm and c.gbps in columns
                 and float(c.gbps) > float(cell.gbps)]
        following = min(wider, key=lambda c: float(c.gbps), default=None)
        if cell.gbps in columns and not (following and following.published == cell.published):
            kept.append(cell)
    return kept


def log_ratio(simulated: float, cell: Cell) -> float:
    return math.log(simulated / cell.published)
