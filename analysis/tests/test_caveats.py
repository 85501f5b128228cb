"""Warnings about what runs do not take into account, in tables and below figures."""

import json
from pathlib import Path

import sample
from sample import compare
from trigram_analysis import plots, results, table, timeline
from trigram_analysis.__main__ import main
from trigram_analysis.caveats import caveats, costs_of_failures, tuned_buckets

NOT_EMULATED = "network not emulated: the world threads moves messages in memory"
OTHER_ACCELERATOR = "layer times of one are those of P100, batch 4, and the cluster's accelerator is A100"


def write_two_worlds(folder: Path) -> Path:
    """Two algorithms in each of two worlds."""
    for algorithm in ("bytegrad", "decentralized"):
        for world, kind in (("sim", "simulated"), ("threads", "wall")):
            path = sample.write_run(folder, f"{algorithm}-{world}", algorithm, world=world, time_kind=kind,
                                    sweep={"/algorithm": algorithm, "/runtime": {"name": world, "watchdog": "30s"}},
                                    warnings=[NOT_EMULATED] if world == "threads" else [])
            manifest = path / "manifest.json"
            manifest.write_text(manifest.read_text().replace('"runtime": {"name": "sim"}',
                                                             f'"runtime": {{"name": "{world}"}}'))
    return folder


def test_a_warning_of_some_runs_names_their_swept_values(tmp_path):
    runs = results.load(write_two_worlds(tmp_path)).runs
    assert caveats(runs) == [f"warning: {NOT_EMULATED} [runtime=threads watchdog=30s]"]
    assert caveats([run for run in runs if not run.simulated]) == [f"warning: {NOT_EMULATED}"]


def test_tables_of_numbers_have_the_warnings_of_each_row(tmp_path):
    records = table.as_records(compare(write_two_worlds(tmp_path)))
    assert sorted(record["warnings"] for record in records) == ["", "", NOT_EMULATED, NOT_EMULATED]


def test_warnings_of_advice_are_repeated(tmp_path):
    sample.write_run(tmp_path, "one")
    runs = results.load(tmp_path).runs
    advice = tmp_path / "advice.json"
    assert caveats(runs) == []
    for damaged in ("", "[]", '{"answer_warnings": 3}', "nan{"):
        advice.write_text(damaged)
        assert caveats(runs) == []
    advice.write_text('{"answer_warnings": ["another one is first"]}')
    assert caveats(runs) == ["trigram advise warned: another one is first"]


def test_systems_are_named_by_their_files(tmp_path):
    for system in ("byteps", "horovod"):
        sample.write_run(tmp_path, system, sweep={"/algorithm": f"../systems/{system}.json"},
                         warnings=[NOT_EMULATED] if system == "byteps" else [])
    assert caveats(results.load(tmp_path).runs) == [f"warning: {NOT_EMULATED} [algorithm=byteps]"]


def test_runs_without_a_common_swept_value_are_listed(tmp_path):
    for i in range(6):
        warnings = [OTHER_ACCELERATOR] if i != 2 else []
        sample.write_run(tmp_path, f"run{i}", sweep={"/steps": 10 + i}, warnings=warnings)
    assert caveats(results.load(tmp_path).runs) == [
        f"warning: {OTHER_ACCELERATOR} [steps=10; steps=11; steps=13 and 2 more]"]


def test_a_table_says_what_came_of_tuning_within_a_run(tmp_path):
    results_of_tuning = (None, {"bucket": None, "from_step": None, "paid_off_step": None},
                         {"bucket": 4 << 20, "from_step": 120, "paid_off_step": None},
                         {"bucket": 1000, "from_step": 120, "paid_off_step": 300})
    for i, result in enumerate(results_of_tuning):
        path = sample.write_run(tmp_path, f"run{i}", sweep={"/seed": i}) / "manifest.json"
        manifest = json.loads(path.read_text())
        if result:
            manifest["summary"]["autotune"] = result
        path.write_text(json.dumps(manifest))
    assert tuned_buckets(results.load(tmp_path).runs) == [
        "autotune: the run ended before all bucket sizes were tried [seed=1]",
        "autotune: buckets of 4 MiB from step 120 on; tuning has not paid for itself [seed=2]",
        "autotune: buckets of 1000 B from step 120 on; tuning has paid for itself at step 300 [seed=3]"]
    assert "tuning has paid for itself at step 300" in table.as_text(table.build(compare(tmp_path)))


def test_a_table_says_what_failures_cost(tmp_path):
    for i, crashes in enumerate((0, 1, 3)):
        path = sample.write_run(tmp_path, f"run{i}", sweep={"/seed": i}) / "manifest.json"
        manifest = json.loads(path.read_text())
        if crashes:
            manifest["summary"]["failures"] = {
                "crashes": [{"at_s": 1.0}] * crashes, "lost_s": 2.5, "recovery_s": 90, "goodput": 0.8765}
        path.write_text(json.dumps(manifest))
    assert costs_of_failures(results.load(tmp_path).runs) == [
        "failures: 1 crash; 2.50 s of work lost, 90.0 s to recover; goodput 87.6% [seed=1]",
        "failures: 3 crashes; 2.50 s of work lost, 90.0 s to recover; goodput 87.6% [seed=2]"]
    assert "goodput 87.6%" in table.as_text(table.build(compare(tmp_path)))


def test_a_table_says_what_failures_cost_workers_that_carried_on(tmp_path):
    path = sample.write_run(tmp_path, "run") / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["summary"]["failures"] = {
        "recovery": "in_place", "absences": [{"rank": 1}, {"rank": 2}], "late_rounds": 1, "participation": 0.75,
        "recovery_s": 1.5, "goodput": 0.8}
    path.write_text(json.dumps(manifest))
    assert costs_of_failures(results.load(tmp_path).runs) == [
        "failures: 2 absences without a restart, 1 late round; 1.50 s for replacements to recover; "
        "participation 75.0%; goodput 80.0%"]


def test_a_table_of_two_worlds_says_whose_times_are_simulated(tmp_path):
    text = table.as_text(table.build(compare(write_two_worlds(tmp_path))))
    assert ("times are simulated in the world sim, and wall-clock times of this machine in threads" in text)


def test_plot_prints_each_warning_once(tmp_path, capsys):
    folder = write_two_worlds(tmp_path / "sample")
    assert main(["plot", str(folder), "-o", str(tmp_path / "plots")]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines() == caveats(results.load(folder).runs)
    assert NOT_EMULATED not in printed.out


def test_figures_have_the_warnings_as_a_footnote(tmp_path):
    for algorithm in ("bytegrad", "decentralized"):
        sample.write_run(tmp_path, algorithm, algorithm, warnings=[NOT_EMULATED, OTHER_ACCELERATOR])
    comparison = compare(tmp_path)
    drawn = [fig for _, _, fig in plots.figures(comparison)]
    drawn.append(timeline.figure(comparison, comparison.middle_setting))
    for figure in drawn:
        notes = [text.get_text() for text in figure.texts]
        assert "network not emulated; layer times of another accelerator" in notes


def test_a_footnote_on_some_runs_says_so(tmp_path):
    comparison = compare(write_two_worlds(tmp_path))
    figure = next(fig for _, _, fig in plots.figures(comparison))
    assert "network not emulated (some runs)" in [text.get_text() for text in figure.texts]


def test_figures_of_runs_without_warnings_have_no_footnote(sweep):
    for _, _, figure in plots.figures(compare(sweep)):
        assert not [text for text in figure.texts if "not" in text.get_text()]
