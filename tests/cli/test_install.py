"""The program finds configs, schema and the Python package, in the build tree and installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

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
        self.assertIn(".SH NAME", (prefix / "share" / "man" / "man1" / "trigram-run.1").read_text())
        for file in ("bash-completion/completions/trigram", "zsh/site-functions/_trigram",
                     "fish/vendor_completions.d/trigram.fish"):
            self.assertTrue((prefix / "share" / file).is_file(), file)
        self.run_config(experiment())
        self.assertIn("gradient_allreduce", self.report(str(prefix / "bin" / "trigram")))

    @unittest.skipUnless(all(map(shutil.which, ("cpack", "dpkg-deb", "dpkg-shlibdeps"))), "no tools for Debian packages")
    def test_debian_package(self) -> None:
        """Its program runs from an unpacked tree, finds its own data there, and depends on its libraries' packages."""
        made = subprocess.run(["cpack", "-G", "DEB", "-B", str(self.folder)], cwd=os.environ["BUILD"],
                              capture_output=True, text=True, timeout=250)
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
        (package,) = self.folder.glob("trigram_*.deb")
        depends = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
        # The package of each shared library that the program names, as dpkg knows it.
        needed = re.findall(r"NEEDED +(lib(?:c|fmt|stdc\+\+)\.so\S*)", subprocess.run(
            ["objdump", "-p", harness.TRIGRAM], capture_output=True, text=True, check=True).stdout)
        self.assertGreater(len(needed), 1)
        for library in needed:
            found = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True).stdout
            self.assertRegex(depends, rf"(^|, ){re.escape(found.split(':')[0])}\b", library)
        root = self.folder / "root"
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
        program = root / "usr" / "bin" / "trigram"
        environment = {name: value for name, value in os.environ.items() if name != "TRIGRAM_DATA_DIR"}
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True, env=environment)
        self.assertEqual(version.stdout, self.trigram("--version").stdout)
        checks = subprocess.run([program, "doctor", "--json"], capture_output=True, text=True, check=True, env=environment)
        (data,) = [check for check in json.loads(checks.stdout)["checks"] if check["name"] == "data files"]
        self.assertEqual((data["present"], data["detail"]), (True, str(root / "usr" / "share" / "trigram" / "configs")))
        self.assertFalse((root / "usr" / "include").exists())
