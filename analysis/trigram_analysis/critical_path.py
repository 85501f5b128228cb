"""What bounds a step: its critical path. The path is followed backwards from the rank that ends the step last: from an
activity to what it waited for, which is what the same stream did before, a task of another stream of the rank, or the
rank that sent the message that came last. The parts of the path add up to the step's time, to the picosecond."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .step_trace import Message, Slice, StepTrace, read

PS_PER_S = 10**12
_NEAR = 10  # picoseconds by which times that are equal may differ, because they are rounded
# The kinds of parts, and what they are called.
KINDS = {
    "compute": "computation",
    "operations": "operations on vectors",
    "straggler": "waiting for a slow worker",
    "bandwidth": "bandwidth",
    "latency": "latency",
    "contention": "other messages on the same links, and overheads of the transport",
    "collective": "collectives that are simulated as a whole",
    "control": "control messages",
    "unknown": "transfers with ranks that were not recorded",
    "other": "idle",
}


@dataclass(frozen=True, order=True)
class Part:
    kind: str  # a key of KINDS
    detail: str = ""  # such as "between nodes" or "rank 3"


@dataclass
class CriticalPath:
    length: int  # picoseconds, the sum of the parts
    parts: dict[Part, int]
    links: dict[str, int]  # the time of bandwidth and contention by the narrowest link of the route
    hops: int  # messages on the path
    hidden: int = 0  # the time in which the worker that ends last computes while exchanges of it are under way

    def seconds(self, part: Part) -> float:
        return self.parts.get(part, 0) / PS_PER_S

    @property
    def sorted(self) -> list[tuple[Part, int]]:
        return sorted(self.parts.items(), key=lambda item: (-item[1], item[0]))

    @property
    def narrowest_link(self) -> str:
        return max(self.links, key=lambda link: self.links[link], default="")


def text_of(part: Part) -> str:
    if part.kind == "straggler":
        return f"{KINDS['straggler']}, {part.detail}"
    return f"{KINDS[part.kind]} {part.detail}".strip()


def of_file(path: Path) -> CriticalPath | None:
    """The critical path of a trace.json; None if the trace does not tell it."""
    trace = read(path)
    return of(trace) if trace else None


def of(trace: StepTrace) -> CriticalPath:
    return _Walk(trace).result()


class _Walk:
    def __init__(self, trace: StepTrace):
        self._trace = trace
        self._time, self._rank, self._stream = trace.end, trace.last_rank, "main"
        self._parts: Counter[Part] = Counter()
        self._by_rank: Counter[int] = Counter()  # time of computation on the path
        self._links: Counter[str] = Counter()
        self._jumps: set[tuple[int, str, int]] = set()
        self._hops = 0

    def result(self) -> CriticalPath:
        while self._time > self._trace.begin:
            self._step()
        self._name_stragglers()
        parts = {part: length for part, length in self._parts.items() if length}
        return CriticalPath(sum(parts.values()), parts, dict(self._links), self._hops,
                            self._trace.hidden(self._trace.last_rank))

    def _spend(self, part: Part, until: int) -> int:
        """Adds the time from `until` to the present time to a part, and goes back to `until`."""
        until = max(min(until, self._time), self._trace.begin)
        spent = self._time - until
        self._parts[part] += spent
        self._time = until
        return spent

    def _jump(self, rank: int, stream: str) -> bool:
        """Goes on with another stream at the same time; False if the path has been there."""
        place = (rank, stream, self._time)
        if place in self._jumps:
            return False
        self._jumps.add(place)
        self._rank, self._stream = rank, stream
        return True

    def _step(self) -> None:
        found = self._trace.before(self._rank, self._stream, self._time)
        if found is None or found.end < self._time - _NEAR:
            self._idle(found)
        elif found.kind == "wait":
            self._wait(found)
        elif found.kind == "transfer":
            self._transfer(found)
        else:
            self._compute(found)

    def _compute(self, found: Slice) -> None:
        if found.kind == "delay":
            self._spend(Part("straggler", f"rank {found.rank}"), found.begin)
        elif found.operation:
            self._spend(Part("operations", f"({found.operation})"), found.begin)
        else:
            self._by_rank[found.rank] += self._spend(Part("compute"), found.begin)

    def _idle(self, found: Slice | None) -> None:
        """The stream did nothing until now: a task begins when another stream has submitted it."""
        for stream in self._busy_streams():
            if self._jump(self._rank, stream):
                return
        self._spend(Part("other"), found.end if found else self._trace.begin)

    def _wait(self, found: Slice) -> None:
        """A wait ends with the task that it waited for; without such a task, it was for a control message."""
        over = self._time >= found.end - _NEAR
        for stream in self._busy_streams(_NEAR if over else None):
            if self._jump(self._rank, stream):
                return
        self._spend(Part("control"), found.begin)

    def _busy_streams(self, longest: int | None = None) -> list[str]:
        """The rank's other streams that are busy until now, and for at most `longest` afterwards. Those that end now come
        first, and of these the main stream."""
        busy = []
        for stream in self._trace.slices.get(self._rank, {}):
            found = self._trace.before(self._rank, stream, self._time)
            if stream != self._stream and found and found.kind != "wait" and found.end >= self._time - _NEAR:
                busy.append((abs(found.end - self._time), stream != "main", stream))
        return [stream for after, _, stream in sorted(busy) if longest is None or after <= longest]

    def _transfer(self, found: Slice) -> None:
        if found.received:
            self._receive(found, max(found.received, key=lambda m: self._arrival(found, m)))
        elif found.peers:
            known = self._trace.routes.get((found.rank, found.peers[0]))
            recorded = all(peer in self._trace.slices for peer in found.peers)
            self._spend(Part("bandwidth", _where(known.intra)) if known and recorded else Part("unknown"), found.begin)
        else:
            self._collective(found)

    def _alone(self, found: Slice, message: Message) -> int:
        route = self._trace.routes.get((message.source.rank, found.rank))
        return route.latency + round(route.ps_per_byte * message.nbytes) if route else 0

    def _arrival(self, found: Slice, message: Message) -> tuple[int, int]:
        return message.source.begin + self._alone(found, message), message.source.begin

    def _receive(self, found: Slice, message: Message) -> None:
        """A message that was under way while the receiver waited leads to its sender."""
        sender = message.source
        waited = sender.begin + self._alone(found, message) > found.begin and sender.begin < self._time
        begin = sender.begin if waited else found.begin
        self._flight(found, message, begin)
        if waited and self._time == max(begin, self._trace.begin):
            self._hops += 1
            self._jump(sender.rank, sender.stream)

    def _flight(self, found: Slice, message: Message, begin: int) -> None:
        """Divides the time of a message: the latency of its route, its bytes over the bandwidth, and the rest."""
        route = self._trace.routes.get((message.source.rank, found.rank))
        if route is None:
            self._spend(Part("unknown"), begin)
            return
        where, before = _where(route.intra), self._time
        # Backwards in time, so that the latency comes last.
        length = before - max(begin, self._trace.begin)
        latency = min(route.latency, length)
        wire = min(round(route.ps_per_byte * message.nbytes), length - latency)
        self._spend(Part("contention", where), before - (length - latency - wire))
        self._spend(Part("bandwidth", where), self._time - wire)
        self._links[route.link] += before - self._time
        self._spend(Part("latency", where), before - length)

    def _collective(self, found: Slice) -> None:
        """A collective that is simulated as a whole begins when its last member has come to it."""
        members = [other for streams in self._trace.slices.values() for other in streams.get(found.stream, ())
                   if other.kind == "transfer" and other.batch == found.batch and not other.peers]
        last = max(members, key=lambda s: s.begin)
        overlaps = found.begin < last.begin < found.end
        self._spend(Part("collective"), last.begin if overlaps else found.begin)
        if overlaps:
            self._jump(last.rank, last.stream)

    def _name_stragglers(self) -> None:
        """Computation on a rank that computes for longer than the median rank is a wait for that rank, as far as it is
        longer."""
        totals = {rank: sum(s.end - s.begin for s in streams.get("main", ()) if s.kind == "compute")
                  for rank, streams in self._trace.slices.items()}
        if len(totals) < 2:
            return
        median = round(statistics.median(totals.values()))
        for rank, spent in self._by_rank.items():
            excess = min(totals[rank] - median, totals[rank]) if totals[rank] else 0
            if excess > _NEAR and excess > totals[rank] // 1000:
                slow = spent * excess // totals[rank]
                self._parts[Part("compute")] -= slow
                self._parts[Part("straggler", f"rank {rank}")] += slow


def _where(intra: bool) -> str:
    return "inside nodes" if intra else "between nodes"
