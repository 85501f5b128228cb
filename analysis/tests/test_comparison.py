import shutil

import pytest
import sample
from sample import compare, edit
from trigram_analysis import results, table
from trigram_analysis.target import ACCURACY, Target
from trigram_analysis.time_to_target import best_quality, reached
from trigram_analysis.verdict import verdicts


def test_axes_are_what_varies_except_algorithm_and_seed(tmp_path):
    c = compare(sample.write_sweep(tmp_path, seeds=(1, 2)))
    assert [axis.pointer for axis in c.axes] == ["/cluster/inter/bandwidth"]
    assert c.algorithms == ["gradient_allreduce", "bytegrad", "decentralized/shift_one"]
    assert [c.label(s) for s in c.settings] == ["1 Gbps", "10 Gbps"]


def test_seeds_are_aggregated_to_mean_and_spread(tmp_path):
    c = compare(sample.write_sweep(tmp_path, seeds=(1, 2)))
    point = next(p for p in c.at(c.settings[0]) if p.algorithm == "bytegrad")
    # Seeds 1 and 2 expose 2.0 and 2.2 s after 0.5 s of computation.
    assert point.mean("step_s") == pytest.approx(2.6)
    assert point.spread("step_s") == pytest.approx(0.2 / 2**0.5)


def test_jitter_seeds_are_aggregated_like_seeds(tmp_path):
    folder = sample.write_sweep(tmp_path, seeds=(1, 2))
    for path in folder.iterdir():
        def draw(manifest):
            manifest["experiment"]["cluster"]["jitter_seed"] = manifest["experiment"].pop("seed")
            manifest["sweep"].pop("/seed", None)
            manifest["sweep"]["/cluster/jitter_seed"] = manifest["experiment"]["cluster"]["jitter_seed"]

        edit(path, draw)
    c = compare(folder)
    assert [axis.pointer for axis in c.axes] == ["/cluster/inter/bandwidth"]
    assert all(point.spread("step_s") is not None for point in c.points)


def test_settings_without_a_run_of_an_algorithm_are_named(tmp_path):
    folder = sample.write_sweep(tmp_path)
    complete = compare(folder)
    assert complete.incomplete == []
    removed = next(p for p in complete.at(complete.settings[0]) if p.algorithm == "bytegrad")
    shutil.rmtree(removed.runs[0].path)
    (line,) = compare(folder).incomplete
    assert line.endswith("without a run at 1 Gbps: bytegrad")
    assert verdicts(compare(folder))[0].text.endswith("Without a run here: bytegrad.")
    assert line in table.as_text(table.build(compare(folder)))


def test_one_seed_has_no_spread(sweep):
    assert all(p.spread("step_s") is None for p in compare(sweep).points)


def test_a_component_that_varies_is_one_axis(sweep):
    def to_threads(manifest):
        manifest["experiment"]["runtime"] = {"name": "threads", "shaped": False}

    for path in sweep.glob("*-1-1"):
        edit(path, to_threads)
    c = compare(sweep)
    assert {a.pointer for a in c.axes} == {"/runtime", "/cluster/inter/bandwidth"}
    world = [a.pointer for a in c.axes].index("/runtime")
    assert {s[world].label for s in c.settings} == {"sim", "threads"}


def test_equal_bandwidths_written_differently_are_one_setting(sweep):
    edit(sweep / "bytegrad-10-1",
         lambda m: m["experiment"]["cluster"]["inter"].update(bandwidth="1.25GB/s"))
    assert len(compare(sweep).settings) == 2


def test_systems_are_named_by_their_files(sweep):
    for path in sweep.glob("bytegrad-*"):
        edit(path, lambda m: m["sweep"].update({"/algorithm": "../systems/bagua_bytegrad.json"}))
    assert compare(sweep).algorithms == ["gradient_allreduce", "bagua_bytegrad", "decentralized/shift_one"]


def set_learning_rate(sweep, pattern, lr):
    for path in sweep.glob(pattern):
        edit(path, lambda m: m["experiment"].update(optimizer={"name": "sgd", "lr": lr}))


