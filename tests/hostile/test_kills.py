"""Sweeps that are killed or stopped at random times, or whose disk is full, neither lose nor change finished runs. When
they are resumed, they have the results of an undisturbed sweep."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import unittest
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from base import SEED, TRIGRAM, CommandTest, amount, draws_of, listed, needs_simulator
from disturbances import SmallDisk, finish, finished_runs, outcome, signal_at, with_small_files
from jobs import ENVIRONMENT

SYNCHRONOUS = [
    "gradient_allreduce",
    "bytegrad",
    {"name": "local_sgd", "sync_every": 3},
    {"name": "decentralized", "mode": "shift_one"},
]
SWEEPS: dict[str, dict[str, Any]] = {
    "sim": {"steps": 400, "algorithm": [*SYNCHRONOUS, "adpsgd"]},
    "threads": {"steps": 3000, "algorithm": SYNCHRONOUS},
    "mpi": {"steps": 3000, "algorithm": SYNCHRONOUS},
}
KINDS = ["command", "command", "child", "small files", "small disk"]


def has_mpi() -> bool:
    """True if mpirun is installed and the program was built with MPI."""
    (mpi,) = [w for w in listed("worlds") if w["name"] == "mpi"]
    return bool(shutil.which("mpirun")) and "launcher" in (mpi["reason"] or "launcher")


class Kills(CommandTest):
    def config(self, world: str) -> dict[str, Any]:
        shape = (1, 2) if world == "mpi" else (2, 2)
        return {
            "name": "test",
            "runtime": {"name": "mpi", "watchdog": "10s"} if world == "mpi" else world,
            "cluster": {"nodes": shape[0], "workers_per_node": shape[1]},
            "workload": "quadratic",
            "optimizer": {"name": "sgd", "lr": 0.01},
            "eval_every": 50,
            "timeline": {"step": 3, "ranks": 2},
            "steps": SWEEPS[world]["steps"],
            "sweep": {"/algorithm": SWEEPS[world]["algorithm"]},
        }

    def command(self, world: str, folder: Path, **options: Any) -> subprocess.Popen[str]:
        words = [TRIGRAM, "run", "test.json", "--jobs", "2", "--no-table"]
        if world == "mpi":
            words = ["mpirun", "-n", "2", *words]
        return subprocess.Popen(
            words, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options
        )

    def undisturbed(self, world: str) -> tuple[dict[str, Any], float]:
        """The outcome of each run of a sweep without interruption, and the sum of their wall-clock times."""
        folder = self.folder / "whole"
        folder.mkdir()
        (folder / "test.json").write_text(json.dumps(self.config(world)))
        code, err = finish(self.command(world, folder))
        self.assertEqual(code, 0, err)
        manifests = self.read(folder)
        self.assertEqual(len(manifests), len(SWEEPS[world]["algorithm"]))
        total_s = sum(m["wall_s"] for m in manifests.values())
        return {i: outcome(m, world == "sim") for i, m in manifests.items()}, total_s

    def read(self, folder: Path) -> dict[str, Any]:
        paths = (folder / "results" / "test").glob("*/manifest.json")
        return {path.parent.name: json.loads(path.read_text()) for path in paths}

    def disturb(self, world: str, folder: Path, rng: Any, total_s: float, cleanups: ExitStack) -> str:
        """Starts the sweep and interrupts it. Returns a description."""
        kind = rng.choice(KINDS if world != "mpi" else ["command", "child", "small disk"])
        if kind == "small files":
            code, err = finish(self.command(world, folder, preexec_fn=with_small_files(rng)))
            self.assertIn(code, (0, 1, 2), err)
            return f"small files: {err[-300:]}"
        if kind == "small disk":
            return self.fill_disk(world, folder, rng, cleanups)
        command = self.command(world, folder)
        cleanups.callback(command.kill)
        how = signal_at(rng, command, rng.uniform(0, 1.2 * total_s + 0.2), kind)
        code, err = finish(command)
        expected = {0, 1, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}
        if world == "mpi":  # mpirun has its own exit codes
            expected |= {137, 143, 134}
        self.assertIn(code, expected, f"{how}: {err}")
        self.assertNotIn("outlived", err)
        if how.startswith("stopped"):
            self.assertEqual(code, 0, f"{how}: {err}")
        return f"{how}: exit code {code}"

    def fill_disk(self, world: str, folder: Path, rng: Any, cleanups: ExitStack) -> str:
        if (folder / "results").exists():
            return "nothing: there are results already"
        kilobytes = rng.choice([4, 20, 60, 150])
        disk = SmallDisk(folder / "results", kilobytes)
        cleanups.callback(disk.remove)
        if not disk.mounted:
            return "nothing: file systems need root"
        code, err = finish(self.command(world, folder))
        # If rank 0 cannot write the reason why a run failed, the watchdog of the other ranks ends the job.
        self.assertIn(code, (0, 1, 2, 124) if world == "mpi" else (0, 1, 2), err)
        if code != 0:
            self.assertRegex(err, "No space left|cannot write|cannot be written")
        disk.grow()
        return f"a disk of {kilobytes} KiB: exit code {code}"

    def case(self, world: str, number: int, expected: dict[str, Any], total_s: float) -> None:
        folder = self.folder / f"disturbed{number}"
        folder.mkdir()
        with ExitStack() as cleanups:
            self.disturb_and_resume(world, number, folder, expected, total_s, cleanups)
        shutil.rmtree(folder)

    def disturb_and_resume(
        self, world: str, number: int, folder: Path, expected: Any, total_s: float, cleanups: ExitStack
    ) -> None:
        rng = draws_of("kill", world, number)
        (folder / "test.json").write_text(json.dumps(self.config(world)))
        results = folder / "results" / "test"
        kept: dict[str, Any] = {}
        history = f"HOSTILE_SEED={SEED}, {world}, case {number}: "
        for _ in range(rng.choice([1, 1, 2])):
            history += self.disturb(world, folder, rng, total_s, cleanups) + "; "
            now = finished_runs(results)
            self.check_kept(kept, now, history)
            kept = now
        code, err = finish(self.command(world, folder))
        self.assertEqual(code, 0, history + err)
        now = finished_runs(results)
        self.check_kept(kept, now, history)
        simulated = world == "sim"
        found = {i: outcome(m, simulated) for i, m in self.read(folder).items() if i in now}
        self.assertEqual(found, expected, history + "the resumed sweep has other results")
        if simulated:
            self.check_files(now, history)
        self.assertEqual(list(results.glob("*.tmp.*")), [], history + "temporary folders are left")

    def check_kept(self, kept: dict[str, Any], now: dict[str, Any], history: str) -> None:
        changed = sorted(run for run in kept if now.get(run) != kept[run])
        self.assertFalse(changed, history + "finished runs are gone, changed or made again")

    def check_files(self, now: dict[str, Any], history: str) -> None:
        """Checks that simulations write the same bytes, run by run."""
        whole = finished_runs(self.folder / "whole" / "results" / "test")
        for run, files in now.items():
            for name in ("metrics.jsonl", "trace.json"):
                self.assertEqual(files[name][1], whole[run][name][1], f"{history}{run}/{name}")

    def check_world(self, world: str, cases: int) -> None:
        expected, total_s = self.undisturbed(world)
        for number in range(cases):
            with self.subTest(f"{world} {number}"):
                self.case(world, number, expected, total_s / (2 if world == "sim" else 1))

    @needs_simulator
    def test_simulations(self) -> None:
        self.check_world("sim", amount(2, 24))

    def test_threads(self) -> None:
        self.check_world("threads", amount(2, 20))

    @unittest.skipUnless(has_mpi(), "no MPI in this build, or no mpirun here")
    def test_jobs(self) -> None:
        self.check_world("mpi", amount(2, 16))
