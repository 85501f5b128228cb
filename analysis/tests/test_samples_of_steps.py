"""The table where a step of one algorithm is of more samples than a step of another."""

from __future__ import annotations

import pytest
from sample import compare, edit, write_run
from trigram_analysis import front, overview, table, verdict

NOTE = "samples/s are ranked there, not steps"
PER_STEP_TITLES = ("step", "p99", "cost/step", "energy/step")


def rows(built: table.Table) -> dict[str, dict[str, table.Cell]]:
    """The cells by algorithm, and by title without unit."""
    titles = [title.split(" (")[0] for title in built.titles]
    found = [dict(zip(titles, row)) for row in built.rows]
    return {str(row["algorithm"].sort).split("/")[0]: row for row in found}


def two_algorithms(folder, samples: float) -> dict[str, dict[str, table.Cell]]:
    """gradient_allreduce takes 1.3 s for a step of 512 samples, and decentralized 0.9 s for one of `samples`."""
    write_run(folder, "a", "gradient_allreduce", 10.0)
    write_run(folder, "d", "decentralized", 10.0)
    costs = {"usd_per_step": 1.0, "kwh_per_step": 2.0}
    edit(folder / "a", lambda m: m["summary"].update(step_p99_s=1.4, cost={"usd_per_step": 2.0, "kwh_per_step": 3.0}))
    edit(folder / "d", lambda m: m["summary"].update(step_p99_s=1.0, samples_per_s=samples / 0.9, cost=costs))
    return rows(table.build(compare(folder)))


def test_steps_are_ranked_if_they_have_as_many_samples(tmp_path):
    found = two_algorithms(tmp_path, 512)
    for title in PER_STEP_TITLES:
        assert (found["decentralized"][title].best, found["gradient_allreduce"][title].best) == (True, False), title
    assert not any(row["samples/s"].best for row in found.values())
    assert found["decentralized"]["speed-up"].sort == pytest.approx(1.3 / 0.9)
    assert NOTE not in table.as_text(table.build(compare(tmp_path)))


def test_samples_per_second_are_ranked_if_steps_have_different_numbers_of_samples(tmp_path):
    """The shorter step is of a quarter of the samples, so that it trains more slowly."""
    found = two_algorithms(tmp_path, 128)
    assert found["gradient_allreduce"]["samples/s"].best
    assert not found["decentralized"]["samples/s"].best
    assert not any(row[title].best for row in found.values() for title in PER_STEP_TITLES)
    assert found["decentralized"]["speed-up"].sort == pytest.approx(128 / 0.9 / (512 / 1.3))
    assert NOTE in table.as_text(table.build(compare(tmp_path)))


def test_verdicts_and_winner_maps_rank_what_the_table_ranks(tmp_path):
    two_algorithms(tmp_path, 128)
    for run in tmp_path.iterdir():
        edit(run, lambda m: m["summary"].update(accuracy=None))
        (run / "metrics.jsonl").unlink()
    comparison = compare(tmp_path)
    assert overview.deciding(comparison).key == "samples_per_s"
    assert front.verdict(comparison)[0] == "gradient_allreduce is first, with 394 (samples per second)."
    (said,) = verdict.verdicts(comparison)
    factor = (512 / 1.3) / (128 / 0.9)
    assert said.text.startswith(f"gradient_allreduce trains 394 samples/s, {factor:.2f}× as many as decentralized")
    assert "fastest step" not in said.text
    edit(tmp_path / "d", lambda m: m["summary"].update(samples_per_s=512 / 1.3 - 0.1))
    (said,) = verdict.verdicts(compare(tmp_path))
    assert said.text.startswith("gradient_allreduce and decentralized/shift_one train 394 samples/s; ")


def test_a_rounding_of_samples_per_second_changes_no_rank(tmp_path):
    found = two_algorithms(tmp_path, 512 * 1.005)
    assert found["decentralized"]["step"].best
    assert not any(row["samples/s"].best for row in found.values())


def test_only_the_setting_with_different_steps_ranks_samples(tmp_path):
    two_algorithms(tmp_path, 128)
    write_run(tmp_path, "a-slow", "gradient_allreduce", 1.0)
    write_run(tmp_path, "d-slow", "decentralized", 1.0)
    built = table.build(compare(tmp_path))
    titles = [title.split(" (")[0] for title in built.titles]
    best = {(row[0].text, row[1].sort, title) for row in built.rows for title, cell in zip(titles, row)
            if cell.best and title in ("step", "samples/s")}
    assert best == {("10 Gbps", "gradient_allreduce", "samples/s"), ("1 Gbps", "decentralized/shift_one", "step")}
