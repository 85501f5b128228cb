"""`trigram doctor` says what is here and what is missing, and ends with exit code 0 in any case."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

from harness import TRIGRAM, CommandTest, listed


class Doctor(CommandTest):
    def doctor(self, *arguments: str, **environment: str) -> str:
        done = subprocess.run([TRIGRAM, "doctor", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, env=os.environ | environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def checks(self, **environment: str) -> dict[str, dict[str, Any]]:
        return {check["name"]: check for check in json.loads(self.doctor("--json", **environment))["checks"]}

    def empty_path(self) -> str:
        (self.folder / "bin").mkdir(exist_ok=True)
        return str(self.folder / "bin")

    def test_worlds_are_those_of_the_version(self) -> None:
        """`trigram --version` marks the worlds that are not built in; `trigram list` says why."""
        version = subprocess.run([TRIGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        worlds = re.findall(r"(\w+)( \(absent\))?", re.findall(r"^worlds: (.*)$", version, re.MULTILINE)[0])
        checks = self.checks()
        self.assertEqual([world["name"] for world in listed("worlds")], [name for name, _ in worlds])
        for name, absent in worlds:
            self.assertEqual(checks[name]["present"], not absent, name)
            self.assertEqual("this build has no" in checks[name].get("remedy", ""), bool(absent), name)

    def test_versions_are_those_of_the_program(self) -> None:
        version = subprocess.run([TRIGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        checks = self.checks()
        for library in ("SimGrid", "Eigen", "Highway"):
            self.assertIn(f"{library}: {checks[library]['detail']}\n", version)

    def test_programs_of_the_machine(self) -> None:
        path = self.empty_path()
        checks = self.checks(PATH=path)
        for name, packages in (("mpirun", "openmpi-bin"), ("tc", "iproute2"), ("browser", "chromium"), ("GPUs", "")):
            self.assertEqual((checks[name]["present"], checks[name]["packages"]), (False, packages), name)
        self.script("bin/mpirun", "#!/bin/sh\necho 'mpirun (Some MPI) 9.8'\necho more\n")
        self.script("bin/firefox", "#!/bin/sh\n")
        self.script("bin/nvidia-smi", "#!/bin/sh\necho 'GPU A, 1.2'\necho 'GPU B, 1.2'\necho 'GPU A, 1.2'\n")
        checks = self.checks(PATH=path)
        self.assertEqual(checks["mpirun"]["detail"], "mpirun (Some MPI) 9.8")
        self.assertEqual(checks["browser"]["detail"], f"{path}/firefox")
        self.assertEqual(checks["GPUs"]["detail"], "2 x GPU A, driver 1.2; 1 x GPU B, driver 1.2")
        self.script("bin/nvidia-smi", "#!/bin/sh\necho 'no devices were found'\nexit 6\n")
        self.assertFalse(self.checks(PATH=path)["GPUs"]["present"])

    def test_python_and_its_modules(self) -> None:
        checks = self.checks(PYTHON="/usr/bin/python3")
        version = subprocess.run(["/usr/bin/python3", "-c", "import platform; print(platform.python_version())"],
                                 capture_output=True, text=True, check=True).stdout.strip()
        self.assertTrue(checks["Python"]["detail"].startswith(version))
        old = self.script("python", "#!/bin/sh\necho 'Unknown option: -P' >&2\nexit 2\n")
        checks = self.checks(PYTHON=str(old))
        self.assertIn("Unknown option: -P", checks["Python"]["detail"])
        self.assertEqual({checks[name]["packages"] for name in ("Python", "pandas", "matplotlib")},
                         {"python3", "python3-pandas", "python3-matplotlib"})
        for answer in ("[]", "{", '{"python": 3, "modules": []}', '{"modules": {"pandas": null}}'):
            self.script("python", f"#!/bin/sh\necho '{answer}'\n")
            self.assertFalse(self.checks(PYTHON=str(old))["pandas"]["present"], answer)

    def test_the_table_is_aligned_and_ends_with_what_to_install(self) -> None:
        text = self.doctor(PATH=self.empty_path())
        columns = {line.index(word) for line in text.split("\n\n")[0].splitlines() if line.startswith("  ")
                   for word in (" yes ", " no ") if word in line[:40]}
        self.assertEqual(len(columns), 1, text)
        packages = text.splitlines()[-1].removeprefix("on Debian or Ubuntu: apt-get install ").split()
        self.assertIn("openmpi-bin", packages)
        self.assertEqual(len(packages), len(set(packages)))

    def test_data_files(self) -> None:
        self.assertTrue(self.checks()["data files"]["present"])
        self.assertIn("make install", self.checks(TRIGRAM_DATA_DIR="/nowhere")["data files"]["remedy"])
