"""Times to a held-out loss: the same rules as for an accuracy, in the other direction."""

import json

import pytest
import sample
from evaluations import NEVER, falling, times_to_target, winners, write, write_losses
from sample import compare, plotted
from trigram_analysis import overview, plots, report_data, table, verdict
from trigram_analysis.measures import measures
from trigram_analysis.target import ACCURACY, LOSS, Target, reached_by_all
from trigram_analysis.time_to_target import best_quality, reached
from trigram_analysis.winner_map import winner


def declare_loss(folder, level, epochs=None):
    for path in folder.iterdir():
        def change(manifest):
            manifest["experiment"]["target_loss"] = level
            manifest["summary"]["target"] = {"loss": level, "steps": None, "epochs": epochs, "time_s": None}

        sample.edit(path, change)


@pytest.fixture
def two(tmp_path):
    """bytegrad has the loss at 45 s, and decentralized/shift_one at 70 s."""
    write_losses(tmp_path / "two", "bytegrad", 1.0, falling(5, 45))
    write_losses(tmp_path / "two", "decentralized", 1.0, falling(5, 70))
    return tmp_path / "two"


@pytest.mark.parametrize("value, reaches", [(0.35, True), (0.2, True), (0.0, True), (0.3501, False), (None, False)])
def test_a_loss_is_reached_at_or_below_the_level(value, reaches):
    assert Target(LOSS, 0.35).reached_by(value) is reaches


@pytest.mark.parametrize("value, reaches", [(0.35, True), (0.36, True), (0.3499, False), (None, False)])
def test_an_accuracy_is_reached_at_or_above_the_level(value, reaches):
    assert Target(ACCURACY, 0.35).reached_by(value) is reaches


@pytest.mark.parametrize("best, level", [
    ([0.35, 0.3], 0.35),  # all reach the worst
    ([0.35004, 0.3], 0.351), ([2.5149, 2.6], 2.6), ([2.601, 2.6], 2.61), ([9.991, 9.5], 10.0), ([123.4, 120.1], 124.0),
    ([0.0003201, 0.0003], 0.000321),  # rounded up, so that all reach it
    ([0.3, 2.0], 0.45),  # the second is far behind
    ([0.0, 0.5], 0.5), ([-1.0, 0.5], 0.5)])  # no factor of these is a limit
def test_the_level_is_the_lowest_that_all_reach(best, level):
    assert reached_by_all(LOSS, best) == Target(LOSS, level)


def test_losses_that_are_not_positive_are_no_level():
    assert reached_by_all(LOSS, [0.0, -1.0]) is None


def test_runs_without_accuracies_are_compared_by_their_loss(two):
    comparison = compare(two)
    assert comparison.target == Target(LOSS, 0.35)
    assert times_to_target(two) == {"bytegrad": "40.0–45.0 *", "decentralized/shift_one": "65.0–70.0"}
    assert winners(two) == ["bytegrad"]
    (sentence,) = verdict.verdicts(comparison)
    assert "bytegrad is first to a held-out loss of 0.35, between 40.0 s and 45.0 s." in sentence.text
    assert "Final held-out loss: 0.350 (bytegrad) up to 0.350 (decentralized/shift_one)." in sentence.text
    built = table.build(comparison)
    assert "held-out loss" in built.titles and "to loss 0.35 (s)" in built.titles
    help_text = built.helps[built.titles.index("to loss 0.35 (s)")]
    assert help_text == ("time of the first evaluation at a held-out loss of 0.35 or less, from the one before or, "
                         "if the loss goes up and down, an earlier one")
    assert any(note.startswith("loss 0.35 is reached in the interval shown") for note in built.notes)
    assert measures(comparison)[0].title == "time to held-out loss 0.35"
    assert overview.headline(comparison) == "bytegrad first in time to held-out loss 0.35"


def test_runs_with_accuracies_are_compared_by_these(sweep):
    comparison = compare(sweep)  # its runs have both
    assert comparison.target.quality is ACCURACY
    titles = table.build(comparison).titles
    assert not any("loss" in title for title in titles if title != "loss")
    assert "held_out_loss" not in [stem for stem, *_ in plots.figures(comparison)]
    assert "eval_loss" not in [series["key"] for series in report_data.data(comparison)["curves"]["series"]]


def test_a_declared_loss_counts_although_there_are_accuracies(sweep):
    declare_loss(sweep, 1.2)
    comparison = compare(sweep)
    assert comparison.target == comparison.declared_target == Target(LOSS, 1.2)
    # A step takes 8.5 s, and every 5th one is evaluated; the loss is 2.3 (1 - 0.75 t / 20).
    found = reached(next(r for r in comparison.runs if r.id == "gradient_allreduce-1-1"), comparison.target)
    assert (found.after_s, found.time_s) == (pytest.approx(10 * 8.5), pytest.approx(15 * 8.5))


def test_losses_and_accuracies_that_runs_declare_are_different_targets(sweep):
    declare_loss(sweep, 0.8)
    sample.edit(sweep / "bytegrad-1-1", lambda m: m["experiment"].update(target_loss=None, target_accuracy=0.8))
    assert compare(sweep).declared_target is None


