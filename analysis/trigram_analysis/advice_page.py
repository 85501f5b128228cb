"""The section of a report on an answer of `trigram advise`: the verdict, the ranking, the caveats, what would change
the answer, and the settings that it means."""

from __future__ import annotations

import json
from typing import Any, Callable

from . import units
from .advice import Advice, Flip, flips, settings_text
from .appearance import Appearances
from .markup import CONTENTS, Bar, bars, breakable, caveat_list, details, escape, label, listed, plain, scrolling, table
from .pointer import keys

_MOST_BARS = 12
_MOST_TIED = 3


def title(advice: Advice) -> str:
    question = advice.document.get("question") or {}
    if {"cluster", "profile"} <= set(question):
        return f"Which algorithm on {question['cluster']} for {question['profile']}?"
    return advice.runs[0].name


def front(advice: Advice) -> str:
    return (f'<h3>Verdict</h3><p class="verdict">{breakable(" ".join(verdict(advice)))}</p>{CONTENTS}'
            + _ranking_bars(advice) + caveat_list(caveats(advice)))


def verdict(advice: Advice) -> list[str]:
    """Two sentences: which candidates are first, and what would make another one first."""
    leaders = advice.leaders
    if not leaders:
        return ["No candidate shows what its algorithm costs." if not advice.level
                else f"No candidate is known to reach {advice.level}."]
    names = leaders[:_MOST_TIED] + ([f"{len(leaders) - _MOST_TIED} more"] if len(leaders) > _MOST_TIED else [])
    cost = advice.cost_text(advice.candidates[0])
    first = f"{listed(names)} {'tie' if len(leaders) > 1 else 'is first'}, with {cost}"
    behind = next((i for i, c in enumerate(advice.candidates) if c["behind"] and not c["tied"] and i), None)
    if behind is not None:
        first += f"; the next, {advice.names[behind]}, takes {advice.candidates[behind]['behind']:.1%} longer"
    return [first + ".", _changes(advice, flips(advice))]


def _changes(advice: Advice, found: list[Flip]) -> str:
    changing = [f"{f.first} is first with a {f.quantity} {f.to}" for f in found if f.first]
    if changing:
        return f"The answer changes: {listed(changing)}."
    if any(f.unknown.startswith("not known") for f in found):
        return "As far as is known, no change of the network makes another candidate first."
    if advice.document.get("ranking_only"):
        return "What would make another one first was not searched for."
    return "No change that was tried makes another candidate first." if found else ""


def caveats(advice: Advice) -> list[str]:
    document = advice.document
    ranked_by = f"ranked by the time to {advice.level}" if advice.level else "ranked by throughput alone"
    lines = [f"{ranked_by}: {document['ignored']}"]
    lines += [f"warning: {text}" for text in [*document["answer_warnings"], *document["warnings"]]]
    lines += [f"assumed: {text}" for text in document["assumed"]]
    for name, candidate in zip(advice.names, advice.candidates):
        if candidate["not_compared"] is not None:
            enough = f"; {candidate['needs_steps']} steps would be enough" if candidate["needs_steps"] else ""
            lines.append(f"not compared: {name}: {candidate['not_compared']}{enough}")
        elif candidate["rates_not_compared"] is not None:
            lines.append(f"{name}: its step and samples/s are not those of a long run: it "
                         f"{candidate['rates_not_compared']}")
    lines += [f"left out: {text}" for text in document["left_out"]]
    return lines + [f"tuned: {plain(tuned)}" for tuned in document.get("tuned", [])]


def _ranking_bars(advice: Advice) -> str:
    appearances = Appearances(advice.comparison.algorithms)
    shown = [(name, c) for name, c in zip(advice.names, advice.candidates)
             if advice.cost_text(c) and c["not_compared"] is None and name in advice.comparison.algorithms]
    by = f"time to {advice.level}" if advice.level else "samples per second"
    more = f", the best {_MOST_BARS} of {len(shown)}" if len(shown) > _MOST_BARS else ""
    return bars(by + more, [Bar(name, appearances.appearance(name), advice.time_s(c) or c["samples_per_s"],
                                advice.cost_text(c)) for name, c in shown[:_MOST_BARS]])


def parts(advice: Advice) -> list[tuple[str, str]]:
    """(title, HTML) of the parts below the front."""
    return [("Ranking", _ranking(advice)), ("What would change the answer", _flip_table(advice)),
            ("If NICs differ", _unequal(advice)),
            ("Settings of the answer", _settings(advice))]


