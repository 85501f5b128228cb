"""Ways to interrupt a sweep, and the runs that it has finished."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


def descendants(pid: int) -> list[int]:
    """The children of a process, their children, and so on."""
    found = []
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue
    return found + [process for child in found for process in descendants(child)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def send_signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def with_small_files(rng: random.Random) -> Callable[[], None]:
    """Imitates a full disk: files cannot become longer than some length."""
    limit_bytes = rng.choice([0, 100, 1000, 4096, 10_000, 50_000])

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    return limit


class SmallDisk:
    """A file system of a few kilobytes at `folder`. It needs root; `mounted` is false without."""

    def __init__(self, folder: Path, kilobytes: int) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        options = f"size={kilobytes}k"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        self.mounted = subprocess.run(command, capture_output=True).returncode == 0

    def grow(self) -> None:
        options = "remount,size=64m"
        subprocess.run(["mount", "-o", options, str(self.folder)], check=True, capture_output=True)

    def remove(self) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True)


def signal_at(rng: random.Random, command: subprocess.Popen[str], after_s: float, target: str) -> str:
    """Waits, and then ends or stops the command or, if `target` is "child", one of its descendants. Returns a
    description."""
    deadline = time.monotonic() + after_s
    while command.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    processes = descendants(command.pid)
    pid = rng.choice(processes) if target == "child" and processes else command.pid
    name = "the command" if pid == command.pid else "a child"
    if rng.random() < 0.3:
        pause_s = rng.uniform(0.05, 1.5)
        send_signal(pid, signal.SIGSTOP)
        time.sleep(pause_s)
        send_signal(pid, signal.SIGCONT)
        return f"stopped {name} after {after_s:.2f} s for {pause_s:.2f} s"
    number = signal.SIGKILL if name == "a child" else rng.choice(SIGNALS)
    send_signal(pid, number)
    return f"sent {number.name} to {name} after {after_s:.2f} s"


def finish(command: subprocess.Popen[str]) -> tuple[int, str]:
    """Waits for the command and all its descendants."""
    processes = descendants(command.pid)
    _, err = command.communicate(timeout=120)
    deadline = time.monotonic() + 60
    while any(map(alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in filter(alive, processes):
        send_signal(pid, signal.SIGKILL)
        err += f"\nprocess {pid} outlived the command by a minute"
    return command.returncode, err


def finished_runs(results: Path) -> dict[str, dict[str, tuple[int, bytes]]]:
    """By run: the files of the run with their times and contents."""
    return {
        done.parent.name: {f.name: (f.stat().st_mtime_ns, f.read_bytes()) for f in done.parent.iterdir()}
        for done in results.glob("*/DONE")
    }


def outcome(manifest: dict[str, Any], simulated: bool) -> dict[str, Any]:
    """The part of a manifest that must not depend on interruptions of the sweep."""
    machine_dependent = {"messages_simulated_per_wall_s"}
    summary = manifest["summary"]
    if simulated:
        return {k: v for k, v in summary.items() if k not in machine_dependent}
    kept = ("weights_hash", "loss", "eval_loss", "consensus_distance", "bytes_intra", "bytes_inter")
    return {key: summary[key] for key in (*kept, "messages_intra", "messages_inter")}
