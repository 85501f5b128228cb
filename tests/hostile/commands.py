"""Runs a command on hostile input and says in which way it did not end as documented."""

from __future__ import annotations

import re
import resource
import subprocess
from pathlib import Path
from typing import Any

from base import TRIGRAM

MEMORY = 8 << 30  # bytes: more than any small experiment takes, less than the machine has
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
NOT_FINITE = re.compile(r"(?i)(?<![\w.+-])[+-]?(?:nan|inf|infinity)(?![\w.])")


def with_less_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def call(folder: Path, *arguments: Any, timeout_s: float = 60) -> tuple[int, str, str]:
    """Exit code (negative: a signal; -1000: it hung), stdout, stderr."""
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
    """What is wrong with how a command ended; empty: nothing."""
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
    """Bad input is one line that says where it is."""
    lines = err.split("\n")
    if out:
        return f"prints something although it refuses: {out[:200]}"
    if len(lines) != 2 or lines[1] or not re.match("trigram(_analysis)?: ", lines[0]):
        return f"not one line: {err[:400]!r}"
    if CONTROL.search(lines[0]):
        return f"control characters: {lines[0][:300]!r}"
    if len(lines[0]) > 10_000:
        return f"a line of {len(lines[0])} characters: {lines[0][:200]!r}"
    if not re.search(r"/|--\w|\.json|\.csv|^\w+: ([^:]+: .|\w+ is required)", lines[0]):
        return f"neither file nor pointer nor option: {lines[0]!r}"
    return ""
