"""Claims: the cell that a run answers, what counts as a miss, and the printed text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sample import edit, write_run
from trigram_analysis import claims, claims_table, results
from trigram_analysis.__main__ import main

# Times of 10 steps, in seconds. A step of the sample takes 0.5 s, plus 8, 2 or 4 s at 1 Gbps.
EXACT = {("1", "allreduce"): 85, ("1", "bytegrad"): 25, ("1", "decentralized"): 45,
         ("10", "allreduce"): 13, ("10", "bytegrad"): 7, ("10", "decentralized"): 9}


def claim(folder: Path, published: dict[tuple[str, str], float], **changes: Any) -> Path:
    """Writes a file with one claim about the sample's experiment."""
    rows = "".join(f"{gbps},{name},{value},{int(name == 'bytegrad')}\n"
                   for (gbps, name), value in published.items())
    (folder / "table.csv").write_text(f"# from nowhere\ngbps,algorithm,epoch_s,approx\n{rows}")
    described = {
        "id": "one", "title": "a figure", "published": "table.csv", "value": "epoch_s", "unit": "s",
        "experiment": "sample", "command": "trigram run sample.json", "minutes": 1,
        "cell": {"gbps": {"pointer": "/cluster/inter/bandwidth", "times": 1e-9},
                 "algorithm": {"pointer": "/algorithm", "names": {"gradient_allreduce": "allreduce"}}},
        "measure": {"from_step": 3, "steps": 10},
        "tolerance": {"median": 0.05, "worst": 0.25, "apart": 0.15, "wrong": 0},
    } | changes
    path = folder / "claims.json"
    path.write_text(json.dumps({"claims": [described]}))
    return path


@pytest.fixture
def found(tmp_path: Path) -> results.Results:
    for algorithm in ("gradient_allreduce", "bytegrad", "decentralized"):
        for gbps in (1, 10):
            write_run(tmp_path / "sample", f"{algorithm}-{gbps}", algorithm, gbps, name="sample",
                      sweep={"/algorithm": {"name": algorithm},
                             "/cluster/inter/bandwidth": f"{gbps}Gbps"})
    return results.load(tmp_path)


def load_one(found: results.Results, path: Path) -> claims.Claim:
    (only,) = claims.load(found, path)
    return only


def test_cells_find_their_runs(found, tmp_path):
    held = load_one(found, claim(tmp_path, EXACT))
    assert {tuple(c.key.values()): pytest.approx(c.simulated) for c in held.cells} == EXACT
    assert held.failures == [] and claims_table.verdict(held) == "holds"
    assert [c.approximate for c in held.cells] == [False, True, False] * 2
    assert len(held.orderings) == 6 and all(pair.holds for pair in held.orderings)


def test_the_newest_run_of_a_cell_counts(found, tmp_path):
    older = write_run(tmp_path / "sample", "zzz-older", "bytegrad", 1, name="sample",
                      sweep={"/algorithm": {"name": "bytegrad"}, "/cluster/inter/bandwidth": "1Gbps"})
    (older / "metrics.jsonl").write_text("".join(json.dumps({"step": i, "step_s": 9}) + "\n" for i in range(20)))
    for finished, simulated in (("2020-01-01T00:00:00Z", 25), ("2099-01-01T00:00:00Z", 90)):
        edit(older, lambda m: m.update(finished=finished))
        held = load_one(results.load(tmp_path), claim(tmp_path, EXACT))
        assert next(c.simulated for c in held.cells if c.key == {"gbps": "1", "algorithm": "bytegrad"}) == pytest.approx(simulated)
        assert "; 1 older runs of the same cells are left aside" in claims_table.summary(held)


