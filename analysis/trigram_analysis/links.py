"""The links of an emulated network, as measured before each run."""

from __future__ import annotations

import math
from typing import Any, Iterator, Sequence

from .markup import escape, label, scrolling
from .results import Run, sweep_label

_COLUMNS = ("run", "link", "bandwidth: configured", "achieved", "latency: configured", "achieved", "off by")


def listing(runs: Sequence[Run]) -> str:
    """The table of links, as HTML; it is open if some link deviates. Empty if no network was emulated."""
    rows = [(run, link) for run in runs for link in _links(run)]
    if not rows:
        return ""
    off = sum(link.get("warning") is True for _, link in rows)
    found = f"{off} of {len(rows)} more than 5 % off" if off else "none more than 5 % off"
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(_row(run, link) for run, link in rows)
    return (f"<details{' open' if off else ''}><summary>Links of the emulated network, measured "
            f'before each run: {found}</summary>' + scrolling(
                f'<table class="cards"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>') + "</details>\n")


def _links(run: Run) -> Iterator[dict[str, Any]]:
    found = run.manifest.get("links")
    yield from (link for link in (found if isinstance(found, list) else []) if isinstance(link, dict))


def _row(run: Run, link: dict[str, Any]) -> str:
    off = _number(link, "off", 100, "+.1f")
    cells = [sweep_label(run.sweep) or run.id, str(link.get("link")),
             _number(link, "bandwidth_Bps", 8e-6) + " Mbit/s",
             _number(link, "achieved_Bps", 8e-6) + " Mbit/s",
             _number(link, "latency_s", 1e3) + " ms",
             _number(link, "achieved_latency_s", 1e3) + " ms",
             f"<b>{off} %</b>" if link.get("warning") is True else f"{off} %"]
    return "<tr>" + "".join(f'<td{" class=key" if i < 2 else ""}{label(name)}>{cell if i >= 2 else escape(cell)}</td>'
                            for i, (name, cell) in enumerate(zip(_COLUMNS, cells))) + "</tr>"


def _number(link: dict[str, Any], key: str, scale: float, form: str = ".4g") -> str:
    value = link.get(key)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return "?"
    return format(scale * value, form)
