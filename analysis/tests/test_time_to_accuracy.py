"""Times to an accuracy: the target accuracy, the interval in which it is reached, and the winner."""

import pytest
import sample
from evaluations import evaluated, set_target, times_to_target, winners, write
from sample import compare, plotted
from trigram_analysis import overview, report_data, table, verdict
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import winner


def test_evaluations_that_cannot_tell_who_is_first_say_so(tmp_path):
    """With an evaluation every 100 steps, the algorithm that reaches the target last seems to be first."""
    write(tmp_path / "rare", "bytegrad", 1.0, evaluated(100, 105))
    write(tmp_path / "rare", "decentralized", 0.99, evaluated(100, 195))
    assert times_to_target(tmp_path / "rare") == {"bytegrad": "100–200 ~ *", "decentralized/shift_one": "99.0–198 ~ *"}
    assert winners(tmp_path / "rare") == ["decentralized/shift_one", "bytegrad"]
    write(tmp_path / "often", "bytegrad", 1.0, evaluated(5, 105))
    write(tmp_path / "often", "decentralized", 0.99, evaluated(5, 195))
    assert times_to_target(tmp_path / "often") == {"bytegrad": "100–105 *", "decentralized/shift_one": "188–193"}
    assert winners(tmp_path / "often") == ["bytegrad"]


def test_an_accuracy_reached_at_the_first_evaluation_is_coarse(tmp_path):
    write(tmp_path, "bytegrad", 1.0, evaluated(100, 1))
    write(tmp_path, "decentralized", 1.0, evaluated(5, 205))
    assert times_to_target(tmp_path) == {"bytegrad": "≤100 ~ *", "decentralized/shift_one": "200–205"}
    notes = table.build(compare(tmp_path)).notes
    assert any(note.startswith("~ coarse: ") for note in notes)
    (sentence,) = verdict.verdicts(compare(tmp_path))
    assert "bytegrad is first to 82% accuracy, by 100 s, as far as the evaluations tell" in sentence.text
    comparison = compare(tmp_path)
    assert "<span>~ 100 s</span>" in overview.winner_map(comparison)
    assert [p["least"] for p in report_data.data(comparison)["points"]] == [{0: 0}, {0: 200}]


def test_nothing_is_best_if_an_algorithm_with_few_evaluations_may_be_earlier(tmp_path):
    write(tmp_path, "bytegrad", 1.0, evaluated(5, 45))
    write(tmp_path, "decentralized", 4.0, evaluated(100, 5))
    assert times_to_target(tmp_path) == {"bytegrad": "40.0–45.0", "decentralized/shift_one": "≤400 ~"}
    assert winners(tmp_path) == ["bytegrad"]
    comparison = compare(tmp_path)
    (sentence,) = verdict.verdicts(comparison)
    assert "As far as evaluations tell, bytegrad is first to 82% accuracy, between 40.0 s and 45.0 s; " \
           "decentralized/shift_one may be earlier, too few evaluations tell." in sentence.text
    found = winner(comparison, comparison.settings[0], measures(comparison)[0])
    assert (found.rivals, found.some_seeds) == (["decentralized/shift_one"], False)
    assert overview.undecided(found)
    assert overview.margin(found) == "as far as known; decentralized/shift_one may be earlier"
    assert overview.headline(comparison) == "bytegrad first in time to 82% accuracy as far as evaluations tell"


def test_a_coarse_interval_that_ends_first_is_a_tie(tmp_path):
    write(tmp_path, "bytegrad", 1.0, evaluated(3, 50))
    write(tmp_path, "decentralized", 1.0, evaluated(25, 30))
    assert times_to_target(tmp_path) == {"bytegrad": "48.0–51.0 *", "decentralized/shift_one": "25.0–50.0 ~ *"}
    assert winners(tmp_path) == ["decentralized/shift_one", "bytegrad"]


def test_a_star_is_explained_if_there_is_one(tmp_path):
    write(tmp_path / "two", "bytegrad", 1.0, evaluated(5, 45))
    write(tmp_path / "two", "decentralized", 4.0, evaluated(5, 45))
    assert "* best of its setting" in table.build(compare(tmp_path / "two")).notes
    write(tmp_path / "apart", "bytegrad", 1.0, evaluated(5, 45))
    write(tmp_path / "apart", "decentralized", 4.0, evaluated(5, 45))
    path = tmp_path / "apart" / "decentralized-1-1" / "manifest.json"
    path.write_text(path.read_text().replace("1Gbps", "9Gbps").replace("1.0Gbps", "9Gbps"))
    built = table.build(compare(tmp_path / "apart"))
    assert not any(cell.best for row in built.rows for cell in row)
    assert "* best of its setting" not in built.notes


def test_enough_evaluations_are_not_coarse(tmp_path):
    write(tmp_path, "bytegrad", 1.0, evaluated(10, 41))
    assert times_to_target(tmp_path) == {"bytegrad": "40.0–50.0"}
    assert not any("coarse" in note for note in table.build(compare(tmp_path)).notes)


UP_AND_DOWN = {10: 0.5, 20: 0.6, 30: 0.815, 40: 0.8, 50: 0.81, 60: 0.82}


