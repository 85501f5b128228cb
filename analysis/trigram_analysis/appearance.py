"""The colour, marker and line of each algorithm of a comparison, the same in figures and on pages."""

from __future__ import annotations

import re

COLOURS = MARKERS = 12  # the numbers of different colours and markers
LINES = 4
# The algorithms of the quick start have the same appearance in all reports that have at most twelve algorithms.
_FIXED = ["gradient_allreduce", "bytegrad", "decentralized", "async_model_average"]


class Appearances:
    def __init__(self, algorithms: list[str]):
        self._places: dict[str, int] = {}
        for label in algorithms if len(algorithms) <= COLOURS else ():
            family = re.split(r"[/ ]", label)[0]
            place = _FIXED.index(family) if family in _FIXED else None
            if place is not None and place not in self._places.values():
                self._places[label] = place
        # The places of absent algorithms are taken only when all others are.
        used, begin = set(self._places.values()), len(_FIXED) if self._places else 0
        free = (place for place in [*range(begin, max(COLOURS, len(algorithms))), *range(begin)] if place not in used)
        for label in algorithms:
            if label not in self._places:
                self._places[label] = next(free)

    def appearance(self, algorithm: str) -> tuple[int, int, int]:
        """The numbers of the algorithm's colour, marker and line. Up to twelve algorithms differ in colour and in
        marker. Algorithms that share a colour differ in marker, so that readers can distinguish them in black and
        white."""
        place = self._places[algorithm]
        turn = place // COLOURS
        return place % COLOURS, (place + turn) % MARKERS, place * 2 // COLOURS % LINES
