"""Checks that a program loads MPI's libraries before SimGrid's (ADR 0012): link_order_test.py PROGRAM LIBRARY..."""

from __future__ import annotations

import os
import re
import subprocess
import sys


def needed(program: str) -> list[str]:
    """The libraries that a program names, in the order in which the loader searches them."""
    shown = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", shown.stdout)


def main() -> int:
    program, libraries = sys.argv[1], sys.argv[2:]
    names = needed(program)
    simgrid = [i for i, name in enumerate(names) if name.startswith("libsimgrid")]
    for library in libraries:
        # A program names libmpi.so.40 if it is linked with .../libmpi.so.
        stem = os.path.basename(library).split(".so")[0] + ".so"
        positions = [i for i, name in enumerate(names) if name.startswith(stem)]
        if not positions or (simgrid and positions[0] > simgrid[0]):
            print(f"expected {stem} before SimGrid's library, not {names}")
            return 1
    return 0 if libraries else 1


if __name__ == "__main__":
    sys.exit(main())
