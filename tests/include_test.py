#!/usr/bin/env python3
"""Checks that #include lines follow the architecture. Each folder may include these folders of the project:

    core         core
    algorithms   core, algorithms
    netmodels    core, netmodels
    runtime/X    core, netmodels, runtime/host, and the same runtime X
    cuda         core, cuda
    experiments  all folders except tests
    tests        all folders

Within a top folder, ARROWS lists the dependencies between sub-folders, which must have no cycle.

An algorithm is one file of algorithms/ that reads like its paper. It has at most 60 lines of code, not counting its
options, its entry and its comments.

CONFINED lists the folders that may include the headers of libraries. Only cuda/ compiles conditionally; elsewhere, CMake
chooses between files.
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["core", "algorithms", "netmodels", "runtime", "cuda", "experiments", "tests"]
ALLOWED = {
    "core": {"core"},
    "algorithms": {"algorithms", "core"},
    "netmodels": {"netmodels", "core"},
    "runtime": {"core", "netmodels", "runtime/host"},
    "cuda": {"cuda", "core"},
    "experiments": set(FOLDERS) - {"tests"},
    "tests": set(FOLDERS),
}
# For each sub-folder of a top folder: the sub-folders that it may include. "." has the files of the top folder itself.
ARROWS = {
    "algorithms": {
        ".": "asynchronous collectives execution membership peers primitives servers",
        "asynchronous": "collectives execution peers primitives",
        "collectives": "",
        "execution": "collectives primitives",
        "membership": "asynchronous collectives execution primitives",
        "peers": "",
        "primitives": "collectives peers",
        "servers": "collectives execution primitives",
    },
    "core": {
        ".": "",
        "codecs": ". config math random",
        "config": ".",
        "device": ". codecs nn random",
        "logging": "",
        "math": "",
        "metering": ". device",
        "nn": ". math",
        "optimizers": ". config math",
        "random": ". math",
        "torch": ".",
        "workloads": ". config device random torch",
    },
    "cuda": {
        ".": "nccl support",
        "codecs": "kernels support",
        "device": "codecs kernels support",
        "kernels": "support",
        "net": "",
        "nccl": "device support",
        "support": "",
    },
    "experiments": {
        ".": "",
        "advise": ". config process results run sweep text tune",
        "bench": ". config job",
        "calibrate": "bench",
        "checkpoint": ". results",
        "cli": ". advise bench calibrate checkpoint config doctor emulate job launch process results run serve show sweep tables text traces",
        "config": ". tune",
        "doctor": ". emulate process results serve",
        "emulate": ". config process",
        "job": ". config emulate results",
        "launch": ". process results run sweep text",
        "process": "",
        "python": "checkpoint config",
        "results": ". config",
        "run": ". checkpoint config process results text tune",
        "serve": ". advise process results text",
        "show": "",
        "sweep": ". checkpoint config job process results run tables text",
        "tables": "results text",
        "text": "",
        "traces": "",
        "tune": "",
    },
    "netmodels": {".": "network topologies", "network": "", "topologies": "network"},
    "runtime": {".": "", "host": "", "mpi": "host", "sim": "", "threads": "host"},
}
# Headers of libraries, and the folders that may include them.
CONFINED = {
    r"(simgrid|xbt|smpi)/": ("runtime/sim/", "tests/bench/sim/"),
    r"mpi\.h$": ("runtime/mpi/", "tests/bench/mpi/", "tests/nccl_emulation/"),
    r"(cuda|cublas|curand|nvtx|nccl|cooperative_groups)": (
        "cuda/", "tests/cuda/", "tests/cuda_emulation/", "tests/nccl_emulation/",
        "tests/bench/cuda/"),
    r"nlopt": ("experiments/tune/",),
    r"(torch|ATen|c10)/": ("core/torch/",),
    r"pybind11/": ("experiments/python/",),
    r"httplib\.h$": ("experiments/serve/",),
    r"(gtest|gmock|benchmark)/": ("tests/",),
}
# Highway compiles a file several times, once per instruction set. This condition marks code that is compiled once.
ALLOWED_CONDITIONS = {"#if HWY_ONCE"}

# The sources of algorithms/ that are no algorithms.
SHARED_BY_ALGORITHMS = {"entries.cpp", "options.cpp", "registry.cpp"}
MAX_ALGORITHM_LINES = 60

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*")


def unit_of(path):
    """The unit to which a file belongs: its top folder, or its runtime within runtime/."""
    parts = Path(path).parts
    return "/".join(parts[:2]) if parts[0] == "runtime" and len(parts) > 2 else parts[0]


def include_error(root, source, quote, target):
    """The reason why `source` may not include `target`; None if it may."""
    unit = unit_of(source)
    if quote == "<" or not (root / target).is_file():
        for pattern, homes in CONFINED.items():
            if re.match(pattern, target) and not str(source).startswith(homes):
                return f"includes <{target}>, which {' and '.join(homes)} alone may see"
        if Path(target).parts[0] in FOLDERS:
            return f"includes {target}, which does not exist"
        if quote == '"' and "/" not in target:
            return f'includes "{target}"; write its full path from the root'
        return None
    allowed = ALLOWED[unit.split("/")[0]]
    if unit_of(target) == unit or {unit_of(target), unit_of(target).split("/")[0]} & allowed:
        return None
    return f"includes {target}: {unit} does not depend on {unit_of(target)}"


def sub_folder_of(path):
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else "."


def arrows_under(root, top):
    """By pair of sub-folders of a top folder: a file of the first that includes a file of the second."""
    found = {}
    for path in sorted((root / top).rglob("*")):
        if path.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
            continue
        source = path.relative_to(root)
        for line in path.read_text().splitlines():
            match = INCLUDE.match(line)
            if match and match[1] == '"' and Path(match[2]).parts[0] == top:
                arrow = sub_folder_of(source), sub_folder_of(match[2])
                if arrow[0] != arrow[1]:
                    found.setdefault(arrow, source)
    return found


def arrow_errors(root, top, allowed):
    """One line for each dependency that is not allowed, and for each allowed dependency that does not exist."""
    found = arrows_under(root, top)
    table = {(a, b) for a, targets in allowed.items() for b in targets.split()}
    errors = [f"{found[a, b]}: {top}/{a} does not depend on {top}/{b}" for a, b in sorted(set(found) - table)]
    return errors + [f"nothing in {top}/{a} includes {top}/{b}" for a, b in sorted(table - set(found))]


def cyclic(allowed):
    """The sub-folders that depend on themselves, through other sub-folders."""
    reached = {a: set(targets.split()) for a, targets in allowed.items()}
    for _ in reached:
        for targets in reached.values():
            targets.update(*(reached[b] for b in set(targets)))
    return sorted(a for a, targets in reached.items() if a in targets)


def errors_under(root):
    """One line per forbidden include or condition in the sources under `root`."""
    errors = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
                continue
            source = path.relative_to(root)
            for number, line in enumerate(path.read_text().splitlines(), 1):
                problem = None
                if match := INCLUDE.match(line):
                    problem = include_error(root, source, *match.groups())
                elif CONDITION.match(line) and folder != "cuda":
                    if line.strip() not in ALLOWED_CONDITIONS:
                        problem = f"compiles conditionally: {line.strip()}"
                if problem:
                    errors.append(f"{source}:{number}: {problem}")
    return errors


def algorithm_files(root):
    """The sources of algorithms, which lie in algorithms/ itself, and not in its sub-folders."""
    found = sorted((root / "algorithms").glob("*.cpp"))
    return [path for path in found if path.name not in SHARED_BY_ALGORITHMS]


CODE = ["core", "algorithms", "netmodels", "runtime", "cuda", "experiments", "cmake", "CMakeLists.txt"]
TEXTS = {".h", ".cpp", ".cu", ".def", ".txt", ".cmake", ".md", ".json", ".py"}


def sources(root, places):
    """The text files in these folders and among these files."""
    paths = (path for place in places for path in [root / place, *(root / place).rglob("*")])
    return [path for path in paths if path.suffix in TEXTS and path.is_file()]


def files_with_word(root, word, places):
    """The files among `sources` that contain the word, sorted."""
    found = (path for path in sources(root, places) if re.search(rf"\b{word}\b", path.read_text()))
    return sorted(str(path.relative_to(root)) for path in found)


def count_lines(text):
    """The number of lines of code in the anonymous namespace of an algorithm's file, without its options."""
    match = re.search(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL)
    body = re.sub(r"^struct Options \{.*?^\};$", "", match[1] if match else "", flags=re.MULTILINE | re.DOTALL)
    lines = (line.strip() for line in body.splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def long_algorithms(root):
    """One line for each algorithm whose code is too long."""
    errors = []
    for path in algorithm_files(root):
        count = count_lines(path.read_text())
        if count > MAX_ALGORITHM_LINES:
            errors.append(f"{path.relative_to(root)}: {count} lines of code, {MAX_ALGORITHM_LINES} at most")
    return errors


class Includes(unittest.TestCase):
    def test_dependencies_follow_the_architecture(self):
        self.assertEqual([], errors_under(ROOT))

    def test_dependencies_between_sub_folders_equal_the_table(self):
        for top, allowed in ARROWS.items():
            with self.subTest(top=top):
                self.assertEqual([], arrow_errors(ROOT, top, allowed))
                self.assertEqual([], cyclic(allowed))

    def test_it_reads_the_sources(self):
        count = sum(1 for folder in FOLDERS[:4] for _ in (ROOT / folder).rglob("*.h"))
        self.assertGreater(count, 20)


class Algorithms(unittest.TestCase):
    def test_an_algorithm_is_short(self):
        self.assertEqual([], long_algorithms(ROOT))

    def test_every_listed_algorithm_has_a_file(self):
        """The registry lists exactly the files to which the rule applies."""
        names = (ROOT / "algorithms" / "list.def").read_text()
        listed = set(re.findall(r"^TRIGRAM_ALGORITHM\((\w+)\)$", names, re.MULTILINE))
        self.assertEqual(listed, {path.stem for path in algorithm_files(ROOT)})

    def test_an_algorithm_is_one_file_and_one_line(self):
        """No other source and no build file names an algorithm's entry. The test prints the files that name an algorithm."""
        named = {}
        for path in sources(ROOT, CODE):
            for name in re.findall(r"\b(\w+)_entry\b", path.read_text()):
                named.setdefault(name, set()).add(str(path.relative_to(ROOT)))
        for path in algorithm_files(ROOT):
            self.assertEqual({f"algorithms/{path.name}"}, named[path.stem])
        example = "moshpit"  # a word without another meaning
        code = files_with_word(ROOT, example, CODE)
        self.assertEqual(["algorithms/list.def", f"algorithms/{example}.cpp"], code)
        generated = ["README.md", "configs/schema.json"]
        others = set(files_with_word(ROOT, example, CODE + ["configs", "docs", "tests", "README.md"])) - {*code, *generated}
        self.assertLess(set(generated), set(files_with_word(ROOT, example, ["configs", "README.md"])))
        print(f"\n{example}: {len(code)} places of code ({', '.join(code)}), {len(generated)} written by scripts/generate, "
              f"{len(others)} others: {', '.join(sorted(others))}", file=sys.stderr)


class PlantedErrors(unittest.TestCase):
    """The check must be able to fail."""

    def test_a_dependency_that_is_not_allowed_and_one_that_is_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "cuda" / "a").mkdir(parents=True)
            (root / "cuda" / "a" / "x.h").write_text('#include "cuda/b/y.h"\n')
            errors = arrow_errors(root, "cuda", {"a": "c", "b": "", "c": ""})
        self.assertEqual(["cuda/a/x.h: cuda/a does not depend on cuda/b", "nothing in cuda/a includes cuda/c"], errors)

    def test_a_cycle(self):
        self.assertEqual(["a", "b"], cyclic({"a": "b", "b": "a c", "c": ""}))

    def errors_of(self, source, text):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            files = {
                "core/a.h": "", "algorithms/a.h": "", "netmodels/a.h": "", "cuda/a.h": "",
                "runtime/sim/a.h": "", "runtime/threads/a.h": "", "runtime/host/a.h": "",
                "experiments/a.h": "",
                "tests/support/a.h": "", source: text,
            }
            for name, content in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return errors_under(root)

    def test_allowed(self):
        for source, target in [
            ("core/b.cpp", "core/a.h"), ("algorithms/x/b.cpp", "core/a.h"),
            ("algorithms/b.cpp", "algorithms/a.h"), ("runtime/sim/b.cpp", "netmodels/a.h"),
            ("runtime/sim/b.cpp", "runtime/sim/a.h"), ("cuda/b.cu", "core/a.h"),
            ("runtime/threads/b.cpp", "runtime/host/a.h"),
            ("experiments/b.cpp", "runtime/sim/a.h"), ("tests/b.cpp", "experiments/a.h"),
        ]:
            self.assertEqual([], self.errors_of(source, f'#include "{target}"\n'), source)

    def test_forbidden_arrows(self):
        for source, target in [
            ("core/b.cpp", "netmodels/a.h"), ("core/b.cpp", "algorithms/a.h"),
            ("algorithms/b.cpp", "netmodels/a.h"), ("algorithms/b.cpp", "runtime/sim/a.h"),
            ("netmodels/b.cpp", "runtime/sim/a.h"), ("runtime/sim/b.cpp", "algorithms/a.h"),
            ("runtime/threads/b.cpp", "runtime/sim/a.h"), ("runtime/sim/b.cpp", "cuda/a.h"),
            ("runtime/host/b.cpp", "runtime/threads/a.h"),
            ("cuda/b.cu", "netmodels/a.h"), ("experiments/b.cpp", "tests/support/a.h"),
        ]:
            text = f"#pragma once\n\n  #  include  \"{target}\"  // sneaked in\n"
            self.assertEqual(1, len(self.errors_of(source, text)), f"{source} -> {target}")

    def test_confined_headers(self):
        for source, header, allowed in [
            ("runtime/sim/b.cpp", "<simgrid/s4u.hpp>", True),
            ("runtime/threads/b.cpp", "<simgrid/s4u.hpp>", False),
            ("tests/b.cpp", "<xbt/log.h>", False), ("runtime/mpi/b.cpp", "<mpi.h>", True),
            ("tests/bench/mpi/b.cpp", "<mpi.h>", True), ("tests/bench/b.cpp", "<mpi.h>", False),
            ("tests/b.cpp", "<mpi.h>", False),
            ("experiments/b.cpp", "<mpi.h>", False), ("core/b.cpp", "<cuda_runtime.h>", False),
            ("tests/cuda/b.cpp", "<cuda_runtime.h>", True), ("tests/b.cpp", "<nccl.h>", False),
            ("core/b.cpp", '"nccl.h"', False), ("core/b.cpp", "<gtest/gtest.h>", False),
        ]:
            self.assertEqual(not allowed, bool(self.errors_of(source, f"#include {header}\n")),
                             f"{source} {header}")

    def test_paths_that_are_not_from_the_root(self):
        self.assertEqual(1, len(self.errors_of("core/b.cpp", '#include "a.h"\n')))
        self.assertEqual(1, len(self.errors_of("core/b.cpp", '#include "core/gone.h"\n')))

    def test_length_of_an_algorithm(self):
        options = "struct Options {\n" + "  int n;\n" * 20 + "};\n"
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "algorithms" / "primitives").mkdir(parents=True)
            for name in ("short", "long", "registry", "primitives/long"):
                code = "f();\n" * (60 if name == "short" else 61)
                text = f"// Banner.\nnamespace {{\n\n{options}// Why.\n{code}}}  // namespace\ng();\n"
                (root / "algorithms" / f"{name}.cpp").write_text(text)
            self.assertEqual(["algorithms/long.cpp: 61 lines of code, 60 at most"], long_algorithms(root))

    def test_conditional_compilation(self):
        for line in ["#ifdef __linux__", "#if SIMGRID_VERSION > 33200", "# ifndef TRIGRAM_SIM"]:
            self.assertEqual(1, len(self.errors_of("core/b.cpp", f"{line}\n#endif\n")), line)
            self.assertEqual(0, len(self.errors_of("cuda/b.cu", f"{line}\n#endif\n")), line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
