"""How long a repeated call takes."""

from __future__ import annotations

import statistics
import time
from typing import Callable


def median_seconds(run: Callable[[], None], warm_up: int, repeat: int) -> float:
    """The median of `repeat` calls one after another, of this rank, after calls that do not count."""
    for _ in range(warm_up):
        run()
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)
