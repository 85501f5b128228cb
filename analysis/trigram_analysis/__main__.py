"""Command line: table, plots and report of a folder of results."""

from __future__ import annotations

import argparse
import csv
import shlex
import signal
import sys
from pathlib import Path

from . import results, units
from .claim_values import ClaimError
from .printable import printable
from .results import Results


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.action is _modules:
        return _modules()
    if options.action is _why:
        return _why(options)
    if not options.folder.is_dir():
        return _fail(f"{options.folder}: no such folder")
    loaded = results.load(options.folder, sys.stdin.read().split() if options.ids_from_stdin else None)
    for run in loaded.failed:
        _log(f"failed: {run.path}: {run.label}: {run.reason}")
    if loaded.unfinished:
        _log(f"{len(loaded.unfinished)} unfinished runs are not counted")
    for run in loaded.foreign:
        _log(f"not read: {run.path}: {run.reason}")
    if not loaded.runs and not (loaded.excluded and options.action is _report):
        return _fail(f"{options.folder}: no finished run here (a folder with manifest.json and DONE)")
    try:
        return options.action(loaded, options) or 0
    except (OSError, ClaimError) as error:
        return _fail(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="trigram_analysis", description=__doc__)
    actions = parser.add_subparsers(required=True, metavar="table | plot | report | export | why")
    for name, action, help in (
        ("table", _table, "print the comparison table"),
        ("plot", _plots, "write every figure as PNG, SVG and PDF"),
        ("report", _report, "write report.html, one self-contained page"),
        ("export", _export, "write the numbers of runs and steps for other programs"),
    ):
        sub = actions.add_parser(name, help=help, description=help,
                                 aliases=["plots"] if name == "plot" else [])
        sub.set_defaults(action=action, ids_from_stdin=False)
        sub.add_argument("folder", type=Path, help="results, results/NAME or results/NAME/ID")
        if name == "table":
            sub.add_argument("--csv", action="store_true", help="plain numbers in base units")
            sub.add_argument("--json", action="store_true", help="plain numbers in base units")
            sub.add_argument("--ids-from-stdin", action="store_true",
                             help="read ids from standard input, and show only these runs of the folder; "
                                  "trigram run prints its table in this way")
        else:
            sub.add_argument("-o", "--output", type=Path, help="file or folder to write to")
        if name == "export":
            sub.add_argument("--format", action="append", choices=("csv", "jsonl", "parquet", "tensorboard"),
                             help="by default, csv, jsonl and tensorboard; may be repeated")
        if name == "plot":
            sub.add_argument("--figure", action="append", help="write only this figure; may be repeated")
            sub.add_argument("--format", action="append", choices=("png", "svg", "pdf"), help="write only this format")
            sub.add_argument("--width", help="width of the figures: 85mm, 8.5cm or 3.35in")
        if name == "report":
            sub.add_argument("--check", action="store_true",
                             help="print published results beside these results; exit code 3 if a claim is missed")
    sub = actions.add_parser("why", help="explain one step of a run, or the difference between two")
    sub.set_defaults(action=_why)
    sub.add_argument("runs", type=Path, nargs="+", help="one or two folders, results/NAME/ID")
    sub.add_argument("--json", action="store_true", help="print JSON")
    sub = actions.add_parser("modules", help="print the versions of Python and its modules as JSON, for trigram doctor")
    sub.set_defaults(action=_modules)
    return parser


_CLAIM_MISSED = 3  # as in experiments/exit_codes.h

# Pandas and matplotlib take a second to load, and `trigram run` waits for the table, which needs neither. Each action
# therefore imports only the modules that it needs.


def _table(loaded: Results, options: argparse.Namespace) -> None:
    from . import table
    from .comparison import Comparison

    # Runs that are named by their ids belong to one plan, although their manifests have other names than a renamed
    # folder.
    plan = {options.folder.resolve().name: loaded.runs} if options.ids_from_stdin and loaded.runs else loaded.by_name()
    if options.json:
        import json

        print(json.dumps([{"name": name, "rows": table.as_records(Comparison(name, runs))}
                          for name, runs in plan.items()], indent=2))
        return
    for name, runs in plan.items():
        comparison = Comparison(name, runs)
        if options.csv:
            records = table.as_records(comparison)
            written = csv.DictWriter(sys.stdout, records[0], lineterminator="\n")
            written.writeheader()
            written.writerows(records)
        else:
            print(f"{printable(name)}\n\n{table.as_text(table.build(comparison, brief=True), table.MAX_WIDTH)}\n")