def test_runs_that_answer_no_cell_are_counted_in_the_summary(found, tmp_path):
    short, timeless = (tmp_path / "sample" / f"bytegrad-{gbps}" / "metrics.jsonl" for gbps in (1, 10))
    short.write_text("".join(short.read_text().splitlines(keepends=True)[:4]))
    timeless.write_text('{"step": 0}\n' * 20)
    held = load_one(results.load(tmp_path), claim(tmp_path, EXACT))
    assert held.failures == ["2 of 6 cells have no run"]
    assert "2 runs answer no cell: one: run bytegrad-1" in claims_table.summary(held)
    assert "no run" in claims_table.as_html([held])
    assert len(held.unusable) == 2 and "has steps without their time" in held.unusable[1]


def test_runs_with_other_settings_than_the_command_do_not_check_a_claim(found, tmp_path):
    """The command is of a configuration in this repository, which does not make these runs. If it made one, that run
    would take precedence, even if it were older."""
    command = "trigram run configs/papers/vgg16_scaling.json"
    held = load_one(found, claim(tmp_path, EXACT, command=command))
    assert held.failures == [f"6 of 6 cells have runs that {command} does not make"]
    answers = [claims.Answer(("x",), value, as_claimed, finished) for value, as_claimed, finished in
               ((1.0, True, "2020"), (2.0, True, "2021"), (3.0, False, "2022"))]
    held = load_one(found, claim(tmp_path, EXACT))
    held._runs, held._answer = answers, lambda answer: answer
    assert held._answers[("x",)].value == 2 and held.superseded == 2


@pytest.mark.parametrize("changed, failures", [
    ({("1", "allreduce"): 85 / 1.3}, ["1 of 6 cells over 25%"]),
    ({("1", "allreduce"): 85 * 1.3}, []),  # an error of 23 %
    ({key: 1.1 * value for key, value in EXACT.items()}, ["median error 9.1%, more than 5.0%"]),
    ({("10", "bytegrad"): 8.7, ("10", "decentralized"): 7.5},
     ["1 pairs in the wrong order, more than 0"]),
    ({("4", "bytegrad"): 9}, ["1 of 7 cells have no run"]),
])
def test_misses(found, tmp_path, changed, failures):
    missed = load_one(found, claim(tmp_path, EXACT | changed))
    assert missed.failures == failures
    text = claims_table.as_text([missed])
    assert ("missed: " in text) == bool(failures)


def test_the_verdict_on_every_order_is_printed(found, tmp_path):
    missed = load_one(found, claim(tmp_path, EXACT | {("10", "bytegrad"): 8.7, ("10", "decentralized"): 7.5}))
    lines = claims_table.as_text([missed]).splitlines()
    table = lines[next(i for i, line in enumerate(lines) if "published more than" in line):]
    assert [re.split("  +", line) for line in table[2:table.index("")]] == [
        ["1", "bytegrad", "right", "allreduce, decentralized"],
        ["1", "decentralized", "right", "allreduce"],
        ["10", "bytegrad", "right", "allreduce"],
        ["10", "decentralized", "wrong: bytegrad", "allreduce, bytegrad"]]
    assert '<td class=key data-label="order">wrong: bytegrad</td>' in claims_table.as_html([missed])


def test_the_known_cause_of_a_miss_is_printed_beside_it(found, tmp_path):
    known = [{"cell": {"gbps": ["1", "10"], "algorithm": "allreduce"}, "why": "another transport"}]
    path = claim(tmp_path, EXACT | {("1", "allreduce"): 50}, known=known)
    text = claims_table.as_text([load_one(found, path)])
    line = next(line for line in text.splitlines() if line.startswith("1 "))
    assert line.split() == ["1", "allreduce", "50.0", "85.0", "1.700", "missed", "another", "transport"]
    assert text.count("another transport") == 1  # it does not appear where the cell holds
    assert "~25.0" in text
    html = claims_table.as_html([load_one(found, path)])
    assert "missed: 1 of 6 cells over 25%" in html and "another transport" in html
    assert "<code>trigram run sample.json</code>, about 1 min" in html


MISSING = EXACT | {("1", "allreduce"): 85 / 1.3, ("10", "bytegrad"): 8.7, ("10", "decentralized"): 7.5}


