"""The table at the end of `trigram run`: the comparison that `trigram table` prints, or a plain table without
Python."""

from __future__ import annotations

import json
import os
import subprocess

from harness import TRIGRAM, CommandTest, experiment


class Tables(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.config = self.write(experiment(sweep={"/algorithm": ["gradient_allreduce", "bytegrad"]}))

    def with_python(self, python: object, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([TRIGRAM, "run", str(self.config), *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, timeout=100, env={**os.environ, "PYTHON": str(python)})

    def test_run_and_table_print_the_same(self) -> None:
        ran = self.trigram("run", self.config, table=True).stdout
        table = self.trigram("table", self.results).stdout
        self.assertRegex(table, r"^test\n\nalgorithm +step \(\w+\) +speed-up ")
        self.assertEqual(ran, table + "results: results/test\nreport:  trigram report results/test\n")

    def test_only_runs_of_the_plan_are_compared(self) -> None:
        self.trigram("run", self.config, "--set", "/seed=2")
        self.trigram("run", self.config, "--set", "/steps=3")
        ran = self.trigram("run", self.config, "--only", self.id_of("bytegrad"), table=True).stdout
        self.assertNotIn("gradient_allreduce", ran)
        ran = self.trigram("run", self.config, table=True).stdout
        self.assertNotIn("seeds", ran)
        self.assertIn("seeds", self.trigram("table", self.results).stdout)

    def id_of(self, algorithm: str) -> str:
        listed = self.trigram("run", self.config, "--dry-run").stdout.splitlines()
        (line,) = [line for line in listed if algorithm in line]
        return line.split()[0]

    def test_many_runs_are_compared(self) -> None:
        """The program sends the ids of all runs to Python, whose table may exceed the capacity of a pipe."""
        self.trigram("run", self.config, "--only", self.id_of("bytegrad"))
        (finished,) = self.results.iterdir()
        script = self.script("python", f"#!/bin/sh\ncat > {self.folder}/ids; yes 'a line' | head -n 100000\n")
        self.config = self.write(experiment(sweep={"/seed": list(range(300))}))
        ran = self.with_python(script, "--quiet")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.count("a line\n"), 100_000)
        ids = (self.folder / "ids").read_text().split()
        self.assertEqual(set(ids), {path.name for path in self.results.iterdir()} - {finished.name})
        self.assertEqual(len(ids), 300)

    def test_without_python_there_is_a_plain_table(self) -> None:
        failing = self.script(
            "python", "#!/bin/sh\necho 'Traceback (most recent call last):\n  File\nImportError: no json' >&2; exit 1\n")
        self.config = self.write(experiment(runtime="threads", sweep={"/algorithm": ["gradient_allreduce", "bytegrad"]}))
        for python, why in (("/nonexistent/python3", "cannot run /nonexistent/python3: No such file or directory"),
                            (failing, f"{failing} failed: ImportError: no json")):
            with self.subTest(python=python):
                ran = self.with_python(python)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                header, first, second, *rest = ran.stdout.splitlines()
                # The column p99 is there if steps of this machine differ enough.
                columns = (r"^run +algorithm +times +step \(\w+\) +(p99 \(\w+\) +)?exposed \(\w+\) +samples/s +loss "
                           r"+held-out loss$")
                self.assertRegex(header, columns)
                self.assertRegex(first, r"^algorithm=gradient_allreduce +gradient_allreduce +wall clock.* [\d.]+$")
                self.assertRegex(second, r"^algorithm=bytegrad ")
                self.assertRegex(ran.stdout, "\nwarning: network not emulated: ")
                self.assertEqual(rest[-3], f"these runs are not compared, which needs Python 3.11 or later: {why}; "
                                           "the variable PYTHON can name another interpreter")
                self.assertEqual(rest[-2:], ["results: results/test", "report:  trigram report results/test"])
                self.assertNotIn("*", ran.stdout)

    def test_a_stale_run_is_not_compared(self) -> None:
        self.trigram("run", self.config)
        for path in self.results.glob("*/manifest.json"):
            manifest = json.loads(path.read_text())
            if manifest["sweep"]["/algorithm"] == "bytegrad":
                path.write_text(json.dumps(manifest | {"git": "another"}))
        ran = self.trigram("run", self.config, table=True, code=1)
        self.assertIn("stale", ran.stderr)
        self.assertNotIn("bytegrad", ran.stdout)
        self.assertIn("gradient_allreduce", ran.stdout)
