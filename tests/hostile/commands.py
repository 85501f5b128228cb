"""Runs a command on hostile input, and checks that it ends as documented."""

from __future__ import annotations

import re
import resource
import subprocess
from pathlib import Path
from typing import Any

from base import TRIGRAM

MEMORY = 8 << 30  # bytes: more than small experiments need, but less than the machine has
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
NOT_FINITE = re.compile(r"(?i)(?<![\w.+-])[+-]?(?:nan|inf|infinity)(?![\w.])")


def with_less_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def call(folder: Path, *arguments: Any, timeout_s: float = 60) -> tuple[int, str, str]:
    """(exit code, stdout, stderr). A negative exit code is a signal; -1000 means that it hung."""
    try:
        done = subprocess.run(
            [TRIGRAM, *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout_s,
            preexec_fn=with_less_memory,
        )
    except subprocess.TimeoutExpired:
        return -1000, "", ""
    return done.returncode, *(text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))


def wrong_end(code: int, out: str, err: str, expected: tuple[int, ...]) -> str:
    """The problem with the end of a command; empty if it ends as documented."""
    if code == -1000:
        return "hangs"
    if code < 0:
        return f"ends by signal {-code}: {err[-300:]}"
    if code not in expected:
        return f"exit code {code}, expected one of {expected}: {err[-300:]}"
    if "Traceback" in err or "terminate called" in err or "what():" in err:
        return f"an exception: {err[-400:]}"
    return wrong_refusal(out, err) if code == 2 else ""


def wrong_refusal(out: str, err: str) -> str:
    """The problem with a refusal; empty if it has one line for each mistake, with the place of the mistake."""
    *lines, rest = err.split("\n")
    if out:
        return f"prints something although it refuses: {out[:200]}"
    if not lines or rest:
        return f"not whole lines: {err[:400]!r}"
    return next(filter(None, map(wrong_line, lines)), "")


def wrong_line(line: str) -> str:
    if not re.match("trigram(_analysis)?: ", line):
        return f"not a line of the program's: {line[:400]!r}"
    if CONTROL.search(line):
        return f"control characters: {line[:300]!r}"
    if len(line) > 10_000:
        return f"a line of {len(line)} characters: {line[:200]!r}"
    if not re.search(r"/|--\w|\.json|\.csv|^\w+: ([^:]+: .|\w+ is required)", line):
        return f"neither file nor pointer nor option: {line!r}"
    return ""
