"""The parts of a claim: its tolerance, its cells, and the order and the speed-up of pairs of cells."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tolerance:
    """The limits of a claim. An error is |simulated / published - 1|. `median` limits the median error and `worst` each
    error; `worst_of` overrides `worst` for some values of the cells' last column, such as an algorithm. Among the pairs
    of cells in one setting whose published values differ by more than the share `apart`, at most `wrong` pairs may be
    simulated in the other order. `speed_ups` is {name: {other name: allowed difference of the factor}}. Cells to which
    a parameter was fitted count only if `counts_fitted`; `predicted_median` limits the median error of the other
    cells."""

    median: float | None = None
    worst: float | None = None
    worst_of: dict[str, float] = field(default_factory=dict)
    apart: float | None = None
    wrong: int = 0
    speed_ups: dict[str, dict[str, float]] = field(default_factory=dict)
    counts_fitted: bool = False
    predicted_median: float | None = None

    def worst_for(self, name: str) -> float | None:
        return self.worst_of.get(name, self.worst)

    @property
    def worst_text(self) -> str:
        exceptions = ", ".join(f"{name} {limit:.0%}" for name, limit in self.worst_of.items())
        return f"{self.worst:.0%}" + (f" ({exceptions})" if exceptions else "")


@dataclass(frozen=True)
class Cell:
    """One published number and the value of its run, which is None if there is no such run."""

    key: dict[str, str]  # by column of the published table
    published: float
    simulated: float | None
    approximate: bool  # it was read off a figure in which it was partly hidden
    cause: str  # why it misses, as far as that is known
    fitted: bool  # a parameter was fitted to it, so it is no prediction

    @property
    def ratio(self) -> float | None:
        return None if self.simulated is None else self.simulated / self.published

    @property
    def error(self) -> float | None:
        return None if self.ratio is None else abs(self.ratio - 1)


@dataclass(frozen=True)
class Ordering:
    """Two cells of one setting. The cell with the smaller published value comes first."""

    smaller: Cell
    larger: Cell

    @property
    def holds(self) -> bool:
        assert self.smaller.simulated is not None and self.larger.simulated is not None
        return self.smaller.simulated < self.larger.simulated


@dataclass(frozen=True)
class SpeedUp:
    """The factor by which one cell is faster than another cell of the same setting."""

    setting: dict[str, str]
    name: str
    published: float
    simulated: float | None
    allowed: float  # the largest absolute difference of the factors
    cause: str

    @property
    def difference(self) -> float | None:
        return None if self.simulated is None else self.simulated - self.published

    @property
    def holds(self) -> bool:
        return self.difference is not None and abs(self.difference) <= self.allowed
