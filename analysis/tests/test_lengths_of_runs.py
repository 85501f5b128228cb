"""What the program reports about a run's length and its workers' paces is shown, and decides who may come first."""

import json
from pathlib import Path

import pytest
import sample
from trigram_analysis import report_data, results, table, verdict
from trigram_analysis.comparison import Comparison
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import winner

CUT = {"why": "made 7 of the 8 steps of its cycle", "of": "rates"}
UNEVEN = {"slowest": {"step_s": 9.0, "samples_per_s": 0.402}, "fastest": {"step_s": 1.0, "samples_per_s": 12.8}}


def write(sweep: Path, **summary: object) -> None:
    """Adds diloco at 1 Gbps, with the best value of everything."""
    path = sample.write_run(sweep, "diloco", "diloco", 1.0) / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["summary"] |= {"step_s": 0.5, "time_s": 10, "exposed_s": 0, "accuracy": 0.99, "loss": 0.1,
                            "samples_per_s": 1e6} | summary
    path.write_text(json.dumps(manifest))


def compare(folder: Path) -> Comparison:
    return Comparison("sample", results.load(folder).runs)


def firsts(comparison: Comparison) -> dict[str, bool]:
    """By measure, whether diloco is first."""
    found = {m.key: winner(comparison, comparison.settings[0], m) for m in measures(comparison) if m.better}
    return {key: best is not None and "diloco" in best.leaders for key, best in found.items()}


@pytest.mark.parametrize("of, first", [("rates", True), ("run", False)])
def test_who_falls_short_by_rates_may_learn_the_most(sweep, of, first):
    write(sweep, shortfall=CUT | {"of": of})
    comparison = compare(sweep)
    found = firsts(comparison)
    assert not any(found[key] for key in ("step_s", "exposed_s", "samples_per_s", "bytes_inter"))
    assert found["accuracy"] == found["loss"] == first
    (point,) = [p for p in report_data.data(comparison)["points"] if p["shortfall"]]
    drawn = measures(comparison)
    assert {drawn[i].key for i in point["excluded"]} >= {"step_s", "samples_per_s"}
    assert ("accuracy" in {drawn[i].key for i in point["excluded"]}) != first
    (text,) = [v.text for v in verdict.verdicts(comparison) if v.setting == "1 Gbps"]
    assert text.startswith("bytegrad has the fastest step")
    assert text.endswith(f"Not compared{' per step' if first else ''}: diloco {CUT['why']}.")
    printed = table.as_text(table.build(comparison))
    (row,) = [line for line in printed.splitlines() if "diloco" in line]
    assert "diloco ‡" in row and ("99.0 *" in row) == first
    assert f"‡ never best{' per step' if first else ''}: {CUT['why']}" in printed


def test_what_the_program_says_counts(sweep):
    """The program's word counts, not what would be assumed of a run by an older program."""
    write(sweep, shortfall=None, cycle_steps=500)
    comparison = compare(sweep)
    assert firsts(comparison)["step_s"]
    assert "‡" not in table.as_text(table.build(comparison))


def test_steps_that_means_leave_out_are_said(sweep):
    rates = {"from_step": 0, "steps": 16, "over": "16 of 20 steps: whole cycles of 16", "bytes_inter": 3200,
             "bytes_intra": 1600}
    write(sweep, steps=20, rates=rates, bytes_inter=3300)
    comparison = compare(sweep)
    (run,) = [r for r in comparison.runs if r.averaged_steps]
    assert (run.steps, run.per_step("bytes_inter"), run.per_step("bytes_intra")) == (20, 200, 100)
    (per_step,) = [m for m in measures(comparison) if m.key == "bytes_inter"]
    assert [per_step.value(p) for p in comparison.points if p.algorithm == "diloco"] == [200]
    assert "means over 16 of 20 steps: whole cycles of 16: diloco" in table.as_text(table.build(comparison))


def test_paces_that_differ_stand_beside_the_sum(sweep):
    write(sweep, paces=UNEVEN)
    built = table.build(compare(sweep))
    column = built.titles.index("samples/s")
    shown = {row[built.keys - 1].text.split()[0]: row[column].text for row in built.rows if "Gbps" in row[0].text}
    assert shown["diloco"] == "1,000,000 (0.402 to 12.8)"
    assert "(" not in shown["bytegrad"]
    assert "samples/s add up workers that do not wait for each other: diloco, slowest 0.402, fastest 12.8" in (
        table.as_text(built))


@pytest.mark.parametrize("odd", [{"shortfall": {"why": "because"}}, {"shortfall": {"why": 1, "of": "run"}},
                                 {"rates": {"steps": 0}}, {"steps": "many"}, {"rates": 3}, {"paces": [1]},
                                 {"paces": {"slowest": {"samples_per_s": "few"}}}])
def test_odd_lengths_stop_nothing(sweep, odd):
    write(sweep, **odd)
    loaded = results.load(sweep)
    assert len(loaded.foreign) == 1 and Comparison("sample", loaded.runs).points
