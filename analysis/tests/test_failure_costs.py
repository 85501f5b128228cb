"""What the report and the figures say about crashes."""

import copy

import pytest
import sample
from trigram_analysis import crashes_figure, failure_costs, report, results

CRASHES = [
    {"at_s": 40.0, "node": 3, "from_step": 4, "lost_s": 5.0, "recovery_s": 10.0},
    {"at_s": 70.0, "rank": 1, "from_step": 8, "lost_s": 15.0, "recovery_s": 10.0},
]
FAILURES = {"crashes": CRASHES, "lost_s": 20.0, "recovery_s": 20.0, "goodput": 0.6}


def failing(folder, failures):
    path = sample.write_run(folder, "a")
    sample.edit(path, lambda m: m["summary"].update({"failures": copy.deepcopy(failures), "time_s": 100.0}))
    return results.load(folder).runs


def test_a_section_names_the_crashes(tmp_path):
    section = failure_costs.section(failing(tmp_path, FAILURES))
    for text in ("60.0%", "20.0 s", "40.0 s: node 3; 70.0 s: worker 1", "100 s"):
        assert text in section
    page = tmp_path / "report.html"
    report.write(results.load(tmp_path), page, "title")
    assert "What failures cost" in page.read_text()


def test_the_parts_of_a_run_add_up_to_its_time(tmp_path):
    (run,) = failing(tmp_path, FAILURES)
    parts = failure_costs.parts(run)
    assert [kind for kind, _, _ in parts] == ["training", "lost work", "recovery"] * 2 + ["training"]
    assert all(before[2] == after[1] for before, after in zip(parts, parts[1:]))
    spent = {kind: sum(end - begin for k, begin, end in parts if k == kind) for kind, _, _ in parts}
    assert spent == {"training": 60.0, "lost work": 20.0, "recovery": 20.0}
    assert crashes_figure.figure([run]) is not None


def test_the_time_covers_all_generations(tmp_path):
    change = {"nodes": 2, "begin_s": 30.0, "lost_s": 1.0, "recovery_s": 4.0}
    generations = [{"nodes": 3, "begin_s": 0.0}, change]
    (run,) = failing(tmp_path, FAILURES | {"generations": generations, "time_s": 130.0})
    parts = failure_costs.parts(run)
    assert parts[-1][2] == 130.0
    assert parts[:3] == [("training", 0.0, 25.0), ("lost work", 25.0, 26.0), ("recovery", 26.0, 30.0)]


@pytest.mark.parametrize("failures", [None, {}, {"crashes": []}, {"crashes": [{"at_s": "x"}]}, {"crashes": [3]}])
def test_runs_without_crashes_have_no_section(tmp_path, failures):
    runs = failing(tmp_path, failures)
    assert failure_costs.section(runs) == "" and crashes_figure.figure(runs) is None