def test_an_interval_begins_earlier_if_the_accuracy_goes_up_and_down(tmp_path):
    """At 30 steps, 0.5 per cent lack. At 40 steps, the accuracy is 1.25 per cent below the line between its neighbours."""
    write(tmp_path, "bytegrad", 1.0, UP_AND_DOWN)
    assert times_to_target(tmp_path) == {"bytegrad": "20.0–60.0 ~"}
    built = table.build(compare(tmp_path))
    assert any("unless the accuracy goes up and down more between evaluations than at them" in note for note in built.notes)


def test_no_model_lies_between_evaluations_of_all_models(tmp_path):
    """Workers have a common model after every tenth step only."""
    write(tmp_path, "bytegrad", 1.0, UP_AND_DOWN)
    sample.edit(tmp_path / "bytegrad-1-1", lambda m: m["summary"].update(cycle_steps=10))
    assert times_to_target(tmp_path) == {"bytegrad": "50.0–60.0"}


def test_an_accuracy_that_may_be_reached_before_the_first_evaluation(tmp_path):
    """The interval begins with the first model if the run says when that was, and otherwise at 0."""
    write(tmp_path, "bytegrad", 1.0, {10: 0.815, 20: 0.8, 30: 0.82})
    assert times_to_target(tmp_path) == {"bytegrad": "≤30.0 ~"}
    set_target(tmp_path / "bytegrad-1-1", 0.82, steps=30, epochs=0.3, time_s=30.0, after_s=1.0)
    assert times_to_target(tmp_path) == {"bytegrad": "1.00–30.0 ~"}


def test_figures_show_the_interval(tmp_path):
    write(tmp_path, "bytegrad", 1.0, evaluated(5, 105))
    write(tmp_path, "decentralized", 1.0, evaluated(5, 205))
    fig = plotted(tmp_path, "time_to_accuracy")
    ends = [bar.get_paths()[0].vertices[:, 0].tolist() for bar in fig.axes[0].collections]
    assert ends == [[100, 105], [200, 205]]


def test_figures_mark_times_as_tables_do(tmp_path):
    write(tmp_path, "bytegrad", 0.01, evaluated(50, 5))
    write(tmp_path, "decentralized", 1.0, evaluated(5, 205))
    fig = plotted(tmp_path, "time_to_accuracy")
    assert [text.get_text() for text in fig.axes[0].texts] == ["≤500 ms ~", "200–205 s"]
    assert any(text.get_text().startswith("~ coarse: ") for text in fig.texts)
    enough = tmp_path / "enough"
    write(enough, "bytegrad", 1.0, evaluated(5, 105))
    fig = plotted(enough, "time_to_accuracy")
    assert not any("coarse" in text.get_text() for text in fig.texts)


@pytest.mark.parametrize("accuracies", [
    {1: 0.849, 2: 0.842, 3: 0.835}, {1: 0.57, 2: 0.57, 3: 0.57}, {1: 0.8799, 2: 0.8851, 3: 0.88}])
def test_the_target_is_an_accuracy_that_every_run_reaches(tmp_path, accuracies):
    """Their mean is higher than the lowest of them."""
    for seed, accuracy in accuracies.items():
        write(tmp_path, "bytegrad", 1.0, {10: 0.5, 20: accuracy}, seed)
        write(tmp_path, "decentralized", 2.0, {10: 0.5, 20: accuracy + 0.004}, seed)
    comparison = compare(tmp_path)
    assert comparison.target.level == int(round(1e4 * min(accuracies.values()))) // 100 / 100
    assert times_to_target(tmp_path) == {"bytegrad": "10.0–20.0 ~ *", "decentralized/shift_one": "20.0–40.0 ~"}
    assert not any("not reached" in note for note in table.build(comparison).notes)


def test_runs_that_stop_at_a_target_have_no_best_final_accuracy(tmp_path):
    for name in ("stopped", "whole"):
        write(tmp_path / name, "bytegrad", 1.0, {5: 0.5, 10: 0.725})
        write(tmp_path / name, "decentralized", 1.0, {5: 0.5, 10: 0.700})
    for path in (tmp_path / "stopped").iterdir():
        set_target(path, 0.7, steps=9, epochs=1.0, time_s=9.0)
    for name, stars in (("stopped", 0), ("whole", 1)):
        built = table.build(compare(tmp_path / name))
        column = built.titles.index("accuracy (%)")
        assert sum(row[column].best for row in built.rows) == stars, name
    (sentence,) = verdict.verdicts(compare(tmp_path / "stopped"))
    assert "Runs stop at 70%, so their final accuracies, 70.0% to 72.5%, rank nothing." in sentence.text
    assert "Final accuracy" not in sentence.text
    assert {m.key: m.better for m in measures(compare(tmp_path / "stopped"))}["accuracy"] is None
    assert "Final accuracy: 72.5%" in verdict.verdicts(compare(tmp_path / "whole"))[0].text


def test_a_target_that_all_reach_by_the_first_evaluation_ranks_nobody(tmp_path):
    write(tmp_path, "bytegrad", 1.0, evaluated(100, 1))
    write(tmp_path, "decentralized", 3.0, evaluated(100, 1))
    assert times_to_target(tmp_path) == {"bytegrad": "≤100 ~", "decentralized/shift_one": "≤300 ~"}
    notes = table.build(compare(tmp_path)).notes
    assert "82% is reached by the first evaluation, which does not tell when before" in notes
    assert not any("between two evaluations" in note for note in notes)
    (sentence,) = verdict.verdicts(compare(tmp_path))
    assert "reach 82% accuracy by their first evaluations, which do not tell who is first." in sentence.text