def test_a_learning_rate_that_follows_from_the_algorithm_is_no_axis(sweep):
    set_learning_rate(sweep, "*", 0.1)
    set_learning_rate(sweep, "bytegrad-*", 0.2)
    assert [axis.pointer for axis in compare(sweep).axes] == ["/cluster/inter/bandwidth"]


def test_a_learning_rate_that_varies_within_an_algorithm_is_an_axis(sweep):
    set_learning_rate(sweep, "*", 0.1)
    set_learning_rate(sweep, "bytegrad-1-*", 0.2)
    assert "/optimizer/lr" in {axis.pointer for axis in compare(sweep).axes}


def test_variants_of_an_algorithm_are_named_by_the_options_that_differ(sweep):
    sample.write_run(sweep, "variant", "bytegrad", 1.0)
    edit(sweep / "variant",
         lambda m: m["experiment"]["algorithm"].update(overlap=False))
    for path in sweep.glob("bytegrad-*"):
        edit(path, lambda m: m["experiment"]["algorithm"].update(overlap=True))
    names = compare(sweep).algorithms
    assert "bytegrad (overlap=true)" in names and "bytegrad (overlap=false)" in names


def test_target_is_the_highest_whole_per_cent_that_all_reach(sweep):
    assert compare(sweep).target == Target(ACCURACY, 0.84)


def test_target_ignores_an_algorithm_that_falls_far_behind(sweep, monkeypatch):
    monkeypatch.setitem(sample.FINAL_ACCURACY, "broken", 0.1)
    sample.write_run(sweep, "broken", "broken", 1.0)
    c = compare(sweep)
    assert c.target == Target(ACCURACY, 0.77)  # 0.9 x 0.86, rounded down to a whole per cent
    broken = next(p for p in c.points if p.algorithm == "broken")
    assert broken.time_to(c.target) is None


def declare(sweep, accuracy, reached_by=lambda manifest: True):
    """Changes the sweep as if its runs were to end at an accuracy."""
    for path in sweep.iterdir():
        edit(path, lambda m: m["experiment"].update(target_accuracy=accuracy))
        edit(path, lambda m: m["summary"].update(
            target={"accuracy": accuracy, "steps": 10, "epochs": 2.5, "time_s": 1.0}
            if reached_by(m)
            else {"accuracy": accuracy, "steps": None, "epochs": None, "time_s": None}))


def test_the_declared_target_is_the_target(sweep):
    declare(sweep, 0.435)
    c = compare(sweep)
    assert c.target == c.declared_target == Target(ACCURACY, 0.435)
    assert "/target_accuracy" not in {axis.pointer for axis in c.axes}
    (run,) = results.load(sweep / "gradient_allreduce-1-1").runs
    point = next(p for p in c.points if run.path in {r.path for r in p.runs})
    assert point.time_to(c.target) == reached(run, c.target).time_s == pytest.approx(10 * 8.5)
    assert point.epochs_to_target == 2.5


def test_targets_that_differ_are_an_axis(sweep):
    declare(sweep, 0.8)
    edit(sweep / "bytegrad-1-1", lambda m: m["experiment"].update(target_accuracy=0.9))
    c = compare(sweep)
    assert c.declared_target is None
    assert c.target == Target(ACCURACY, 0.84), "as without"
    assert "/target_accuracy" in {axis.pointer for axis in c.axes}


def test_the_table_shows_which_algorithm_misses_the_target(sweep):
    missed = lambda m: m["experiment"]["algorithm"]["name"] != "bytegrad"
    declare(sweep, 0.855, missed)
    built = table.build(compare(sweep))
    assert {"to 85.5% (s)", "epochs"} <= set(built.titles)
    column = built.titles.index("epochs")
    texts = {row[built.keys - 1].text: row[column].text for row in built.rows}
    assert texts["bytegrad"] == "–"
    assert texts["gradient_allreduce"] == "1.88–2.50 ~"
    assert any("85.5% is not reached" in note for note in built.notes)


