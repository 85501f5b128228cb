"""JSON pointers."""

from __future__ import annotations

from typing import Any


def keys(pointer: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def child(pointer: str, key: str) -> str:
    """The pointer to the member `key` of the object at `pointer`."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


def lookup(document: Any, pointer: str) -> Any:
    """The value at `pointer`; None if there is none."""
    for key in keys(pointer):
        if isinstance(document, list):
            document = document[int(key)] if key.isdecimal() and int(key) < len(document) else None
        else:
            document = document.get(key) if isinstance(document, dict) else None
    return document