@pytest.mark.parametrize("published, expected, failures, verdict", [
    (EXACT, {}, [], "holds"),
    (MISSING, {"worst": "no host work", "order": "a tie"}, [],
     "misses, as declared: 1 of 6 cells over 25% (no host work); 1 pairs in the wrong order, more than 0 (a tie)"),
    (MISSING, {"worst": "no host work"}, ["1 pairs in the wrong order, more than 0"],
     "missed: 1 pairs in the wrong order, more than 0"),
    (EXACT, {"order": "a tie"}, ["declared to miss by its order, but does not"],
     "missed: declared to miss by its order, but does not"),
    (MISSING | {("4", "bytegrad"): 9}, {"worst": "no host work", "order": "a tie"},
     ["1 of 7 cells have no run", "1 of 7 cells over 25%", "1 pairs in the wrong order, more than 0"],
     "missed: 1 of 7 cells have no run; 1 of 7 cells over 25%; 1 pairs in the wrong order, more than 0"),
])
def test_a_claim_may_be_declared_to_miss(found, tmp_path, published, expected, failures, verdict):
    """It must miss in exactly the declared respects. Missing runs are never excused."""
    tolerance = {"worst": 0.25, "apart": 0.15, "wrong": 0}
    held = load_one(found, claim(tmp_path, published, tolerance=tolerance, expected_misses=expected))
    assert held.failures == failures
    assert claims_table.verdict(held) == verdict
    assert verdict in claims_table.as_text([held]) and verdict in claims_table.as_html([held])


def test_a_claim_cannot_be_declared_to_miss_in_unknown_respects(found, tmp_path):
    with pytest.raises(claims.ClaimError, match="expected_misses has mean, expected some of median, "):
        claims.load(found, claim(tmp_path, EXACT, expected_misses={"mean": "why not"}))


def test_values_may_be_relative_to_an_algorithm_in_the_same_setting(found, tmp_path):
    """Only the ratio of samples per second to allreduce is published."""
    ratios = {("1", "allreduce"): 1, ("1", "bytegrad"): 3.4, ("10", "bytegrad"): 1.9}
    held = load_one(found, claim(tmp_path, ratios, measure={"samples_per_worker": 3, "relative_to": "allreduce"}))
    assert [c.simulated for c in held.cells] == pytest.approx([1, 8.5 / 2.5, 1.3 / 0.7])


def test_a_value_may_be_the_share_of_computation_or_the_time_without_it(found, tmp_path):
    share = load_one(found, claim(tmp_path, EXACT, measure={"computing_s": 0.5}))
    assert [c.simulated for c in share.cells] == pytest.approx([5 / published for published in EXACT.values()])
    waiting = load_one(found, claim(tmp_path, EXACT, measure={"computing_s": 0.5, "every": "gbps"}))
    assert {tuple(c.key.values()): pytest.approx(c.simulated) for c in waiting.cells} == {
        (gbps, name): (published / 10 - 0.5) * float(gbps) for (gbps, name), published in EXACT.items()}


def test_values_may_come_from_the_summary(found, tmp_path):
    held = load_one(found, claim(tmp_path, EXACT, measure={"summary": "accuracy", "times": 100}))
    assert [c.simulated for c in held.cells] == pytest.approx([86, 85, 84] * 2)
    absent = load_one(found, claim(tmp_path, EXACT, measure={"summary": "perplexity"}))
    assert absent.missing == absent.cells and "has no perplexity in its summary" in absent.unusable[0]


def test_algorithms_may_be_distinguished_by_their_options(found, tmp_path):
    for run in found.runs:
        run.manifest["sweep"]["/algorithm"] |= {"tau": 10, "group_size": len(run.sweep["/algorithm"]["name"])}
    rule = {"pointer": "/algorithm", "cases": [{"where": {"group_size": 8}, "name": "eight"},
                                               {"where": {"tau": 10, "group_size": 13}, "name": "thirteen"}]}
    path = claim(tmp_path, {("1", "eight"): 25, ("1", "thirteen"): 45, ("1", "gradient_allreduce"): 85},
                 cell={"gbps": {"pointer": "/cluster/inter/bandwidth", "times": 1e-9}, "algorithm": rule})
    assert [c.simulated for c in load_one(found, path).cells] == pytest.approx([25, 45, 85])