def test_time_to_accuracy_is_the_first_evaluation_that_reaches_it(sweep):
    (run,) = results.load(sweep / "gradient_allreduce-1-1").runs
    # A step takes 8.5 s, and every 5th one is evaluated; the accuracy is 0.86 sqrt(t / 20).
    first, second = reached(run, Target(ACCURACY, 0.43)), reached(run, Target(ACCURACY, 0.44))
    assert (first.after_s, first.time_s) == (0, pytest.approx(5 * 8.5))
    assert (second.after_s, second.time_s) == (pytest.approx(5 * 8.5), pytest.approx(10 * 8.5))
    assert (second.after_step, second.step) == (5, 10)
    assert reached(run, Target(ACCURACY, 0.87)) is None
    assert best_quality(run, ACCURACY) == pytest.approx(0.86)


def test_a_first_evaluation_is_bounded_by_the_first_model(sweep):
    """The run says when that was, for its target accuracy."""
    path = sweep / "gradient_allreduce-1-1"
    edit(path, lambda m: m["summary"].update(target={"accuracy": 0.43, "after_s": 8.5, "time_s": 5 * 8.5}))
    (run,) = results.load(path).runs
    found = reached(run, Target(ACCURACY, 0.43))
    assert (found.after_s, found.after_step) == (8.5, pytest.approx(1))
    assert reached(run, Target(ACCURACY, 0.42)).after_s == 0, "of other accuracies it says nothing"


def test_runs_without_accuracies_have_no_target(sweep):
    for path in sweep.iterdir():
        edit(path, lambda m: m["summary"].update(accuracy=None, loss=None))
        (path / "metrics.jsonl").unlink()
    assert compare(sweep).target is None


def test_runs_that_read_different_contents_of_a_file_are_different_settings(sweep):
    """An edited profile keeps its path."""
    for path in sorted(sweep.iterdir()):
        edit(path, lambda m: m.update(inputs={"/home/me/mine.csv": "a" * 64}))
        algorithm, gbps, _ = path.name.split("-")
        again = sample.write_run(sweep, f"{path.name}-edited", algorithm, float(gbps))
        edit(again, lambda m: m.update(inputs={"/home/me/mine.csv": "b" * 64}, started="2026-01-02T00:00:00Z"))
    c = compare(sweep)
    assert all(len(point.runs) == 1 for point in c.points)
    assert {axis.title for axis in c.axes} == {"inter-node bandwidth", "input content"}
    assert "seeds" not in table.as_text(table.build(c))
    for label in ("mine.csv aaaaaaa ", "mine.csv bbbbbbb (newest)"):
        assert label in table.as_text(table.build(c))


def test_different_input_files_are_no_axis(sweep):
    for path in sweep.iterdir():
        edit(path, lambda m: m.update(inputs={"/home/me/mine.csv": "a" * 64}))
    before = len(compare(sweep).axes)
    edit(sweep / "bytegrad-1-1", lambda m: m.update(inputs={"/home/me/other.csv": "b" * 64}))
    assert len(compare(sweep).axes) == before


def test_input_versions_of_older_programs_are_distinguished_by_run_ids(sweep):
    """An id is a hash of the experiment and of the content of its input files."""
    sample.write_run(sweep, "edited", "bytegrad", 1.0)
    c = compare(sweep)
    assert all(len(point.runs) == 1 for point in c.points)
    assert "inputs of run edited" in table.as_text(table.build(c))


def test_runs_that_differ_only_in_the_recorded_step_have_no_spread(sweep):
    sample.write_run(sweep, "twin", "bytegrad", 1.0)
    edit(sweep / "twin", lambda m: m["experiment"].update(timeline={"step": 5}))
    c = compare(sweep)
    assert [len(point.runs) for point in c.points].count(2) == 1
    assert all(point.spread("step_s") is None for point in c.points)
    assert "seeds" not in table.as_text(table.build(c))
