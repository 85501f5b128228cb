"""Small pieces of HTML."""

from __future__ import annotations

import html
import json
import re
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
    """An HTML table of text, which is escaped; all columns are aligned to the left."""
    head = "".join(f'<th class="key">{escape(t)}</th>' for t in titles)
    body = "".join("<tr>" + "".join(f'<td class="key">{escape(c)}</td>' for c in row) + "</tr>"
                   for row in rows)
    return (f'<div class="wide"><table class="{classes}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def details(summary: str, body: str, is_open: bool = False) -> str:
    return (f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>"
            f"{body}</details>")


def copy_button(label: str, text: str) -> str:
    """A button that copies `text`. Without JavaScript it is hidden; the text is also elsewhere on the page."""
    return f'<button type="button" class="copy" data-copy="{escape(text)}">{escape(label)}</button>'
