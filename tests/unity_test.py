#!/usr/bin/env python3
"""Checks that sources of targets whose sources compile together (cmake/TrigramPrecompile.cmake) have different function
names.

In one translation unit, a call may choose a function of another source's anonymous namespace, because its parameters
fit better. A function in an anonymous namespace therefore needs another name than the functions in the anonymous
namespaces of the other sources, and than the functions in the project's headers that these sources include. Sources that
have a named namespace of their own, such as algorithms and tests, may use any names.

  unity_test.py BUILD    BUILD is a configured build folder
"""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path()
# A declaration or definition of a function at the beginning of a line, as clang-format writes it.
FUNCTION = re.compile(
    r"^(?!return|else|if|for|namespace|using|struct|class|enum|static_assert|friend|TEST|INSTANTIATE|[#/}\s])"
    r"[\w:<>,&*\[\] .]*?[\w>&*\]] ?\b(\w+)\(", re.M)
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.M | re.S)
CLASS = re.compile(r"^(struct|class)[^;\n]*\{.*?^\};", re.M | re.S)
NAMED = re.compile(r"^namespace ([\w:]+) \{", re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def functions(text):
    return {match[1] for match in FUNCTION.finditer(CLASS.sub("", text))}


def groups(build):
    """The sources of each target that compiles sources together. Which of them share a translation unit changes with
    every new source, so all of them need different names."""
    targets = {}
    units = {Path(command["file"]) for command in json.loads((build / "compile_commands.json").read_text())}
    for unit in sorted(units):
        if unit.parent.name == "Unity":
            targets.setdefault(unit.parent, []).extend(Path(path) for path in INCLUDE.findall(unit.read_text()))
    for sources in targets.values():
        yield [path for path in sources if path.is_relative_to(ROOT) and not path.is_relative_to(build)]


def qualified(text, names):
    """`names` in the first named namespace of a file's `text`."""
    scope = NAMED.search(text)
    return {f"{scope[1]}::{name}" if scope else name for name in names}


def errors_in(sources, root=ROOT):
    """One line for each function name that two of `sources` share, or that a source shares with a header."""
    texts = {path: path.read_text() for path in sources}
    local = {path: qualified(text, functions("\n".join(ANONYMOUS.findall(text)))) for path, text in texts.items()}
    headers = {root / name for text in texts.values() for name in INCLUDE.findall(text)}
    declared = {name: header.name for header in headers if header.is_file()
                for name in qualified(header.read_text(), functions(header.read_text()))}
    errors = []
    for path, names in local.items():
        for other, others in local.items():
            errors += [f"{path}: {name}() is also in {other.name}" for name in names & others if other.name > path.name]
        errors += [f"{path}: {name}() is also in {declared[name]}" for name in names & declared.keys()]
    return sorted(errors)


class UnityNames(unittest.TestCase):
    def test_sources_that_compile_together_have_distinct_names(self):
        units = list(groups(BUILD))
        if not units:
            self.skipTest("this build compiles each source alone")
        self.assertEqual([], sorted({error for sources in units for error in errors_in(sources)}))

    def test_equal_names_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "x.h").write_text("namespace t {\nstruct X {\n  int member(int);\n};\nint shown(int a);\n")
            (root / "a.cpp").write_text('#include "x.h"\n'
                                        "namespace t {\nnamespace {\nint same() {\n}\n}  // namespace\n")
            body = ("namespace {\nint same(long a) {\n}\nint shown(long a) {\n}\nint member(int) {\n}\n"
                    "}  // namespace\nint outside() {\n}\n")
            (root / "b.cpp").write_text("namespace t {\n" + body)
            (root / "c.cpp").write_text("namespace t::c {\n" + body)
            self.assertEqual([f"{root}/a.cpp: t::same() is also in b.cpp", f"{root}/b.cpp: t::shown() is also in x.h"],
                             errors_in([root / f"{name}.cpp" for name in "abc"], root))


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop()).resolve()
    unittest.main()
