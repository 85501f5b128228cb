#!/usr/bin/env python3
"""Checks the layout of tests/.

The folders of tests/ mirror the folders of the sources: tests/core/codecs has the tests of core/codecs. OWN_SUBJECTS
lists the folders whose subject is no single folder of the sources. A CMake file names every C++ test source, and no
source is longer than MAX_LINES.
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parent
MAX_LINES = 400
OWN_SUBJECTS = {
    "algorithms/update_rules": "what each algorithm computes",
    "algorithms/wait_avoiding": "eager-SGD and WAGMA-SGD with late workers",
    "bench": "speeds",
    "cli": "the program, called as users call it",
    "conformance": "what every world must do",
    "cuda_emulation": "CUDA on the host",
    "data": "files that tests read",
    "golden": "recorded traces",
    "hostile": "the program under hostile input",
    "invariants": "laws of all algorithms and worlds",
    "nccl_emulation": "NCCL over MPI",
    "oracles": "formulas and reference implementations",
    "support": "code that several tests share",
}
CPP = {".cpp", ".h", ".cu"}


def files_under(tests):
    """Paths of the files below `tests`, relative to it."""
    found = sorted(path.relative_to(tests) for path in tests.rglob("*") if path.is_file())
    return [path for path in found if "__pycache__" not in path.parts]


def folder_errors(tests):
    """One line for each folder that neither mirrors a folder of the sources nor is in OWN_SUBJECTS."""
    folders = {path.parent.as_posix() for path in files_under(tests)} - {"."}
    return [f"tests/{folder}: there is no folder {folder} that it could mirror"
            for folder in sorted(folders)
            if not (tests.parent / folder).is_dir()
            and not any(folder == own or folder.startswith(own + "/") for own in OWN_SUBJECTS)]


def length_errors(tests):
    """One line per source that is too long."""
    errors = []
    for path in files_under(tests):
        if path.suffix in CPP | {".py"}:
            count = len((tests / path).read_text().splitlines())
            if count > MAX_LINES:
                errors.append(f"tests/{path}: {count} lines, {MAX_LINES} at most; split it by subject")
    return errors


def words_in(cmake):
    """The words of a CMake file, with each foreach loop over literal words unrolled."""
    text = re.sub(r"#.*", "", cmake.read_text())
    words = set(re.findall(r"[\w./${}]+", text))
    for variable, values in re.findall(r"foreach\((\w+)\s+([^)$]+)\)", text):
        for word in [w for w in words if "${" + variable + "}" in w]:
            words.update(word.replace("${" + variable + "}", value) for value in values.split())
    return words


def built_files(tests):
    """Sources that a CMake file names, relative to `tests`."""
    built = set()
    for cmake in sorted(tests.rglob("CMakeLists.txt")):
        for word in words_in(cmake):
            path = (cmake.parent / word).resolve()
            if path.suffix in CPP and path.is_relative_to(tests):
                built.add(path.relative_to(tests))
    return built


def unbuilt_files(tests):
    """One line per C++ source that no CMake file names."""
    built = built_files(tests)
    return [f"tests/{path}: no CMakeLists.txt names it, so it is not built"
            for path in files_under(tests)
            if path.suffix in {".cpp", ".cu"} and path not in built]


class Layout(unittest.TestCase):
    def test_folders_mirror_the_sources(self):
        self.assertEqual([], folder_errors(TESTS))

    def test_folders_with_own_subjects_exist(self):
        self.assertEqual([], [name for name in OWN_SUBJECTS if not (TESTS / name).is_dir()])

    def test_sources_are_short(self):
        self.assertEqual([], length_errors(TESTS))

    def test_sources_are_built(self):
        self.assertEqual([], unbuilt_files(TESTS))


class PlantedErrors(unittest.TestCase):
    """The checks must be able to fail."""

    def errors_of(self, check, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name, content in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return [error.split(":")[0] for error in check(root / "tests")]

    def test_a_folder_that_mirrors_nothing(self):
        files = {"core/a.cpp": "", "tests/core/a_test.cpp": "", "tests/bench/sim/b.cpp": "",
                 "tests/cores/c_test.cpp": ""}
        self.assertEqual(["tests/cores"], self.errors_of(folder_errors, files))

    def test_a_long_source(self):
        files = {"tests/a.cpp": "//\n" * 400, "tests/b.py": "#\n" * 401, "tests/c.md": "\n" * 401}
        self.assertEqual(["tests/b.py"], self.errors_of(length_errors, files))

    def test_a_source_that_is_not_built(self):
        cmake = "foreach(suite a b)\n  trigram_test(${suite} FILES ${suite}_test.cpp ../d.cpp)\nendforeach() # c.cpp\n"
        files = {"tests/x/CMakeLists.txt": cmake, "tests/x/a_test.cpp": "", "tests/x/b_test.cpp": "",
                 "tests/x/c.cpp": "", "tests/d.cpp": ""}
        self.assertEqual(["tests/x/c.cpp"], self.errors_of(unbuilt_files, files))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
