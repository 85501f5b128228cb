"""Makes text from inputs safe to print."""

from __future__ import annotations

import unicodedata

_MOVES_THE_CURSOR = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control characters, writing directions, line breaks


def printable(text: str) -> str:
    """The text as one line; characters that control a terminal are escaped."""
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in _MOVES_THE_CURSOR else c
                   for c in text)
