#!/usr/bin/env python3
"""Builds, tests and benchmarks the GPU world, within a time budget.

    make test-gpu     runs the tests
    make bench-gpu    measures figures of performance and compares them with their targets
    make gpu          does both with one build

The most important parts run first, each with its own time limit. A part for which the budget has no time left is listed
as left out. ONLY selects the parts whose names match a regular expression: make test-gpu ONLY='4 ranks'. BUDGET=0 lifts
the budget and trains longer.

Exit code 0: success; 1: a part failed or could not be built; 3: a figure is below its target; 4: some part was left
out, and the others succeeded; 77: everything is built, but there is no GPU here.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import gpu_figures
from gpu_parts import FAILED, LEFT_OUT, Budget, Part, Runner, say_to
from one_machine import ENVIRONMENT

ROOT = Path(__file__).resolve().parent.parent
FAILURE, FIGURE_BELOW, SOMETHING_LEFT_OUT, NO_GPU = 1, 3, 4, 77
LIMIT_FACTOR = 10  # factor on the time limits of parts without a budget or on the emulation
ANY_LINE = b"."
# Seconds that a test may take under a tool, which slows kernels down tenfold and more.
UNDER_A_TOOL_S = 60
TARGETS = {
    "tests": ["cuda_tests", "nccl_net_trigram", "trigram"],
    "figures": ["bench_cuda_kernels", "bench_nccl", "trigram"],
}
TARGETS["all"] = sorted({*TARGETS["tests"], *TARGETS["figures"]})
CHAPTERS = ["01_launch", "02_transfer", "03_clock", "04_streams", "05_exceptions", "06_control",
            "07_mutex", "08_subset", "09_hang", "10_device", "11_collectives", "12_training",
            "13_eager", "14_one_way"]
# Chapters for eight ranks, which are slow because they take turns on the GPU.
REDUCED = ["02_transfer", "06_control", "11_collectives"]
SANITIZED_CODECS = "*EncodingKernels*:*FusedCodecs*:*AnyAddress*"
# This test requests more memory than the GPU has; the tools count the failed allocation as an error.
NOT_SANITIZED = "Arena.TheErrorContainsTheAdvice"
JOB = {
    **ENVIRONMENT,
    # Containers may forbid processes to read each other's memory.
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
# Tests create hundreds of communicators, which gain little from more than one channel.
TEST_JOB = {**JOB, "NCCL_MAX_CTAS": "1"}


class Build:
    """The programs of a build folder. `emulated` selects the programs that run without a GPU, to test this script."""

    def __init__(self, folder: Path, emulated: bool) -> None:
        self.folder = folder.resolve()
        self.emulated = emulated
        self.bench_options = ["--small"] if emulated else []
        self.overlap_options = ["--set", '/workload="quadratic"'] if emulated else []

    def test(self, name: str) -> str:
        return str(self.folder / "tests" / name)

    def bench(self, name: str) -> str:
        return self.test(name + "_emulated" if self.emulated else name)

    def trigram(self) -> str:
        if self.emulated:
            return self.test("trigram_on_emulated_gpus")
        return str(self.folder / "experiments" / "trigram")


def mpirun(ranks: int, *command: str) -> list[str]:
    return ["mpirun", "-n", str(ranks), *command]


def mpi_part(build: Build, name: str, ranks: int, limit_s: float, short: bool, tests: str = "*nccl*") -> Part:
    """A program of the conformance suite as a job of ranks that share one GPU."""
    environment = {**TEST_JOB, **({"TRIGRAM_SHORT_TRAINING": "1"} if short else {})}
    program = f"{name}_on_emulated_gpus" if build.emulated and name.startswith("conformance_") else name
    return Part(f"{name}, {ranks} rank{'s' if ranks > 1 else ''}",
                mpirun(ranks, build.test(program), f"--gtest_filter={tests}", "--gtest_color=no"),
                limit_s, environment)


def plugin_parts(build: Build, ranks: int, limit_s: float, short: bool) -> list[Part]:
    """Chapters of the conformance suite in which NCCL sends through the network plugin. Its reports are the proof:
    without the plugin, NCCL goes on with its own transport and says nothing."""
    reports, parts = build.folder / "gpu_logs" / f"net-plugin-{ranks}", []
    settings = {
        "LD_LIBRARY_PATH": f"{build.folder / 'cuda' / 'net'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "NCCL_NET_PLUGIN": "trigram",
        "NCCL_NET": "trigram",
        "TRIGRAM_NET_SECRET": secrets.token_hex(32),
        "TRIGRAM_NET_REPORT": str(reports / "{pid}.json"),
    }
    for chapter, tests in (("02_transfer", "*nccl*"), ("11_collectives", "*NativeCollectives*nccl*")):
        part = mpi_part(build, "conformance_" + chapter, ranks, limit_s, short, tests)
        count = (f"rm -rf {reports}; mkdir -p {reports}; {shlex.join(part.command)} && "
                 f"grep -l '\"messages\": [1-9]' {reports}/*.json | wc -l | grep -x {ranks}")
        parts.append(Part(f"network plugin, {part.name}", ["sh", "-c", count], limit_s,
                          {**part.environment, **settings},
                          absent="the emulation has no plugins" if build.emulated else ""))
    return parts


def commands(build: Build) -> Part:
    """Tests of trigram run, bench and calibrate, and tests in which a rank is stopped or killed."""
    environment = {"TRIGRAM": build.trigram(), "SOURCE": str(ROOT)}
    if build.emulated:
        environment["TRIGRAM_ON_EMULATED_GPUS"] = build.trigram()
    command = [sys.executable, "-B", "-m", "unittest", "-v", "test_gpus"]
    return Part("faults and commands, 4 ranks", command, 150, environment, ROOT / "tests" / "cli")


def sanitized(build: Build, tool: str, limit_s: float) -> list[Part]:
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    absent = "" if os.access(sanitizer, os.X_OK) else "compute-sanitizer is not installed"
    run = [sanitizer, "--tool", tool, "--error-exitcode", "1"]
    # Without this variable all tensors are one allocation for the tool, which then misses reads beyond a tensor.
    separate_allocations = {"TRIGRAM_CUDA_ALLOCATE_EACH": "1"}
    return [
        Part(f"kernels under {tool}",
             [*run, build.test("cuda_device_test"), f"--gtest_filter=-{NOT_SANITIZED}"], limit_s,
             separate_allocations, absent=absent, quiet_s=UNDER_A_TOOL_S),
        Part(f"codecs under {tool}",
             [*run, build.test("cuda_codecs_test"), f"--gtest_filter={SANITIZED_CODECS}"],
             limit_s, separate_allocations, absent=absent, quiet_s=UNDER_A_TOOL_S),
    ]


def first_tests(build: Build, short: bool) -> list[Part]:
    return [
        Part("kernels", [build.test("cuda_device_test")], 60),
        Part("codecs", [build.test("cuda_codecs_test")], 60),
        mpi_part(build, "gpu_agreement_test", 2, 150, short),
        mpi_part(build, "nccl_abort_test", 2, 60, short),
    ]


def further_tests(build: Build, short: bool) -> list[Part]:
    def suite(ranks: int, chapters: list[str], limit_s: float) -> list[Part]:
        return [mpi_part(build, "conformance_" + chapter, ranks, limit_s, short)
                for chapter in chapters]

    parts = [commands(build), *plugin_parts(build, 2, 90, short), *plugin_parts(build, 4, 90, short),
             *suite(2, CHAPTERS, 60), *sanitized(build, "memcheck", 90)]
    for ranks in (4, 1):
        parts.append(mpi_part(build, "gpu_agreement_test", ranks, 150, short))
        parts += suite(ranks, CHAPTERS, 90)
    parts += suite(8, REDUCED, 120)
    return [*parts, *sanitized(build, "racecheck", 120), *sanitized(build, "synccheck", 120)]


def gpus_for_figures() -> int:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return len(visible.split(",")) if visible else max(1, len(gpus()))


def figures(build: Build) -> list[Part]:
    """Benchmarks of kernels, of allreduce, and of the overlap of computation and communication in training. There is
    one rank per GPU, or two ranks share the only GPU."""
    count = gpus_for_figures()
    ranks, per_gpu = (count, 1) if count > 1 else (2, 2)
    results = build.folder / "gpu_results"
    train = mpirun(ranks, build.trigram(), "run", str(ROOT / "configs" / "overlap.json"), "--force",
                   "--set", '/runtime="nccl"', "--ranks-per-gpu", str(per_gpu),
                   "--set", f"/cluster/workers_per_node={ranks}", "--set", "/steps=10",
                   "--set", '/sweep/~1algorithm/0/allreduce="native"', *build.overlap_options,
                   "--output", str(results), "--quiet", "--no-table")
    tabulate = [sys.executable, "-B", str(ROOT / "scripts" / "overlap.py"), str(results / "overlap")]
    return [
        Part("figures of kernels", [build.bench("bench_cuda_kernels"), *build.bench_options], 90,
             progress=ANY_LINE),
        Part("figures of allreduce", mpirun(ranks, build.bench("bench_nccl"), str(per_gpu),
                                            *build.bench_options), 120, JOB, progress=ANY_LINE),
        Part("figures of overlap", ["sh", "-c", f"{shlex.join(train)} && {shlex.join(tabulate)}"], 120,
             JOB, quiet_s=float("inf")),  # this part prints nothing until everything is measured
    ]


def gpus() -> list[str]:
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return [line for line in listed.stdout.splitlines() if line.startswith("GPU")]


def build_part(build: Build, what: str, jobs: int, limit_s: float) -> Part:
    steps = [["cmake", "--build", str(build.folder), f"-j{jobs}", "--target", *TARGETS[what]]]
    if not (build.folder / "build.ninja").exists():
        steps.insert(0, ["cmake", "--preset", "gpu"])
    return Part("build", ["sh", "-c", " && ".join(map(shlex.join, steps))], limit_s, folder=ROOT,
                shown=True)


def configured_on_a_gpu(build: Build) -> bool:
    cache = (build.folder / "CMakeCache.txt").read_text()
    return "TRIGRAM_TESTS_ON_GPU:INTERNAL=TRUE" in cache.splitlines()


def build_programs(build: Build, what: str, jobs: int, runner: Runner) -> int:
    """Builds the programs. Returns 0 if the parts can run now, else the exit code of this script."""
    available = gpus()
    if not available:
        runner.budget.seconds = 0  # nothing runs after the build, so the build needs no limit
    outcome = runner.run(build_part(build, what, jobs, float("inf")))
    if outcome.verdict == LEFT_OUT:
        runner.say("left out: all tests and figures; the build goes on where it was, with the same "
                   "command")
        return SOMETHING_LEFT_OUT
    if outcome.verdict == FAILED:
        return FAILURE
    if not available:
        runner.say("skipped: no GPU (nvidia-smi lists none); all is built")
        return NO_GPU
    if not configured_on_a_gpu(build):
        runner.say(f"error: {build.folder} was configured where there was no GPU; remove it and try "
                   "again")
        return FAILURE
    for line in available:
        runner.say(line)
    return 0


def parts_of(build: Build, what: str, short: bool) -> list[Part]:
    first, further = first_tests(build, short), further_tests(build, short)
    return {"tests": [*first, *further],
            "figures": figures(build),
            "all": [*first, *figures(build), *further]}[what]


def conclude(runner: Runner, what: str, only: str) -> int:
    """Prints the results of all parts; returns the exit code."""
    below: list[gpu_figures.Figure] = []
    unmeasured: list[gpu_figures.Figure] = []
    if what != "tests":
        rows = gpu_figures.measured("\n".join(o.output for o in runner.outcomes))
        runner.say("\n" + gpu_figures.table(rows) + "\n")
        below = [f for f in rows if f.verdict == gpu_figures.BELOW]
        unmeasured = [f for f in rows if f.verdict == gpu_figures.LEFT_OUT]
        runner.say(f"figures: {len(rows) - len(unmeasured)} of {len(rows)} measured, {len(below)} below "
                   "their target")
    runner.summarise()
    if runner.outcomes_with(FAILED):
        return FAILURE
    if below:
        return FIGURE_BELOW
    complete = not runner.outcomes_with(LEFT_OUT) and (only or not unmeasured)
    return 0 if complete else SOMETHING_LEFT_OUT


def main() -> int:
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tests", "figures", "all"])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--budget", type=float, default=480, help="seconds for everything; 0: no limit")
    parser.add_argument("--only", default="", help="run only parts whose names match this regular expression")
    parser.add_argument("--emulated", action="store_true",
                        help="use the programs of a build without a GPU, without building: a test of "
                        "this script")
    options = parser.parse_args()
    build = Build(options.build, options.emulated)
    parts = parts_of(build, options.what, short=options.budget > 0)
    try:
        chosen = [part for part in parts if re.search(options.only, part.name)]
    except re.error as error:
        parser.error(f"--only: {error}")
    if not chosen:
        parser.error(f"--only: no part has {options.only!r} in its name: {' | '.join(part.name for part in parts)}")
    runner = Runner(Budget(options.budget, began), build.folder / "gpu_logs", say_to(sys.stdout))
    if not options.emulated:
        code = build_programs(build, options.what, options.jobs, runner)
        if code != 0:
            return code
    for part in chosen:
        if options.budget == 0 or options.emulated:
            part.limit_s *= LIMIT_FACTOR
            part.quiet_s *= LIMIT_FACTOR
        runner.run(part)
    return conclude(runner, options.what, options.only)


if __name__ == "__main__":
    sys.exit(main())
