"""Times gloo as PyTorch uses it, one rank of a job of mpirun; rank 0 prints a line of JSON for each.

`allreduce` is torch.distributed's; `ddp` is a training step of DistributedDataParallel on a model of
so many bytes in one bucket, beside which `compute` is the same step without communication.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from typing import Callable

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel


class Scale(torch.nn.Module):
    """A model of one tensor, with next to no computation."""

    def __init__(self, nbytes: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(nbytes // 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight * x).sum()


def seconds_of(run: Callable[[], None], options: argparse.Namespace) -> float:
    """Of the slowest rank, the median of repetitions one after another."""
    for _ in range(options.warm_up):
        run()
    taken = []
    for _ in range(options.repeat):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    slowest = torch.tensor([statistics.median(taken)], dtype=torch.float64)
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collectives", nargs="+", choices=["allreduce", "ddp"])
    parser.add_argument("--bytes", type=int, nargs="+", required=True)
    parser.add_argument("--warm-up", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--store", required=True, help="the address of rank 0")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    size = int(os.environ["OMPI_COMM_WORLD_SIZE"])
    torch.distributed.init_process_group("gloo", init_method=f"tcp://{options.store}:29500",
                                         rank=rank, world_size=size)
    for name in options.collectives:
        measure = {"allreduce": allreduce, "ddp": ddp}[name]
        for nbytes in options.bytes if name == "allreduce" else options.bytes[-1:]:
            found = measure(nbytes, options)
            if rank == 0:
                print(json.dumps({"collective": name, "bytes": nbytes, **found}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