def test_rates_are_sums_over_all_workers(found, tmp_path):
    rates = load_one(found, claim(tmp_path, EXACT, measure={"samples_per_worker": 3}))
    run = found.runs[0].experiment["cluster"]
    workers = run["nodes"] * run["workers_per_node"]
    slowest = next(c for c in rates.cells if c.key == {"gbps": "1", "algorithm": "allreduce"})
    assert slowest.simulated == pytest.approx(3 * workers / 8.5)


def test_a_run_that_ended_when_steady_has_the_value_of_the_full_run(tmp_path):
    """Thirty steps of 0.5, 0.7, 0.5, ... s, of which two runs make only the first twelve or ten."""
    values = []
    for steps in (30, 12, 10):
        folder = tmp_path / str(steps)
        summary = {"steady": {"step": 5, "cycle": 2, "left_out": 30 - steps} if steps < 30 else None}
        run = write_run(folder / "sample", "run", "bytegrad", 1, name="sample", summary=summary,
                        sweep={"/algorithm": {"name": "bytegrad"},
                               "/cluster/inter/bandwidth": "1Gbps"})
        (run / "metrics.jsonl").write_text("".join(
            json.dumps({"step": step, "step_s": 0.5 + 0.2 * (step % 2)}) + "\n"
            for step in range(steps)))
        held = load_one(results.load(folder), claim(folder, {("1", "bytegrad"): 25}))
        values.append([cell.simulated for cell in held.cells])
    mean = sum(0.5 + 0.2 * (step % 2) for step in range(3, 29)) / 26
    assert values == [[pytest.approx(10 * mean)]] * 3


def test_a_value_may_be_the_bytes_of_a_step_over_its_time(found, tmp_path):
    wide = claim(tmp_path, EXACT, value={"column": "algorithm", "of": ["allreduce", "bytegrad"]},
                 measure={"moves": "gbps", "times": 100})
    (tmp_path / "table.csv").write_text("gbps,allreduce,bytegrad\n1,12,40\n10,770,1400\n")
    cells = {tuple(c.key.values()): (c.published, c.simulated) for c in load_one(found, wide).cells}
    assert cells == {("1", "allreduce"): (12, pytest.approx(100 / 8.5)), ("1", "bytegrad"): (40, pytest.approx(100 / 2.5)),
                     ("10", "allreduce"): (770, pytest.approx(1000 / 1.3)),
                     ("10", "bytegrad"): (1400, pytest.approx(1000 / 0.7))}


def test_cells_may_be_named_by_numbers(found, tmp_path):
    for run in found.runs:
        run.manifest["sweep"]["/cluster/transport/streams"] = 2
    rule = {"pointer": "/cluster/transport/streams", "names": {"2": "two"}}
    path = claim(tmp_path, {}, cell={"transport": rule})
    (tmp_path / "table.csv").write_text("transport,epoch_s\ntwo,1\n")
    assert load_one(found, path).missing == []


SPEED_UPS = {"median": 1, "speed_ups": {"bytegrad": {"allreduce": 0.05, "decentralized": 0.05}}}


def test_an_algorithm_may_have_its_own_tolerance(found, tmp_path):
    published = EXACT | {("1", "bytegrad"): 25 / 1.18, ("1", "allreduce"): 85 / 1.18}
    tolerance = {"worst": 0.1, "worst_of": {"bytegrad": 0.2}}
    missed = load_one(found, claim(tmp_path, published, tolerance=tolerance))
    assert missed.failures == ["1 of 6 cells over 10% (bytegrad 20%)"]
    text = claims_table.as_text([missed])
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("1 ")] == [
        "missed", "1.180", "1.000"]
    assert "(at most 10% (bytegrad 20%))" in text


