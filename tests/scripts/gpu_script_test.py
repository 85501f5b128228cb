#!/usr/bin/env python3
"""Tests how scripts/gpu.py judges figures, and parts that pass, fail, hang, or have no time. The tests use programs
that only print, in place of the programs of a build for a GPU."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import gpu  # noqa: E402
import gpu_figures  # noqa: E402
from gpu_parts import FAILED, LEFT_OUT, PASSED, RESERVE_S, Budget, Part, Runner, processes_in_session  # noqa: E402

SUITE = "[ RUN      ] A.one\n[       OK ] A.one (3 ms)\n[ RUN      ] A.two\n"


class Parts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.lines = []

    def runner(self, budget_s=0.0):
        return Runner(Budget(budget_s), self.folder, self.lines.append)

    def outcome(self, script, limit_s=60.0, budget_s=0.0, **options):
        return self.runner(budget_s).run(Part("a part", ["sh", "-c", script], limit_s, **options))

    def test_a_part_that_passes(self):
        outcome = self.outcome("echo '[  PASSED  ] 12 tests.'; echo '[  SKIPPED ] 3 tests.'")
        self.assertEqual((outcome.verdict, outcome.note), (PASSED, "12 passed, 3 skipped"))
        self.assertIn("a part; 12 passed, 3 skipped", self.lines[0])

    def test_a_part_that_fails_shows_its_last_lines(self):
        outcome = self.outcome("echo the reason; exit 7")
        self.assertEqual((outcome.verdict, outcome.note), (FAILED, "exit code 7"))
        self.assertIn("    | the reason", self.lines)

    def test_a_part_that_hangs_has_failed_and_is_ended_with_its_children(self):
        # The child has its own process group, like the ranks of mpirun; parent and child ignore SIGTERM.
        outcome = self.outcome(f"trap '' TERM; echo '{SUITE}'; echo session $$\n"
                               "exec bash -c 'set -m; sleep 1000 & wait'", limit_s=6, quiet_s=2)
        self.assertEqual(outcome.verdict, FAILED)
        self.assertEqual(outcome.note,
                         "ran beyond its 6 s, nothing has ended in the last 2 s; "
                         "1 tests had passed, the last begun is A.two")
        self.assertEqual(processes_in_session(int(outcome.output.split()[-1])), [])

    def test_a_part_that_is_slow_is_left_out(self):
        # With these lines, GoogleTest on several ranks or on one, and unittest report that a test has ended.
        for ended in ("1: [       OK ] A.one (3 ms)", "[  SKIPPED ] A.one (3 ms)",
                      "test_one (test.Test) ... ok", "ok"):
            with self.subTest(ended):
                slow = f"echo '{SUITE}'; while sleep 0.3; do echo '{ended}'; done"
                outcome = self.outcome(slow, limit_s=3, quiet_s=2)
                self.assertEqual((outcome.verdict, outcome.note),
                                 (LEFT_OUT, "ran out of its 3 s; 1 tests had passed, the last begun "
                                            "is A.two"))

    def test_lines_between_tests_are_no_progress(self):
        chatter = "while sleep 0.3; do echo '[ RUN      ] A.two'; echo it is ok; done"
        self.assertEqual(self.outcome(chatter, limit_s=4, quiet_s=3).verdict, FAILED)
        self.assertEqual(self.outcome(chatter, limit_s=4, quiet_s=3, progress=gpu.ANY_LINE).verdict,
                         LEFT_OUT)

    def test_a_part_that_is_slow_after_a_failure_has_failed(self):
        outcome = self.outcome("echo '[  FAILED  ] A.one'; exec sleep 1000", limit_s=2)
        self.assertEqual((outcome.verdict, outcome.note), (FAILED, "stopped after 2 s"))

    def test_a_part_that_the_budget_ends_is_left_out(self):
        outcome = self.outcome(f"echo '{SUITE}'; exec sleep 1000", budget_s=RESERVE_S + 7)
        self.assertEqual(outcome.verdict, LEFT_OUT)
        self.assertRegex(outcome.note, "^time; stopped after [567] s; 1 tests had passed")

    def test_a_part_that_the_budget_ends_after_a_failure_has_failed(self):
        outcome = self.outcome("echo '[  FAILED  ] A.one'; exec sleep 1000",
                               budget_s=RESERVE_S + 7)
        self.assertEqual(outcome.verdict, FAILED)

    def test_a_part_without_time_is_not_started(self):
        outcome = self.outcome("exit 1", budget_s=RESERVE_S + 1)
        self.assertEqual((outcome.verdict, outcome.note), (LEFT_OUT, "time"))

    def test_a_part_that_skips_all_its_tests_is_left_out(self):
        outcome = self.outcome("echo '[  PASSED  ] 0 tests.'; echo '[  SKIPPED ] 5 tests.'")
        self.assertEqual(outcome.verdict, LEFT_OUT)
        self.assertIn("skipped themselves", outcome.note)

    def test_the_summary_names_parts_that_failed_and_parts_that_are_left_out(self):
        runner = self.runner()
        runner.run(Part("good", ["true"], 60))
        runner.run(Part("bad", ["false"], 60))
        runner.run(Part("memcheck", ["false"], 60, absent="compute-sanitizer is not installed"))
        self.lines.clear()
        runner.summarise()
        self.assertEqual(self.lines[:2], ["FAILED, exit code 1: bad",
                                         "left out, compute-sanitizer is not installed: memcheck"])
        self.assertRegex(self.lines[2], "^parts: 1 passed, 1 FAILED, 1 left out; [0-9]+ s$")


def output_of_benchmarks(ratio=9.0, without=""):
    """The output of the benchmarks if all figures are `ratio`, except figures whose names have `without`."""
    lines = []
    for figure in gpu_figures.figures():
        if without and without in figure.name:
            continue
        if figure.name.startswith("overlap of "):
            algorithm = figure.name.split()[2].rstrip(":")
            lines.append(f"{algorithm}  10.00  8.00  4.00  2.00  {ratio:.3f}  1.500")
        else:
            verdict = "-" if figure.target is None else "below" if ratio < figure.target else "holds"
            target = "-" if figure.target is None else f"{figure.target:.2f}"
            lines.append(f"{figure.name:<62}{12.3:>12.1f}{ratio:>9.3f}{target:>8}{verdict:>8}")
    return "\n".join(lines)


class Figures(unittest.TestCase):
    def verdicts(self, output):
        return {figure.verdict for figure in gpu_figures.measured(output)}

    def test_all_figures_are_found_and_judged(self):
        self.assertEqual(self.verdicts(output_of_benchmarks()), {gpu_figures.HOLDS, gpu_figures.REPORTED})
        below = [f for f in gpu_figures.measured(output_of_benchmarks(0.9)) if f.verdict == gpu_figures.BELOW]
        self.assertEqual({f.target for f in below}, {0.97, 1.8, 8})

    def test_figures_that_were_not_measured_are_named(self):
        rows = gpu_figures.measured(output_of_benchmarks(without="decode"))
        self.assertEqual({f.name for f in rows if f.verdict == gpu_figures.LEFT_OUT},
                         {f.name for f in rows if "decode" in f.name})
        self.assertIn("left out", gpu_figures.table(rows))

    @unittest.skipUnless("BUILD" in os.environ, "needs programs on emulated GPUs")
    def test_names_and_targets_equal_what_the_programs_print(self):
        programs = Path(os.environ["BUILD"]) / "tests"
        kernels = subprocess.run([programs / "bench_cuda_kernels_emulated", "--small"],
                                 capture_output=True, text=True, check=True).stdout
        found = gpu_figures.ratios(kernels)
        for figure in gpu_figures.kernel_figures():
            self.assertIn(figure.name, found)
            target = "-" if figure.target is None else f"{figure.target:.2f}"
            line = next(line for line in kernels.splitlines() if line.startswith(figure.name + "  "))
            self.assertEqual(line.split()[-2], target, line)
        allreduce = subprocess.run(
            gpu.mpirun(2, str(programs / "bench_nccl_emulated"), "2", "--small"),
            capture_output=True, text=True, check=True, env={**os.environ, **gpu.JOB}).stdout
        self.assertEqual(set(gpu_figures.ratios(allreduce)),
                         {"allreduce of 1 MiB, checked", "allreduce of 1 MiB, unchecked"})


class Command(unittest.TestCase):
    """Tests the whole command, with a build folder that contains scripts instead of programs."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.build = self.folder / "build"
        self.program("bin/cmake", "echo built; exit ${BUILD_FAILS:-0}")
        self.program("bin/nvidia-smi", "echo 'GPU 0: of paper'")
        self.program("bin/mpirun", 'shift 2; exec "$@"')
        self.program("build/CMakeCache.txt", "")
        (self.build / "CMakeCache.txt").write_text("TRIGRAM_TESTS_ON_GPU:INTERNAL=TRUE\n")
        (self.build / "build.ninja").write_text("")
        suites = ["cuda_device_test", "cuda_codecs_test", "gpu_agreement_test",
                  *("conformance_" + chapter for chapter in gpu.CHAPTERS)]
        for suite in suites:
            self.program(f"build/tests/{suite}", "echo '[  PASSED  ] 4 tests.'")
        self.program("bin/compute-sanitizer", 'shift 4; exec "$@"')
        self.figures(output_of_benchmarks())

    def program(self, path, script):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def figures(self, text):
        (self.folder / "figures").write_text(text)
        for name in ("bench_cuda_kernels", "bench_nccl"):
            self.program(f"build/tests/{name}", f"cat {self.folder / 'figures'}")

    def gpu(self, what, *options, code, **environment):
        result = subprocess.run(
            [sys.executable, "-B", SCRIPTS / "gpu.py", what, "--build", self.build, *options],
            capture_output=True, text=True, timeout=100,
            env={**os.environ, **environment, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def test_nccl_must_have_sent_through_the_plugin(self):
        out = self.gpu("tests", "--only", "^network plugin", code=1)
        self.assertIn("FAILED    network plugin, conformance_02_transfer, 2 ranks; exit code 1; 4 passed", out)

    def test_all_parts_pass(self):
        out = self.gpu("tests", "--only", "^(kernels|codecs|gpu_agreement|conformance)", code=0)
        self.assertRegex(out.splitlines()[-1], "^parts: [0-9]+ passed, 0 FAILED, 0 left out; .* of 480 s$")
        for ranks in ("1 rank;", "2 ranks;", "4 ranks;", "8 ranks;"):
            self.assertIn(f"conformance_11_collectives, {ranks} 4 passed", out)
        self.assertIn("codecs under synccheck; 4 passed", out)

    def test_tensors_are_allocated_separately_only_under_sanitizers(self):
        script = 'echo "[  PASSED  ] ${TRIGRAM_CUDA_ALLOCATE_EACH:-0}0 tests."'
        self.program("build/tests/cuda_device_test", script.replace("0 tests", "7 tests"))
        out = self.gpu("tests", "--only", "^kernels", code=0)
        self.assertEqual([line.split("; ")[1] for line in out.splitlines() if " kernels" in line],
                         ["7 passed", "17 passed", "17 passed", "17 passed"])

    def test_a_failure_ends_with_1_after_the_rest(self):
        self.program("build/tests/cuda_device_test", "echo broken; exit 1")
        out = self.gpu("tests", "--only", "^(kernels|codecs)$", code=1)
        self.assertIn("FAILED, exit code 1: kernels", out)
        self.assertIn("codecs; 4 passed", out)

    def test_figures_below_their_targets_end_with_3_after_all_of_them(self):
        self.figures(output_of_benchmarks(0.9))
        out = self.gpu("figures", "--only", "kernels|allreduce", code=3)
        self.assertRegex(out, "encode, vs the same launched per chunk +0.900 +8.00  below")
        self.assertRegex(out, "a whole bucket as one chunk: encode +0.900 +0.60  holds")
        self.assertIn("12 below their target", out)

    def test_parts_without_time_end_with_4(self):
        self.program("build/tests/cuda_codecs_test", "sleep 1000")
        out = self.gpu("tests", "--only", "^(kernels|codecs|gpu_agreement_test)", "--budget",
                       str(RESERVE_S + 20), code=4)
        self.assertRegex(out, "left out, time; stopped after [0-9]+ s: codecs\n")
        self.assertIn("left out, time: gpu_agreement_test, 2 ranks | kernels under memcheck | ", out)

    def test_parts_slower_than_their_limit_end_with_4(self):
        options = ["--only", "^kernels$", "--budget", "0"]  # ten times its limit
        self.program("build/tests/cuda_device_test", "while sleep 0.1; do echo '[       OK ] A.one'; done")
        first = gpu.first_tests
        argv = ["gpu.py", "tests", "--build", str(self.build), *options]
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        with (mock.patch.object(gpu, "first_tests", lambda *a: [replace(p, limit_s=0.2) for p in first(*a)]),
              mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ, PATH=path),
              contextlib.redirect_stdout(io.StringIO()) as out):
            self.assertEqual(gpu.main(), gpu.SOMETHING_LEFT_OUT)
        self.assertIn("left out, ran out of its 2 s: kernels\n", out.getvalue())

    def test_parts_of_a_missing_sanitizer_are_left_out(self):
        if Path("/usr/local/cuda/bin/compute-sanitizer").exists():
            self.skipTest("compute-sanitizer is installed")
        (self.folder / "bin" / "compute-sanitizer").unlink()
        out = self.gpu("tests", "--only", "memcheck", code=4)
        self.assertIn("left out, compute-sanitizer is not installed: kernels under memcheck | codecs", out)

    def test_without_a_gpu_the_script_builds_and_skips_the_tests(self):
        self.program("bin/nvidia-smi", "exit 9")
        out = self.gpu("all", code=gpu.NO_GPU)
        self.assertIn("built\n", out)
        self.assertRegex(out.splitlines()[-1], "^skipped: no GPU")

    def test_a_build_that_fails_or_was_configured_without_a_gpu_is_an_error(self):
        self.gpu("all", code=1, BUILD_FAILS="2")
        (self.build / "CMakeCache.txt").write_text("TRIGRAM_TESTS_ON_GPU:INTERNAL=FALSE\n")
        self.assertIn("configured where there was no GPU", self.gpu("all", code=1))


if __name__ == "__main__":
    unittest.main()
