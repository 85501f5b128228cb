"""The parts that hostile suites share: the command, the amount of work, and the seed of all draws.

HOSTILE=slow asks for the whole amount of work, anything else for a bounded sample. HOSTILE_SEED
changes the seed, which every failure prints."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

SOURCE = Path(os.environ["SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from harness import TRIGRAM, CommandTest, worlds  # noqa: E402

__all__ = ["SEED", "SOURCE", "TRIGRAM", "CommandTest", "amount", "draws_of", "worlds"]

SEED = int(os.environ.get("HOSTILE_SEED", "1"))


def amount(fast: int, slow: int) -> int:
    """The number of cases for this process: `slow` if HOSTILE=slow, else `fast`."""
    return slow if os.environ.get("HOSTILE") == "slow" else fast


def draws_of(*what: object) -> random.Random:
    """The random source for one case, which `what` names. Its draws do not depend on how many other cases are drawn."""
    return random.Random("/".join(map(str, (SEED, *what))))
