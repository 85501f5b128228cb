"""For invalid values of their options, all commands print one line and exit with code 2."""

from __future__ import annotations

import json
import re
import subprocess

from base import SOURCE, TRIGRAM, HostileTest, amount, draws_of, needs_simulator
from commands import call, files_in, wrong_end
from test_damage import EXPERIMENT

# The arguments that each command needs before its options matter.
REQUIRED: dict[str, list[str]] = {
    "run": ["test.json"],
    "advise": ["--cluster", "ethernet_10g", "--profile", "vgg16"],
    "tune": ["test.json"],
    "emulate": ["test.json"],
    "launch": ["test.json"],
    "replay": ["test.json"],
    "profile": ["--torch", "net.py:make"],
    "import": ["trace.json"],
    "bandwidth": ["test.json"],
    "compare-worlds": ["test.json"],
    "why": ["test.json"],
    "status": [],
    "validate": ["test.json"],
    "init": ["new.json"],
    "list": [],
    "show": ["network", "test.json"],
    "schema": [],
    "report": ["results"],
    "plot": ["results"],
    "table": ["results"],
    "export": ["results"],
    "bench": [],
    "calibrate": [],
    "serve": [],
    "doctor": [],
}
OPTION = re.compile(r"^ +(?:-\w,)?(--[\w-]+)(?: ([A-Z]+))?", re.MULTILINE)
DURATIONS = {"advise": ["--mtbf", "--detection", "--restart", "--checkpoint-time"]}  # options in units of time
BAD_NUMBERS = ["", "x", "-1x", "1e999", "nan", "99999999999999999999", "0x", "\x1b[31m", "1 2"]
BAD_TEXTS = ["", "\x07", "a" * 3000, "/dev/null/x", "{", "[]", "=", "é", "nowhere/at/all.json"]
BAD_ARGUMENTS = ["", "nowhere", "/dev/null", "a" * 300, "\x07.json", "/proc/self/mem", "."]


def help_of(*command: str) -> str:
    return subprocess.run([TRIGRAM, *command, "--help"], capture_output=True, text=True).stdout


def commands() -> list[str]:
    return re.findall(r"^  ([a-z-]+) +[A-Z]", help_of().split("Subcommands:")[-1], re.MULTILINE)


@needs_simulator
class Options(HostileTest):
    def setUp(self) -> None:
        super().setUp()
        tune = {"space": {"/algorithm/bucket": {"values": ["1MiB"]}}}
        config = EXPERIMENT | {"steps": 2, "sweep": {"/seed": [1, 2]}, "algorithm": "bytegrad", "tune": tune}
        (self.folder / "test.json").write_text(json.dumps(config))

    def test_the_list_has_all_commands(self) -> None:
        self.assertEqual(set(commands()), set(REQUIRED))

    def wrong_lines(self) -> list[tuple[list[str], tuple[int, ...]]]:
        """Command lines, with the exit codes that each may have."""
        lines: list[tuple[list[str], tuple[int, ...]]] = []
        for command, arguments in REQUIRED.items():
            lines.append(([command, *arguments, "--no-such-option"], (2,)))
            for argument in BAD_ARGUMENTS if arguments and not arguments[0].startswith("--") else ():
                if command != "init" and not (argument == "." and command in ("report", "plot", "table", "export")):
                    words = ["network", argument] if command == "show" else [argument]
                    lines.append(([command, *words], (1, 2)))
            for option, kind in OPTION.findall(help_of(command)):
                if kind in ("INT", "UINT", "FLOAT"):
                    lines += [([command, *arguments, option, value], (2,)) for value in BAD_NUMBERS]
                    lines.append(([command, *arguments, option], (2,)))
                elif option in DURATIONS.get(command, []):
                    alone = [] if option == "--mtbf" else ["--mtbf", "24h"]
                    lines += [([command, *arguments, *alone, option, v], (2,)) for v in [*BAD_NUMBERS, *BAD_TEXTS]]
                elif kind and command in ("run", "validate", "show", "list", "schema"):
                    lines += [([command, *arguments, option, v], (0, 1, 2)) for v in BAD_TEXTS]
        return lines

    def test_wrong_values_are_refused(self) -> None:
        lines = self.wrong_lines()
        self.assertGreater(len(lines), 200)
        lines = draws_of("options").sample(lines, min(len(lines), amount(50, 10_000)))

        def check(line: tuple[list[str], tuple[int, ...]]) -> str:
            words, expected = line
            problem = wrong_end(*call(self.folder, *words), expected=expected)
            return problem and f"trigram {words!r}: {problem}"

        self.check_all(check, lines)
        self.assertFalse({f for f in files_in(SOURCE / "tests" / "hostile") if "results" in f})
