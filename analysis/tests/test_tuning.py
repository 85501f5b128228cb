"""The figure of what `trigram tune` has tried."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sample import write_run
from trigram_analysis import results, tuning


def record(*costs: float | None) -> dict[str, Any]:
    return {"objective": "step time", "unit": "s", "tried": [{"point": {}, "value": cost} for cost in costs]}


def drawn(folder: Path, text: str) -> Any:
    write_run(folder, "a")
    (folder / "tuning.json").write_text(text)
    return tuning.figure(results.load(folder).runs)


def test_the_best_so_far_and_invalid_points(tmp_path):
    (axes,) = drawn(tmp_path, json.dumps(record(3.0, 2.0, None, 2.5, 1.0))).axes
    lines = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()}
    assert lines["evaluation"] == ([1, 2, 4, 5], [3.0, 2.0, 2.5, 1.0])
    assert lines["best so far"] == ([1, 2, 4, 5], [3.0, 2.0, 2.0, 1.0])
    assert lines["invalid"] == ([3], [3.0])
    assert axes.get_ylabel() == "step time (s)"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tried": 3}', '{"tried": [{}]}', json.dumps(record(None))])
def test_a_record_without_costs_has_no_figure(tmp_path, text):
    assert drawn(tmp_path, text) is None


def test_other_results_have_no_figure(tmp_path):
    write_run(tmp_path, "a")
    assert tuning.figure(results.load(tmp_path).runs) is None