def test_an_evaluation_without_a_finite_loss_bounds_the_time(tmp_path):
    write_losses(tmp_path, "bytegrad", 1.0, {10: 0.9, 20: None, 30: 0.35})
    (run,) = compare(tmp_path).runs
    found = reached(run, Target(LOSS, 0.35))
    assert (found.after_s, found.time_s) == (20, 30)
    assert best_quality(run, LOSS) == 0.35


def test_runs_that_diverge_have_no_part_in_the_level(tmp_path):
    write_losses(tmp_path, "bytegrad", 1.0, falling(5, 45))
    write_losses(tmp_path, "decentralized", 1.0, dict.fromkeys(range(5, 301, 5)))
    assert compare(tmp_path).target == Target(LOSS, 0.35)
    assert times_to_target(tmp_path) == {"bytegrad": "40.0–45.0 *", "decentralized/shift_one": "–"}
    notes = table.build(compare(tmp_path)).notes
    assert "– a held-out loss of 0.35 is not reached at any evaluation" in notes


def test_a_non_finite_loss_in_the_metrics_is_never_reached(tmp_path):
    write_losses(tmp_path, "bytegrad", 1.0, {10: float("-inf"), 20: float("nan"), 30: float("inf")})
    sample.edit(tmp_path / "bytegrad-1-1", lambda m: m["summary"].update(eval_loss=None))
    (run,) = compare(tmp_path).runs
    assert "Infinity" in (run.path / "metrics.jsonl").read_text()
    assert reached(run, Target(LOSS, 0.35)) is None and best_quality(run, LOSS) is None
    assert compare(tmp_path).target is None


def test_coarse_intervals_name_what_tells_more(tmp_path):
    write_losses(tmp_path, "bytegrad", 1.0, falling(50, 45))
    assert times_to_target(tmp_path) == {"bytegrad": "≤50.0 ~"}
    assert any("a smaller eval_every or a lower loss tells more" in note for note in table.build(compare(tmp_path)).notes)


def test_seeds_that_do_not_all_reach_it(tmp_path):
    for seed, at in enumerate((105, NEVER, 125), start=1):
        write_losses(tmp_path, "bytegrad", 1.0, falling(5, at), seed)
        write_losses(tmp_path, "decentralized", 1.2, falling(5, 150), seed)
    declare_loss(tmp_path, 0.35)
    comparison = compare(tmp_path)
    assert times_to_target(tmp_path)["bytegrad"] == "100–125 with 2 of 3 seeds"
    assert any(note.startswith("what reaches the loss with some seeds") for note in table.build(comparison).notes)
    found = winner(comparison, comparison.settings[0], measures(comparison)[0])
    assert found.some_seeds and found.rivals == ["bytegrad"]


def test_the_first_model_that_could_reach_it_bounds_a_first_evaluation(tmp_path):
    write_losses(tmp_path, "bytegrad", 1.0, falling(50, 45))
    declare_loss(tmp_path, 0.35)
    path = tmp_path / "bytegrad-1-1"
    sample.edit(path, lambda m: m["summary"]["target"].update(steps=50, time_s=50, after_s=1.0))
    (run,) = compare(tmp_path).runs
    assert (reached(run, Target(LOSS, 0.35)).after_s, reached(run, Target(LOSS, 0.36)).after_s) == (1.0, 0)
    assert reached(run, Target(ACCURACY, 0.35)) is None


def test_runs_that_stop_have_no_best_final_loss(two):
    assert {m.key: m.better for m in measures(compare(two))}["eval_loss"] == "low"
    declare_loss(two, 0.35)
    for path in two.iterdir():
        sample.edit(path, lambda m: m["summary"]["target"].update(time_s=45))
    assert {m.key: m.better for m in measures(compare(two))}["eval_loss"] is None
    (sentence,) = verdict.verdicts(compare(two))
    assert "Runs stop at loss 0.35, so their final held-out losses, 0.350 to 0.350, rank nothing." in sentence.text


def test_figures_and_curves_are_of_the_loss(two):
    stems = [stem for stem, *_ in plots.figures(compare(two))]
    assert stems[-2:] == ["held_out_loss", "time_to_loss"] and "accuracy" not in stems
    fig = plotted(two, "time_to_loss")
    ends = [bar.get_paths()[0].vertices[:, 0].tolist() for bar in fig.axes[0].collections]
    assert ends == [[40, 45], [65, 70]]
    assert fig.axes[0].get_xlabel() == "simulated time to held-out loss 0.35 (s)"
    data = report_data.data(compare(two))
    assert (data["quality"], data["measures"][0]["key"]) == ("loss", "to_loss_0.35")
    assert "eval_loss" in [series["key"] for series in data["curves"]["series"]]


def test_the_csv_has_plain_numbers(two):
    records = table.as_records(compare(two))
    assert [(r["to loss 0.35"], r["to loss 0.35, from"], r["best held-out loss"]) for r in records] == [
        (45, 40, 0.35), (70, 65, 0.35)]
    json.dumps(records, allow_nan=False)


def test_levels_need_no_accuracy_to_be_shown(tmp_path):
    """A run of another workload beside it has accuracies, so these count."""
    write_losses(tmp_path, "bytegrad", 1.0, falling(5, 45))
    write(tmp_path, "decentralized", 1.0, {5: 0.8})
    assert compare(tmp_path).target == Target(ACCURACY, 0.8)
    assert times_to_target(tmp_path) == {"bytegrad": "–", "decentralized/shift_one": "≤5.00 ~"}
