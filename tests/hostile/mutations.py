"""Faulty experiments: mutated JSON trees, and damaged texts."""

from __future__ import annotations

import json
import random
from typing import Any

Json = dict[str, Any]

ODD_VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 0.5, -0.0, 1e308, 5e-324, 2**31, 2**53 + 1, 2**63, -(2**63), 10**30,
    "", " ", "0", "sim", "none", "null", "-1", "NaN", "Infinity", "1e309s", "-1s", "1 s", "0s",
    "1e308GB/s", "0bps", "1e-300bps", "1bps", "1e30us", "5", "10GBps", "1..5Gbps", "1e999B", "0B",
    "../../x", "/", "//", "~", "a" * 5000, "a/b", "\x00", "\x1b[31m", "é", "\U0001d11e", "\n\n", "%s%n",
    [], {}, [[]], [None], [1, 2, 3], {"name": None}, {"name": "sim"}, {"name": []}, {"": 1}, {"a": {"b": []}},
]
ODD_KEYS = ["", "name", "nodez", "$schema", "zip", "sweep", "~0", "a/b", "é", "\x07", "bandwidth"]
# Values that JSON trees cannot contain, but texts can.
ODD_WORDS = [
    "1e309", "-1e309", "NaN", "Infinity", "1e-400", "0x10", "01", "1.", "'a'", '"\\ud800"', '"\t"',
    "nul", "/* */ 1", "// \n 1", "[" * 300 + "]" * 300,
]


def places(tree: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every container in `tree`, with each of its keys."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        found.append((tree, key))
        if isinstance(value, (dict, list)):
            places(value, found)
    return found


def mutate(rng: random.Random, tree: Json) -> None:
    """Changes one thing in `tree`."""
    if not (all_places := places(tree, [])):
        return
    container, key = rng.choice(all_places)
    kind = rng.randrange(7)
    if kind == 0:
        del container[key]
    elif kind == 1 and isinstance(container, dict):
        container[rng.choice([*ODD_KEYS, str(key) + "x", str(key)[:-1]])] = container.pop(key)
    elif kind == 2 and isinstance(container, dict):
        container[rng.choice(ODD_KEYS)] = rng.choice(ODD_VALUES)
    elif kind == 3:
        other, from_key = rng.choice(all_places)
        container[key] = json.loads(json.dumps(other.get(from_key) if isinstance(other, dict) else other))
    elif kind == 4 and isinstance(container[key], str) and container[key]:
        at = rng.randrange(len(container[key]))
        container[key] = container[key][:at] + rng.choice("0-.eG/ xµ") + container[key][at + 1 :]
    elif kind == 5 and isinstance(container[key], (int, float)):
        container[key] = rng.choice([-container[key], container[key] * 1e9, container[key] + 0.5])
    else:
        container[key] = rng.choice(ODD_VALUES)


def damage(rng: random.Random, text: bytes) -> bytes:
    """Cuts, flips, repeats or overwrites something in `text`."""
    if not text:
        return b"\xff"
    at = rng.randrange(len(text))
    kind = rng.randrange(6)
    if kind == 0:
        return text[:at]
    if kind == 1:
        flipped = bytearray(text)
        for _ in range(rng.choice([1, 1, 8])):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        return bytes(flipped)
    if kind == 2:
        return text[:at] + text[rng.randrange(len(text)) :]
    if kind == 3:
        return text + text[:at]
    if kind == 4:
        return text[:at] + rng.randbytes(rng.randint(1, 20)) + text[at:]
    numbers = [i for i in range(len(text)) if text[i : i + 1].isdigit()]
    if not numbers:
        return b""
    at = rng.choice(numbers)
    return text[:at] + rng.choice(ODD_WORDS).encode() + text[at + 1 :]


def mutated(rng: random.Random, config: Json, damage_text: bool = True) -> bytes:
    tree = json.loads(json.dumps(config))
    for _ in range(rng.choice([0, 1, 1, 1, 2, 4]) if damage_text else rng.choice([1, 1, 2, 3])):
        mutate(rng, tree)
    text = json.dumps(tree, indent=rng.choice([None, 2]), ensure_ascii=rng.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )
    return damage(rng, text) if damage_text and rng.random() < 0.25 else text
