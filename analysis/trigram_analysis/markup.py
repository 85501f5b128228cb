"""Small pieces of HTML."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import Any, Iterable


def escape(text: Any) -> str:
    return html.escape(str(text), quote=True)


def breakable(text: str) -> str:
    """Escapes `text`, and lets long names break after underscores, slashes, commas and the like."""
    return re.sub(r"([_/,(=])", r"\1<wbr>", escape(text))


def plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {plain(v)}" for k, v in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def table(titles: Iterable[str], rows: Iterable[Iterable[str]], classes: str = "") -> str:
    """An HTML table of text, which is escaped; all columns are aligned to the left. On narrow screens a row becomes a
    card, in which each cell is beside its title."""
    heads = [str(t) for t in titles]
    head = "".join(f'<th class="key">{escape(t)}</th>' for t in heads)
    head = f"<thead><tr>{head}</tr></thead>" if any(heads) else ""
    body = "".join("<tr>" + "".join(f'<td class="key"{label(t)}>{escape(c)}</td>' for t, c in zip(heads, row)) + "</tr>"
                   for row in rows)
    return scrolling(f'<table class="cards {classes}">{head}<tbody>{body}</tbody></table>')


def label(title: str) -> str:
    """The attribute that names a cell's column where the table's head is not shown."""
    return f' data-label="{escape(title)}"' if title else ""


def scrolling(content: str, name: str = "table") -> str:
    """A box that scrolls if its content is too wide, by the keyboard, too."""
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(name)}">{content}</div>'


def details(summary: str, body: str, is_open: bool = False) -> str:
    return (f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>"
            f"{body}</details>")


def copy_button(label: str, text: str) -> str:
    """A button that copies `text`. Without JavaScript it is hidden; the text is also elsewhere on the page."""
    return f'<button type="button" class="copy" data-copy="{escape(text)}">{escape(label)}</button>'


def listed(names: list[str]) -> str:
    """The names as words: "a, b and c"."""
    return " and ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + names[-1:])


# Filled by the page's script, from the headings.
CONTENTS = '<nav class="toc" aria-label="contents"></nav>'
_MOST_CAVEATS = 5  # that are not folded


def caveat_list(lines: list[str]) -> str:
    """The list of caveats; all but the first few are folded."""
    def items(some: list[str]) -> str:
        return "<ul>" + "".join(f"<li>{breakable(line)}</li>" for line in some) + "</ul>"

    if not lines:
        return ""
    more = lines[_MOST_CAVEATS:]
    return (f'<div class="caveats"><h3>Caveats</h3>{items(lines[:_MOST_CAVEATS])}'
            + (details(f"{len(more)} more", items(more)) if more else "") + "</div>")


@dataclass(frozen=True)
class Bar:
    """A bar of a ranking: the name and the appearance of an algorithm, its value, and the value as text."""

    name: str
    look: tuple[int, int, int]
    value: float
    text: str


def bars(title: str, shown: list[Bar]) -> str:
    """A figure of horizontal bars, which needs no JavaScript; empty if the bars show no difference."""
    longest = max((abs(bar.value) for bar in shown), default=0.0)
    if len(shown) < 2 or not longest:
        return ""
    rows = "".join(
        f'<div class="row"><span class="name">{breakable(bar.name)}</span><div class="bar"><i style="background:'
        f'var(--series-{bar.look[0]});width:{100 * abs(bar.value) / longest:.2f}%"></i></div>'
        f'<span class="total">{escape(bar.text)}</span></div>' for bar in shown)
    return f'<figure class="ranking"><h4><span>{escape(title)}</span></h4><div class="bars">{rows}</div></figure>'
