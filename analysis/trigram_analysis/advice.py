"""The answer of `trigram advise`, as the program stores it in advice.json beside the runs on the user's network."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import readable, units
from .comparison import Comparison
from .markup import listed, plain
from .results import Run

FILE = "advice.json"
_SEARCH = "-search"  # the end of the name of the folder with the runs on other networks


@dataclass
class Advice:
    """An answer, and the runs on the user's network that it ranks. `document` is described in docs/advise-json.md."""

    document: dict[str, Any]
    runs: list[Run]

    @cached_property
    def candidates(self) -> list[dict[str, Any]]:
        return [c for c in self.document["candidates"] if isinstance(c, dict)]

    @cached_property
    def names(self) -> list[str]:
        """A name for each candidate: that of its algorithm, with its settings if other candidates have that name."""
        counts = Counter(c["algorithm"] for c in self.candidates)
        return [c["algorithm"] if counts[c["algorithm"]] == 1 else f"{c['algorithm']} ({settings_text(c['settings'])})"
                for c in self.candidates]

    def name_of(self, settings: Any) -> str:
        return next((name for name, c in zip(self.names, self.candidates) if c["settings"] == settings),
                    plain(settings))

    @cached_property
    def level(self) -> str:
        """The target as users write it, such as "accuracy=0.8"; empty if throughput is compared."""
        target = str(self.document["target"])
        return "" if target == "throughput" else target

    def time_s(self, candidate: dict[str, Any]) -> float | None:
        """The time to the target; None if there is none, or the candidate does not reach it."""
        return candidate.get(f"time_to_{self.level.split('=')[0]}_s") if self.level else None

    def cost_text(self, candidate: dict[str, Any]) -> str:
        """What the candidates are ranked by: "3,619 samples/s" or "32.3 s to accuracy=0.8"."""
        if self.level:
            time_s = self.time_s(candidate)
            return "" if time_s is None else f"{units.seconds(time_s)} to {self.level}"
        rate = candidate["samples_per_s"]
        return "" if rate is None else f"{units.significant(rate)} samples/s"

    @property
    def leaders(self) -> list[str]:
        """The first candidate, and the candidates that tie with it; none if no candidate can be ranked."""
        if not self.candidates or not self._is_ranked(self.candidates[0]):
            return []
        tied = [name for name, c in zip(self.names, self.candidates) if c["tied"]]
        return tied or self.names[:1]

    def _is_ranked(self, candidate: dict[str, Any]) -> bool:
        return candidate["not_compared"] is None and bool(self.cost_text(candidate))

    def behind_text(self, i: int) -> str:
        candidate = self.candidates[i]
        if candidate["not_compared"] is not None:
            return "not compared"
        if candidate["behind"] is not None:
            return f"{candidate['behind']:.1%}" if i else "–"
        if not self.cost_text(candidate):
            return "–"
        return "tie" if candidate["tied"] else "not ranked"

    @property
    def comparison(self) -> Comparison:
        """The runs of the candidates at a single setting, the user's network."""
        by_id = {run.id: run for run in self.runs}
        labels = {by_id[c["run"]].path: name for name, c in zip(self.names, self.candidates) if c["run"] in by_id}
        return Comparison(self.runs[0].name, [run for run in self.runs if run.path in labels], labels)


def settings_text(settings: dict[str, Any]) -> str:
    """The settings of a candidate as the program prints them: "codec=sign hierarchical=true"."""
    named = {pointer: value for pointer, value in settings.items()
             if pointer != "/algorithm" or isinstance(value, dict)}
    return " ".join(part for pointer, value in named.items() for part in _options(pointer.rsplit("/", 1)[-1], value))


def _options(key: str, value: Any) -> list[str]:
    """"key=value", or the options of an object, without its name."""
    if isinstance(value, dict):
        return [part for k, v in value.items() if k != "name" for part in _options(k, v)]
    return [f"{key}={value if isinstance(value, str) else json.dumps(value)}"]


def advice_of(runs: list[Run]) -> Advice | None:
    """The answer that was given from these runs of one name; None if there is none, or it cannot be read."""
    for folder in sorted({run.path.parent for run in runs}):
        document = _read(folder)
        if document is None:
            continue
        ids = {c.get("run") for c in document["candidates"] if isinstance(c, dict)}
        ranked = [run for run in runs if run.path.parent == folder and run.id in ids]
        if ranked:
            return Advice(document, ranked)
    return None


def is_search(runs: list[Run]) -> bool:
    """True for the runs on other networks from which `trigram advise` found where its answer changes."""
    folders = {run.path.parent for run in runs}
    return all(folder.name.endswith(_SEARCH) and _read(folder.with_name(folder.name.removesuffix(_SEARCH)))
               for folder in folders)


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(readable.read_text(folder / FILE))
    except (OSError, ValueError, RecursionError):
        return None
    usable = isinstance(document, dict) and isinstance(document.get("candidates"), list)
    return document if usable and not readable.bad_value(document) else None


@dataclass(frozen=True)
class Flip:
    """How far a quantity can change until another candidate is first. The values are texts: `now`, as described; `to`,
    where the search ended; `first`, the candidate that is then first, empty if it is the same one."""

    quantity: str
    now: str
    to: str
    first: str
    unknown: str  # why it is not known who is first, or which candidates could not be compared
    factor: float | None

    @property
    def text(self) -> str:
        return self.first or "the same"


def flips(advice: Advice) -> list[Flip]:
    where = "inside the node" if advice.document["cluster"].get("nodes") == 1 else "between nodes"
    return [_flip(advice, flip, where) for flip in advice.document["flips"]]


def _flip(advice: Advice, flip: dict[str, Any], where: str) -> Flip:
    quantity = flip["quantity"]
    unit = "_Bps" if quantity == "bandwidth" else "_s"
    show = _bandwidth if quantity == "bandwidth" else _duration
    key = next(key for key in ("flips", "unknown", "limit") if f"{key}{unit}" in flip or f"{key}_factor" in flip)
    changes, up = key != "limit", flip["direction"] == "up"
    direction = ("above" if up else "below") if changes else ("up to" if up else "down to")
    value, factor = flip.get(f"{key}{unit}"), flip.get(f"{key}_factor")
    now = "0" if factor is None else show(value / factor)
    times = "" if factor is None else f" ({factor:.3g}×)"
    not_compared = [advice.name_of(settings) for settings in flip["not_compared"]]
    unknown = flip["not_known"] and f"not known: {advice.names[0]} {flip['not_known']}"
    return Flip("a step's computation" if quantity == "step_time" else f"{quantity} {where}", now,
                f"{direction} {show(value)}{times}",
                advice.name_of(flip["first"]) if flip["first"] is not None else "",
                unknown or (f"not compared: {listed(not_compared)}" if not_compared else ""), factor)


def _bandwidth(Bps: float) -> str:
    bps = 8 * Bps
    return next(f"{bps / scale:.3g} {unit}" for scale, unit in
                ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (0, "bps")) if bps >= scale or not scale)


def _duration(seconds: float) -> str:
    if 0 < seconds < 1e-6:
        return f"{1e9 * seconds:.3g} ns"
    return units.show(f"{seconds:.3g}s")
