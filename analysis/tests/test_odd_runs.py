"""Runs that cannot be used are listed with the reason, and the other runs are still compared."""

from __future__ import annotations

import json
from pathlib import Path

import papers
import pytest
import sample
from trigram_analysis import claims, report, results
from trigram_analysis.__main__ import main


def change(path: Path, pointer: str, value: object) -> None:
    sample.edit(path, lambda manifest: papers.set_at(manifest, pointer, value))


def nested(depth: int) -> list:
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize("pointer, value, reason", [
    ("/experiment/target_accuracy", "x", "/experiment/target_accuracy is not a number"),
    ("/experiment/target_loss", "x", "/experiment/target_loss is not a number"),
    ("/summary/eval_loss", "x", "/summary/eval_loss is not a number"),
    ("/experiment/target_accuracy", [1], "/experiment/target_accuracy is not a number"),
    ("/version", {"a": 1}, "/version is not a text"),
    ("/summary/loss", 10**400, "/summary/loss is no number to compute with"),
    ("/summary/step_s", float("nan"), "/summary/step_s is no number"),
    ("/summary/step_s", float("inf"), "/summary/step_s is no number"),
    ("/summary/step_s", 1e-320, "/summary/step_s is no number"),
    ("/summary/step_s", -1, "/summary/step_s is not a number of 0 or more"),
    ("/experiment/description", "\ud800", "is no Unicode"),
    ("/experiment/deep", nested(300), "nested too deep"),
    ("/experiment/cluster", "abc", "/experiment/cluster is not an object"),
    ("/experiment/cluster/nodes", "many", "/experiment/cluster/nodes is not a whole number"),
    ("/summary/steady", {"step": 3, "cycle": 1, "left_out": 10**12}, "/summary/steady/left_out is not a whole number"),
    ("/summary/steady", {"step": 3}, "does not say which steps were left out"),
])
def test_a_manifest_that_cannot_be_used_is_not_read(sweep, capsys, pointer, value, reason):
    change(sweep / "bytegrad-1-1", pointer, value)
    assert main(["report", str(sweep)]) == 0
    page = (sweep / "report.html").read_text()
    listed = page[page.index("<h2>Not read</h2>"):]
    assert "bytegrad-1-1" in listed and reason in listed and "5 finished runs" in page
    assert "could not be made" not in page
    assert main(["table", str(sweep)]) == 0


def test_json_that_is_nested_without_end_is_no_manifest_and_no_metrics(sweep):
    deep = "[" * 100_000 + "]" * 100_000
    (sweep / "bytegrad-1-1" / "manifest.json").write_text(deep)
    for file in ("metrics.jsonl", "trace.json"):
        (sweep / "decentralized-1-1" / file).write_text(deep)
    assert main(["report", str(sweep)]) == 0
    found = results.load(sweep)
    assert (len(found.runs), len(found.unfinished)) == (5, 1)
    assert "could not be made" not in (sweep / "report.html").read_text()


@pytest.mark.parametrize("events", [
    [{"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": None}],
    [{"ph": "M", "name": "thread_name", "pid": 0, "tid": [1], "args": {}}],
    [{"ph": "X", "cat": "compute", "pid": 0, "tid": 0, "ts": float("nan"), "dur": float("inf")}],
    [{"ph": "X", "cat": "compute", "pid": 0, "tid": 0, "ts": 0, "dur": 1e300}],
])
def test_odd_events_of_a_trace_are_skipped(sweep, events):
    path = sweep / "bytegrad-1-1" / "trace.json"
    path.write_text(json.dumps({"traceEvents": events + json.loads(path.read_text())["traceEvents"]}))
    assert main(["report", str(sweep)]) == 0
    assert "could not be made" not in (sweep / "report.html").read_text()


def test_a_run_whose_steps_take_no_time_is_compared(sweep):
    """Such as a single worker's run in virtual time if no operation has a cost."""
    change(sweep / "bytegrad-1-1", "/summary/step_s", 0)
    assert main(["report", str(sweep)]) == 0
    page = (sweep / "report.html").read_text()
    assert "6 finished runs" in page or "6 runs" in page
    assert "could not be made" not in page


def test_a_workload_may_have_a_name_that_no_file_can_have(sweep):
    change(sweep / "bytegrad-1-1", "/experiment/workload/name", "a" * 300)
    assert main(["report", str(sweep)]) == 0


def claim(run: results.Run, **measure: object) -> claims.Claim:
    described = {"id": "one", "title": "", "command": "trigram run x.json", "minutes": 1, "unit": "", "tolerance": {},
                 "published": "x.csv", "measure": {"from_step": 3, "samples_per_worker": 4} | measure,
                 "cell": {"bytes": {"pointer": "/workload", "names": {}}}}
    return claims.Claim(described, Path("."), [run])


@pytest.mark.parametrize("step_s", [None, "x", 0, 1e308, float("nan"), -1.0])
def test_steps_without_a_time_answer_no_claim(sweep, step_s):
    path = sweep / "bytegrad-1-1"
    (path / "metrics.jsonl").write_text("".join(json.dumps({"step": i, "step_s": step_s}) + "\n" for i in range(9)))
    (run,) = results.load(path).runs
    (reason,) = claim(run).unusable
    assert "steps" in reason
    assert main(["report", str(sweep)]) == 0


def test_a_run_without_workers_or_of_another_workload_answers_no_claim(sweep):
    change(sweep / "bytegrad-1-1", "/experiment/cluster", None)
    change(sweep / "bytegrad-1-1", "/experiment/workload", {"name": "profile", "path": "512MiB.csv"})
    (run,) = results.load(sweep / "bytegrad-1-1").runs
    assert "how many workers" in claim(run).unusable[0]
    assert claim(run, moves="bytes").unusable == ["one: run bytegrad-1-1 moves profile, no number of bytes"]


def test_a_section_that_fails_is_a_line(sweep, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("by <nothing>")

    monkeypatch.setattr(report, "_facts", fail)
    assert main(["report", str(sweep)]) == 0
    page = (sweep / "report.html").read_text()
    assert "This section could not be made: ZeroDivisionError: by &lt;nothing&gt;" in page
