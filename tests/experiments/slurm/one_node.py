"""Runs Slurm, as packaged by the distribution, with a single node for the duration of a test. The
daemons munged, slurmctld and slurmd are children of the test and keep their files in one folder.
Needs root."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "mpirun"]
MARK = "TRIGRAM_ONE_NODE_SLURM"  # environment variable that marks the processes of this Slurm

CONFIGURATION = """\
ClusterName=trigram
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmix
ReturnToService=2
KillOnBadExit=0
KillWait=5
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def missing_requirement() -> str:
    """The reason why Slurm cannot run here; empty if it can."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if missing:
        return f"{', '.join(missing)} not found; scripts/setup --slurm installs what is missing"
    if os.geteuid() != 0:
        return "starting Slurm's daemons needs root"
    return ""


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited in vain for {what}")
        time.sleep(0.1)


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for unbound in sockets:
            unbound.bind(("127.0.0.1", 0))
        return [bound.getsockname()[1] for bound in sockets]


class OneNodeSlurm:
    """The constructor starts the daemons. `stop` ends all processes and returns those it had to kill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]),
            "SLURM_CONF": str(folder / "slurm.conf"),
            MARK: str(folder),
        }
        folder.chmod(0o755)  # munge's socket is for everyone
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        controller_port, daemon_port = free_ports(2)
        host = socket.gethostname().split(".")[0]
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=host, folder=folder, controller_port=controller_port, daemon_port=daemon_port
            )
        )
        try:
            self._start("munged", *self._munge_options())
            wait_for(lambda: (folder / "munge.socket").exists(), "munged")
            self._start("slurmctld", "-D", "-c")
            self._start("slurmd", "-D", "-N", host)
            wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%T"), "an idle node")
        except BaseException:
            self.stop()
            raise

    def _munge_options(self) -> list[str]:
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "seed-file": "seed"}
        options = [f"--{name}={self.folder}/munge.{end}" for name, end in files.items()]
        return ["--foreground", "--force", *options]

    def _start(self, *command: str) -> None:
        log = open(self.folder / f"{command[0]}.out", "wb")
        with log:
            self.daemons.append(
                subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
            )

    def run(self, *command: str) -> str:
        """The output of a command of Slurm, including error messages."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60
        )
        return done.stdout + done.stderr

    def logs(self) -> str:
        """The last lines of the daemons' logs, for the message of a failed test."""
        tails = []
        for file in sorted([*self.folder.glob("*.out"), *self.folder.glob("*.log")]):
            tails.append(f"== {file.name}\n" + "".join(file.read_text().splitlines(True)[-20:]))
        return "\n".join(tails)

    def processes(self) -> list[int]:
        """The processes that this Slurm or its jobs have started and that still run."""
        mark = f"{MARK}={self.folder}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:  # the process has ended
                continue
        return found

    def stop(self) -> list[int]:
        if (self.folder / "munge.socket").exists():
            self.run("scancel", "--user=root")
            try:
                wait_for(lambda: not self.run("squeue", "-h").strip(), "jobs to end", 20)
            except TimeoutError:
                pass  # the remaining processes are killed below
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        try:
            wait_for(lambda: not self.processes(), "processes to end", 5)
        except TimeoutError:
            pass
        left = self.processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left