def _ranking(advice: Advice) -> str:
    titles = ["", "algorithm", "settings", "relaxations", *([f"time to {advice.level}"] if advice.level else []),
              "step", *(["goodput"] if any("goodput" in c for c in advice.candidates) else []), "samples/s", "behind"]
    words = 4
    head = "".join(f'<th{" class=key" if i < words else ""}>{escape(t) or "rank"}</th>' for i, t in enumerate(titles))
    rows = []
    for i, c in enumerate(advice.candidates):
        cells = [str(i + 1) if c["not_compared"] is None else "!", c["algorithm"], settings_text(c["settings"]),
                 c["trigram"]]
        if advice.level:
            cells.append(_interval(advice, c))
        cells.append(_shown(c["step_s"], units.seconds))
        if "goodput" in titles:
            cells.append(_shown(c.get("goodput"), lambda share: f"{share:.1%}"))
        cells += [_shown(c["samples_per_s"], units.significant), advice.behind_text(i)]
        rows.append("<tr>" + "".join(
            f'<td{" class=key" if n < words else ""}{label(t)}>{breakable(cell)}</td>'
            for n, (t, cell) in enumerate(zip(titles, cells))) + "</tr>")
    body = "".join(rows)
    return scrolling(f'<table class="cards ranked"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>',
                     "ranking")


def _shown(value: Any, text: Callable[[float], str]) -> str:
    return "–" if value is None else text(value)


def _interval(advice: Advice, candidate: dict[str, Any]) -> str:
    time_s = advice.time_s(candidate)
    if time_s is None:
        return "not reached"
    return f"{units.seconds(candidate['after_s'])} to {units.seconds(time_s)}" + (" ~" if candidate["coarse"] else "")


def _flip_table(advice: Advice) -> str:
    rows = [(f.quantity, f.now, f.to, f.text, f.unknown) for f in flips(advice)]
    titles = ["changed", "now", "to", "first then", "not known"]
    if not any(row[-1] for row in rows):
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    return table(titles, rows) if rows else ""


def _unequal(advice: Advice) -> str:
    rows = []
    for entry in advice.document["where_nics_differ"]:
        least, most = entry["least_more"], entry["most_more"]
        change = entry["not_compared"] or ("does not reach the target" if None in (least, most)
                                           else f"{least:+.1%} to {most:+.1%}")
        rows.append((advice.name_of(entry["settings"]), f"{entry['bandwidth_jitter']:.0%}", change,
                     "yes" if entry["changes"] else "no"))
    return table(("algorithm", "bandwidths differ by", "its cost changes by", "more than NICs and a tie explain"),
                 rows) if rows else ""


def _named(component: Any) -> str:
    """A component of a cluster in words: "A100, flops 312TFLOP/s"."""
    if not (isinstance(component, dict) and "name" in component):
        return plain(component)
    options = plain({key: value for key, value in component.items() if key != "name"})
    return f"{component['name']}{', ' if options else ''}{options}"


def _settings(advice: Advice) -> str:
    """The network of the question, and the options of the first candidate as an experiment has them."""
    cluster = advice.document["cluster"]
    facts = [("nodes", f"{cluster.get('nodes')}, with {cluster.get('workers_per_node', 1)} workers each")]
    facts += [(where, plain({key: units.show(value) for key, value in cluster[part].items()
                             if key in ("bandwidth", "latency")}))
              for part, where in (("inter", "between nodes"), ("intra", "inside nodes"))
              if isinstance(cluster.get(part), dict)]
    facts += [(key, _named(cluster[key])) for key in ("topology", "accelerator") if key in cluster]
    question = advice.document.get("question") or {}
    facts += [("model", str(question["profile"]))] if "profile" in question else []
    experiment: dict[str, Any] = {}
    for pointer, value in advice.candidates[0]["settings"].items() if advice.candidates else ():
        *parents, last = keys(pointer)
        inner = experiment
        for key in parents:
            inner = inner.setdefault(key, {})
        inner[last] = value
    config = json.dumps(experiment, indent=2, ensure_ascii=False)
    return (table(("", ""), facts, "wrapped")
            + f"<p>{breakable(advice.names[0])} has these options in an experiment:</p>"
              f'<pre tabindex="0">{escape(config)}</pre>'
            + details("The whole description of the cluster",
                      f'<pre tabindex="0">{escape(json.dumps(cluster, indent=2, ensure_ascii=False))}</pre>')
            if advice.candidates else table(("", ""), facts, "wrapped"))
