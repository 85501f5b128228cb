"""Helpers of the hostile suites: the command, the number of cases, and the seed of all draws.

With HOSTILE=slow, the suites check all cases, otherwise a sample. HOSTILE_SEED changes the seed, which every failure
prints."""

from __future__ import annotations

import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Sequence

SOURCE = Path(os.environ["SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from harness import CLUSTER, TRIGRAM, CommandTest, listed, needs_simulator, read_json, worlds  # noqa: E402

__all__ = [
    "CLUSTER",
    "SEED",
    "SOURCE",
    "TRIGRAM",
    "CommandTest",
    "HostileTest",
    "amount",
    "draws_of",
    "listed",
    "needs_simulator",
    "read_json",
    "worlds",
]

SEED = int(os.environ.get("HOSTILE_SEED", "1"))


def amount(fast: int, slow: int) -> int:
    """The number of cases for this process: `slow` if HOSTILE=slow, else `fast`."""
    return slow if os.environ.get("HOSTILE") == "slow" else fast


def draws_of(*what: object) -> random.Random:
    """The random source of the case that `what` names. Its draws do not depend on other cases."""
    return random.Random("/".join(map(str, (SEED, *what))))


class HostileTest(CommandTest):
    def check_all(self, check: Callable[[Any], str], cases: Sequence[Any]) -> None:
        """Checks all cases, two at a time. `check` returns the problem of a case; empty if there is none."""
        with ThreadPoolExecutor(2) as pool:
            problems = [problem for problem in pool.map(check, cases) if problem]
        if problems:
            self.fail(f"HOSTILE_SEED={SEED}: {len(problems)} of {len(cases)}:\n" + "\n".join(problems))
