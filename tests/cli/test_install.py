"""The program finds configs, schema and the Python package, in the build tree and installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import harness
from harness import CommandTest, experiment


class Install(CommandTest):
    def report(self, program: str) -> str:
        done = subprocess.run(
            [program, "report", str(self.results)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHON": sys.executable},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.results / "report.html").read_text()

    def test_report_from_the_build_tree(self) -> None:
        self.run_config(experiment(seed=[1, 2]))
        self.assertIn("gradient_allreduce", self.report(harness.TRIGRAM))

    def test_report_of_a_missing_folder(self) -> None:
        self.assertIn("nowhere", self.trigram("report", "nowhere", code=2).stderr)

    def test_installed(self) -> None:
        prefix = self.folder / "prefix"
        subprocess.run(
            [shutil.which("cmake") or "cmake", "--install", os.environ["BUILD"], "--prefix", prefix],
            check=True,
            capture_output=True,
        )
        share = prefix / "share" / "trigram"
        json.loads((share / "configs" / "schema.json").read_text())
        self.assertTrue((share / "configs" / "quickstart.json").exists())
        self.run_config(experiment())
        self.assertIn("gradient_allreduce", self.report(str(prefix / "bin" / "trigram")))
