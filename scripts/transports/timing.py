"""Times repeated calls."""

from __future__ import annotations

import statistics
import time
from typing import Callable


def median_seconds(run: Callable[[], None], warm_up: int, repeat: int) -> float:
    """The median seconds of `repeat` consecutive calls on this rank, after `warm_up` calls."""
    for _ in range(warm_up):
        run()
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
