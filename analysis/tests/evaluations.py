"""Writes runs with known evaluations, and reads their times to an accuracy from tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sample
from sample import compare
from trigram_analysis import table
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import winner


NEVER = 1000  # more steps than a run makes


def write(folder: Path, algorithm: str, step_s: float, accuracies: dict[int, float], seed: int = 1,
          gbps: float = 1.0) -> None:
    """Writes a run with these accuracies by the number of steps before the evaluation. A step takes `step_s`."""
    _write(folder, algorithm, step_s, {step: {"accuracy": value} for step, value in accuracies.items()}, seed, gbps)


def write_losses(folder: Path, algorithm: str, step_s: float, losses: dict[int, float | None], seed: int = 1,
                 gbps: float = 1.0) -> None:
    """The same with held-out losses, in a run without accuracies. None is a loss that is not finite."""
    values = {step: {"accuracy": None, "eval_loss": value} for step, value in losses.items()}
    _write(folder, algorithm, step_s, values, seed, gbps)


def _write(folder: Path, algorithm: str, step_s: float, evaluations: dict[int, dict[str, Any]], seed: int,
           gbps: float) -> None:
    steps = max(evaluations)
    path = sample.write_run(folder, f"{algorithm}-{gbps:g}-{seed}", algorithm, gbps, seed, steps)
    records = [{"step": step, "time_s": (step + 1) * step_s, "step_s": step_s} | evaluations.get(step + 1, {})
               for step in range(steps)]
    (path / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    sample.edit(path, lambda m: m["summary"].update(step_s=step_s, time_s=steps * step_s, **evaluations[steps]))


def evaluated(every: int, reached_at: int, steps: int = 300) -> dict[int, float]:
    """Accuracies by step: 0.82 from the step `reached_at` on, 0.5 before."""
    return {step: 0.82 if step >= reached_at else 0.5 for step in range(every, steps + 1, every)}


def falling(every: int, reached_at: int, steps: int = 300) -> dict[int, float]:
    """Held-out losses by step: 0.35 from the step `reached_at` on, 0.9 before."""
    return {step: 0.35 if step >= reached_at else 0.9 for step in range(every, steps + 1, every)}


def over_seeds(folder: Path, algorithm: str, step_s: float, reached_at: tuple[int, ...], gbps: float = 1.0) -> None:
    """Writes a run for each seed. Every fifth step is evaluated."""
    for seed, step in enumerate(reached_at, start=1):
        write(folder, algorithm, step_s, evaluated(5, step), seed, gbps)


def times_to_target(folder: Path) -> dict[str, str]:
    """The cell of each algorithm in the table's column for the target."""
    built = table.build(compare(folder), brief=True)
    (column,) = [i for i, title in enumerate(built.titles) if title.startswith("to ")]
    return {row[built.keys - 1].text: row[column].text + (" *" if row[column].best else "") for row in built.rows}


def winners(folder: Path) -> list[str]:
    """The winners of the first measure, in a folder with one setting."""
    comparison = compare(folder)
    (setting,) = comparison.settings
    return winner(comparison, setting, measures(comparison)[0]).leaders


def declare_target(folder: Path, accuracy: float) -> None:
    """Changes the runs as if they had a target accuracy and had continued after it. An epoch has a hundred steps."""
    for path in folder.iterdir():
        records = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
        step = next((r["step"] + 1 for r in records if r.get("accuracy", 0) >= accuracy), None)
        set_target(path, accuracy, steps=step, epochs=step and step / 100, time_s=step and records[step - 1]["time_s"],
                   after_s=None)


def set_target(path: Path, accuracy: float, **reached: float | None) -> None:
    """Changes a run as if it had a target accuracy and had reached it as `reached` says."""
    def change(manifest: dict[str, Any]) -> None:
        manifest["experiment"]["target_accuracy"] = accuracy
        manifest["summary"]["target"] = {"accuracy": accuracy, **reached}

    sample.edit(path, change)


def some_seeds_early(folder: Path) -> None:
    """At 1 Gbps, bytegrad reaches the target first with two of three seeds, and never with the third. At 10 Gbps, it is
    first with every seed."""
    for gbps, second in ((1, NEVER), (10, 135)):
        over_seeds(folder, "bytegrad", 1 / gbps, (105, second, 125), gbps)
        over_seeds(folder, "decentralized", 1.2 / gbps, (150, 150, 150), gbps)
    declare_target(folder, 0.82)