def test_fitted_cells_are_shown_and_do_not_count(found, tmp_path):
    published = EXACT | {("1", "allreduce"): 50, ("1", "bytegrad"): 60}
    counted = load_one(found, claim(tmp_path, published))
    assert counted.failures == ["2 of 6 cells over 25%", "2 pairs in the wrong order, more than 0"]
    held = load_one(found, claim(tmp_path, published, fitted=[{"gbps": ["1"], "algorithm": ["allreduce", "bytegrad"]}]))
    assert held.failures == []
    text = claims_table.as_text([held])
    cells = [line.split() for line in text.splitlines() if line.startswith("1 ")]
    assert [cell[-1] for cell in cells] == ["fitted", "fitted", "1.000"]
    assert "error of 4 cells that nothing was fitted to: median 0.0% (at most 5%), greatest 0.0%" in text


@pytest.mark.parametrize("published, failures", [
    ({("1", "allreduce"): 50}, ["1 of 6 cells over 25%"]),
    ({key: 1.12 * value for key, value in EXACT.items() if key[0] == "10"}, ["median error 10.7% where nothing was fitted, more than 2.0%"]),
    ({("1", "allreduce"): 80, ("1", "bytegrad"): 23}, []),
])
def test_fitted_cells_may_count_and_the_other_cells_have_their_own_limit(found, tmp_path, published, failures):
    tolerance = {"median": 0.2, "worst": 0.25, "counts_fitted": True, "predicted_median": 0.02}
    held = load_one(found, claim(tmp_path, EXACT | published, tolerance=tolerance, fitted=[{"gbps": "1"}]))
    assert held.failures == failures
    assert "; of 3 cells that nothing was fitted to: median " in claims_table.summary(held)


@pytest.mark.parametrize("changed, differences", [
    ({}, [0, 0, 0, 0]),
    ({("1", "bytegrad"): 25 / 1.01}, [-0.034, -0.018, 0, 0]),  # published 1 % faster
    ({("1", "bytegrad"): 25 / 1.02}, [-0.068, -0.036, 0, 0]),
    ({("10", "decentralized"): 8}, [0, 0, 0, 9 / 7 - 8 / 7]),
])
def test_speed_ups_of_times(found, tmp_path, changed, differences):
    held = load_one(found, claim(tmp_path, EXACT | changed, tolerance=SPEED_UPS))
    assert [s.difference for s in held.speed_ups] == pytest.approx(differences, abs=1e-9)
    assert [s.simulated for s in held.speed_ups] == pytest.approx([85 / 25, 45 / 25, 13 / 7, 9 / 7])
    wrong = sum(abs(d) > 0.05 for d in differences)
    assert [s.holds for s in held.speed_ups].count(False) == wrong
    failures = [f"{wrong} of 4 speed-ups differ by more than allowed"] if wrong else []
    assert held.failures == failures
    for shown in (claims_table.as_text([held]), claims_table.as_html([held])):
        assert f"speed-ups: {4 - wrong} of 4 within what is allowed" in shown
        assert "bytegrad over allreduce" in shown and "3.400" in shown


def test_speed_ups_of_rates_and_those_without_a_run(found, tmp_path):
    tolerance = {"speed_ups": {"bytegrad": {"allreduce": 0.05, "none": 0.05}}}
    rates = {("1", "allreduce"): 1.0, ("1", "bytegrad"): 3.0, ("1", "none"): 1.0}
    known = [{"cell": {"speed-up": "bytegrad over allreduce"}, "why": "slower codecs"}]
    held = load_one(found, claim(tmp_path, rates, tolerance=tolerance, known=known,
                            measure={"samples_per_worker": 3}))
    assert [(s.published, s.simulated and round(s.simulated, 9)) for s in held.speed_ups] == [
        (3.0, 3.4), (3.0, None)]
    assert [s.setting for s in held.speed_ups] == [{"gbps": "1"}] * 2
    assert held.failures == ["1 of 3 cells have no run", "1 of 2 speed-ups differ by more than allowed"]
    lines = [line for line in claims_table.as_text([held]).splitlines() if " over " in line]
    assert lines[0].split()[-7:] == ["3.000", "3.400", "+0.400", "0.05", "missed", "slower", "codecs"]
    assert lines[1].split()[-2:] == ["no", "run"]


