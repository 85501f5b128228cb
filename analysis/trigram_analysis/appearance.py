"""The colour, marker and line of each algorithm of a comparison, the same in figures and on pages."""

from __future__ import annotations

import re
from itertools import count

COLOURS, MARKERS, LINES = 6, 6, 4  # the numbers of different colours, markers and lines
# The algorithms of the quick start have the same appearance in all reports.
_FIXED = ["gradient_allreduce", "bytegrad", "decentralized", "async_model_average"]


class Appearances:
    def __init__(self, algorithms: list[str]):
        self._places: dict[str, int] = {}
        free = count(len(_FIXED))
        for label in algorithms:
            family = re.split(r"[/ ]", label)[0]
            fixed = _FIXED.index(family) if family in _FIXED else None
            taken = fixed in self._places.values()
            self._places[label] = next(free) if fixed is None or taken else fixed

    def appearance(self, algorithm: str) -> tuple[int, int, int]:
        """The numbers of the algorithm's colour, marker and line. Algorithms that share a colour differ in marker and
        line, so that readers can distinguish them in black and white."""
        place = self._places[algorithm]
        turn = place // COLOURS
        return place % COLOURS, (place + turn) % MARKERS, turn % LINES
