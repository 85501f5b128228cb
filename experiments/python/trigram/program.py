"""Calls the program `trigram` from Python: the same options, files and results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping

if TYPE_CHECKING:
    import pandas


class ProgramError(ValueError):
    """The program ended with an error; `code` is its exit code, 2 for bad input."""

    def __init__(self, text: str, code: int):
        super().__init__(text)
        self.code = code


def program() -> str:
    """The program: $TRIGRAM, the one of the build or installation to which this package belongs, or that in PATH."""
    here = Path(__file__).parent.absolute()  # of a link in the build, not of its target
    beside = [here.parents[1] / "experiments" / "trigram", *(parent / "bin" / "trigram" for parent in here.parents[:4])]
    found = os.environ.get("TRIGRAM") or next((str(path) for path in beside if os.access(path, os.X_OK)), None)
    found = found or shutil.which("trigram")
    if not found:
        raise ProgramError("the program trigram is not in PATH; set TRIGRAM to its path", 2)
    return found


def call(*arguments: str | os.PathLike[str]) -> str:
    """What the program prints. Raises ProgramError with its last line of errors if it fails."""
    done = subprocess.run([program(), *map(os.fspath, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["ended without a message"]
        raise ProgramError(lines[-1], done.returncode)
    return done.stdout


def settings_of(settings: Mapping[str, Any]) -> list[str]:
    return [word for pointer, value in settings.items() for word in ("--set", f"{pointer}={json.dumps(value)}")]


def run(configuration: Mapping[str, Any] | str | os.PathLike[str], settings: Mapping[str, Any] = {}, *,
        output: str | os.PathLike[str] = "results") -> "pandas.DataFrame":
    """Makes the runs of a configuration, a dictionary or a file, and returns their results (see `results`).

    `settings` are values by JSON pointer that replace those of the configuration. Runs that are finished in `output`
    are not repeated."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experiment.json"
        if isinstance(configuration, Mapping):
            path.write_text(json.dumps({"name": "python", **configuration}))
            name = str(configuration.get("name", "python"))
        else:
            path = Path(configuration)
            name = str(settings.get("/name", path.stem))
        call("--quiet", "run", path, "--no-table", "--output", output, *settings_of(settings))
    return results(Path(output) / str(settings.get("/name", name)))


def advise(*, cluster: str | os.PathLike[str], profile: str | os.PathLike[str],
           output: str | os.PathLike[str] = "results", settings: Mapping[str, Any] = {},
           **options: Any) -> dict[str, Any]:
    """The answer of `trigram advise --json`. Other options have the names of the program's, such as only="sync",
    target="accuracy=0.8", step_time="120ms", algorithms=["gradient_allreduce", "bytegrad"]."""
    places = {"--cluster": cluster, "--profile": profile, "--output": output}
    words = ["advise", "--json", *(word for option, path in places.items() for word in (option, os.fspath(path)))]
    for option, value in options.items():
        name = "--" + option.replace("_", "-")
        if value is True:
            words.append(name)
        elif value is not False and value is not None:
            words += [name, *map(str, value if isinstance(value, (list, tuple)) else [value])]
    return json.loads(call("--quiet", *words, *settings_of(settings)))


def results(folder: str | os.PathLike[str] = "results") -> "pandas.DataFrame":
    """The finished runs in a results folder, one row each: the columns of `trigram table --csv`, in base units."""
    import io

    import pandas

    return pandas.read_csv(io.StringIO(call("table", folder, "--csv")))
