"""The output of mistyped commands, and commands whose output is not read."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

from harness import TRIGRAM, CommandTest, experiment


class CommandLine(CommandTest):
    def test_without_a_command_all_commands_are_named(self) -> None:
        for command in ("run", "validate", "table"):
            self.assertRegex(self.refusal(), rf"expected a command, one of .*\b{command}\b")
        self.assertIn("one of network", self.refusal("show"))

    def test_help_is_a_command(self) -> None:
        self.assertEqual(self.trigram("help").stdout, self.trigram("--help").stdout)
        self.assertEqual(self.trigram("help", "run").stdout, self.trigram("run", "--help").stdout)

    def test_misspelt_commands(self) -> None:
        self.assertIn('unknown command "rnu"; expected one of run, ', self.refusal("rnu", "x.json"))
        self.assertIn('did you mean "run"?', self.refusal("rnu", "x.json"))
        self.assertIn('did you mean "table"?', self.refusal("tabel"))
        self.assertIn('did you mean "network"?', self.refusal("show", "netwrok", "x.json"))

    def test_profiles_are_listed_as_workloads(self) -> None:
        profiles = self.trigram("list", "profiles").stdout
        self.assertIn("diloco_1b", profiles)
        self.assertEqual(profiles, self.trigram("list", "workloads").stdout)

    def test_misspelt_options(self) -> None:
        self.assertIn('--jsn: no such option of trigram list; did you mean "--json"?', self.refusal("list", "--jsn"))

    def test_a_profile_by_its_path(self) -> None:
        refusal = self.refusal("advise", "--cluster", "ethernet_10g", "--profile", "mymodel.csv")
        self.assertIn('did you mean "profile:mymodel.csv"?', refusal)


class OutputWithoutReader(CommandTest):
    def run_program(self, *arguments: Any, **streams: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([TRIGRAM, *map(str, arguments)], cwd=self.folder, timeout=100, **streams)

    def test_errors_that_cannot_be_printed_do_not_change_the_exit_code(self) -> None:
        bad = self.write(experiment(steps=0))
        with open("/dev/full", "w") as full:
            for arguments in (("run", bad), ("rnu",), ("run", bad, "--nothing")):
                self.assertEqual(self.run_program(*arguments, stderr=full).returncode, 2)
        closed = ["sh", "-c", f"exec {TRIGRAM} run {bad} 2>&-"]
        self.assertEqual(subprocess.run(closed, cwd=self.folder, timeout=100).returncode, 2)

    def test_a_reader_that_closes_its_pipe_ends_the_command_quietly(self) -> None:
        self.trigram("run", self.write(experiment(sweep={"/seed": [1, 2]})), "--no-table")
        for arguments in (("table", self.results), ("status", self.results), ("list",)):
            for ignored in (signal.SIG_DFL, signal.SIG_IGN):  # some shells and supervisors ignore SIGPIPE
                with self.subTest(arguments, ignored=ignored):
                    reader, writer = os.pipe()
                    os.close(reader)
                    done = subprocess.run([TRIGRAM, *map(str, arguments)], stdout=writer, stderr=subprocess.PIPE,
                                          restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGPIPE, ignored))
                    os.close(writer)
                    self.assertEqual(done.stderr, b"")
                    self.assertIn(done.returncode, (0, -signal.SIGPIPE))
