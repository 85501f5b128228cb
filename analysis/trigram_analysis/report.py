"""One self-contained HTML page that opens offline."""

from __future__ import annotations

import html
import json
from pathlib import Path
from string import Template
from typing import Any, Iterable

from . import links, plots, style, table, timeline, verdict
from .comparison import Comparison
from .results import Excluded, Results, Run

_TEMPLATE = Path(__file__).with_name("template.html")


def write(results: Results, output: Path, title: str) -> None:
    """Writes the page beside `output` and renames it, so that a reader never sees half of it."""
    sections = [_experiment(Comparison(name, runs)) for name, runs in results.by_name().items()]
    sections.append(_excluded("Failed runs", results.failed))
    sections.append(_excluded("Unfinished runs, not counted", results.unfinished))
    page = Template(_TEMPLATE.read_text(encoding="utf-8"))
    draft = output.with_name(output.name + ".tmp")
    draft.write_text(page.substitute(title=_escape(title), body="\n".join(sections)),
                     encoding="utf-8")
    draft.replace(output)


def _experiment(comparison: Comparison) -> str:
    parts = [f"<h2>{_escape(comparison.name)}: verdict</h2>", _overview(comparison),
             _verdicts(comparison),
             "<h2>Table</h2>", _table(table.build(comparison)),
             "<h2>Plots</h2>"]
    for _, caption, fig in plots.figures(comparison):
        parts.append(_figure(style.inline_svg(fig), caption))
    parts += _timeline(comparison)
    parts += ["<h2>Provenance</h2>", _provenance(comparison.runs)]
    return "\n".join(parts)


def _overview(comparison: Comparison) -> str:
    first = comparison.runs[0].experiment
    cluster = first.get("cluster")
    cluster = cluster if isinstance(cluster, dict) else {}
    facts = [f"{len(comparison.runs)} runs"]
    if "nodes" in cluster and "workers_per_node" in cluster:
        facts.append(f"{cluster['nodes']} nodes × {cluster['workers_per_node']} workers")
    workload = first.get("workload")
    if isinstance(workload, dict):
        priced = workload.get("priced_as")
        facts.append(f"workload {workload.get('name')}" + (f" priced as {_name(priced)}"
                                                           if priced else ""))
    facts += [f"{first['steps']} steps"] if "steps" in first else []
    facts += sorted({f"world {run.manifest.get('world', 'unknown')}" for run in comparison.runs})
    return f'<p class="soft">{_escape(" · ".join(facts))}</p>'


def _name(component: Any) -> str:
    return str(component.get("name", component)) if isinstance(component, dict) else str(component)


def _verdicts(comparison: Comparison) -> str:
    items = [f"<li><b>{_escape(v.setting)}.</b> {_escape(v.text)}</li>"
             for v in verdict.verdicts(comparison)]
    return f"<ul>{''.join(items)}</ul>"


def _table(t: table.Table) -> str:
    def attributes(i: int) -> str:
        kind = ' class="key"' if i < t.keys else ""
        return kind + (f' title="{_escape(t.helps[i])}"' if t.helps[i] else "")

    head = "".join(f"<th{attributes(i)}>{_escape(x)}</th>" for i, x in enumerate(t.titles))
    body, before = [], None
    for row in t.rows:
        setting = [cell.text for cell in row[: t.keys - 1]]
        cells = "".join(_cell(cell, i < t.keys) for i, cell in enumerate(row))
        body.append(f"<tr{' class=group' if before not in (None, setting) else ''}>{cells}</tr>")
        before = setting
    notes = "; ".join(t.notes).replace("* best", "in bold: best") + "; click a heading to sort"
    return (f'<div class="wide"><table class="sortable"><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div><p class=\"soft\">{_escape(notes)}</p>")


def _cell(cell: table.Cell, key: bool) -> str:
    classes = " ".join(["key"] * key + ["best"] * cell.best)
    attribute = f' class="{classes}"' if classes else ""
    sort = "Infinity" if cell.sort == float("inf") else str(cell.sort)
    return f'<td{attribute} data-sort="{_escape(sort)}">{_escape(cell.text)}</td>'


def _timeline(comparison: Comparison) -> list[str]:
    setting = comparison.middle_setting
    fig = timeline.figure(comparison, setting)
    if fig is None:
        return []
    where = comparison.label(setting)
    caption = ("One step of each algorithm, all on one time scale"
               + (f", at {where}" if where else "")
               + ". Each row is a stream of a worker. The traces lie beside the results as "
               "trace.json; Perfetto (ui.perfetto.dev) opens them.")
    return ["<h2>Timeline of one step</h2>", _figure(style.inline_svg(fig), caption)]


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{_escape(caption)}</figcaption></figure>"


def _provenance(runs: list[Run]) -> str:
    rows = []
    for key in ("version", "git", "world", "machine", "versions"):
        values = dict.fromkeys(_plain(run.manifest.get(key)) for run in runs)
        rows.append((key, "; ".join(values)))
    walls = [w for run in runs if isinstance(w := run.manifest.get("wall_s"), (int, float))]
    rows.append(("computed in", f"{sum(walls):.1f} s of wall-clock time, all runs together"))
    started = [str(s) for run in runs if (s := run.manifest.get("started"))]
    rows.append(("started", min(started, default="unknown")))
    body = "".join(f'<tr><td class="key">{_escape(k)}</td><td class="key" '
                   f'style="white-space:normal">{_escape(v)}</td></tr>' for k, v in rows)
    config = json.dumps(runs[0].experiment, indent=2, ensure_ascii=False)
    return (f"<table>{body}</table>\n{links.listing(runs)}{_run_list(runs)}\n<details><summary>Experiment, as resolved, "
            f"of run {_escape(runs[0].id)}</summary><pre>{_escape(config)}</pre></details>")


def _run_list(runs: list[Run]) -> str:
    rows = "".join(
        f'<tr><td class="key">{_escape(run.id)}</td><td class="key">'
        f"{_escape(_plain(run.sweep))}</td><td>{_escape(str(run.summary.get('weights_hash')))}"
        "</td></tr>" for run in runs)
    return ('<details><summary>Runs</summary><div class="wide"><table><thead><tr><th class="key">'
            'run</th><th class="key">swept</th><th>hash of the weights</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div></details>")


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_plain(v)}" for k, v in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _excluded(title: str, runs: Iterable[Excluded]) -> str:
    items = [f"<li><code>{_escape(run.path.name)}</code> {_escape(run.label)}: "
             f"{_escape(run.reason)}</li>" for run in runs]
    return f"<h2>{title}</h2><ul>{''.join(items)}</ul>" if items else ""


def _escape(text: str) -> str:
    return html.escape(text, quote=True)
