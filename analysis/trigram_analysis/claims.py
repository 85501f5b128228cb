"""Compares results with published numbers: the claims of analysis/claims.json, cell by cell."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, Iterator

from . import commands
from .claim_cells import Cell, Ordering, SpeedUp, Tolerance
from .claim_values import ClaimError, cell_of, value_of
from .results import Results, Run

_VALUE = "value"  # the name of the value column after a wide table was converted to a long one
_RESPECTS = ("median", "predicted_median", "worst", "order", "speed_ups")  # the ways in which a claim can miss
CLAIMS = Path(__file__).resolve().parent.parent / "claims.json"


@dataclass(frozen=True)
class Answer:
    """The value that a run has for a cell."""

    key: tuple[str, ...]
    value: float
    as_claimed: bool  # true if the claim's command makes this run
    finished: str
    unusable: str = ""  # why the run has no value


class Claim:
    """One published figure or table, and the runs of the experiment that repeats it."""

    def __init__(self, specification: dict[str, Any], folder: Path, runs: list[Run]):
        self.specification = specification
        self.id: str = specification["id"]
        self.title: str = specification["title"]
        self.command: str = specification["command"]
        self.minutes: float = specification["minutes"]
        self.unit: str = specification["unit"]
        self.tolerance = Tolerance(**specification["tolerance"])
        self.expected: dict[str, str] = specification.get("expected_misses", {})
        self._table = folder / specification["published"]
        self._runs = runs
        if unknown := set(self.expected) - set(_RESPECTS):
            raise ClaimError(f"{self.id}: expected_misses has {', '.join(sorted(unknown))}, "
                             f"expected some of {', '.join(_RESPECTS)}")

    @cached_property
    def columns(self) -> list[str]:
        """The columns that identify a cell."""
        return list(self.specification["cell"])

    @cached_property
    def cells(self) -> list[Cell]:
        values = self._relative({key: answer.value for key, answer in self._answers.items()})
        return [self._cell(row, values) for row in self.rows
                if row[self._last] not in self.specification.get("leave_out", [])]

    def _relative(self, values: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
        """The values. If the measure has `relative_to`, each value is divided by the value of the cell that has this
        name in the last column and the same setting."""
        base = self.specification["measure"].get("relative_to")
        if base is None:
            return values
        return {key: value / values[(*key[:-1], base)] for key, value in values.items() if (*key[:-1], base) in values}

    @cached_property
    def _answers(self) -> dict[tuple[str, ...], Answer]:
        """The answer for each cell. Runs of the claim's configuration take precedence over runs with other settings,
        and later runs over earlier runs."""
        return {answer.key: answer for answer in self._all_answers if not answer.unusable}

    @cached_property
    def _all_answers(self) -> list[Answer]:
        """All answers. Of several answers for one cell, the last one counts."""
        return sorted(map(self._answer, self._runs), key=lambda a: (a.as_claimed, a.finished, a.unusable))

    @property
    def unusable(self) -> list[str]:
        """The reasons why runs answer no cell, one text per run."""
        return [answer.unusable for answer in self._all_answers if answer.unusable]

    @property
    def superseded(self) -> int:
        """The number of runs that are not used because a better run answers the same cell."""
        return len(self._all_answers) - len(self.unusable) - len(self._answers)

    def _answer(self, run: Run) -> Answer:
        finished, as_claimed = str(run.manifest.get("finished")), self._is_from_command(run)
        try:
            return Answer(self._key(run), self.value(run), as_claimed, finished)
        except ClaimError as error:
            return Answer((), 0, as_claimed, finished, unusable=str(error))

    def _is_from_command(self, run: Run) -> bool:
        path = commands.CONFIGS.parent / self.command.split()[-1]
        return not path.is_file() or commands.makes(path, run)

    @property
    def with_other_settings(self) -> int:
        """The number of cells answered by runs that the claim's command would not make."""
        return sum(not answer.as_claimed for answer in self._answers.values())

    @property
    def rows(self) -> list[dict[str, str]]:
        """The rows of the published table. Each row of a wide table becomes one row for each of its columns of
        values."""
        rows, value = _rows(self._table), self.specification["value"]
        if isinstance(value, str):
            return list(rows)
        return [row | {value["column"]: name, _VALUE: row[name]} for row in rows for name in value["of"]]

    @property
    def _value_column(self) -> str:
        value = self.specification["value"]
        return value if isinstance(value, str) else _VALUE

    @property
    def _last(self) -> str:
        return self.columns[-1]

    def _cell(self, row: dict[str, str], values: dict[tuple[str, ...], float]) -> Cell:
        key = {column: row[column] for column in self.columns}
        return Cell(key, float(row[self._value_column]), values.get(tuple(key.values())),
                    row.get("approx") == "1", self._cause(key),
                    any(_matches(key, cells) for cells in self.specification.get("fitted", [])))

    def _cause(self, key: dict[str, str]) -> str:
        return "; ".join(miss["why"] for miss in self.specification.get("known", [])
                         if _matches(key, miss["cell"]))

    def _key(self, run: Run) -> tuple[str, ...]:
        return tuple(cell_of(run, rule) for rule in self.specification["cell"].values())

    def value(self, run: Run) -> float:
        """The run's value of the claim's measure, in the claim's unit."""
        return value_of(run, self.specification)

    @property
    def missing(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.simulated is None]

    @property
    def counted(self) -> list[Cell]:
        return [cell for cell in self.cells if self.counts(cell)]

    def counts(self, cell: Cell) -> bool:
        return self.tolerance.counts_fitted or not cell.fitted

    @property
    def errors(self) -> list[float]:
        return [cell.error for cell in self.counted if cell.error is not None]

    @property
    def predicted_errors(self) -> list[float]:
        """The errors of the cells to which no parameter was fitted."""
        return [cell.error for cell in self.cells if cell.error is not None and not cell.fitted]

    @cached_property
    def orderings(self) -> list[Ordering]:
        """The pairs of cells in one setting whose published values differ by more than the share `apart`."""
        if self.tolerance.apart is None:
            return []
        pairs = (sorted(pair, key=lambda cell: cell.published) for cells in self._cells_by_setting.values()
                 for pair in combinations((c for c in cells if c.simulated is not None), 2))
        return [Ordering(a, b) for a, b in pairs
                if b.published > (1 + self.tolerance.apart) * a.published]

    @cached_property
    def _cells_by_setting(self) -> dict[tuple[str, ...], list[Cell]]:
        """The counted cells, grouped by all columns but the last."""
        settings: dict[tuple[str, ...], list[Cell]] = {}
        for cell in self.counted:
            settings.setdefault(tuple(cell.key[c] for c in self.columns[:-1]), []).append(cell)
        return settings

    @cached_property
    def speed_ups(self) -> list[SpeedUp]:
        return [self._speed_up(cells[name], cells[base], allowed)
                for setting in self._cells_by_setting.values()
                for cells in [{cell.key[self._last]: cell for cell in setting}]
                for name, others in self.tolerance.speed_ups.items()
                for base, allowed in others.items() if name in cells and base in cells]

    def _speed_up(self, cell: Cell, other: Cell, allowed: float) -> SpeedUp:
        name = f"{cell.key[self._last]} over {other.key[self._last]}"
        if "steps" in self.specification["measure"]:  # then values are times; otherwise, they are rates
            cell, other = other, cell
        setting = {column: cell.key[column] for column in self.columns[:-1]}
        simulated = (None if cell.simulated is None or other.simulated is None
                     else cell.simulated / other.simulated)
        return SpeedUp(setting, name, cell.published / other.published, simulated, allowed,
                       self._cause(setting | {"speed-up": name}))

    def holds(self, cell: Cell) -> bool:
        worst = self.tolerance.worst_for(cell.key[self._last])
        return cell.error is not None and (worst is None or cell.error <= worst)

    @cached_property
    def misses(self) -> dict[str, str]:
        """The respects in which the existing runs miss what was published, and by how much."""
        t, misses = self.tolerance, {}
        if self.errors and t.median is not None and median(self.errors) > t.median:
            misses["median"] = f"median error {median(self.errors):.1%}, more than {t.median:.1%}"
        if self.predicted_errors and t.predicted_median is not None:
            if (found := median(self.predicted_errors)) > t.predicted_median:
                misses["predicted_median"] = (f"median error {found:.1%} where nothing was fitted, more than "
                                              f"{t.predicted_median:.1%}")
        over = [cell for cell in self.counted if cell.error is not None and not self.holds(cell)]
        if over:
            misses["worst"] = f"{len(over)} of {len(self.counted)} cells over {t.worst_text}"
        wrong = sum(not pair.holds for pair in self.orderings)
        if wrong > t.wrong:
            misses["order"] = f"{wrong} pairs in the wrong order, more than {t.wrong}"
        if apart := [s for s in self.speed_ups if s.simulated is not None and not s.holds]:
            misses["speed_ups"] = f"{len(apart)} of {len(self.speed_ups)} speed-ups differ by more than allowed"
        return misses

    @property
    def unchecked(self) -> list[str]:
        """The reasons why some cells cannot be checked."""
        reasons = []
        if self.with_other_settings:
            reasons.append(f"{self.with_other_settings} of {len(self.cells)} cells have runs that {self.command} does "
                           "not make")
        if self.missing:
            reasons.append(f"{len(self.missing)} of {len(self.cells)} cells have no run")
        return reasons

    @property
    def failures(self) -> list[str]:
        """The reasons why the check of the claim fails. Empty if every cell is checked and the claim misses in exactly
        the respects that `expected_misses` names."""
        if self.unchecked:
            return [*self.unchecked, *self.misses.values()]
        return ([text for respect, text in self.misses.items() if respect not in self.expected]
                + [f"declared to miss by its {respect.replace('_', ' ')}, but does not"
                   for respect in self.expected if respect not in self.misses])


def load(results: Results, path: Path = CLAIMS) -> list[Claim]:
    """The claims whose experiments have runs in `results`, in the order of the file. Failed and unfinished runs count
    as runs here, though they answer no cell: a claim must not drop out of a check because all its runs failed."""
    groups, present = results.by_name(), _experiments_with_runs(results)
    return [Claim(claim, path.parent, groups.get(claim["experiment"], [])) for claim in _specifications(path)
            if claim["experiment"] in present]


def not_checked(results: Results, path: Path = CLAIMS) -> list[str]:
    """The experiments of the claims that have no run in `results`."""
    present = _experiments_with_runs(results)
    return [claim["experiment"] for claim in _specifications(path) if claim["experiment"] not in present]


def _experiments_with_runs(results: Results) -> set[str]:
    return {run.name for run in results.runs} | {run.experiment for run in results.excluded}


def _specifications(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["claims"]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def _matches(key: dict[str, str], cells: dict[str, Any]) -> bool:
    """True if the key has one of the allowed values in each column; `cells` is {column: value or list of values}."""
    return all(key.get(column) in _list(values) for column, values in cells.items())


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
