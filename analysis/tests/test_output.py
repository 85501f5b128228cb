import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import sample
from sample import compare, plotted
from trigram_analysis import measures, plots, table, trace, verdict
from trigram_analysis.__main__ import main


def column(built, title):
    i = next(i for i, text in enumerate(built.titles) if text.startswith(title))
    return [row[i] for row in built.rows]


def test_the_best_of_each_setting_is_marked(sweep):
    t = table.build(compare(sweep))
    assert [c.best for c in column(t, "step")] == [False, True, False] * 2
    assert [c.best for c in column(t, "accuracy")] == [True, False, False] * 2


def test_numbers_of_the_table(sweep):
    t = table.build(compare(sweep))
    assert [c.text for c in column(t, "step")][:3] == ["8.50", "2.50", "4.50"]
    assert [c.text for c in column(t, "speed-up")][:3] == ["1.00", "3.40", "1.89"]
    assert [c.text for c in column(t, "to 84%")][:3] == ["128–170 ~", "37.5–50.0 ~", "67.5–90.0 ~"]


def test_columns_without_any_value_are_left_out(sweep):
    assert not any(title.startswith("stale") for title in table.build(compare(sweep)).titles)


def test_a_missing_point_leaves_the_others(sweep):
    (sweep / "bytegrad-1-1" / "DONE").unlink()
    t = table.build(compare(sweep))
    assert len(t.rows) == 5
    assert [c.best for c in column(t, "step")][:2] == [False, True]


def test_oversubscribed_runs_carry_a_dagger(sweep):
    sample.write_run(sweep, "many", "async_model_average", 1.0, oversubscribed=True)
    text = table.as_text(table.build(compare(sweep)))
    assert "async_model_average †" in text and "more ranks than cores" in text


def test_runs_of_different_versions_are_pointed_out(sweep):
    assert "different versions" not in table.as_text(table.build(compare(sweep)))
    sample.write_run(sweep, "later", "bytegrad", 100.0, git="def5678")
    assert "different versions" in table.as_text(table.build(compare(sweep)))


def test_text_columns_are_aligned(sweep):
    lines = table.as_text(table.build(compare(sweep), brief=True)).splitlines()
    rule = lines[1]
    edges = [m.end() for m in re.finditer("-+", rule)][:-1]
    rows = [line for line in lines[2:] if "Gbps" in line]
    assert len(rows) == 6
    assert all(line[edge:edge + 2].strip() == "" for line in rows for edge in edges)


def test_a_wide_table_leaves_out_the_least_important_columns(sweep):
    built = table.build(compare(sweep), brief=True)
    whole = table.as_text(built)
    assert "consensus" in whole and "worst worker (%)" in whole and "left out" not in whole
    widest = max(map(len, whole.splitlines()[:6]))
    text = table.as_text(built, widest - 1)
    header, note = text.splitlines()[0], text.splitlines()[-1]
    assert "consensus" not in header and "worst worker (%)" in header
    assert note.startswith("left out, as the table is wide: consensus;")
    narrow = table.as_text(built, 0).splitlines()
    assert {"step (s)", "exposed (s)", "accuracy (%)"} <= set(re.split("  +", narrow[0]))
    assert "speed-up, samples/s, sent/step (kB), worst worker (%), consensus;" in narrow[-1]


def test_a_small_consensus_distance_keeps_its_digits(tmp_path):
    sample.write_run(tmp_path, "one", summary={"consensus_distance": 1.234e-6})
    assert [cell.text for cell in column(table.build(compare(tmp_path)), "consensus")] == ["1.2e-06"]


def test_each_note_is_a_line(sweep):
    sample.write_run(sweep, "many", "async_model_average", 1.0, oversubscribed=True, time_kind="wall", world="mpi")
    lines = table.as_text(table.build(compare(sweep))).splitlines()
    notes = lines[lines.index("* best of its setting"):]
    assert "times are simulated in the world sim, and wall-clock times of this machine in mpi" in notes
    assert "† more ranks than cores: its times say little about a real cluster" in notes


def test_a_star_is_explained_only_if_there_is_one(tmp_path):
    for algorithm in ("bytegrad", "decentralized"):
        path = sample.write_run(tmp_path, algorithm, algorithm, summary={"loss": 0.5})
        (path / "metrics.jsonl").unlink()
    assert "*" not in table.as_text(table.build(compare(tmp_path)))


