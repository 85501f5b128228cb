"""Where numbers come from: commands, versions, machines, runs, measured links, assumptions."""

from __future__ import annotations

import json

from . import commands, links, profiles
from .markup import copied, details, escape, plain, table
from .results import Run


def line(name: str, runs: list[Run]) -> str:
    """One line under a figure."""
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
    command = commands.command(name, runs)
    rows = []
    for key in ("version", "git", "world", "machine", "versions", "inputs"):
        values = dict.fromkeys(plain(run.manifest.get(key)) for run in runs)
        rows.append((key, "; ".join(list(values)[:20])))
    walls = [w for run in runs if isinstance(w := run.manifest.get("wall_s"), (int, float))]
    rows.append(("computed in", f"{sum(walls):.1f} s of wall-clock time, all runs together"))
    started = [str(s) for run in runs if (s := run.manifest.get("started"))]
    rows.append(("started", min(started, default="unknown")))
    config = json.dumps(runs[0].experiment, indent=2, ensure_ascii=False)
    shown = command if len(command) < 4000 else command[:4000] + "\n... (the button copies all)"
    return "".join([
        f'<div class="command"><pre>{escape(shown)}</pre>{copied("copy the command", command)}</div>',
        table(("", ""), rows, "wrapped"),
        links.listing(runs),
        details("Runs", _runs(runs, command)),
        details(f"Experiment, as resolved, of run {runs[0].id}", f"<pre>{escape(config)}</pre>"),
    ])


def _runs(runs: list[Run], command: str) -> str:
    """One row per run; the script adds to each the button that copies its command."""
    titles = ("run", "seed", "swept", "version", "hash of the weights")
    rows = [(run.id, str(run.seed), plain(run.sweep), version(run),
             str(run.summary.get("weights_hash") or "–")) for run in runs]
    only = f' data-command="{escape(command)} --only"' if len(runs) > 1 else ""
    return f"<div class=\"runs\"{only}>{table(titles, rows, 'sortable')}</div>"


def assumptions(runs: list[Run]) -> str:
    parts = []
    for profile in profiles.of(runs):
        assumed = "".join(f'<li class="assumed"><b>assumed:</b> {escape(x)}</li>' for x in profile.assumed)
        sources = "".join(f"<li>{escape(x)}</li>" for x in profile.sources)
        if profile.replaced:
            sources += (f"<li>in place of the profile's own, these runs have {escape(', '.join(profile.replaced))}; "
                        "a step_time is shared out among layers as the profile's</li>")
        title = f"{profile.name} ({profile.accelerator})" if profile.accelerator else profile.name
        parts.append(f"<h4>{escape(title)}</h4><ul>{assumed}{sources}</ul>")
    of_options = dict.fromkeys(str(x) for run in runs for x in run.manifest.get("assumed") or [])
    if of_options:
        items = "".join(f'<li class="assumed"><b>assumed:</b> {escape(x)}</li>' for x in of_options)
        parts.append(f"<h4>Options of the workload</h4><ul>{items}</ul>")
    return "".join(parts)
