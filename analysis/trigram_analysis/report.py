"""Writes the report: one self-contained HTML page that opens offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable

from . import (advice, advice_page, autotuned, failure_costs, front, overview, page_files, provenance, report_data,
               table, verdict)
from .comparison import Comparison
from .markup import breakable, details, escape, label, scrolling
from .results import Excluded, Results, Run

_MAX_LISTED = 5  # a fact with more values is left out
_MAX_OPENED = 12  # verdicts on more settings are folded at first


@dataclass(frozen=True)
class _Experiment:
    """The runs of one name. `parts` makes the HTML of its front and of what only such an experiment has."""

    comparison: Comparison
    title: str
    headline: str
    parts: Callable[[], list[str]]


def write(results: Results, output: Path, title: str, claims: str = "") -> None:
    """Writes the page to a temporary file and renames it to `output`, so that readers never see a part of it. `claims`
    is the section on published numbers."""
    experiments, errors = [], []
    for name, runs in results.by_name().items():
        try:
            if len(results.by_name()) == 1 or not advice.is_search(runs):
                experiments.append(_experiment(name, runs))
        except Exception as error:
            errors.append(_section_error(name, error))
    parts = [guarded("Contents", lambda: _contents(experiments, results)), *errors]
    parts += [guarded(e.title, lambda i=i, e=e: _section(e, f"x{i}")) for i, e in enumerate(experiments)]
    parts += [claims, _excluded("Failed runs", results.failed),
              _excluded("Unfinished runs, not counted", results.unfinished), _excluded("Not read", results.foreign)]
    draft = output.with_name(output.name + ".tmp")
    draft.write_text(page_files.page(escape(title), "\n".join(parts)), encoding="utf-8", errors="replace")
    draft.replace(output)


def _experiment(name: str, runs: list[Run]) -> _Experiment:
    answer = advice.advice_of(runs)
    if answer:
        try:
            parts = _answer_parts(answer)
            return _Experiment(answer.comparison, advice_page.title(answer), advice_page.verdict(answer)[0],
                               lambda: parts)
        except Exception:
            pass  # a damaged answer; its runs are then compared like other runs
    comparison = Comparison(name, runs)
    return _Experiment(comparison, name, overview.headline(comparison), lambda: _sweep_parts(comparison))


def guarded(title: str, section: Callable[[], str]) -> str:
    """A section of the page, or a line that says why it could not be made. Unusable runs are excluded when they are
    loaded. This guard is for unforeseen errors, which must not prevent the other sections."""
    try:
        return section()
    except Exception as error:
        return _section_error(title, error)


def _section_error(title: str, error: Exception) -> str:
    return (f'<section class="apart"><h2>{breakable(title)}</h2><p>This section could not be made: '
            f"{escape(type(error).__name__)}: {escape(error)}</p></section>")


def _contents(experiments: list[_Experiment], results: Results) -> str:
    excluded = [f"{len(runs)} {word}" for word, runs in
             (("failed", results.failed), ("unfinished", results.unfinished),
              ("not read", results.foreign)) if runs]
    counts = f"{len(results.runs)} finished runs" + (f"; {', '.join(excluded)}, listed at the end" if excluded
                                                     else "")
    rows = "".join(
        f'<tr><td class="key"><a href="#x{i}">{breakable(e.title)}</a></td><td{label("runs")}>'
        f'{len(e.comparison.runs)}</td><td class="key free">{breakable(e.headline)}</td></tr>'
        for i, e in enumerate(experiments))
    summary = f'<p class="soft">{counts}</p>'
    if len(experiments) == 1:
        return summary
    return (f'{summary}<nav id="experiments" aria-label="experiments" class="wide"><table class="cards"><thead><tr>'
            f'<th class="key">experiment</th><th>runs</th><th class="key">first</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></nav>")


def _section(experiment: _Experiment, anchor: str) -> str:
    """The section of an experiment: the front, and then everything else."""
    comparison = experiment.comparison
    source = escape(provenance.line(comparison.name, comparison.runs))
    parts = [f'<section class="experiment" id="{anchor}" data-source="{source}">',
             f"<h2>{breakable(experiment.title)}</h2>", _facts(comparison)]
    document = report_data.as_json(report_data.data(comparison))
    return "\n".join([*parts, *experiment.parts(), *_common_parts(comparison),
                      f'<script type="application/json">{document}</script>', "</section>"])


def _sweep_parts(comparison: Comparison) -> list[str]:
    return [
        front.section(comparison),
        "<h3>Who wins where</h3>",
        f'<div data-part="map">{overview.winner_map(comparison)}</div>', _verdicts(comparison),
        "<h3>Table</h3>", f'<div data-part="table">{_table(table.build(comparison))}</div>',
    ]


def _answer_parts(answer: advice.Advice) -> list[str]:
    return [
        advice_page.front(answer),
        *(f"<h3>{title}</h3>{body}" for title, body in advice_page.parts(answer) if body),
        "<h3>The runs on this network</h3>", '<div data-part="legend"></div>',
        f'<div data-part="table">{_table(table.build(answer.comparison))}</div>',
    ]


def _common_parts(comparison: Comparison) -> list[str]:
    runs = comparison.runs
    parts = ['<noscript><p class="soft">The charts need JavaScript; the tables hold their numbers.</p></noscript>']
    parts += [f'<div data-part="{part}"></div>' for part in ("sweep", "progress", "bars", "timeline")]
    for title, body in (("Bucket sizes tried within runs", autotuned.section(runs)),
                        ("What failures cost", failure_costs.section(runs)),
                        ("What the model profiles assume", provenance.assumptions(runs)),
                        ("Provenance", provenance.section(comparison.name, runs))):
        parts += [f"<h3>{title}</h3>", body] if body else []
    return parts


def _facts(comparison: Comparison) -> str:
    """Facts about all runs, as HTML. If a fact varies, its values are listed, or left out if there are many."""
    experiments = [run.experiment for run in comparison.runs]
    facts = [f"{len(comparison.runs)} runs",
             _listed([_workers(e.get("cluster")) for e in experiments]),
             _listed([_workload(e.get("workload")) for e in experiments], "workload "),
             _listed([str(e.get("steps", "")) for e in experiments], after=" steps")]
    facts += sorted({f"world {run.manifest.get('world', 'unknown')}" for run in comparison.runs})
    described = {e.get("description") for e in experiments}
    text = "".join(f"<p>{escape(text)}</p>" for text in described if text) if len(described) == 1 else ""
    return f'{text}<p class="soft">{escape(" · ".join(filter(None, facts)))}</p>'


def _listed(values: list[str], before: str = "", after: str = "") -> str:
    """The distinct values as a list; empty if some run has no value, or if there are too many values to read."""
    found = sorted(dict.fromkeys(values), key=lambda value: ([int(n) for n in re.findall(r"^\d+", value)], value))
    return f"{before}{', '.join(found)}{after}" if all(found) and len(found) <= _MAX_LISTED else ""


def _workers(cluster: Any) -> str:
    known = isinstance(cluster, dict) and "nodes" in cluster and "workers_per_node" in cluster
    return f"{cluster['nodes']} nodes × {cluster['workers_per_node']} workers" if known else ""


def _workload(workload: Any) -> str:
    if not isinstance(workload, dict):
        return ""
    name, path, priced = workload.get("name"), workload.get("path"), workload.get("priced_as")
    priced = priced.get("name", priced) if isinstance(priced, dict) else priced
    return f"{Path(str(path)).stem if path else name}" + (f" priced as {priced}" if priced else "")


def _verdicts(comparison: Comparison) -> str:
    found = verdict.verdicts(comparison)
    items = "".join(f"<li><b>{escape(v.setting)}.</b> {breakable(v.text)}</li>" for v in found)
    return details("In words", f"<ul>{items}</ul>", is_open=len(found) <= _MAX_OPENED)


def _table(t: table.Table) -> str:
    def attributes(i: int) -> str:
        kind = ' class="key"' if i < t.keys else ""
        return kind + (f' title="{escape(t.helps[i])}"' if t.helps[i] else "")

    def cell_of(i: int, cell: table.Cell) -> str:
        return _cell(cell, i < t.keys, label(t.titles[i]))

    head = "".join(f"<th{attributes(i)}>{escape(x)}</th>" for i, x in enumerate(t.titles))
    group = ' class="group"'
    body, before = [], None
    for row in t.rows:
        setting = [cell.text for cell in row[: t.keys - 1]]
        cells = "".join(cell_of(i, cell) for i, cell in enumerate(row))
        body.append(f"<tr{group if before not in (None, setting) else ''}>{cells}</tr>")
        before = setting
    notes = "; ".join(t.notes).replace("* best", "in bold: best")
    return scrolling(f'<table class="cards sortable filtered" data-keys="{t.keys}"><thead><tr>{head}</tr></thead>'
                     f"<tbody>{''.join(body)}</tbody></table>") + f'<p class="soft">{escape(notes)}</p>'


def _cell(cell: table.Cell, key: bool, title: str) -> str:
    classes = " ".join(["key"] * key + ["best"] * cell.best)
    attribute = f' class="{classes}"' if classes else ""
    sort = "Infinity" if cell.sort == float("inf") else str(cell.sort)
    return f'<td{attribute}{title} data-sort="{escape(sort)}">{escape(cell.text)}</td>'


def _excluded(title: str, runs: Iterable[Excluded]) -> str:
    items = [f"<li><code>{escape(run.path.name)}</code> {escape(run.label)}: "
             f"{escape(run.reason)}</li>" for run in runs]
    return f'<section class="apart"><h2>{title}</h2><ul>{"".join(items)}</ul></section>' if items else ""