def test_the_table_needs_neither_pandas_nor_matplotlib(sweep):
    """`trigram run` waits for the table, and a cluster may have neither library."""
    script = ("import sys; sys.modules.update(pandas=None, numpy=None, matplotlib=None)\n"
              "from trigram_analysis.__main__ import main; sys.exit(main(sys.argv[1:]))")
    for options in ([], ["--csv"]):
        done = subprocess.run([sys.executable, "-c", script, "table", *options, str(sweep)], capture_output=True, text=True,
                              cwd=Path(table.__file__).parents[1])
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("bytegrad") == 2


def test_only_the_runs_with_given_ids_are_shown(sweep, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("bytegrad-1-1\nbytegrad-10-1\n"))
    assert main(["table", "--ids-from-stdin", str(sweep)]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("bytegrad") == 2 and "gradient_allreduce" not in printed.out
    monkeypatch.setattr("sys.stdin", io.StringIO("absent"))
    assert main(["table", "--ids-from-stdin", str(sweep)]) == 2


def test_verdict_names_the_winner_of_each_network(sweep):
    texts = {v.setting: v.text for v in verdict.verdicts(compare(sweep))}
    assert set(texts) == {"1 Gbps", "10 Gbps"}
    assert texts["1 Gbps"].startswith(
        "bytegrad has the fastest step: 2.50 s, 1.80× faster than decentralized/shift_one")
    assert ("bytegrad is first to 84% accuracy, between 37.5 s and 50.0 s, as far as the evaluations tell."
            in texts["1 Gbps"])


def test_csv_is_in_base_units(sweep, capsys):
    assert main(["table", "--csv", str(sweep)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 6
    assert float(rows[0]["step"]) == pytest.approx(8.5)
    assert float(rows[0]["accuracy"]) == pytest.approx(0.86)


def test_all_figures_are_drawn(sweep):
    stems = [stem for stem, _, _ in plots.figures(compare(sweep))]
    assert stems == ["winner_map", "step_time", "step_parts", "loss", "accuracy", "time_to_accuracy"]


def test_figures_are_written_as_png_svg_and_pdf(sweep, tmp_path):
    for name in ("plot", "plots"):  # "plots" is the former name
        assert main([name, str(sweep), "-o", str(tmp_path / name)]) == 0
        for stem in ("winner_map", "step_time", "timeline"):
            begins = {suffix: (tmp_path / name / f"{stem}.{suffix}").read_bytes()[:5] for suffix in ("png", "svg", "pdf")}
            assert begins == {"png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}


def test_the_winner_map_says_who_is_first(sweep):
    figure = plotted(sweep, "winner_map")
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "bytegrad\n~ 50.0 s\n1.8× ahead",
        "bytegrad = \ndecentralized/shift_\none\n~ 14.0 s\n1.86× ahead"]  # evaluations cannot tell them apart


def test_step_time_draws_the_summaries(sweep):
    figure = plotted(sweep, "step_time")
    drawn = {line.get_label(): list(line.get_xydata().ravel()) for line in figure.axes[0].lines}
    assert drawn["bytegrad"] == pytest.approx([1, 2.5, 10, 0.7])


def test_many_loss_curves_have_different_looks(tmp_path):
    """There are fewer colours than algorithms."""
    for i in range(8):
        sample.write_run(tmp_path, f"a{i}", f"algorithm{i}", 1.0)
    figure = plotted(tmp_path, "loss")
    means = [line for line in figure.axes[0].lines if line.get_label().startswith("algorithm")]
    assert len(means) == 8
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in means}) == 8


def test_without_a_numeric_axis_there_are_bars(tmp_path):
    for algorithm in sample.EXPOSED_S:
        sample.write_run(tmp_path, algorithm, algorithm, 1.0)
    figure = plotted(tmp_path, "step_time")
    assert [bar.get_width() for bar in figure.axes[0].patches] == pytest.approx([8.5, 2.5, 4.5])


def test_timeline_reads_the_trace(sweep):
    drawn = trace.boxes(sweep / "bytegrad-1-1" / "trace.json")
    main_of_0 = [(b.kind, b.length_s) for b in drawn if (b.rank, b.stream) == (0, "main")]
    assert main_of_0 == [("compute", pytest.approx(0.5)), ("wait", pytest.approx(2.0))]


def test_a_corrupt_trace_is_no_trace(sweep):
    path = sweep / "bytegrad-1-1" / "trace.json"
    path.write_text('{"traceEvents": [{"ph"')
    assert trace.boxes(path) == []
    path.write_text('{"traceEvents": [{"ph": "X", "name": "compute"}, 3]}')
    assert trace.boxes(path) == []


def test_report_is_self_contained_and_well_formed(sweep, capsys):
    sample.write_run(sweep, "bad", status="failed", error="loss <NaN> & worse")
    assert main(["report", str(sweep)]) == 0
    path = sweep / "report.html"
    assert capsys.readouterr().out.strip() == str(path)
    page = path.read_text()
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    assert "loss &lt;NaN&gt; &amp; worse" in page
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    for markup in re.findall(r"<table.*?</table>", page, re.DOTALL):
        ElementTree.fromstring(markup.replace("<wbr>", "<wbr/>"))
    assert not list(sweep.glob("*.tmp"))


def test_the_report_shows_the_measured_links_of_emulated_networks(tmp_path):
    link = {"link": "node 0 > node 1", "bandwidth_Bps": 12.5e6, "achieved_Bps": 12.25e6,
            "latency_s": 0.005, "achieved_latency_s": 0.0051, "off": -0.02, "warning": False}
    sample.write_run(tmp_path, "first", links=[link])
    sample.write_run(tmp_path, "second", gbps=1.0, links=None)  # simulated
    assert main(["report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    listing = page[page.index("Provenance"):]
    assert "none more than 5 % off" in listing and "<details open>" not in listing
    row = re.search(r"<tr><td[^>]*>[^<]*</td><td[^>]*>node 0 &gt; node 1</td>(.*?)</tr>", listing)[1]
    assert re.findall("<td[^>]*>(.*?)</td>", row) == ["100 Mbit/s", "98 Mbit/s", "5 ms", "5.1 ms", "-2.0 %"]

    off = link | {"achieved_Bps": None, "off": 0.31, "warning": True}
    sample.write_run(tmp_path, "third", gbps=5.0, links=[link, off])
    assert main(["report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "<details open>" in page and "1 of 3 more than 5 % off" in page
    assert ">? Mbit/s</td>" in page and "><b>+31.0 %</b></td>" in page


def test_the_report_has_no_links_without_emulated_networks(sweep):
    assert main(["report", str(sweep)]) == 0
    assert "emulated network" not in (sweep / "report.html").read_text()


def test_report_of_runs_without_metrics_or_traces(sweep):
    for path in sweep.iterdir():
        (path / "metrics.jsonl").unlink()
        (path / "trace.json").unlink()
    assert main(["report", str(sweep)]) == 0


def test_an_empty_folder_is_bad_input(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert main(["table", str(tmp_path / "absent")]) == 2
    assert "no finished run" in capsys.readouterr().err


def test_cost_energy_and_slow_steps(tmp_path: Path) -> None:
    root = sample.write_sweep(tmp_path)
    assert not any(title.startswith(("cost", "energy", "p99", "stragglers"))
                   for title in table.build(compare(root)).titles)
    for path in root.iterdir():
        step_s = json.loads((path / "manifest.json").read_text())["summary"]["step_s"]
        sample.edit(path, lambda m: m["summary"].update(
            step_p50_s=step_s, step_p95_s=step_s, step_p99_s=1.5 * step_s, straggler_share=0.25,
            cost={"usd_per_step": 0.002 * step_s, "kwh_per_step": 3e-5, "usd_to_target": None}))
    built = table.build(compare(root), brief=True)
    assert {"cost/step (m$)", "energy/step (mWh)", "p99 (s)", "stragglers (%)"} <= set(built.titles)
    column = built.titles.index("cost/step (m$)")
    assert [row[column].text for row in built.rows if row[column].best] == [
        row[column].text for row in built.rows if row[1].text == "bytegrad"]
    keys = {m.key for m in measures.measures(compare(root))}
    assert {"step_p99_s", "straggler_share"} <= keys and "usd_to_target" not in keys


def test_steps_of_equal_length_have_no_tail_in_a_terminal(tmp_path: Path) -> None:
    path = sample.write_run(tmp_path, "only")
    sample.edit(path, lambda m: m["summary"].update(step_p50_s=1.0, step_p95_s=1.0, step_p99_s=1.001,
                                                    straggler_share=1e-9))
    assert not {"p99 (ms)", "stragglers (%)"} & set(table.build(compare(tmp_path), brief=True).titles)
    assert {"p99 (ms)", "stragglers (%)"} <= set(table.build(compare(tmp_path)).titles)
