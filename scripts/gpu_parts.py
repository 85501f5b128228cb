"""Runs the parts of a long check one after the other, within a time budget.

Every part has its own limit. A part that reaches its limit has failed if it hangs, that is, if its output has shown no
progress for a while. A part that is only slow is left out, and so is a part for which the budget has no time left.
Parts that are left out have neither passed nor failed.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, TextIO

PASSED, FAILED, LEFT_OUT = "passed", "FAILED", "left out"
GRACE_S = 5  # time for a part to end after SIGTERM
RESERVE_S = 2 * GRACE_S  # seconds of a budget that are kept for ending the last part and for the summary
MIN_LEFT_S = 5  # a part starts only if the budget has at least so much time left
SHOWN_LINES = 40  # of the output of a part that failed
POLL_S = 0.2
# Matches the line that GoogleTest or unittest prints when a test has ended. Lines of several ranks may run together.
TEST_ENDED = rb"\[ +(OK|FAILED|SKIPPED) +\] \S|(^|\.\.\. )(ok|FAIL|ERROR|skipped .*)$"


@dataclass
class Part:
    name: str
    command: list[str]
    limit_s: float
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None  # where the part runs; None: in this program's folder
    absent: str = ""  # why the part cannot run here
    shown: bool = False  # its output goes to this program's output, not into a log
    progress: bytes = TEST_ENDED  # matches a line that shows progress
    quiet_s: float = 30  # a part without progress for this time hangs; inf: the part never counts as hanging


@dataclass
class Outcome:
    part: Part
    verdict: str
    note: str = ""
    output: str = ""


class Budget:
    """A budget in seconds from `began`, a time of time.monotonic(); 0 means no limit."""

    def __init__(self, seconds: float, began: float | None = None) -> None:
        self.seconds = seconds
        self.began = time.monotonic() if began is None else began

    def spent(self) -> float:
        return time.monotonic() - self.began

    def left(self) -> float:
        return self.seconds - RESERVE_S - self.spent() if self.seconds else float("inf")


def tally(output: str) -> str:
    """The number of tests that unittest or GoogleTest reports. If several ranks report, it is the largest number."""
    found = []
    for word in ("PASSED", "SKIPPED"):
        counts = [int(n) for n in re.findall(rf"\[  {word} +\] (\d+) tests?[.,]", output)]
        if counts:
            found.append(f"{max(counts)} {word.lower()}")
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    return ", ".join(found) or (f"{ran[1]} run" if ran else "")


def progress(output: str) -> str:
    """The number of tests that have passed, and the last test that has begun, according to GoogleTest's output."""
    begun = re.findall(r"\[ RUN      \] (\S+)", output)
    ended = len(set(re.findall(r"\[       OK \] (\S+)", output)))
    return f"{ended} tests had passed, the last begun is {begun[-1]}" if begun else ""


def out_of_time(part: Part, output: str, allowed_s: float, quiet_s: float) -> tuple[str, str]:
    """The verdict on a part that reached its limit, `quiet_s` seconds after its last progress, and the reason."""
    if quiet_s >= part.quiet_s:
        why = f"ran beyond its {allowed_s:.0f} s, nothing has ended in the last {part.quiet_s:.0f} s"
        return FAILED, joined(why, progress(output))
    return LEFT_OUT, joined(f"ran out of its {allowed_s:.0f} s", progress(output))


def joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def judged(part: Part, code: int | None, output: str, allowed_s: float, quiet_s: float) -> Outcome:
    """The outcome of a part. `code` is None if the part was stopped after `allowed_s`, which is less
    than its limit if the budget was short."""
    if code is None and re.search(r"^\[  FAILED  \]|^FAIL: |^ERROR: ", output, re.MULTILINE):
        note = joined(f"stopped after {allowed_s:.0f} s", progress(output))
        return Outcome(part, FAILED, note, output)
    if code is None and allowed_s < part.limit_s:
        note = joined(f"time; stopped after {allowed_s:.0f} s", progress(output))
        return Outcome(part, LEFT_OUT, note, output)
    if code is None:
        return Outcome(part, *out_of_time(part, output, allowed_s, quiet_s), output)
    if code != 0:
        return Outcome(part, FAILED, joined(f"exit code {code}", tally(output)), output)
    if re.search(r"^\[  PASSED  \] 0 tests", output, re.MULTILINE):
        return Outcome(part, LEFT_OUT, joined("all of its tests skipped themselves", tally(output)),
                       output)
    return Outcome(part, PASSED, tally(output), output)


