"""Command line: table, plots and report of a folder of results."""

from __future__ import annotations

import argparse
import csv
import signal
import sys
from pathlib import Path

from . import results
from .claim_values import ClaimError
from .printable import printable
from .results import Results


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if not options.folder.is_dir():
        return _fail(f"{options.folder}: no such folder")
    found = results.load(options.folder, sys.stdin.read().split() if options.ids_from_stdin else None)
    for run in found.failed:
        _say(f"failed: {run.path}: {run.label}: {run.reason}")
    if found.unfinished:
        _say(f"{len(found.unfinished)} unfinished runs are not counted")
    for run in found.foreign:
        _say(f"not read: {run.path}: {run.reason}")
    apart = found.failed or found.unfinished or found.foreign
    if not found.runs and not (apart and options.action is _report):
        return _fail(f"{options.folder}: no finished run here (a folder with manifest.json and DONE)")
    try:
        return options.action(found, options) or 0
    except (OSError, ClaimError) as error:
        return _fail(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trigram_analysis", description=__doc__)
    actions = parser.add_subparsers(required=True, metavar="table | plot | report")
    for name, action, help in (
        ("table", _table, "print the comparison table"),
        ("plot", _plots, "write every figure as PNG, SVG and PDF"),
        ("report", _report, "write report.html, one self-contained page"),
    ):
        sub = actions.add_parser(name, help=help, description=help,
                                 aliases=["plots"] if name == "plot" else [])
        sub.set_defaults(action=action, ids_from_stdin=False)
        sub.add_argument("folder", type=Path, help="results, results/NAME or results/NAME/ID")
        if name == "table":
            sub.add_argument("--csv", action="store_true", help="plain numbers in base units")
            sub.add_argument("--ids-from-stdin", action="store_true",
                             help="read ids from standard input, and show only these runs of the folder; "
                                  "trigram run prints its table in this way")
        else:
            sub.add_argument("-o", "--output", type=Path, help="file or folder to write to")
        if name == "report":
            sub.add_argument("--check", action="store_true",
                             help="print published results beside these results; exit code 3 if a claim is missed")
    return parser


_CLAIM_MISSED = 3  # as in experiments/exit_codes.h

# Pandas and the figures' library take a second to load, and `trigram run` waits for the table. Each action therefore
# imports what it needs, and the table needs neither of the two.


def _table(found: Results, options: argparse.Namespace) -> None:
    from . import table
    from .comparison import Comparison

    # Runs that are named by their ids belong to one plan, although a folder that was renamed holds other names.
    plan = {options.folder.resolve().name: found.runs} if options.ids_from_stdin and found.runs else found.by_name()
    for name, runs in plan.items():
        comparison = Comparison(name, runs)
        if options.csv:
            records = table.as_records(comparison)
            written = csv.DictWriter(sys.stdout, records[0], lineterminator="\n")
            written.writeheader()
            written.writerows(records)
        else:
            print(f"{printable(name)}\n\n{table.as_text(table.build(comparison, brief=True), table.WIDEST)}\n")


def _plots(found: Results, options: argparse.Namespace) -> None:
    from . import plots, style, timeline
    from .caveats import caveats
    from .comparison import Comparison

    output = options.output or options.folder / "plots"
    output.mkdir(parents=True, exist_ok=True)
    groups = found.by_name()
    for name, runs in groups.items():
        comparison = Comparison(name, runs)
        for line in caveats(runs):
            _say(line)
        prefix = f"{name}-" if len(groups) > 1 else ""
        drawings = [(stem, fig) for stem, _, fig in plots.figures(comparison)]
        drawings.append(("timeline", timeline.figure(comparison, comparison.middle_setting)))
        for stem, fig in drawings:
            for suffix in ("png", "svg", "pdf") if fig else ():
                path = output / f"{prefix}{stem}.{suffix}"
                style.save(fig, str(path))
                print(path)


def _report(found: Results, options: argparse.Namespace) -> int | None:
    from . import claims, claims_table, report
    from .commands import shortened

    published = claims.load(found)
    if options.check and not published:
        return _fail(f"{options.folder}: no run here of an experiment that {claims.CLAIMS} names")

    output = options.output or options.folder / "report.html"
    if output.is_dir():
        return _fail(f"{output}: expected the name of a file, not a folder")
    title = "Trigram: " + (shortened(found.by_name(), 4) or "no finished run")
    report.write(found, output, title, report.guarded("What was published", lambda: claims_table.as_html(published)))
    if options.check:
        print(claims_table.as_text(published), end="\n\n")
        if absent := claims.not_checked(found):
            print(f"not checked: {', '.join(absent)}, as no run of theirs is here", end="\n\n")
    print(output)
    return _CLAIM_MISSED if options.check and any(claim.failures for claim in published) else None


def _fail(message: str) -> int:
    _say(f"trigram_analysis: {message}")
    return 2


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # readers that stop early, such as head, end this quietly
    sys.exit(main())
