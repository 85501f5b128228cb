"""Which settings the page has timelines of."""

from pathlib import Path

import pytest
import synthetic
from trigram_analysis import report_data, results
from trigram_analysis.comparison import Comparison


def recorded(folder: Path) -> tuple[list[int], dict[tuple[int, ...], int]]:
    """The setting that the page begins with; how many timelines each setting has."""
    document = report_data.data(Comparison("x", results.load(folder).runs))
    counts: dict[tuple[int, ...], int] = {}
    for timeline in document["timelines"]:
        counts[tuple(timeline["at"])] = counts.get(tuple(timeline["at"]), 0) + 1
    return document["middle"], counts


@pytest.mark.parametrize("algorithms, settings", [(2, 5), (2, 7), (3, 14), (4, 11), (10, 20), (1, 60)])
def test_the_setting_that_the_page_begins_with_is_recorded(tmp_path, monkeypatch, algorithms, settings):
    monkeypatch.setattr(report_data, "_TRACES", 12)
    for a in range(algorithms):
        for i in range(settings):
            synthetic.write_timing(tmp_path / "x", a, 10, 10 * (i + 1))
    middle, counts = recorded(tmp_path / "x")
    assert tuple(middle) in counts
    assert set(counts.values()) == {algorithms}, "all algorithms of a setting, or none"
    assert len(counts) <= max(12 // algorithms, 1) + 1


def test_a_long_trace_is_not_at_the_cost_of_the_first_setting(tmp_path, monkeypatch):
    monkeypatch.setattr(report_data, "_BOXES", 1)
    for a in range(2):
        for i in range(6):
            synthetic.write_timing(tmp_path / "x", a, 10, 10 * (i + 1))
    middle, counts = recorded(tmp_path / "x")
    assert counts == {tuple(middle): 2}