def test_exit_codes(found, tmp_path, monkeypatch, capsys):
    folder = str(tmp_path / "sample")
    monkeypatch.setattr(claims, "CLAIMS", claim(tmp_path, EXACT))
    for function in (claims.load, claims.not_checked):
        monkeypatch.setattr(function, "__defaults__", (claims.CLAIMS,))
    assert main(["report", folder, "--check"]) == 0
    assert "What was published" in (tmp_path / "sample" / "report.html").read_text()
    claim(tmp_path, EXACT | {("1", "allreduce"): 10})
    capsys.readouterr()
    assert main(["report", folder]) == 0
    assert "missed" not in capsys.readouterr().out
    assert main(["report", folder, "--check"]) == 3
    assert "missed: 1 of 6 cells over 25%" in capsys.readouterr().out
    claim(tmp_path, EXACT | {("1", "allreduce"): 10}, tolerance={"worst": 0.25}, expected_misses={"worst": "nobody knows"})
    assert main(["report", folder, "--check"]) == 0
    assert "misses, as declared: 1 of 6 cells over 25% (nobody knows)" in capsys.readouterr().out
    claim(tmp_path, EXACT, tolerance={"worst": 0.25}, expected_misses={"worst": "nobody knows"})
    assert main(["report", folder, "--check"]) == 3
    assert "declared to miss by its worst, but does not" in capsys.readouterr().out
    claim(tmp_path, EXACT, experiment="another")
    assert main(["report", folder, "--check"]) == 2
    assert "no run here of an experiment" in capsys.readouterr().err


@pytest.mark.parametrize("spoil", ["failed", "unfinished", "interrupted"])
def test_a_claim_whose_runs_are_all_bad_is_missed(found, tmp_path, monkeypatch, capsys, spoil):
    """A second claim holds. A third, whose experiment has no run at all, is listed as not checked."""
    write_run(tmp_path / "other", "fine", name="other")
    for path in list((tmp_path / "sample").iterdir()):
        if spoil == "failed":
            edit(path, lambda m: m.update(status="failed"))
        elif spoil == "unfinished":
            (path / "DONE").unlink()
        else:
            path.rename(path.with_name(path.name + ".tmp.host.1"))
    path = claim(tmp_path, EXACT)
    (first,) = json.loads(path.read_text())["claims"]
    path.write_text(json.dumps({"claims": [first, *(first | {"id": name, "experiment": name, "title": f"of {name}",
                                                             "tolerance": {}, "leave_out": ["allreduce", "decentralized"]}
                                                    for name in ("other", "absent"))]}))
    monkeypatch.setattr(claims, "CLAIMS", path)
    for function in (claims.load, claims.not_checked):
        monkeypatch.setattr(function, "__defaults__", (path,))
    assert main(["report", str(tmp_path), "--check"]) == 3
    failures = capsys.readouterr().out
    assert "missed: 6 of 6 cells have no run" in failures and "of other" in failures
    assert "\nnot checked: absent, as no run of theirs is here\n" in failures


def test_the_claims_of_the_project_can_be_read():
    described = json.loads(claims.CLAIMS.read_text())["claims"]
    assert described
    for specification in described:
        read = claims.Claim(specification, claims.CLAIMS.parent, [])
        assert read.cells and read.missing == read.cells and read.failures
        config = claims.CLAIMS.parent.parent / specification["command"].split()[2]
        assert config.is_file() and config.stem == specification["experiment"]
