"""The contents of the report: winners, kinds of transfers, curves, commands, profiles, and runs that do not count."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import sample
from sample import compare, edit
from trigram_analysis import commands, curves, overview, profiles, report, results, trace
from trigram_analysis.__main__ import main
from trigram_analysis.measures import measures
from trigram_analysis.winner_map import map_axes, winner

SOURCE = Path(__file__).parents[2]


def measure(comparison, key):
    return next(m for m in measures(comparison) if m.key == key)


def test_winner_and_margin(sweep):
    c = compare(sweep)
    best = winner(c, c.settings[0], measure(c, "step_s"))
    assert (best.leaders, best.value, best.runner_up) == (["bytegrad"], 2.5, "decentralized/shift_one")
    assert best.margin == pytest.approx(4.5 / 2.5)
    most_accurate = winner(c, c.settings[0], measure(c, "accuracy"))
    assert (most_accurate.leaders, most_accurate.runner_up) == (["gradient_allreduce"], "bytegrad")
    assert most_accurate.margin == pytest.approx(0.86 / 0.85)


def test_values_within_one_per_cent_tie(sweep, monkeypatch):
    monkeypatch.setitem(sample.EXPOSED_S, "twin", 2.01)
    sample.write_run(sweep, "twin", "twin", 1.0)
    c = compare(sweep)
    best = winner(c, c.settings[0], measure(c, "step_s"))
    assert best.leaders == ["bytegrad", "twin"]
    assert best.runner_up == "decentralized/shift_one"


def test_the_axes_of_the_map_are_the_bandwidth_and_the_next_axis(sweep):
    path = sample.write_run(sweep, "far", "bytegrad", 1.0)
    edit(path, lambda m: m["experiment"]["cluster"]["inter"].update(latency="1ms"))
    c = compare(sweep)
    titles = [c.axes[i].title for i in map_axes(c)]
    assert titles == ["inter-node bandwidth", "inter-node latency"]
    assert overview.winner_map(c).count("not run") == 1


def test_bytes_per_step_are_divided_by_the_steps_made(sweep):
    """A run that stops early makes fewer steps than were configured."""
    path = sweep / "bytegrad-1-1"
    edit(path, lambda m: m["experiment"].update(steps=500))
    c = compare(path)
    assert measure(c, "bytes_inter").value(c.points[0]) == pytest.approx(5000)


def events(*more):
    streams = [{"ph": "M", "name": "thread_name", "pid": p, "tid": 1, "args": {"name": "comm"}}
               for p in (0, 1)]
    return {"traceEvents": streams + list(more)}


def transfer(rank, begin, sent=0):
    return {"ph": "X", "cat": "transfer", "name": "transfer", "pid": rank, "tid": 1, "ts": begin,
            "dur": 10, "args": {"bytes_sent": sent}}


def message(rank, at, route, sent, nbytes=100):
    return {"ph": "s" if sent else "f", "cat": "message", "id": f"comm {route} #1", "pid": rank, "tid": 1,
            "ts": at, "args": {"bytes": nbytes}}


def kinds(tmp_path, *more, per_node=2):
    (tmp_path / "trace.json").write_text(json.dumps(events(*more)))
    return [b.kind for b in trace.boxes(tmp_path / "trace.json", per_node)]


def test_transfers_inside_and_between_nodes_are_distinguished(tmp_path):
    inside = [transfer(0, 0, 100), message(0, 1, "0>1", True), message(0, 9, "1>0", False)]
    assert kinds(tmp_path, *inside) == ["intra"]
    across = [transfer(1, 20, 100), message(1, 21, "1>2", True)]
    assert kinds(tmp_path, *inside, *across) == ["intra", "inter"]


def test_a_transfer_whose_peer_was_not_recorded_leaves_the_node(tmp_path):
    messages = [message(0, 1, "0>1", True), message(0, 9, "1>0", False)]
    of_rank_1 = transfer(1, 0, 0)  # rank 1 was recorded, too, and therefore the whole node
    # Only 100 of its 250 bytes went to a rank that was recorded.
    assert kinds(tmp_path, transfer(0, 0, 250), *messages, of_rank_1)[0] == "inter"
    # None of its messages is recorded.
    assert kinds(tmp_path, transfer(0, 0, 100), *messages, of_rank_1, transfer(0, 50, 7))[2] == "inter"
    # Only half of a node of four was recorded, so the transfer may have stayed inside.
    assert kinds(tmp_path, transfer(0, 0, 250), *messages, of_rank_1, per_node=4)[0] == "transfer"


def test_a_rank_of_a_ring_that_only_sends_inside_its_node_receives_from_another_node(tmp_path):
    sends = [transfer(0, 0, 100), message(0, 1, "0>1", True), transfer(1, 0)]
    assert kinds(tmp_path, *sends)[0] == "inter"


def test_computation_beside_the_main_stream_is_encoding(tmp_path):
    box = {"ph": "X", "cat": "compute", "name": "compute", "pid": 0, "tid": 1, "ts": 0, "dur": 5}
    assert kinds(tmp_path, box) == ["encode"]


def test_curves_are_means_over_seeds_and_intervals(tmp_path):
    c = compare(sample.write_sweep(tmp_path, seeds=(1, 2)))
    point = next(p for p in c.points if p.algorithm == "bytegrad")
    rows = curves.curve(point, "step_s")
    assert len(rows) == 20
    assert rows[3][2] == pytest.approx((2.5 + 2.7) / 2)
    thin = curves.thinned([(float(i), 2.0 * i, float(i)) for i in range(101)], 11)
    assert thin[0] == (4.5, 9.0, 4.5) and thin[-1] == (100.0, 200.0, 100.0) and len(thin) == 11
    assert curves.varies([rows]) is False and curves.varies([thin])


def test_the_command_names_the_configuration_that_makes_the_runs():
    config = json.loads((SOURCE / "configs" / "vgg16_bandwidth.json").read_text())
    sweep = {"/algorithm": config["sweep"]["/algorithm"][0], "/cluster/inter/bandwidth": "4Gbps"}
    cluster = json.loads((SOURCE / "configs" / config["cluster"]).read_text())
    cluster["inter"]["bandwidth"] = "0.5GB/s"  # the same value in another unit
    experiment = {"name": "vgg16_bandwidth", "steps": 10, "workload": {"name": "vgg16"}, "cluster": cluster,
                  "algorithm": sweep["/algorithm"] | {"overlap": True}}  # a default
    run = results.Run(Path("x"), {"experiment": experiment, "sweep": sweep})
    assert commands.command("vgg16_bandwidth", [run]) == "trigram run configs/vgg16_bandwidth.json"
    for changed, settings in (({"steps": 11}, "/steps=11"), ({"cluster": cluster | {"nodes": 4}}, "/cluster/nodes=4"),
                              ({"algorithm": sweep["/algorithm"] | {"hierarchical": False}}, "/algorithm/hierarchical=false"),
                              # Options that the file leaves out, set to other values than their defaults:
                              ({"seed": 7}, "/seed=7"), ({"seed": 1}, ""), ({"target_accuracy": None}, ""),
                              ({"cluster": cluster | {"accelerator": cluster["accelerator"] | {"launch_overhead": "1ms"}}},
                               "/cluster/accelerator/launch_overhead=1ms"),
                              ({"runtime": {"name": "sim", "protocol": "eager"}}, "/runtime/protocol=eager"),
                              ({"runtime": {"name": "threads"}}, "'/runtime={\"name\": \"threads\"}'"),
                              ({"cluster": cluster | {"transport": cluster["transport"] | {"streams": 1, "buffer": "1MB"}}},
                               "/cluster/transport/buffer=1MB"),
                              ({"optimizer": {"name": "sgd", "lr": 0.5}}, "/optimizer/lr=0.5")):
        other = results.Run(Path("x"), {"experiment": experiment | changed, "sweep": sweep})
        expected = "trigram run configs/vgg16_bandwidth.json" + (f" --set {settings}" if settings else "")
        assert commands.command("vgg16_bandwidth", [other]) == expected
        assert commands.makes(SOURCE / "configs" / "vgg16_bandwidth.json", other) == (not settings)
    unset = results.Run(Path("x"), {"experiment": {k: v for k, v in experiment.items() if k != "steps"}, "sweep": sweep})
    assert "cat > vgg16_bandwidth.json" in commands.command("vgg16_bandwidth", [unset, run])


def test_accelerator_cluster_in_a_configuration_stands_for_the_rates_of_the_cluster():
    path = SOURCE / "configs" / "papers" / "other_accelerators.json"
    config = json.loads(path.read_text())
    sweep = {pointer: values[0] for pointer, values in config["sweep"].items()}
    accelerator = sweep["/cluster/accelerator"]
    experiment = {"steps": 10, "algorithm": {"name": "gradient_allreduce"}, "runtime": {"name": "sim"},
                  "cluster": config["cluster"] | {"accelerator": accelerator | {"launch_overhead": "5us"}}}
    for bound, expected in ((accelerator, True), ("cluster", True),  # with known rates, and with unknown ones
                        (accelerator | {"flops": "1TFLOP/s"}, False)):
        workload = sweep["/workload"] | {"accelerator": bound}
        run = results.Run(Path("x"), {"sweep": sweep, "experiment": experiment | {"workload": workload}})
        assert commands.makes(path, run) == expected


def test_the_command_of_other_runs_contains_the_experiment(sweep):
    runs = results.load(sweep).runs
    text = commands.command("sample", runs)
    written = json.loads(re.search(r"<<'EOF'\n(.*)\nEOF\n", text, re.DOTALL)[1])
    assert written["zip"] == [run.sweep for run in runs]
    assert text.endswith("\ntrigram run sample.json")


@pytest.mark.parametrize("name, file", [
    ("q2;touch PWNED;x", "experiment.json"), ("$(touch PWNED)", "experiment.json"), ("a\ntouch PWNED\n", "experiment.json"),
    ("../PWNED", "experiment.json"), ("--output=PWNED", "experiment.json"), (".bashrc", "experiment.json"),
    ("q2", "q2.json")])
def test_a_command_of_foreign_results_does_nothing_else(sweep, name, file):
    """The test pastes the command into a shell in which `trigram` prints its arguments."""
    runs = results.load(sweep).runs
    for run in runs:
        run.manifest["name"] = run.experiment["name"] = name
        run.experiment["description"] = "EOF\nEOF\n'; touch PWNED #\x1b[201~"
    text = commands.command(name, runs)
    assert text.isascii() and all(c.isprintable() or c == "\n" for c in text)
    shell = sweep / "shell"
    shell.mkdir()
    printed = subprocess.run(["sh"], input=f'trigram() {{ echo "$@"; }}\n{text}\n', cwd=shell, text=True, capture_output=True,
                          check=True)
    assert (printed.stdout, [path.name for path in shell.iterdir()]) == (f"run {file}\n", [file])
    assert json.loads((shell / file).read_text())["name"] == name


def test_a_setting_of_foreign_results_is_one_word():
    for value in ("4Gbps", "a'; touch PWNED; '", "\x1b[201~touch PWNED\n", {"name": "$(touch PWNED)"}):
        (word,) = shlex.split(commands._setting("/cluster/inter/bandwidth", value))
        assert word.startswith("/cluster/inter/bandwidth=") and "\x1b" not in word


def test_facts_are_of_all_runs(sweep):
    def facts():
        return re.search(r'<p class="soft">([^<]*runs ·[^<]*)</p>', report._facts(compare(sweep)))[1]

    assert facts() == "6 runs · 2 nodes × 2 workers · workload fashion_mnist · 20 steps · world sim"
    path = sweep / "bytegrad-1-1" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["experiment"]["workload"] = {"name": "vgg16"}
    manifest["experiment"]["cluster"]["nodes"] = 64
    del manifest["experiment"]["steps"]
    path.write_text(json.dumps(manifest))
    assert facts() == ("6 runs · 2 nodes × 2 workers, 64 nodes × 2 workers · workload fashion_mnist, vgg16 · world sim")
    for i, other in enumerate(sorted(sweep.iterdir())):
        manifest["experiment"]["workload"] = {"name": f"one{i}"}
        (other / "manifest.json").write_text(json.dumps(manifest))
    assert facts() == "6 runs · 64 nodes × 2 workers · world sim"


def test_assumptions_are_read_from_profiles(tmp_path):
    profile = profiles.read("bert_large")
    text = (SOURCE / "configs" / "profiles" / "bert_large.csv").read_text()
    assert [f"# assumed: {line}" for line in profile.assumed] == re.findall("^# assumed:.*$", text, re.MULTILINE)
    assert profile.accelerator == "V100"
    (tmp_path / "mine.json").write_text(json.dumps({"name": "mine", "assumed": ["half of it"], "tensors": []}))
    assert profiles.read(f"profile:{tmp_path / 'mine.json'}").assumed == ["half of it"]
    assert profiles.read("no_such_profile") is None


def test_assumptions_are_in_the_page(sweep):
    edit(sweep / "bytegrad-1-1", lambda m: m["experiment"]["workload"].update(priced_as="bert_large"))
    assert main(["report", str(sweep)]) == 0
    page = (sweep / "report.html").read_text()
    assert "<b>assumed:</b> all 24 blocks take the same time" in page


def test_assumptions_of_a_profile_that_is_given_by_its_path_are_in_the_page(sweep):
    (sweep.parent / "mine.json").write_text(json.dumps({"name": "mine", "assumed": ["half of it"], "tensors": []}))
    workload = {"name": "profile", "path": str(sweep.parent / "mine.json")}
    edit(sweep / "bytegrad-1-1", lambda m: m["experiment"].update(workload=workload))
    assert main(["report", str(sweep)]) == 0
    assert "<b>assumed:</b> half of it" in (sweep / "report.html").read_text()


def test_the_page_names_the_values_that_replace_the_profiles_values(sweep):
    for workload in ({"name": "bert_large", "step_time": "25ms", "batch": 64},
                     {"name": "fashion_mnist", "priced_as": "bert_large", "priced_with": {"step_time": "25ms", "batch": 64}}):
        edit(sweep / "bytegrad-1-1", lambda m: m["experiment"].update(workload=workload))
        assert main(["report", str(sweep)]) == 0
        page = (sweep / "report.html").read_text()
        assert "step time: rescaled to 0.53 s" in page
        assert "these runs use step_time 25ms, batch 64 instead of the profile's values;" in page


def test_a_report_says_what_each_run_found_by_tuning_within_it(sweep):
    assert main(["report", str(sweep)]) == 0
    assert "Bucket sizes tried within runs" not in (sweep / "report.html").read_text()
    tried = [{"bucket": 10 << 20, "first_step": 0, "steps": 10, "step_s": 0.25},
             {"bucket": 1000, "first_step": 10, "steps": 1, "step_s": None}]
    of_runs = {"bytegrad-1-1": {"tried": tried, "bucket": 10 << 20, "from_step": 20, "step_s": 0.125, "slower_s": 0.5,
                                "paid_off_step": 31},
               "bytegrad-10-1": {"tried": tried[:1], "bucket": None, "from_step": None, "step_s": None,
                                "slower_s": 0, "paid_off_step": None}}
    for run, tuned in of_runs.items():
        edit(sweep / run, lambda m, tuned=tuned: m["summary"].update(autotune=tuned))
    assert main(["report", str(sweep)]) == 0
    page = (sweep / "report.html").read_text()
    (section,) = re.findall("<h3>Bucket sizes tried within runs</h3>(.*?)</table>", page, re.DOTALL)
    rows = [re.findall("<td.*?>(.*?)</td>", row) for row in section.split("<tr>")[2:]]
    assert {row[0]: row[2:] for row in rows} == {
        "bytegrad-1-1": ["10 MiB: 250 ms; 1000 B: –", "10 MiB", "20", "125 ms", "500 ms", "31"],
        "bytegrad-10-1": ["10 MiB: 250 ms", "–", "–", "–", "0 s", "–"]}


def test_a_run_whose_tuning_cannot_be_read_is_listed(sweep):
    for damaged in ("fast", [7], [{"step_s": 1}], [{"bucket": 1, "step_s": "1"}]):
        edit(sweep / "bytegrad-1-1", lambda m: m["summary"].update(autotune={"tried": damaged}))
        assert main(["report", str(sweep)]) == 0
        page = (sweep / "report.html").read_text()
        assert "/summary/autotune/tried is not a list of sizes and times" in page
        assert "could not be made" not in page


def test_foreign_and_older_runs_are_listed(sweep, capsys):
    for name, manifest in (("alien", {"hello": 1}), ("old", {"schema_version": 0, "experiment": {}})):
        (sweep / name).mkdir()
        (sweep / name / "manifest.json").write_text(json.dumps(manifest))
    assert main(["report", str(sweep)]) == 0
    page = (sweep / "report.html").read_text()
    assert "it has no schema_version" in page and "of an older program" in page
    assert "not read" in capsys.readouterr().err


def test_a_folder_without_a_finished_run_still_has_a_report(tmp_path):
    sample.write_run(tmp_path, "bad", status="failed", error="the link melted")
    (sample.write_run(tmp_path, "half") / "DONE").unlink()
    assert main(["report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "the link melted" in page and "no DONE file" in page and "0 finished runs" in page
    assert main(["table", str(tmp_path)]) == 2


def test_the_schema_is_the_one_that_the_program_writes():
    source = (SOURCE / "experiments" / "results" / "manifest.h").read_text()
    assert int(re.search(r"kManifestSchema = (\d+)", source)[1]) == results.SCHEMA
