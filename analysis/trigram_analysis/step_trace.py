"""Reads trace.json for the critical path: the activities of all streams of all recorded ranks in one step, the messages
between them, and the routes of the network. Times are whole picoseconds, so that sums of them are exact."""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterable

from . import readable

PS_PER_US = 1_000_000


@dataclass
class Slice:
    rank: int
    stream: str
    kind: str  # compute, transfer, wait or delay
    begin: int
    end: int
    phase: str = ""
    operation: str = ""
    bucket: int = -1
    batch: int = -1
    peers: list[int] = field(default_factory=list)
    received: list[Message] = field(default_factory=list)


@dataclass
class Message:
    source: Slice
    nbytes: int


@dataclass(frozen=True)
class Route:
    latency: int  # picoseconds
    ps_per_byte: float  # of a message that is alone on its links
    link: str  # the narrowest
    intra: bool


@dataclass
class StepTrace:
    begin: int  # the latest time at which a rank began the step, and ended it
    end: int
    last_rank: int
    slices: dict[int, dict[str, list[Slice]]]  # by rank and stream, in the order of time
    routes: dict[tuple[int, int], Route]

    def before(self, rank: int, stream: str, time: int) -> Slice | None:
        """The last activity of the stream that began before `time`."""
        found = self.slices.get(rank, {}).get(stream, [])
        i = bisect.bisect_left(found, time, key=lambda s: s.begin)
        return found[i - 1] if i else None

    def hidden(self, rank: int) -> int:
        """The time in which the rank computes while exchanges of it are under way."""
        streams = self.slices.get(rank, {})
        computing = self._busy(s for s in streams.get("main", ()) if s.kind == "compute" and not s.operation)
        exchanging = self._busy(s for found in streams.values() for s in found if s.kind == "transfer")
        return sum(max(0, min(a_end, b_end) - max(a_begin, b_begin))
                   for a_begin, a_end in computing for b_begin, b_end in exchanging)

    def _busy(self, slices: Iterable[Slice]) -> list[tuple[int, int]]:
        """The times within the step in which at least one of the slices lasts, without overlaps."""
        joined: list[tuple[int, int]] = []
        for begin, end in sorted((max(s.begin, self.begin), min(s.end, self.end)) for s in slices):
            if joined and begin <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            elif begin < end:
                joined.append((begin, end))
        return joined


def read(path: Path) -> StepTrace | None:
    """None if the file cannot be read, or is of an older program, whose traces lack what is needed."""
    try:
        document = json.loads(readable.read_text(path))
        return _step(document["traceEvents"], document["otherData"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError):
        return None


def _ps(microseconds: float) -> int:
    return round(microseconds * PS_PER_US)


def _step(events: list[dict[str, Any]], other: dict[str, Any]) -> StepTrace | None:
    spans = [(_ps(begin), _ps(end)) for begin, end in other["spans_us"]]
    spans = [(begin, end) for begin, end in spans if end > begin]
    if not spans:
        return None
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    slices: dict[int, dict[str, list[Slice]]] = defaultdict(lambda: defaultdict(list))
    batches: dict[tuple[int, str, int], Slice] = {}
    for event in events:
        if event.get("ph") != "X" or (event["pid"], event["tid"]) not in names:
            continue
        found = _slice(event, names[event["pid"], event["tid"]])
        slices[found.rank][found.stream].append(found)
        if found.kind == "transfer":
            batches[found.rank, found.stream, found.batch] = found
    for streams in slices.values():
        for found in streams.values():
            found.sort(key=lambda s: (s.begin, s.end))
    _join_messages(events, names, batches)
    routes = {_pair(key): Route(_ps(r["latency_us"]), 1e12 / r["bandwidth_Bps"] if r["bandwidth_Bps"] else 0.0,
                                str(r["link"]), bool(r["intra"])) for key, r in other.get("routes", {}).items()}
    ends = {rank: _ps(end) for rank, (_, end) in enumerate(other["spans_us"])}
    last = max(ends, key=lambda rank: ends[rank])
    return StepTrace(max(begin for begin, _ in spans), ends[last], last, slices, routes)


def _slice(event: dict[str, Any], stream: str) -> Slice:
    args, begin = event.get("args", {}), _ps(event["ts"])
    # The sum of a start and a duration that are rounded apart may miss the next start by a picosecond.
    return Slice(event["pid"], stream, event["cat"], begin, _ps(event["ts"] + event["dur"]), args.get("phase", ""),
                 args.get("operation", ""), args.get("bucket", -1), args.get("batch", -1), args.get("peers", []))


def _pair(key: str) -> tuple[int, int]:
    source, destination = key.split(">")
    return int(source), int(destination)


def _join_messages(events: list[dict[str, Any]], names: dict[tuple[int, int], str],
                   batches: dict[tuple[int, str, int], Slice]) -> None:
    def batch(event: dict[str, Any]) -> Slice | None:
        return batches.get((event["pid"], names[event["pid"], event["tid"]], event["args"]["batch"]))

    sent = {e["id"]: found for e in events if e.get("ph") == "s" and (found := batch(e))}
    for event in events:
        if event.get("ph") == "f" and event["id"] in sent and (receiver := batch(event)):
            receiver.received.append(Message(sent[event["id"]], event["args"]["bytes"]))
