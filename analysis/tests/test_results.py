import json
import os

import sample
from trigram_analysis import results


def test_finished_runs_count(sweep):
    assert len(results.load(sweep).runs) == 6


def test_root_experiment_and_run_folders_all_load(sweep):
    assert len(results.load(sweep.parent).runs) == 6
    assert len(results.load(sweep / "bytegrad-1-1").runs) == 1


def test_a_run_without_done_does_not_count(sweep):
    (sweep / "bytegrad-1-1" / "DONE").unlink()
    found = results.load(sweep)
    assert len(found.runs) == 5
    assert [u.path.name for u in found.unfinished] == ["bytegrad-1-1"]


def test_failed_runs_are_listed_apart(sweep):
    sample.write_run(sweep, "bad", status="failed", error="step 7, rank 3: loss is NaN")
    found = results.load(sweep)
    assert len(found.runs) == 6
    assert [f.reason for f in found.failed] == ["step 7, rank 3: loss is NaN"]


def test_corrupt_and_missing_manifests_are_unfinished(sweep):
    (sweep / "bytegrad-1-1" / "manifest.json").write_text('{"id": "byte')
    (sweep / "bytegrad-10-1" / "manifest.json").unlink()
    (sweep / "decentralized-1-1" / "manifest.json").write_text("[1, 2]")
    found = results.load(sweep)
    assert len(found.runs) == 3
    assert len(found.unfinished) == 3


def test_pipes_in_place_of_files_are_not_waited_for(sweep):
    for run, name in (("bytegrad-1-1", "manifest.json"), ("bytegrad-10-1", "metrics.jsonl")):
        path = sweep / run / name
        path.unlink()
        os.mkfifo(path)
    found = results.load(sweep)
    assert [u.path.name for u in found.unfinished] == ["bytegrad-1-1"]
    assert [run.records for run in found.runs if run.path.name == "bytegrad-10-1"] == [[]]


def test_a_truncated_line_of_metrics_is_skipped(sweep):
    path = sweep / "bytegrad-1-1" / "metrics.jsonl"
    path.write_text(path.read_text()[:-20])
    (run,) = results.load(sweep / "bytegrad-1-1").runs
    assert [record["step"] for record in run.records] == list(range(19))


def test_missing_metrics_are_an_empty_table(sweep):
    (sweep / "bytegrad-1-1" / "metrics.jsonl").unlink()
    (run,) = results.load(sweep / "bytegrad-1-1").runs
    assert run.records == []


def test_runs_in_progress_or_interrupted_are_unfinished(sweep):
    (sweep / "bytegrad-1-1").rename(sweep / "bytegrad-1-1.tmp.host.123")
    found = results.load(sweep)
    assert len(found.runs) == 5
    assert [u.path.name for u in found.unfinished] == ["bytegrad-1-1.tmp.host.123"]


def test_unrelated_files_and_folders_are_ignored(sweep):
    (sweep / "notes.txt").write_text("hello")
    (sweep / "empty").mkdir()
    found = results.load(sweep)
    assert (len(found.runs), found.failed, found.unfinished) == (6, [], [])


def test_steps_left_out_of_a_steady_run_repeat_its_cycle(sweep):
    """The whole run has a slow first step, a cycle of three steps, and slower steps at the end."""
    def seconds(step, steps):
        return [1.0, 2.0, 4.0][step % 3] + 10 * (step == 0) + 20 * (step >= steps - 2)

    def times(name, steps, summary):
        path = sample.write_run(sweep, name, steps=steps, summary=summary)
        (path / "metrics.jsonl").write_text("".join(
            json.dumps({"step": step, "step_s": seconds(step, steps)}) + "\n" for step in range(steps)))
        (run,) = results.load(path).runs
        return run.step_times

    whole = times("whole", 23, {})
    assert whole[:4] == [11, 2, 4, 1] and whole[-3:] == [4, 21, 22]
    for steps, step in ((11, 6), (11, 7), (14, 8), (20, 17)):
        steady = {"step": step, "cycle": 3, "left_out": 23 - steps}
        assert times(f"steady-{steps}-{step}", steps, {"steady": steady}) == whole
