"""The script that makes a model: `FILE.py:FUNCTION` returns the model, a batch, and perhaps a loss.

Whatever the script raises becomes an InputError, which the commands of this package print as one line."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Callable

import torch

Loss = Callable[[Any], torch.Tensor]


class InputError(ValueError):
    """The script, the model or the output cannot be used; one line says why."""


def mean_square(output: torch.Tensor) -> torch.Tensor:
    """The default loss."""
    return output.float().pow(2).mean()


def user_error(reference: str, error: BaseException) -> InputError:
    """What the script or its model raised, with its place in the script."""
    path = reference.rpartition(":")[0]
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if os.path.abspath(frame.filename) == os.path.abspath(path)]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    text = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
    where = f" (line {lines[-1]} of {path})" if lines and lines[-1] else ""
    return InputError(f"{reference}: {type(error).__name__}: {text}{where}")


def made_by(reference: str) -> tuple[Any, ...]:
    """What the function of `script.py:function` returns. Raises InputError."""
    path, _, function = reference.rpartition(":")
    if not path.endswith(".py") or not Path(path).is_file():
        raise InputError(f"{reference}: expected FILE.py:FUNCTION")
    spec = importlib.util.spec_from_file_location("profiled", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["profiled"] = module  # data classes look their module up
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as if Python ran the script
    try:
        spec.loader.exec_module(module)
        if not hasattr(module, function):
            raise InputError(f"{path}: has no function {function}")
        made = getattr(module, function)()
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise user_error(reference, error) from error
    if not isinstance(made, tuple) or len(made) not in (2, 3) or not isinstance(made[0], torch.nn.Module):
        got = type(made).__name__
        raise InputError(f"{reference}: returned {got}; expected (model, batch) or (model, batch, loss)")
    return made


def printable(text: str) -> str:
    """The text without control characters, which would spoil a line."""
    return "".join(c if c.isprintable() else "?" for c in text)
