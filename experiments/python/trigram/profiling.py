"""Measures the layers of a PyTorch model, and writes them as a profile that Trigram simulates (docs/profiles.md).

    trigram profile --torch script.py:make --output net.csv

runs this module, and `python3 -m trigram.profiling script.py:make --output net.csv` does without the program. They call
`make()` of the script, which returns the model, a batch (a tensor or a tuple of arguments), and optionally a
function from the model's output to the loss.
"""

from __future__ import annotations

import argparse
import sys

import torch

from .measurement import Profile, profile_script
from .shared_machine import profile_together
from .user_script import InputError, printable


def _measured(options: argparse.Namespace) -> Profile:
    if options.name and not options.name.isprintable():
        raise InputError("--name: expected printable characters")
    if options.processes > 1 and options.threads:
        raise InputError("--threads: with --processes, each process has one thread")
    torch.set_num_threads(options.threads or 1)
    if options.processes > 1:
        return profile_together(options.made_by, options.processes, name=options.name, repeat=options.repeat)
    return profile_script(options.made_by, name=options.name, repeat=options.repeat)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m trigram.profiling", description="Measures a model as a profile.")
    parser.add_argument("made_by", metavar="FILE.py:FUNCTION", help="returns the model, a batch, and perhaps a loss")
    parser.add_argument("-o", "--output", default="profile.csv", help="file to write (default: %(default)s)")
    parser.add_argument("--name", help="name of the profile; by default, that of the model's class")
    parser.add_argument("--threads", type=int, help="threads of PyTorch, without --processes (default: 1)")
    parser.add_argument("--repeat", type=int, default=10, help="passes to measure (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=1,
                        help="processes that compute at the same time, on one thread each, as workers on this machine"
                             " would")
    parser.add_argument("--quiet", action="store_true", help="do not print what is assumed")
    options = parser.parse_args(arguments)
    try:
        measured = _measured(options)
        path = measured.write(options.output)
    except InputError as error:
        print(f"trigram: {printable(str(error))}", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"trigram: --output: {printable(options.output)} cannot be written: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    numel = sum(row.numel for row in measured.rows)
    print(f"{path}: {len(measured.rows)} tensors, {numel:,} parameters, forward {measured.forward_s * 1e3:.3g} ms, "
          f"backward {measured.backward_s * 1e3:.3g} ms on {measured.machine}")
    for note in measured.assumed if not options.quiet else []:
        print(f"assumed: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
