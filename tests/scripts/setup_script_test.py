#!/usr/bin/env python3
"""Tests which packages `scripts/setup --gpu` considers missing, on a machine without apt-get, and on a machine whose
packages are not installed."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "scripts" / "setup"
COMMANDS = ["c++", "cmake", "ninja", "pkg-config", "git", "python3", "mpicxx", "mpirun"]
NEEDED_BY_SETUP = ["bash", "env", "dirname", "awk", "grep", "cat", "id"]


class SetupForGpus(unittest.TestCase):
    """Runs the script with a PATH of commands that do nothing; a test chooses the header that the compiler lacks."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        for command in NEEDED_BY_SETUP:
            if found := shutil.which(command):
                (self.folder / command).symlink_to(found)
        for command in COMMANDS:
            self.program(command, "exit 0")
        self.compiler_lacks("nothing")

    def program(self, name, script):
        file = self.folder / name
        file.unlink(missing_ok=True)
        file.write_text(f"#!/bin/bash\n{script}\n")
        file.chmod(0o755)

    def compiler_lacks(self, header):
        self.program("c++", f"read -r line; [[ $line == *include* && $line != *{header}* ]]")

    def add_package_tools(self, installed=""):
        """Adds a dpkg-query that reports one installed package or none, and an apt-get that records its arguments."""
        self.program("dpkg-query", f"printf 'installed %s\\n' {installed}")
        self.program("apt-get", f"echo \"$*\" >>{self.folder}/apt-get-calls")

    def apt_get_calls(self):
        file = self.folder / "apt-get-calls"
        return file.read_text() if file.exists() else ""

    def setup_(self, *options, code):
        result = subprocess.run(["bash", SETUP, *options], capture_output=True, text=True, timeout=60,
                                env={"PATH": str(self.folder), "HOME": os.environ.get("HOME", "/")})
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr

    def test_no_package_is_requested_if_nothing_is_missing(self):
        self.assertEqual(self.setup_("--gpu", code=0), "")  # no apt-get at all
        self.add_package_tools()
        self.assertEqual(self.setup_("--gpu", code=0), "")
        self.assertEqual(self.apt_get_calls(), "")

    def test_a_cmake_that_does_not_read_the_presets_is_named(self):
        self.program("cmake", "echo cmake version 3.22.1")
        self.assertIn("CMake 3.22 is too old, 3.25 is needed", self.setup_("--gpu", code=1))
        self.program("cmake", "echo cmake version 4.0.2")
        self.assertEqual(self.setup_("--gpu", code=0), "")

    def test_only_missing_packages_are_named(self):
        self.compiler_lacks("CLI/CLI.hpp")
        (self.folder / "ninja").unlink()
        output = self.setup_("--gpu", code=1)
        self.assertIn("no apt-get", output)
        named = [line.strip() for line in output.splitlines() if line.startswith("  ")]
        self.assertEqual(named, ["ninja-build", "libcli11-dev"])
        self.add_package_tools()
        self.assertIn("missing: ninja-build libcli11-dev", self.setup_("--gpu", "--check", code=1))
        self.assertEqual(self.apt_get_calls(), "")

    def test_an_installed_package_is_not_missing(self):
        self.compiler_lacks("CLI/CLI.hpp")
        self.add_package_tools("libcli11-dev")
        self.assertEqual(self.setup_("--gpu", code=0), "")

    def test_missing_packages_are_installed(self):
        self.compiler_lacks("Eigen/Core")
        self.add_package_tools()
        self.program("id", "echo 0")
        self.setup_("--gpu", code=0)
        installed = self.apt_get_calls().splitlines()[-1].split()
        self.assertEqual([word for word in installed if word.startswith("lib")], ["libeigen3-dev"])

    def test_packages_of_the_rest_of_the_project_are_not_included(self):
        for command in COMMANDS:
            (self.folder / command).unlink()
        output = self.setup_("--gpu", code=1)
        self.assertIn("libeigen3-dev", output)
        for other in ("simgrid", "chromium", "pandas", "npm", "fashion"):
            self.assertNotIn("\n  " + other, output)
            self.assertNotIn("  lib" + other, output)
            self.assertNotIn("python3-" + other, output)

    def test_the_demo_needs_fewer_packages(self):
        """Each list as --check names it, where dpkg knows no package: the demo's is a part of the other."""
        self.add_package_tools()
        lists = {}
        for options in ((), ("--minimal",)):
            output = self.setup_(*options, "--check", code=1)
            (missing,) = [line for line in output.splitlines() if line.startswith("setup: missing: ")]
            lists[options] = set(missing.removesuffix("the chart library of reports").split()[2:])
        self.assertLess(lists["--minimal",], lists[()])
        for package in ("libsimgrid-dev", "dataset-fashion-mnist", "python3-pandas"):
            self.assertIn(package, lists["--minimal",])
        for package in ("libopenmpi-dev", "libgtest-dev", "python3-pytest", "chromium"):
            self.assertNotIn(package, lists["--minimal",])


if __name__ == "__main__":
    unittest.main()
