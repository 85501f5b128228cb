"""A run's recorded length and its workers' paces are shown, and too short runs do not come first."""

import pytest
import sample
from sample import compare
from trigram_analysis import report_data, results, table, verdict
from trigram_analysis.comparison import Comparison
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import winner

CUT = {"why": "made 7 of the 8 steps of its cycle", "of": "rates"}
UNEVEN = {"slowest": {"step_s": 9.0, "samples_per_s": 0.402}, "fastest": {"step_s": 1.0, "samples_per_s": 12.8}}


def measures_won(comparison: Comparison) -> dict[str, bool]:
    """By measure, true if diloco is first."""
    found = {m.key: winner(comparison, comparison.settings[0], m) for m in measures(comparison) if m.better}
    return {key: best is not None and "diloco" in best.leaders for key, best in found.items()}


@pytest.mark.parametrize("lacking, first", [("rates", True), ("run", False)])
def test_a_run_too_short_for_rates_may_have_the_best_accuracy(sweep, lacking, first):
    sample.write_diloco(sweep, shortfall=CUT | {"of": lacking})
    comparison = compare(sweep)
    found = measures_won(comparison)
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
    (row,) = [line for line in printed.splitlines() if "diloco ‡" in line]
    assert "diloco ‡" in row and ("99.0 *" in row) == first
    assert f"‡ never best{' per step' if first else ''}: {CUT['why']}" in printed


def test_the_recorded_shortfall_counts_and_not_the_number_of_steps(sweep):
    """Without the record, as in runs by older programs, the run would be too short for its cycle."""
    sample.write_diloco(sweep, shortfall=None, cycle_steps=500)
    comparison = compare(sweep)
    assert measures_won(comparison)["samples_per_s"]
    assert "‡" not in table.as_text(table.build(comparison))


def test_the_table_names_the_steps_that_means_cover(sweep):
    rates = {"from_step": 0, "steps": 16, "over": "16 of 20 steps: whole cycles of 16", "bytes_inter": 3200,
             "bytes_intra": 1600}
    sample.write_diloco(sweep, steps=20, rates=rates, bytes_inter=3300)
    comparison = compare(sweep)
    (run,) = [r for r in comparison.runs if r.averaged_steps]
    assert (run.steps, run.per_step("bytes_inter"), run.per_step("bytes_intra")) == (20, 200, 100)
    (per_step,) = [m for m in measures(comparison) if m.key == "bytes_inter"]
    assert [per_step.value(p) for p in comparison.points if p.algorithm == "diloco"] == [200]
    assert "means over 16 of 20 steps: whole cycles of 16: diloco" in table.as_text(table.build(comparison))


def test_paces_that_differ_are_printed_beside_the_sum(sweep):
    sample.write_diloco(sweep, paces=UNEVEN)
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
def test_a_run_with_an_invalid_length_is_excluded(sweep, odd):
    sample.write_diloco(sweep, **odd)
    loaded = results.load(sweep)
    assert len(loaded.foreign) == 1 and Comparison("sample", loaded.runs).points
