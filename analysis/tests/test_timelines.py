"""The settings for which the page has timelines."""

from pathlib import Path

import pytest
import sample
import synthetic
from trigram_analysis import report_data, results, timeline
from trigram_analysis.comparison import Comparison


def recorded(folder: Path) -> tuple[list[int], dict[tuple[int, ...], int]]:
    """The setting that the page begins with, and the number of timelines of each setting."""
    document = report_data.data(Comparison("x", results.load(folder).runs))
    counts: dict[tuple[int, ...], int] = {}
    for entry in document["timelines"]:
        counts[tuple(entry["at"])] = counts.get(tuple(entry["at"]), 0) + 1
    return document["middle"], counts


@pytest.mark.parametrize("algorithms, settings", [(2, 5), (2, 7), (3, 14), (4, 11), (10, 20), (1, 60)])
def test_the_setting_that_the_page_begins_with_is_recorded(tmp_path, monkeypatch, algorithms, settings):
    monkeypatch.setattr(report_data, "_MAX_TRACES", 12)
    for a in range(algorithms):
        for i in range(settings):
            synthetic.write_timing(tmp_path / "x", a, 10, 10 * (i + 1))
    middle, counts = recorded(tmp_path / "x")
    assert tuple(middle) in counts
    assert set(counts.values()) == {algorithms}, "all algorithms of a setting, or none"
    assert len(counts) <= max(12 // algorithms, 1) + 1


def test_a_long_trace_does_not_displace_the_first_setting(tmp_path, monkeypatch):
    monkeypatch.setattr(report_data, "_MAX_BOXES", 1)
    for a in range(2):
        for i in range(6):
            synthetic.write_timing(tmp_path / "x", a, 10, 10 * (i + 1))
    middle, counts = recorded(tmp_path / "x")
    assert counts == {tuple(middle): 2}


def run_labels(folder: Path) -> list[str]:
    return [entry["label"] for entry in report_data.data(Comparison("x", results.load(folder).runs))["timelines"]]


def test_timelines_of_a_setting_show_the_same_seed_if_possible(tmp_path):
    """The names of folders are hashes, so the first folder may have any seed."""
    for run_id, algorithm, seed in (("a", "bytegrad", 2), ("b", "bytegrad", 1), ("c", "decentralized", 1),
                                    ("d", "decentralized", 2)):
        sample.write_run(tmp_path, run_id, algorithm, seed=seed)
    assert run_labels(tmp_path) == ["seed 1", "seed 1"]


def test_timelines_name_the_seed_and_the_step_if_they_differ(tmp_path):
    for run_id, algorithm, seed, step in (("a", "bytegrad", 3, 2), ("b", "decentralized", 1, 50)):
        path = sample.write_run(tmp_path, run_id, algorithm, seed=seed, steps=20) / "manifest.json"
        path.write_text(path.read_text().replace('"eval_every"', f'"timeline": {{"step": {step}}}, "eval_every"'))
    assert run_labels(tmp_path) == ["seed 3, step 2", "seed 1, step 19"]
    comparison = Comparison("x", results.load(tmp_path).runs)
    figure = timeline.figure(comparison, comparison.middle_setting)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "bytegrad (seed 3, step 2)", "decentralized/shift_one (seed 1, step 19)"]


def test_timelines_name_the_step_if_steps_differ(tmp_path):
    sample.write_run(tmp_path, "a", "bytegrad", steps=20)
    for run_id, algorithm, change in (("b", "decentralized", {"cycle_steps": 8, "shown_step": 7}),
                                      ("c", "local_sgd", {"rates": {"from_step": 10, "steps": 10}, "shown_step": 7})):
        sample.edit(sample.write_run(tmp_path, run_id, algorithm, steps=20), lambda m: m["summary"].update(change))
    assert run_labels(tmp_path) == ["step 2", "step 7, exchanges every 8 steps", "step 7, in the warm-up"]


def test_timelines_of_equal_runs_have_no_label(sweep):
    assert set(run_labels(sweep)) == {""}
