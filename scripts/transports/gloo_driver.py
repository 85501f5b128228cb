"""Times gloo as PyTorch uses it, in a job of mpirun. Rank 0 starts all ranks and prints a line of JSON for each time.

`allreduce` is torch.distributed's. `ddp` is a training step of DistributedDataParallel on a model of `--bytes` bytes in
one bucket; `compute` is the time of the same step without communication.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import os
import sys
from pathlib import Path
from typing import Callable

if int(os.environ["OMPI_COMM_WORLD_RANK"]) > 0:
    sys.exit(0)  # rank 0 starts all ranks, because importing PyTorch in each would take long

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

from timing import median_seconds


class Scale(torch.nn.Module):
    """A model of one tensor, with next to no computation."""

    def __init__(self, nbytes: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(nbytes // 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight * x).sum()


def seconds_of(run: Callable[[], None], options: argparse.Namespace) -> float:
    """The median seconds of consecutive repetitions, on the rank where this median is largest."""
    seconds = median_seconds(run, options.warm_up, options.repeat)
    slowest = torch.tensor([seconds], dtype=torch.float64)
    torch.distributed.all_reduce(slowest, torch.distributed.ReduceOp.MAX)
    return float(slowest)


def allreduce(nbytes: int, options: argparse.Namespace) -> dict[str, float]:
    x = torch.ones(nbytes // 4)
    return {"seconds": seconds_of(lambda: torch.distributed.all_reduce(x), options)}


def ddp(nbytes: int, options: argparse.Namespace) -> dict[str, float]:
    model = DistributedDataParallel(Scale(nbytes))
    x = torch.tensor(1.0)

    def step() -> None:
        model.zero_grad()
        model(x).backward()

    seconds = seconds_of(step, options)
    with model.no_sync():
        compute = seconds_of(step, options)
    rank = torch.distributed.get_rank()
    x = torch.tensor(float(rank + 1))
    step()
    mean = (torch.distributed.get_world_size() + 1) / 2
    assert torch.allclose(model.module.weight.grad, torch.tensor(mean)), "gradients are not averaged"
    return {"seconds": seconds, "compute": compute}


def namespaces(workers: int, size: int) -> list[str]:
    """The network namespace of each rank. This process runs in the namespace of node 0."""
    own = os.stat("/proc/self/ns/net").st_ino
    (first,) = [p for p in Path("/run/netns").iterdir() if p.stat().st_ino == own]
    stem = str(first).rpartition(".")[0]
    return [f"{stem}.{1 + rank // workers}" for rank in range(size)]


def enter(namespace: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with open(namespace) as file:
        if libc.setns(file.fileno(), 0):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def run_rank(rank: int, size: int, options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://{options.store}:29500",
                                         rank=rank, world_size=size,
                                         timeout=datetime.timedelta(seconds=60))
    for name in options.collectives:
        measure = {"allreduce": allreduce, "ddp": ddp}[name]
        for nbytes in options.bytes if name == "allreduce" else options.bytes[-1:]:
            times = measure(nbytes, options)
            if rank == 0:
                print(json.dumps({"collective": name, "bytes": nbytes, **times}), flush=True)
    torch.distributed.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("collectives", nargs="+", choices=["allreduce", "ddp"])
    parser.add_argument("--bytes", type=int, nargs="+", required=True)
    parser.add_argument("--warm-up", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--store", required=True, help="the address of rank 0")
    parser.add_argument("--workers", type=int, required=True, help="ranks of a node")
    options = parser.parse_args()
    size = int(os.environ["OMPI_COMM_WORLD_SIZE"])
    children = []
    for rank, namespace in enumerate(namespaces(options.workers, size)):
        child = os.fork()
        if child == 0:
            enter(namespace)
            run_rank(rank, size, options)
            os._exit(0)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)


if __name__ == "__main__":
    sys.exit(main())