def processes_in_session(session: int) -> list[int]:
    """The processes of a session. A process group does not suffice: the ranks of mpirun have their own groups."""
    members = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            members.append(int(status.parent.name))
    return members


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a part. It first ends the part's process, which, like mpirun, may end the processes that it has started;
    then it kills the remaining processes of the session."""
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    deadline = time.monotonic() + GRACE_S / 2
    while (remaining := processes_in_session(process.pid)) and time.monotonic() < deadline:
        for member in remaining:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        process.poll()


def wait_for(process: subprocess.Popen[bytes], part: Part, log: Path,
             allowed_s: float) -> tuple[int | None, float]:
    """Waits for a part. Returns its exit code, or None after `allowed_s`, and the seconds since its last progress."""
    last_progress = time.monotonic()
    deadline = last_progress + allowed_s
    with open(log, "rb") as output:
        partial_line = b""
        while True:
            now = time.monotonic()
            try:
                return process.wait(max(0, min(POLL_S, deadline - now))), now - last_progress
            except subprocess.TimeoutExpired:
                pass
            *lines, partial_line = (partial_line + output.read()).split(b"\n")
            if any(re.search(part.progress, line) for line in lines):
                last_progress = now
            if now >= deadline:
                return None, now - last_progress


def run_part(part: Part, log: Path, allowed_s: float) -> Outcome:
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as output:
        process = subprocess.Popen(
            part.command,
            cwd=part.folder,
            env={**os.environ, **part.environment},
            stdin=subprocess.DEVNULL,
            stdout=None if part.shown else output,
            stderr=None if part.shown else subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code, quiet_s = wait_for(process, part, log, allowed_s)
        finally:
            end(process)
    return judged(part, code, log.read_text(errors="replace"), allowed_s, quiet_s)


class Runner:
    """Runs parts, keeps their outcomes, and prints one line for each."""

    def __init__(self, budget: Budget, logs: Path, say: Callable[[str], None]) -> None:
        self.budget = budget
        self.logs = logs
        self.say = say
        self.outcomes: list[Outcome] = []

    def run(self, part: Part) -> Outcome:
        begun = self.budget.spent()
        allowed_s = min(part.limit_s, self.budget.left())
        log = self.logs / (re.sub(r"[^\w.]+", "-", part.name) + ".log")
        if part.absent:
            outcome = Outcome(part, LEFT_OUT, part.absent)
        elif allowed_s < MIN_LEFT_S and allowed_s < part.limit_s:
            outcome = Outcome(part, LEFT_OUT, "time")
        else:
            outcome = run_part(part, log, allowed_s)
        self.outcomes.append(outcome)
        took = self.budget.spent() - begun
        self.say(f"{self.budget.spent():6.1f} s  {outcome.verdict:8}  "
                 + joined(part.name, outcome.note, f"{took:.1f} s"))
        if outcome.verdict == FAILED and not part.shown:
            for line in outcome.output.splitlines()[-SHOWN_LINES:]:
                self.say(f"    | {line}")
            self.say(f"    all of it: {log}")
        return outcome

    def outcomes_with(self, verdict: str) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.verdict == verdict]

    def summarise(self) -> None:
        """Names the parts that failed and that were left out, by reason; then one line of totals."""
        for verdict in (FAILED, LEFT_OUT):
            for note in dict.fromkeys(outcome.note for outcome in self.outcomes_with(verdict)):
                names = [o.part.name for o in self.outcomes_with(verdict) if o.note == note]
                self.say(f"{verdict}, {note}: {' | '.join(names)}")
        counts = ", ".join(f"{len(self.outcomes_with(v))} {v}" for v in (PASSED, FAILED, LEFT_OUT))
        within = f" of {self.budget.seconds:.0f} s" if self.budget.seconds else ""
        self.say(f"parts: {counts}; {self.budget.spent():.0f} s{within}")


def say_to(out: TextIO) -> Callable[[str], None]:
    return lambda line: print(line, file=out, flush=True)
