"""The published cells, and which of them say something of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Steps are those of computation up to about here; beyond, the bandwidth decides alone.
PLATEAU = 2.2  # times the asynchronous row
COLUMNS = ("1", "4", "100")  # of the fit, Gbps; all others are held out


@dataclass(frozen=True)
class Cell:
    """A published time in seconds."""

    algorithm: str
    gbps: str
    published: float
    approximate: bool  # partly hidden in the figure: half a weight
    plateau: bool  # of software and computation, not of bandwidth

    @property
    def weight(self) -> float:
        return 0.5 if self.approximate else 1.0


def read(rows: list[dict[str, str]]) -> list[Cell]:
    """All cells of the table."""
    floor = min(float(row["epoch_s"]) for row in rows)
    return [Cell(row["algorithm"], row["gbps"], float(row["epoch_s"]), row["approx"] == "1",
                 float(row["epoch_s"]) < PLATEAU * floor) for row in rows]


def distinct(cells: list[Cell], columns: tuple[str, ...]) -> list[Cell]:
    """Those of `columns`, a plateau once: a cell that equals that of the next wider column is left out."""
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
