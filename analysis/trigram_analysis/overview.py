"""The winner map as an HTML table, which needs no JavaScript, and a headline for each experiment."""

from __future__ import annotations

import re
from collections import Counter

from .axes import Value
from .comparison import Comparison, Setting
from .appearance import Appearances
from .markup import breakable, escape, label, scrolling
from .measures import Measure, measures
from .winner_map import Winner, map_axes, unranked, winner
from . import units


def show(value: float, kind: str) -> str:
    if kind == "s":
        return units.seconds(value)
    if kind == "B":
        return units.nbytes(value)
    return f"{value:.1%}" if kind == "share" else units.significant(value)


def deciding(comparison: Comparison) -> Measure | None:
    return next((m for m in measures(comparison) if m.better), None)


def winner_map(comparison: Comparison) -> str:
    """The winner map of the deciding measure. Options beyond the two of the map are fixed at the middle setting."""
    measure = deciding(comparison)
    if measure is None:
        return "<p>No finished run says anything here.</p>"
    x, y = map_axes(comparison)
    middle = comparison.middle_setting
    fixed = {i: v for i, v in enumerate(middle) if i not in (x, y)}
    settings = {_place(s, x, y): s for s in comparison.settings
                if all(s[i].key == v.key for i, v in fixed.items())}
    columns, rows = axis_values(comparison, x), axis_values(comparison, y)
    appearances = Appearances(comparison.algorithms)
    head = "".join(f"<th>{escape(v.label)}</th>" for v in columns if v)
    body = []
    for row in rows:
        head_of_row = f'<th scope="row">{escape(row.label)}</th>' if row else ""
        cells = "".join(_cell(comparison, measure, appearances, settings.get((_key(c), _key(row))), c)
                        for c in columns)
        body.append(f"<tr>{head_of_row}{cells}</tr>")
    corner = f"<th>{escape(_titles(comparison, x, y))}</th>" if y is not None else ""
    width = 7.6 * (len(columns) + (y is not None))
    return scrolling(f'<table class="map" style="--wide:{width}rem"><caption>'
                     f'{escape(measure.title)}{_fixed(comparison, fixed)}'
                     f"</caption><thead><tr>{corner}{head}</tr></thead><tbody>{''.join(body)}</tbody></table>",
                     "winner map")


def headline(comparison: Comparison) -> str:
    """Says how many settings each algorithm wins."""
    measure = deciding(comparison)
    found = [winner(comparison, s, measure) for s in comparison.settings] if measure else []
    won = [w for w in found if w is not None]
    if measure is None or not won or len(comparison.algorithms) < 2:
        return ""
    counts = Counter("not ranked" if w.rivals else w.leaders[0] if len(w.leaders) == 1 else "a tie" for w in won)
    if len(won) == 1:
        return f"{', '.join(won[0].leaders)} first in {measure.title}{_headline_qualification(won[0])}"
    parts = [f"{name} in {n} of {len(won)}" for name, n in counts.most_common(4)]
    return f"first in {measure.title}: {', '.join(parts)} settings"


def _cell(comparison: Comparison, measure: Measure, appearances: Appearances,
          setting: Setting | None, column: Value | None) -> str:
    best = winner(comparison, setting, measure) if setting is not None else None
    name = label(_with_title(comparison, column)) if column else ""
    if best is None:
        return f'<td class="none"{name}>{reason_without_winner(comparison, measure, setting)}</td>'
    colour = appearances.appearance(best.leaders[0])[0]
    kind = "tie" if undecided(best) else "won"
    return (f'<td class="{kind}"{name} style="--c:var(--series-{colour})" title="{escape(", ".join(best.leaders))}">'
            f"<b>{breakable(leaders_text(best))}</b><span>{escape(value_text(best, measure))}</span>"
            f"<small>{escape(margin(best))}</small></td>")


def _with_title(comparison: Comparison, column: Value) -> str:
    """The value of a column where the head is not shown: with the title of its axis if it has no unit."""
    x, _ = map_axes(comparison)
    bare = not re.search("[A-Za-z]", column.label) and x is not None
    return f"{comparison.axes[x].title} {column.label}" if bare else column.label


def value_text(best: Winner, measure: Measure) -> str:
    """The winner's value, with a mark if it is known from few evaluations only."""
    return ("~ " if best.coarse else "") + show(best.value, measure.kind)


def leaders_text(best: Winner) -> str:
    if len(best.leaders) == 1:
        return best.leaders[0]
    if len(best.leaders) == 2:
        return " = ".join(best.leaders)
    return f"{best.leaders[0]} and {len(best.leaders) - 1} more tie"


def undecided(best: Winner) -> bool:
    return len(best.leaders) > 1 or bool(best.rivals)


def reason_without_winner(comparison: Comparison, measure: Measure, setting: Setting | None) -> str:
    """The reason why no algorithm is first."""
    points = comparison.at(setting) if setting is not None else []
    if unranked(points, measure):
        return "none with every seed"
    return "too short" if any(p.shortfall for p in points) else "no value" if points else "not run"


def margin(best: Winner) -> str:
    if best.rivals:
        return f"{qualification(best)}; {rivals_text(best)}"
    if best.margin is None:
        return "tie of all" if len(best.leaders) > 1 else "alone"
    if best.margin == float("inf"):
        return f"0 against {best.runner_up}"
    return f"{units.significant(best.margin)}× ahead of {best.runner_up}"


def _headline_qualification(best: Winner) -> str:
    if not best.rivals:
        return ""
    return " of those that get there with every seed" if best.some_seeds else " as far as evaluations tell"


def qualification(best: Winner) -> str:
    """For a cell with rivals, the reason why the leaders may not be first."""
    return "of those with every seed" if best.some_seeds else "as far as known"


def rivals_text(best: Winner) -> str:
    """A text that names the algorithms that may be earlier than the leaders but are not ranked."""
    rivals = best.rivals[0] if len(best.rivals) == 1 else f"{len(best.rivals)} others"
    return f"{rivals} may be earlier"


def axis_values(comparison: Comparison, swept: int | None) -> list[Value | None]:
    """The sorted values on the axis with the index `swept`."""
    if swept is None:
        return [None]
    return sorted({s[swept] for s in comparison.settings}, key=lambda v: v.order)


def _place(setting: Setting, x: int | None, y: int | None) -> tuple[str, str]:
    return tuple("" if i is None else setting[i].key for i in (x, y))  # type: ignore[return-value]


def _key(value: Value | None) -> str:
    return value.key if value else ""


def _titles(comparison: Comparison, x: int | None, y: int | None) -> str:
    return ", ".join(f"{comparison.axes[i].title} {arrow}" for i, arrow in ((y, "↓"), (x, "→"))
                     if i is not None)


def _fixed(comparison: Comparison, fixed: dict[int, Value]) -> str:
    varying = [i for i in fixed if len({s[i] for s in comparison.settings}) > 1]
    text = ", ".join(f"{comparison.axes[i].title} {fixed[i].label}" for i in varying)
    return f", at {escape(text)}" if text else ""
