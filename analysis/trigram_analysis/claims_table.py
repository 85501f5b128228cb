"""Formats claims for people: as text, and as a section of the report."""

from __future__ import annotations

from statistics import median

from .claim_cells import Cell, Ordering, SpeedUp
from .claims import Claim
from .markup import breakable, details, escape, label, scrolling
from .units import significant


def as_text(claims: list[Claim]) -> str:
    return "\n\n".join(_claim_text(claim) for claim in claims)


def as_html(claims: list[Claim]) -> str:
    """The section of the report; empty if there are no claims."""
    if not claims:
        return ""
    return ('<section id="claims"><h2>What was published</h2>'
            f'{"".join(_claim_html(claim) for claim in claims)}</section>')


def verdict(claim: Claim) -> str:
    if claim.failures:
        return "missed: " + "; ".join(claim.failures)
    if not claim.misses:
        return "holds"
    return "misses, as declared: " + "; ".join(f"{text} ({claim.expected[respect]})"
                                               for respect, text in claim.misses.items())


def summary(claim: Claim) -> str:
    """One line with the errors, the order and the speed-ups, each with its limits."""
    parts, t = [], claim.tolerance
    fitted = any(cell.fitted for cell in claim.cells)
    if claim.errors:
        cells = f" of {len(claim.errors)} cells that nothing was fitted to" if fitted and not t.counts_fitted else ""
        parts.append(f"error{cells}: median {median(claim.errors):.1%}"
                    + (f" (at most {t.median:.0%})" if t.median is not None else "")
                    + f", greatest {max(claim.errors):.1%}"
                    + (f" (at most {t.worst_text})" if t.worst is not None else ""))
    if claim.predicted_errors and fitted and t.counts_fitted:
        parts.append(f"of {len(claim.predicted_errors)} cells that nothing was fitted to: "
                    f"median {median(claim.predicted_errors):.1%}"
                    + (f" (at most {t.predicted_median:.0%})" if t.predicted_median is not None else ""))
    if t.apart is not None:
        right = sum(pair.holds for pair in claim.orderings)
        parts.append(f"order: {right} of {len(claim.orderings)} pairs that are published more than "
                    f"{t.apart:.0%} apart (at most {t.wrong} wrong)")
    if claim.speed_ups:
        parts.append(f"speed-ups: {sum(s.holds for s in claim.speed_ups)} of {len(claim.speed_ups)} "
                    "within what is allowed")
    if claim.superseded:
        parts.append(f"{claim.superseded} older runs of the same cells are left aside")
    if claim.unusable:
        parts.append(f"{len(claim.unusable)} runs answer no cell: {claim.unusable[0]}")
    return "; ".join(parts)


def _titles(claim: Claim) -> list[str]:
    return [*claim.columns, f"published, {claim.unit}", "simulated", "ratio", "verdict", "cause, as far as known"]


def _row(claim: Claim, cell: Cell) -> list[str]:
    published = ("~" if cell.approximate else "") + significant(cell.published)
    if cell.simulated is None or cell.ratio is None:
        return [*cell.key.values(), published, "", "", "no run", cell.cause]
    missed = claim.counts(cell) and not claim.holds(cell)
    return [*cell.key.values(), published, significant(cell.simulated), f"{cell.ratio:.3f}",
            "missed" if missed else "fitted" if cell.fitted else "", cell.cause if missed else ""]


def _speed_up_titles(claim: Claim) -> list[str]:
    return [*claim.columns[:-1], "speed-up", "published", "simulated", "difference", "allowed",
            "verdict", "cause, as far as known"]


def _speed_up_row(speed_up: SpeedUp) -> list[str]:
    start = [*speed_up.setting.values(), speed_up.name, f"{speed_up.published:.3f}"]
    if speed_up.simulated is None or speed_up.difference is None:
        return [*start, "", "", f"{speed_up.allowed:.2f}", "no run", speed_up.cause]
    return [*start, f"{speed_up.simulated:.3f}", f"{speed_up.difference:+.3f}",
            f"{speed_up.allowed:.2f}", "" if speed_up.holds else "missed",
            "" if speed_up.holds else speed_up.cause]


def _order_titles(claim: Claim) -> list[str]:
    return [*claim.columns, "order", f"published more than {claim.tolerance.apart:.0%} below"]


def _order_rows(claim: Claim) -> list[list[str]]:
    """One row for each cell that is clearly below other cells, with the verdict on each of these pairs."""
    above: dict[tuple[str, ...], list[Ordering]] = {}
    for pair in claim.orderings:
        above.setdefault(tuple(pair.smaller.key.values()), []).append(pair)
    return [[*key, _order_verdict(pairs), ", ".join(map(_larger, pairs))] for key, pairs in above.items()]


def _larger(pair: Ordering) -> str:
    return list(pair.larger.key.values())[-1]


def _order_verdict(pairs: list[Ordering]) -> str:
    wrong = [_larger(pair) for pair in pairs if not pair.holds]
    return f"wrong: {', '.join(wrong)}" if wrong else "right"


def _claim_text(claim: Claim) -> str:
    words = len(claim.columns)
    lines = _aligned([_titles(claim), *(_row(claim, cell) for cell in claim.cells)],
                     range(words, words + 3))
    if claim.speed_ups:
        rows = [_speed_up_titles(claim), *map(_speed_up_row, claim.speed_ups)]
        lines += ["", *_aligned(rows, range(words, words + 4))]
    if orders := _order_rows(claim):
        lines += ["", *_aligned([_order_titles(claim), *orders], range(0))]
    return "\n".join([claim.title, f"({claim.command})", "", *lines, "", summary(claim), verdict(claim)])


def _aligned(rows: list[list[str]], numbers: range) -> list[str]:
    """The lines of a table whose first row is its head. Empty columns are left out."""
    used = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in used}
    lines = ["  ".join(row[i].rjust(widths[i]) if i in numbers else row[i].ljust(widths[i])
                       for i in used).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * widths[i] for i in used))
    return lines


def _claim_html(claim: Claim) -> str:
    words = len(claim.columns)
    table = _html_table(_titles(claim), [_row(claim, cell) for cell in claim.cells],
                        range(words, words + 3))
    if orders := _order_rows(claim):
        table += _html_table(_order_titles(claim), orders, range(0))
    if claim.speed_ups:
        table += _html_table(_speed_up_titles(claim), [_speed_up_row(s) for s in claim.speed_ups],
                             range(words, words + 4))
    return (f"<h3>{escape(claim.title)}</h3><p><b>{escape(verdict(claim))}</b>. {escape(summary(claim))}."
            f'</p><p class="soft"><code>{escape(claim.command)}</code>, about {claim.minutes:g} min</p>'
            + details("Cell by cell", table))


def _html_table(titles: list[str], rows: list[list[str]], numbers: range) -> str:
    head = "".join(f"<th{'' if i else ' class=key'}>{escape(t)}</th>" for i, t in enumerate(titles))
    body = "".join(
        "<tr>" + "".join(f"<td{'' if i in numbers else ' class=key'}{label(titles[i])}>{breakable(text)}</td>"
                         for i, text in enumerate(row)) + "</tr>" for row in rows)
    return scrolling(f'<table class="cards sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')
