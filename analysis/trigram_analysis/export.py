"""Results for other programs: CSV, JSON Lines, Parquet and TensorBoard's event files."""

from __future__ import annotations

import csv
import json
import math
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

from . import event_file
from .naming import own_name
from .results import Run

Row = dict[str, Any]
_LARGEST_FLOAT = 3.4e38  # of single precision, which event files have


def run_rows(runs: list[Run]) -> Iterator[Row]:
    """One row per run: what it is, its swept values by JSON pointer, and its summary. Keys of objects in the summary
    are joined by dots."""
    for run in runs:
        row: Row = {"id": run.id, "name": run.name, "algorithm": own_name(run), "seed": run.seed,
                    "world": run.manifest.get("world"), "time_kind": run.manifest.get("time_kind"),
                    "started": run.manifest.get("started")}
        yield row | dict(run.sweep) | dict(_flat(run.summary))


def metric_rows(runs: list[Run]) -> Iterator[Row]:
    """One row per step that was made: the run's id and the numbers of metrics.jsonl."""
    for run in runs:
        for record in run.records:
            yield {"id": run.id, **record}


def _flat(summary: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in summary.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def write_csv(rows: Iterable[Row], path: Path) -> None:
    found = list(rows)
    columns = dict.fromkeys(key for row in found for key in row)
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        written = csv.DictWriter(file, columns, lineterminator="\n")
        written.writeheader()
        written.writerows({key: _cell(value) for key, value in row.items()} for row in found)


def _cell(value: Any) -> Any:
    """A list or an object as JSON; a text that a spreadsheet would compute as a formula is quoted."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, sort_keys=True)
    return "'" + value if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value


def write_jsonl(rows: Iterable[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def write_parquet(rows: Iterable[Row], path: Path) -> None:
    """Throws ImportError if pandas finds no library for Parquet; Debian 12 has none."""
    import pandas

    cells = [{key: json.dumps(value) if isinstance(value, (list, dict)) else value for key, value in row.items()}
             for row in rows]
    frame = pandas.DataFrame(cells)
    for column in frame.columns[frame.dtypes == object]:  # such as swept numbers and texts of one option
        frame[column] = [None if value is None or value != value else str(value) for value in frame[column]]
    frame.to_parquet(path, index=False)


def write_events(run: Run, path: Path) -> None:
    """Every number of metrics.jsonl as a scalar, at the wall time at which the step would have ended in real time."""
    start_s = _started(run)
    scalars = ((start_s + (record.get("time_s") or 0), int(record["step"]),
                {key: float(value) for key, value in record.items()
                 if key not in ("step", "time_s") and _is_number(value)})
               for record in run.records if isinstance(record.get("step"), int) and record["step"] >= 0)
    path.mkdir(parents=True, exist_ok=True)
    with (path / f"events.out.tfevents.{int(start_s)}.trigram").open("wb") as file:
        file.writelines(event_file.events(scalars))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value) and abs(value) < _LARGEST_FLOAT


def _started(run: Run) -> float:
    try:
        return datetime.fromisoformat(str(run.manifest.get("started"))).astimezone(timezone.utc).timestamp()
    except ValueError:
        return 0.0


_TABLES: dict[str, Callable[[Iterable[Row], Path], None]] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}
FORMATS = (*_TABLES, "tensorboard")


def write(runs: list[Run], folder: Path, formats: list[str]) -> list[Path]:
    """Writes the runs into `folder` and returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in formats:
        if name == "tensorboard":
            for i, run in enumerate(runs):
                label = run.id if re.fullmatch(r"[A-Za-z0-9_-]{1,100}", run.id) else f"run-{i}"
                write_events(run, folder / "tensorboard" / label)
            written.append(folder / "tensorboard")
            continue
        for stem, rows in (("runs", run_rows(runs)), ("metrics", metric_rows(runs))):
            path = folder / f"{stem}.{name}"
            _TABLES[name](rows, path)
            written.append(path)
    return written
