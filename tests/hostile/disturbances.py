"""Ways to interrupt a sweep, and the runs that the sweep has finished by then."""

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


def children(pid: int) -> list[int]:
    """All processes below `pid`."""
    found = []
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue
    return found + [below for child in found for below in children(child)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def with_small_files(rng: random.Random) -> Callable[[], None]:
    """Imitates a full disk: writing beyond some length of a file fails."""
    most = rng.choice([0, 100, 1000, 4096, 10_000, 50_000])

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return limit


class SmallDisk:
    """A file system of a few kilobytes at `folder`; needs root."""

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


def signal_at(
    rng: random.Random, command: subprocess.Popen[str], after_s: float, whom: str
) -> str:
    """Waits, then ends or stops the command or one of its children. Returns what it did, in
    words."""
    deadline = time.monotonic() + after_s
    while command.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    below = children(command.pid)
    pid = rng.choice(below) if whom == "child" and below else command.pid
    who = "the command" if pid == command.pid else "a child"
    if rng.random() < 0.3:
        pause_s = rng.uniform(0.05, 1.5)
        send(pid, signal.SIGSTOP)
        time.sleep(pause_s)
        send(pid, signal.SIGCONT)
        return f"stopped {who} after {after_s:.2f} s for {pause_s:.2f} s"
    number = signal.SIGKILL if who == "a child" else rng.choice(SIGNALS)
    send(pid, number)
    return f"sent {number.name} to {who} after {after_s:.2f} s"


def finish(command: subprocess.Popen[str]) -> tuple[int, str]:
    """Waits for the command and for everything that it had started."""
    below = children(command.pid)
    _, err = command.communicate(timeout=120)
    deadline = time.monotonic() + 60
    while any(map(alive, below)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in filter(alive, below):
        send(pid, signal.SIGKILL)
        err += f"\nprocess {pid} outlived the command by a minute"
    return command.returncode, err


def finished(results: Path) -> dict[str, dict[str, tuple[int, bytes]]]:
    """Every finished run, as its files with their times and contents."""
    return {
        done.parent.name: {
            f.name: (f.stat().st_mtime_ns, f.read_bytes()) for f in done.parent.iterdir()
        }
        for done in results.glob("*/DONE")
    }


def outcome(manifest: dict[str, Any], simulated: bool) -> dict[str, Any]:
    """The part of a manifest that must not depend on what happened to the sweep."""
    of_the_machine = {"messages_simulated_per_wall_s"}
    summary = manifest["summary"]
    if simulated:
        return {k: v for k, v in summary.items() if k not in of_the_machine}
    kept = ("weights_hash", "loss", "eval_loss", "consensus_distance", "bytes_intra", "bytes_inter")
    return {key: summary[key] for key in (*kept, "messages_intra", "messages_inter")}