def _plots(loaded: Results, options: argparse.Namespace) -> int | None:
    from . import chosen_figures, style
    from .caveats import caveats
    from .comparison import Comparison

    wanted = list(dict.fromkeys(options.figure or chosen_figures.NAMES))
    if unknown := [name for name in wanted if name not in chosen_figures.NAMES]:
        return _fail(f"--figure: no figure {unknown[0]!r}; expected one of {', '.join(chosen_figures.NAMES)}")
    if options.width is not None:
        width_in = units.length_in(options.width)
        if width_in is None or not 1 <= width_in <= 40:
            return _fail(f"--width: expected a length from 1in to 40in, such as 85mm, 8.5cm or 3.35in; found "
                         f"{options.width!r}")
        style.set_width(width_in)
    output = options.output or options.folder / "plots"
    output.mkdir(parents=True, exist_ok=True)
    groups, written = loaded.by_name(), set()
    for name, runs in groups.items():
        comparison = Comparison(name, runs)
        for line in caveats(runs):
            _log(line)
        prefix = f"{name}-" if len(groups) > 1 else ""
        for stem, fig in chosen_figures.figures(comparison, wanted):
            written.add(stem)
            for suffix in options.format or ("png", "svg", "pdf"):
                path = output / f"{prefix}{stem}.{suffix}"
                style.save(fig, str(path))
                print(path)
    absent = [stem for stem in options.figure or () if stem not in written]
    return _fail(f"--figure: the results have no data for {', '.join(absent)}") if absent else None


def _export(loaded: Results, options: argparse.Namespace) -> int | None:
    from . import export

    try:
        for path in export.write(loaded.runs, options.output or options.folder / "export",
                                 options.format or ["csv", "jsonl", "tensorboard"]):
            print(path)
    except ImportError:
        return _fail("Parquet needs pyarrow, which Debian 12 does not have; expected pip install pyarrow, or another "
                     "format")
    return None


def _report(loaded: Results, options: argparse.Namespace) -> int | None:
    from . import claims, claims_table, report
    from .commands import shortened

    published = claims.load(loaded)
    if options.check and not published:
        return _fail(f"{options.folder}: no run here of an experiment that {claims.CLAIMS} names")

    output = options.output or options.folder / "report.html"
    if output.is_dir():
        return _fail(f"{output}: expected the name of a file, not a folder")
    title = "Trigram: " + (shortened(loaded.by_name(), 4) or "no finished run")
    report.write(loaded, output, title, report.guarded("What was published", lambda: claims_table.as_html(published)))
    if options.check:
        print(claims_table.as_text(published), end="\n\n")
        if absent := claims.not_checked(loaded):
            print(f"not checked: {', '.join(absent)}, as no run of theirs is here", end="\n\n")
    print(output)
    return _CLAIM_MISSED if options.check and any(claim.failures for claim in published) else None


def _why(options: argparse.Namespace) -> int:
    import json

    from . import why

    runs = [run for path in options.runs for run in results.load(path).runs]
    if len(runs) != len(options.runs):
        return _fail(f"{shlex.join(map(str, options.runs))}: expected the folder of one finished run each")
    try:
        print(json.dumps(why.as_json(runs)) if options.json else why.as_text(runs))
    except ValueError as error:
        return _fail(str(error))
    return 0


def _modules() -> int:
    """Prints {"python": version, "modules": {name: version or ""}, "charts": whether the chart library is here}."""
    import json
    import platform
    from importlib import metadata, util

    from .page_files import chart_script

    def version(name: str) -> str:
        try:
            return metadata.version(name) if util.find_spec(name) else ""
        except metadata.PackageNotFoundError:
            return "of unknown version"

    modules = {name: version(name) for name in ("numpy", "pandas", "matplotlib")}
    print(json.dumps({"python": platform.python_version(), "modules": modules, "charts": bool(chart_script())}))
    return 0


def _fail(message: str) -> int:
    _log(f"trigram_analysis: {message}")
    return 2


def _log(line: str) -> None:
    print(printable(line), file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # readers that stop early, such as head, end this quietly
    sys.exit(main())
