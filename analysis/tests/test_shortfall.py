"""Runs in which workers send nothing, or that end within the first cycle of their algorithm, are marked ‡ and never come
first."""

import pytest
import sample
from sample import compare
from trigram_analysis import overview, plots, report_data, table, verdict
from trigram_analysis.__main__ import main
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import winner

NO_TRAFFIC = {"bytes_inter": 0, "bytes_intra": 0, "messages_inter": 0, "messages_intra": 0}


@pytest.mark.parametrize("summary, reason", [
    (NO_TRAFFIC, "sent nothing between its workers"),
    (NO_TRAFFIC | {"cycle_steps": 500}, "made 20 of the 500 steps from one communication to the next"),
    ({"cycle_steps": 500}, "made 20 of the 500 steps from one communication to the next"),
])
def test_a_run_that_is_too_short_is_marked_and_never_first(sweep, capsys, summary, reason):
    sample.write_diloco(sweep, **summary)
    comparison = compare(sweep)
    setting = comparison.settings[0]
    for measure in filter(lambda m: m.better, measures(comparison)):
        best = winner(comparison, setting, measure)
        assert "diloco" not in [*best.leaders, best.runner_up], measure.key
    assert "diloco" not in overview.winner_map(comparison) + overview.headline(comparison)
    (text,) = [v.text for v in verdict.verdicts(comparison) if v.setting == "1 Gbps"]
    assert text.startswith("bytegrad has the fastest step") and text.endswith(f"Not compared: diloco {reason}.")
    assert main(["table", str(sweep)]) == 0
    printed = capsys.readouterr().out
    (row,) = [line for line in printed.splitlines() if "diloco ‡" in line]
    assert "diloco ‡" in row and "*" not in row
    assert f"‡ never best: {reason}" in printed
    assert [p["shortfall"] for p in report_data.data(comparison)["points"] if p["shortfall"]] == [reason]


@pytest.mark.parametrize("summary", [{}, {"cycle_steps": 20}, {"cycle_steps": None}, NO_TRAFFIC | {"bytes_intra": 1}])
def test_runs_that_communicate_are_compared(sweep, summary):
    sample.write_diloco(sweep, **summary)
    comparison = compare(sweep)
    assert winner(comparison, comparison.settings[0], measures(comparison)[0]) is not None
    (best,) = [winner(comparison, comparison.settings[0], m) for m in measures(comparison) if m.key == "step_s"]
    assert best.leaders == ["diloco"]
    assert "‡" not in table.as_text(table.build(comparison))


def test_a_single_worker_need_not_communicate(sweep):
    path = sample.write_diloco(sweep, **NO_TRAFFIC)
    sample.edit(path, lambda m: m["experiment"]["cluster"].update(nodes=1, workers_per_node=1))
    assert not any(p.shortfall for p in compare(sweep).points)


def test_a_run_that_is_too_short_does_not_affect_the_target(sweep):
    sample.write_diloco(sweep, **NO_TRAFFIC)
    assert compare(sweep).target.level == 0.84


def test_figures_mark_runs_that_are_too_short(sweep):
    sample.write_diloco(sweep, **NO_TRAFFIC)
    figures = {stem: fig for stem, _, fig in plots.figures(compare(sweep))}
    assert "diloco ‡" in [line.get_label() for line in figures["step_time"].axes[0].lines]
    assert any("‡ sent nothing" in text.get_text() for text in figures["step_time"].texts)
