"""The provenance of a comparison: its command, versions, machines, runs, measured links and assumptions."""

from __future__ import annotations

import json
from typing import Iterable

from . import commands, links, profiles
from .markup import copy_button, details, escape, plain, table
from .results import Run

_MOST_VALUES = 20  # in a row of the section


def line(name: str, runs: list[Run]) -> str:
    """The line under a figure: the experiment, the number of its runs, their seeds, and the versions of the program."""
    seeds = sorted({str(run.seed) for run in runs if run.seed is not None})
    versions = sorted({version(run) for run in runs})
    facts = [name, f"{len(runs)} runs",
             f"seed{'s' * (len(seeds) > 1)} {commands.shortened(seeds, 6) or 'unknown'}",
             "Trigram " + commands.shortened(versions, 2)]
    return " · ".join(facts)


def version(run: Run) -> str:
    git = run.manifest.get("git")
    return f"{run.manifest.get('version', 'unknown')}" + (f" ({git})" if git else "")


def section(name: str, runs: list[Run]) -> str:
    """The section "Provenance" of a report, as HTML."""
    command = commands.command(name, runs)
    rows = []
    for key in ("version", "git", "world", "machine", "versions", "inputs"):
        values = dict.fromkeys(plain(run.manifest.get(key)) for run in runs)
        more = f"; and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
        rows.append((key, "; ".join(list(values)[:_MOST_VALUES]) + more))
    walls = [w for run in runs if isinstance(w := run.manifest.get("wall_s"), (int, float))]
    rows.append(("wall-clock time", f"{sum(walls):.1f} s, the sum over all runs"))
    started = [str(s) for run in runs if (s := run.manifest.get("started"))]
    rows.append(("first run started", min(started, default="unknown")))
    config = json.dumps(runs[0].experiment, indent=2, ensure_ascii=False)
    shown = command if len(command) < 4000 else command[:4000] + "\n... (the button copies the whole command)"
    return "".join([
        f'<div class="command"><pre tabindex="0">{escape(shown)}</pre>{copy_button("copy the command", command)}</div>',
        table(("", ""), rows, "wrapped"),
        links.listing(runs),
        details("Runs", _runs(runs, command)),
        details(f"Resolved experiment of run {runs[0].id}", f'<pre tabindex="0">{escape(config)}</pre>'),
    ])


def _runs(runs: list[Run], command: str) -> str:
    """The table of runs. The page's script adds to each row a button that copies the command of that run."""
    titles = ("run", "seed", "swept options", "version", "SHA-256 of the final weights")
    rows = [(run.id, str(run.seed), plain(run.sweep), version(run),
             str(run.summary.get("weights_hash") or "–")) for run in runs]
    only = f' data-command="{escape(command)} --only"' if len(runs) > 1 else ""
    return f"<div class=\"runs\"{only}>{table(titles, rows, 'sortable')}</div>"


def assumptions(runs: list[Run]) -> str:
    """The values of the runs that are assumed and not measured, as HTML: first values of the model profiles, then
    values of options."""
    parts = []
    for profile in profiles.used_by(runs):
        assumed = _assumed_items(profile.assumed)
        sources = "".join(f"<li>{escape(x)}</li>" for x in profile.sources)
        if profile.replaced:
            sources += (f"<li>these runs use {escape(', '.join(profile.replaced))} instead of the profile's values; "
                        "a step_time is divided among the layers in proportion to the profile's times</li>")
        title = f"{profile.name} ({profile.accelerator})" if profile.accelerator else profile.name
        parts.append(f"<h4>{escape(title)}</h4><ul>{assumed}{sources}</ul>")
    of_options = dict.fromkeys(str(x) for run in runs for x in run.manifest.get("assumed") or [])
    if of_options:
        parts.append(f"<h4>Assumptions of these runs</h4><ul>{_assumed_items(of_options)}</ul>")
    return "".join(parts)


def _assumed_items(texts: Iterable[str]) -> str:
    return "".join(f'<li class="assumed"><b>assumed:</b> {escape(text)}</li>' for text in texts)
