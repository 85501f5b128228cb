"""Reads trace.json (trace events in Chrome's format): the activities of each stream of each worker in one step."""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Iterator

from . import readable

KINDS = ("compute", "encode", "intra", "inter", "transfer", "wait", "delay")
NAMES = {
    "compute": "computation",
    "encode": "encoding, decoding, reducing",
    "intra": "transfer inside the node",
    "inter": "transfer between nodes",
    "transfer": "transfer",
    "wait": "waiting",
    "delay": "delayed",
}
_RECORDED = ("compute", "transfer", "wait", "delay")
_Track = tuple[int, Any]


@dataclass(frozen=True)
class Box:
    """An activity of a stream."""

    rank: int
    stream: str
    kind: str
    begin_s: float
    length_s: float

    @property
    def end_s(self) -> float:
        return self.begin_s + self.length_s


@dataclass(frozen=True)
class _Message:
    time_us: float
    source: int
    destination: int
    sent: bool
    nbytes: int


def boxes(path: Path, workers_per_node: int | None = None) -> list[Box]:
    """The boxes of a trace; empty if it cannot be read. Computation outside the main stream is encoding, decoding and
    reducing. If `workers_per_node` is known and the trace has messages, transfers inside a node and between nodes have
    different kinds."""
    try:
        document = json.loads(readable.read_text(path))
    except (OSError, ValueError, RecursionError):
        return []
    events = document.get("traceEvents", []) if isinstance(document, dict) else document
    events = [e for e in events if _is_event(e)] if isinstance(events, list) else []
    names = {
        (e["pid"], e.get("tid")): str(_arguments(e).get("name"))
        for e in events
        if e.get("ph") == "M" and e.get("name") == "thread_name"
    }
    nodes = _Nodes(events, workers_per_node)
    return [box for e in events if (box := _box(e, names, nodes)) is not None]


def cropped(found: list[Box], workers_per_node: int) -> list[Box]:
    """The boxes of two workers of the first node and of the first worker of the next node. Times are counted from the
    start of the step. Boxes are cut at the start and at the end of the step, which are those of the main streams."""
    drawn = [b for b in found if b.rank in {0, 1, workers_per_node} and b.length_s > 0]
    main = [b for b in drawn if b.stream == "main"] or drawn
    start_s, end_s = min((b.begin_s for b in main), default=0.0), max((b.end_s for b in main), default=0.0)
    cut = [replace(b, begin_s=max(b.begin_s, start_s) - start_s,
                   length_s=min(b.end_s, end_s) - max(b.begin_s, start_s)) for b in drawn]
    return [b for b in cut if b.length_s > 0]


def rows(drawn: list[Box]) -> list[tuple[int, str]]:
    """(rank, stream) from top to bottom, the main stream first."""
    tracks = {(b.rank, b.stream) for b in drawn}
    return sorted(tracks, key=lambda t: (t[0], t[1] != "main", t[1]))


def merged(bars: list[Box], resolution_s: float) -> list[tuple[float, float]]:
    """(begin, length) of bars of one kind, in seconds. Bars are joined if the gap between them is shorter than
    `resolution_s`, which nobody could see."""
    joined: list[tuple[float, float]] = []
    for bar in sorted(bars, key=lambda b: b.begin_s):
        if joined and bar.begin_s - sum(joined[-1]) < resolution_s:
            begin_s = joined[-1][0]
            joined[-1] = (begin_s, max(sum(joined[-1]), bar.end_s) - begin_s)
        else:
            joined.append((bar.begin_s, bar.length_s))
    return joined


class _Nodes:
    """Finds the transfers that leave a node. A trace has only the messages between recorded ranks. If a transfer has no
    recorded message, or sends more bytes than its recorded messages carry, then its peer was not recorded. That peer is
    on another node if all ranks of the transfer's own node were recorded."""

    def __init__(self, events: list[dict[str, Any]], workers_per_node: int | None):
        self._per_node = workers_per_node or 0
        self._messages: dict[_Track, list[_Message]] = defaultdict(list)
        self._ranks = {e.get("pid") for e in events if e.get("ph") in ("M", "X")}
        for event in events:
            message = _message(event)
            if message is not None:
                self._messages[event.get("pid", 0), event.get("tid")].append(message)
        for messages in self._messages.values():
            messages.sort(key=lambda m: m.time_us)
        # In a ring, a stream with only sent or only received messages has another neighbour that was not recorded.
        self._one_way = {t for t, found in self._messages.items() if len({m.sent for m in found}) == 1}

    def kind_of(self, event: dict[str, Any], rank: int, begin_us: float, length_us: float) -> str:
        if not self._per_node or not self._messages:
            return "transfer"
        messages = list(self._within((rank, event.get("tid")), begin_us, begin_us + length_us))
        if any(m.source // self._per_node != m.destination // self._per_node for m in messages):
            return "inter"
        sent = _arguments(event).get("bytes_sent")
        sent = sent if readable.is_usable_number(sent) else 0
        outside = (not messages or (rank, event.get("tid")) in self._one_way
                   or sent > sum(m.nbytes for m in messages if m.sent))
        if not outside:
            return "intra"
        first = rank // self._per_node * self._per_node
        return "inter" if self._ranks >= set(range(first, first + self._per_node)) else "transfer"

    def _within(self, track: _Track, begin_us: float, end_us: float) -> Iterator[_Message]:
        messages = self._messages.get(track, [])
        for i in range(bisect.bisect_left(messages, begin_us, key=lambda m: m.time_us), len(messages)):
            if messages[i].time_us > end_us:
                return
            yield messages[i]


def _is_event(event: Any) -> bool:
    """True for an event whose track is known and whose times are usable numbers."""
    return (isinstance(event, dict) and isinstance(event.get("pid"), int)
            and isinstance(event.get("tid"), (int, str, type(None)))
            and all(readable.is_usable_number(event[key]) for key in ("ts", "dur") if key in event))


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    found = event.get("args")
    return found if isinstance(found, dict) else {}


def _message(event: dict[str, Any]) -> _Message | None:
    if event.get("ph") not in ("s", "f"):
        return None
    try:
        source, destination = str(event["id"]).split(" #")[0].split(" ")[-1].split(">")
        return _Message(float(event["ts"]), int(source), int(destination), event["ph"] == "s",
                        int(event["args"]["bytes"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _box(event: dict[str, Any], names: dict[tuple[Any, Any], str], nodes: _Nodes) -> Box | None:
    kind = next((k for k in _RECORDED if k in (event.get("cat"), event.get("name"))), None)
    if event.get("ph") != "X" or kind is None:
        return None
    try:
        rank, begin_us, length_us = int(event["pid"]), float(event["ts"]), float(event["dur"])
        stream = names.get((event["pid"], event["tid"]), str(event["tid"]))
    except (KeyError, TypeError, ValueError):
        return None
    if kind == "transfer":
        kind = nodes.kind_of(event, rank, begin_us, length_us)
    elif kind == "compute" and stream != "main":
        kind = "encode"
    return Box(rank, stream, kind, 1e-6 * begin_us, 1e-6 * length_us)
