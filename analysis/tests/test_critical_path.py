"""The critical path of hand-made steps, whose causes are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trigram_analysis import critical_path, trace, why
from trigram_analysis.critical_path import CriticalPath, Part

LATENCY_US, BYTES_PER_US = 10.0, 1000.0


class Steps:
    """A step of some ranks with a main stream and a communication stream, in microseconds."""

    def __init__(self, ranks: int):
        self.events: list[dict[str, Any]] = []
        self.spans = [[0.0, 0.0] for _ in range(ranks)]
        for rank in range(ranks):
            for tid, name in ((1, "comm"), (2, "main")):
                self.events.append({"ph": "M", "name": "thread_name", "pid": rank, "tid": tid, "args": {"name": name}})

    def slice(self, rank: int, kind: str, begin: float, end: float, **args: Any) -> None:
        tid = 1 if kind == "transfer" or args.pop("on_comm", False) else 2
        self.events.append({"ph": "X", "name": kind, "cat": kind, "pid": rank, "tid": tid, "ts": begin,
                            "dur": end - begin, "args": args})

    def message(self, source: int, destination: int, nbytes: int, sent: tuple[float, float],
                received: tuple[float, float], batch: int = 0) -> None:
        ident = f"comm {source}>{destination} #{batch}"
        for rank, peer, (begin, end), phase in ((source, destination, sent, "s"), (destination, source, received, "f")):
            if not any(e["ph"] == "X" and e["pid"] == rank and e["args"].get("batch") == batch for e in self.events):
                self.slice(rank, "transfer", begin, end, batch=batch, peers=[peer], bytes_sent=nbytes)
            self.events.append({"ph": phase, "name": "message", "id": ident, "pid": rank, "tid": 1, "ts": begin,
                                "args": {"bytes": nbytes, "batch": batch}})

    def end(self, *ends: float) -> None:
        for span, end in zip(self.spans, ends):
            span[1] = end

    def path(self, folder: Path) -> CriticalPath:
        ranks = range(len(self.spans))
        routes = {f"{a}>{b}": {"latency_us": LATENCY_US, "bandwidth_Bps": 1e6 * BYTES_PER_US, "link": f"NIC {a}",
                               "intra": False} for a in ranks for b in ranks if a != b}
        (folder / "trace.json").write_text(json.dumps(
            {"traceEvents": self.events, "otherData": {"step": 0, "spans_us": self.spans, "routes": routes}}))
        found = critical_path.of_file(folder / "trace.json")
        assert found is not None
        assert sum(found.parts.values()) == found.length
        assert found.length == round((max(e for _, e in self.spans) - max(b for b, _ in self.spans)) * 1e6)
        return found


def us(path: CriticalPath, part: Part) -> float:
    return 1e6 * path.seconds(part)


def test_pure_computation(tmp_path: Path) -> None:
    steps = Steps(2)
    for rank in (0, 1):
        steps.slice(rank, "compute", 0, 30, phase="forward")
        steps.slice(rank, "compute", 30, 100, phase="backward", bucket=0)
    steps.end(100, 100)
    assert steps.path(tmp_path).parts == {Part("compute"): 100 * 10**6}


def exchange(ranks: int, compute: list[float], nbytes: int, arrival: float, latency_us: float = LATENCY_US) -> Steps:
    """Every rank computes, sends to its right neighbour, and waits for what comes from the left."""
    steps = Steps(ranks)
    for rank in range(ranks):
        steps.slice(rank, "compute", 0, compute[rank])
        steps.slice(rank, "wait", compute[rank], arrival)
        steps.message(rank, (rank + 1) % ranks, nbytes, (compute[rank], arrival),
                      (compute[(rank + 1) % ranks], arrival))
    steps.end(*[arrival] * ranks)
    return steps


def test_a_slow_link(tmp_path: Path) -> None:
    path = exchange(3, [20, 20, 20], 500_000, 20 + 10 + 500).path(tmp_path)
    assert us(path, Part("bandwidth", "between nodes")) == pytest.approx(500)
    assert us(path, Part("latency", "between nodes")) == pytest.approx(10)
    assert us(path, Part("compute")) == pytest.approx(20)
    assert path.sorted[0][0].kind == "bandwidth"
    assert path.narrowest_link.startswith("NIC ")
    assert why.bound_by(path).startswith("bandwidth between nodes 94% (NIC ")
    assert "latency between nodes" not in why.on_no_path([path])
    assert {"bandwidth inside nodes", "slow workers"} <= set(why.on_no_path([path]))


def test_exchanges_beside_computation_are_hidden(tmp_path: Path) -> None:
    """Two exchanges overlap each other and 50 us of computation; 25 us of the later one are exposed."""
    steps = Steps(2)
    for rank in (0, 1):
        steps.slice(rank, "compute", 0, 30)
        steps.slice(rank, "compute", 30, 60)
        steps.slice(rank, "wait", 60, 85)
        steps.message(rank, 1 - rank, 30_000, (10, 40), (10, 40), batch=0)
        steps.message(rank, 1 - rank, 30_000, (25, 85), (25, 85), batch=1)
    steps.end(85, 85)
    assert steps.path(tmp_path).hidden == 50 * 10**6


def test_an_exchange_longer_than_the_step_hides_all_of_it(tmp_path: Path) -> None:
    steps = Steps(2)
    for rank in (0, 1):
        steps.slice(rank, "compute", 20, 70)
        steps.message(rank, 1 - rank, 30_000, (0, 200), (0, 200))
    steps.spans = [[20, 70], [20, 70]]
    path = steps.path(tmp_path)
    assert path.parts == {Part("compute"): 50 * 10**6}
    assert path.hidden == 50 * 10**6
    drawn = trace.cropped(trace.boxes(tmp_path / "trace.json"), 1)
    assert {(round(1e6 * b.begin_s), round(1e6 * b.end_s)) for b in drawn} == {(0, 50)}
    assert len({b.stream for b in drawn}) == 2


def test_the_difference_says_what_outweighs_the_rest() -> None:
    def path(computation_ms: int, latency_ms: int) -> CriticalPath:
        parts = {Part("compute"): computation_ms * 10**9, Part("latency", "between nodes"): latency_ms * 10**9}
        return CriticalPath(sum(parts.values()), parts, {}, 0)

    assert why._difference(path(100, 10), path(110, 40), 3) == (
        "B's step 3 is 40.0 ms longer; latency between nodes makes 75% of that")
    assert why._difference(path(100, 10), path(60, 90), 3) == (
        "B's step 3 is 40.0 ms longer; latency between nodes: 80.0 ms more, and the rest: 40.0 ms less")
    assert why._difference(path(60, 90), path(100, 10), 3) == (
        "B's step 3 is 40.0 ms shorter; latency between nodes: 80.0 ms less, and the rest: 40.0 ms more")


def test_links_are_not_named_if_a_collective_hides_what_it_waits_for() -> None:
    def path(collective: int) -> CriticalPath:
        parts = {Part("compute"): 1000, Part("collective"): collective}
        return CriticalPath(1000 + collective, parts, {}, 0)

    assert {"bandwidth between nodes", "latency inside nodes"} <= set(why.on_no_path([path(0)]))
    hidden = why.on_no_path([path(0), path(500)])
    assert "slow workers" in hidden and not [text for text in hidden if "nodes" in text]


def test_a_long_latency(tmp_path: Path) -> None:
    """Eight rounds of tiny messages, one after another."""
    steps = Steps(2)
    for rank in (0, 1):
        steps.slice(rank, "compute", 0, 5)
        steps.slice(rank, "wait", 5, 5 + 8 * 10.1)
    for i in range(8):
        begin, end = 5 + i * 10.1, 5 + (i + 1) * 10.1
        for source in (0, 1):
            steps.message(source, 1 - source, 100, (begin, end), (begin, end), batch=i)
    steps.end(5 + 8 * 10.1, 5 + 8 * 10.1)
    path = steps.path(tmp_path)
    assert us(path, Part("latency", "between nodes")) == pytest.approx(80)
    assert us(path, Part("bandwidth", "between nodes")) == pytest.approx(0.8)
    assert path.hops == 8


def test_contention_is_what_exceeds_an_uncontended_message(tmp_path: Path) -> None:
    path = exchange(2, [20, 20], 100_000, 20 + 10 + 100 + 250).path(tmp_path)
    assert us(path, Part("contention", "between nodes")) == pytest.approx(250)
    assert us(path, Part("bandwidth", "between nodes")) == pytest.approx(100)


def test_one_straggler(tmp_path: Path) -> None:
    """Rank 1 computes for 90 us, the others for 20 us. Its message to rank 2 arrives last."""
    steps = Steps(4)
    compute, arrival = [20.0, 90.0, 20.0, 20.0], 90 + 10 + 1.0
    for rank in range(4):
        steps.slice(rank, "compute", 0, compute[rank])
        left = (rank - 1) % 4
        mine = max(compute[left] + 11, compute[rank])
        steps.slice(rank, "wait", compute[rank], mine)
        steps.message(rank, (rank + 1) % 4, 1000, (compute[rank], mine), (compute[(rank + 1) % 4], 0))
        steps.spans[rank][1] = mine
    for event in steps.events:  # the end of every batch
        if event.get("cat") == "transfer":
            rank = event["pid"]
            event["ts"], event["dur"] = compute[rank], steps.spans[rank][1] - compute[rank]
    path = steps.path(tmp_path)
    assert path.length == round(arrival * 1e6)
    assert us(path, Part("straggler", "rank 1")) == pytest.approx(70)
    assert us(path, Part("compute")) == pytest.approx(20)
    assert path.sorted[0][0] == Part("straggler", "rank 1")


def test_a_delay_is_a_straggler(tmp_path: Path) -> None:
    steps = exchange(2, [20, 60], 1000, 71)
    for event in steps.events:
        if event.get("cat") == "compute" and event["pid"] == 1:
            event["cat"], event["dur"] = "delay", 40
    steps.slice(1, "compute", 40, 60)
    path = steps.path(tmp_path)
    assert us(path, Part("straggler", "rank 1")) == pytest.approx(40)
    assert us(path, Part("compute")) == pytest.approx(20)


def test_coding_on_the_communication_stream(tmp_path: Path) -> None:
    steps = Steps(1)
    steps.slice(0, "compute", 0, 10)
    steps.slice(0, "compute", 10, 45, on_comm=True, operation="codec")
    steps.slice(0, "wait", 10, 45)
    steps.end(45)
    path = steps.path(tmp_path)
    assert us(path, Part("operations", "(codec)")) == pytest.approx(35)
    assert us(path, Part("compute")) == pytest.approx(10)


def test_a_wait_for_a_control_message(tmp_path: Path) -> None:
    """A transfer that goes on after the wait did not end it."""
    steps = Steps(2)
    for rank in (0, 1):
        steps.slice(rank, "compute", 0, 10)
        steps.slice(rank, "wait", 10, 25)
        steps.slice(rank, "compute", 25, 40)
    for source in (0, 1):
        steps.message(source, 1 - source, 1000, (10, 30), (10, 30))
    steps.end(40, 40)
    assert steps.path(tmp_path).parts == {Part("compute"): 25 * 10**6, Part("control"): 15 * 10**6}


def test_overlap_hides_what_is_not_on_the_path(tmp_path: Path) -> None:
    """A transfer that ends before the computation beside it costs nothing."""
    steps = Steps(2)
    for rank in (0, 1):
        steps.slice(rank, "compute", 0, 50)
        steps.slice(rank, "compute", 50, 100)
    for source in (0, 1):
        steps.message(source, 1 - source, 1000, (50, 61), (50, 61))
    steps.end(100, 100)
    assert steps.path(tmp_path).parts == {Part("compute"): 100 * 10**6}


def test_only_the_time_of_the_step_counts(tmp_path: Path) -> None:
    """The step begins when the last rank has ended the step before."""
    steps = exchange(2, [20, 20], 1000, 31)
    steps.spans[1][0] = 15
    path = steps.path(tmp_path)
    assert path.length == 16 * 10**6
    assert us(path, Part("compute")) == pytest.approx(5)


def test_a_peer_that_was_not_recorded(tmp_path: Path) -> None:
    steps = Steps(1)
    steps.slice(0, "compute", 0, 10)
    steps.slice(0, "transfer", 10, 40, batch=0, peers=[7])
    steps.slice(0, "wait", 10, 40)
    steps.end(40)
    assert us(steps.path(tmp_path), Part("unknown")) == pytest.approx(30)


@pytest.mark.parametrize("text", ["", "{}", '{"traceEvents": [], "otherData": {}}',
                                  '{"traceEvents": [], "otherData": {"spans_us": [[0, 0]]}}'])
def test_other_traces_are_not_explained(tmp_path: Path, text: str) -> None:
    (tmp_path / "trace.json").write_text(text)
    assert critical_path.of_file(tmp_path / "trace.json") is None


