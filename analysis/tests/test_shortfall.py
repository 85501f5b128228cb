"""Runs whose workers did not communicate, or not once in a cycle, are marked and never come first."""

import json
from pathlib import Path

import pytest
import sample
from trigram_analysis import overview, plots, report_data, results, table, verdict
from trigram_analysis.__main__ import main
from trigram_analysis.comparison import Comparison
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import winner

SILENT = {"bytes_inter": 0, "bytes_intra": 0, "messages_inter": 0, "messages_intra": 0}


def write(sweep: Path, **summary: object) -> Path:
    """Adds diloco at 1 Gbps, with the shortest step and the best loss and accuracy."""
    path = sample.write_run(sweep, "diloco", "diloco", 1.0)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["summary"] |= {"step_s": 0.5, "time_s": 10, "exposed_s": 0, "accuracy": 0.99, "loss": 0.1,
                            "samples_per_s": 1e6} | summary
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def compare(folder: Path) -> Comparison:
    return Comparison("sample", results.load(folder).runs)


@pytest.mark.parametrize("summary, said", [
    (SILENT, "sent nothing between its workers"),
    (SILENT | {"cycle_steps": 500}, "made 20 of the 500 steps from one communication to the next"),
    ({"cycle_steps": 500}, "made 20 of the 500 steps from one communication to the next"),
])
def test_it_is_marked_and_never_first(sweep, capsys, summary, said):
    write(sweep, **summary)
    comparison = compare(sweep)
    setting = comparison.settings[0]
    for measure in filter(lambda m: m.better, measures(comparison)):
        best = winner(comparison, setting, measure)
        assert "diloco" not in [*best.leaders, best.runner_up], measure.key
    assert "diloco" not in overview.winner_map(comparison) + overview.headline(comparison)
    (text,) = [v.text for v in verdict.verdicts(comparison) if v.setting == "1 Gbps"]
    assert text.startswith("bytegrad has the fastest step") and text.endswith(f"Not compared: diloco {said}.")
    assert main(["table", str(sweep)]) == 0
    printed = capsys.readouterr().out
    (row,) = [line for line in printed.splitlines() if "diloco" in line]
    assert "diloco ‡" in row and "*" not in row
    assert f"‡ never best: {said}" in printed
    assert [p["shortfall"] for p in report_data.data(comparison)["points"] if p["shortfall"]] == [said]


@pytest.mark.parametrize("summary", [{}, {"cycle_steps": 20}, {"cycle_steps": None}, SILENT | {"bytes_intra": 1}])
def test_runs_that_communicate_are_compared(sweep, summary):
    write(sweep, **summary)
    comparison = compare(sweep)
    assert winner(comparison, comparison.settings[0], measures(comparison)[0]) is not None
    (best,) = [winner(comparison, comparison.settings[0], m) for m in measures(comparison) if m.key == "step_s"]
    assert best.leaders == ["diloco"]
    assert "‡" not in table.as_text(table.build(comparison))


def test_one_worker_has_nobody_to_speak_with(sweep):
    path = write(sweep, **SILENT) / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["experiment"]["cluster"] |= {"nodes": 1, "workers_per_node": 1}
    path.write_text(json.dumps(manifest))
    assert not any(p.shortfall for p in compare(sweep).points)


def test_it_has_no_part_in_the_accuracy_that_all_reach(sweep):
    write(sweep, **SILENT)
    assert compare(sweep).target == 0.84


def test_figures_mark_it(sweep):
    write(sweep, **SILENT)
    figures = {stem: fig for stem, _, fig in plots.figures(compare(sweep))}
    assert "diloco ‡" in [line.get_label() for line in figures["step_time"].axes[0].lines]
    assert any("‡ sent nothing" in text.get_text() for text in figures["step_time"].texts)
