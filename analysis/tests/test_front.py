"""The front of an experiment's page: the verdict, and the caveats."""

import pytest
import sample
from evaluations import declare_target
from sample import compare, edit
from trigram_analysis import front
from trigram_analysis.appearance import Appearances


def test_the_verdict_names_the_winner_of_each_setting_and_the_lead(sweep):
    first, lead = front.verdict(compare(sweep))
    assert first == ("First in time to 84% accuracy, by inter-node bandwidth: bytegrad at 1 Gbps; bytegrad and "
                     "decentralized/shift_one, tied, at 10 Gbps.")
    # bytegrad takes 2.5 s per step at 1 Gbps, and decentralized 4.5 s, which needs as many steps.
    assert lead == "The first is 1.80× ahead of the next at 1 Gbps."


def test_the_verdict_on_one_setting_names_the_next_and_the_last(sweep):
    for path in sweep.glob("*-10-*"):
        edit(path, lambda m: m.update(status="failed", error="lost"))
    first, behind = front.verdict(compare(sweep))
    assert first == "bytegrad is first, with 50.0 s (time to 84% accuracy), as far as the evaluations tell."
    assert behind == ("The next is decentralized/shift_one with 90.0 s (1.80×), and the last of all gradient_allreduce "
                      "with 170 s (3.40×).")


def test_the_verdict_counts_many_settings(tmp_path):
    for gbps in range(1, 12):
        for algorithm in ("bytegrad", "decentralized"):
            path = sample.write_run(tmp_path, f"{algorithm}-{gbps}", algorithm, gbps)
            if gbps == 5:
                step_s = 0.1 if algorithm == "decentralized" else 9.0
                edit(path, lambda m: m["summary"].update(step_s=step_s, samples_per_s=512 / step_s))
            edit(path, lambda m: m["summary"].update(accuracy=None))
            (path / "metrics.jsonl").unlink()
    first, lead = front.verdict(compare(tmp_path))
    assert first == "First in time per step at 11 settings: bytegrad at 10 and decentralized/shift_one at 1."
    assert lead.startswith("Where one algorithm is first, its lead over the next is from 1.")


def test_one_algorithm_alone_is_not_called_first(tmp_path):
    sample.write_run(tmp_path, "alone")
    assert front.verdict(compare(tmp_path)) == [
        "Only bytegrad was run, with 14.0 s (time to 85% accuracy)."]


def test_caveats_begin_with_warnings_and_name_missing_runs(sweep):
    edit(sweep / "bytegrad-1-1", lambda m: m.update(warnings=["network not emulated: threads"]))
    edit(sweep / "bytegrad-10-1", lambda m: m.update(status="failed", error="lost"))
    found = front.caveats_of(compare(sweep))
    assert found[0].startswith("warning: network not emulated")
    assert any("without a run at 10 Gbps: bytegrad" in line for line in found)
    assert "one seed each: chance may decide between results that are close" in found
    declare_target(sweep, 0.5)
    assert front.section(compare(sweep)).index("verdict") < front.section(compare(sweep)).index("Caveats")


@pytest.mark.parametrize("count", [4, 12])
def test_up_to_twelve_algorithms_differ_in_colour_and_in_marker(count):
    names = [f"a{i}" for i in range(count - 2)] + ["bytegrad", "gradient_allreduce"]
    found = [Appearances(names).appearance(name) for name in names]
    assert len({colour for colour, _, _ in found}) == len({marker for _, marker, _ in found}) == count
    assert Appearances(names).appearance("gradient_allreduce")[0] == 0


def test_more_algorithms_differ_in_some_way():
    names = [f"a{i}" for i in range(20)] + ["bytegrad"] + [f"b{i}" for i in range(20)]
    found = [Appearances(names).appearance(name) for name in names]
    assert len(set(found)) == len(names)
    assert len({colour for colour, _, _ in found[:12]}) == 12
