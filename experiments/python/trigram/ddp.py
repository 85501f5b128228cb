"""Trains a model with PyTorch's DistributedDataParallel over gloo, and times its steps.

    python3 -m trigram.ddp JOB.json

`trigram compare-worlds --worlds sim,ddp` starts one such process for each worker, by mpirun, in the network namespaces
of an emulated network. The job has the model (`FILE.py:FUNCTION`, as for trigram.profiling), the address of rank 0's
store, the file for the results, and runs. A run has an `id`, a `hook` (null, "fp16" or "powersgd"), the `rank`
of PowerSGD, sizes of buckets in bytes, an `optimizer` and `steps`. Rank 0 writes, by id, medians of seconds and the
mean of bytes that all nodes' interfaces sent in a step.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Callable, NoReturn

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

from .measurement import write_whole
from .user_script import InputError, Loss, made_by, mean_square

INTERFACE = os.environ.get("GLOO_SOCKET_IFNAME", "eth0")
WARM_UP = 6  # DDP makes its final buckets in the second step; its PowerSGD begins with the third


_orthogonalize = powerSGD_hook._orthogonalize


def _orthogonalize_matrix(matrices: torch.Tensor, epsilon: float = 0) -> None:
    """PyTorch 1.13's batched hook passes a matrix where a batch of matrices is expected, and fails."""
    _orthogonalize(matrices if matrices.dim() == 3 else matrices.unsqueeze(0), epsilon)


def sent_bytes() -> int:
    """Bytes of the frames that this namespace's interface has sent."""
    return int(Path(f"/sys/class/net/{INTERFACE}/statistics/tx_bytes").read_text())


def fail(message: str) -> NoReturn:
    if dist.get_rank() == 0:
        print(f"trigram: {message}", file=sys.stderr)
    sys.exit(2)


def wrapped(model: torch.nn.Module, run: dict[str, Any]) -> DistributedDataParallel:
    dist._DEFAULT_FIRST_BUCKET_BYTES = run["first_bucket"]
    ddp = DistributedDataParallel(model, bucket_cap_mb=run["bucket"] / 2**20,
                                  broadcast_buffers=run["broadcast_buffers"])
    if run["hook"] == "powersgd":
        nbytes = sum(p.numel() * p.element_size() for p in model.parameters() if p.requires_grad)
        if nbytes > min(run["bucket"], run["first_bucket"]):
            # Over gloo the hook continues on threads of its own, which differ between ranks in whose bucket is next.
            fail(f"expected one bucket of {nbytes} bytes for PowerSGD: with several, its hook makes collectives over "
                 "gloo in orders that differ between ranks; give /algorithm/bucket that size, and no first_bucket")
        powerSGD_hook._orthogonalize = _orthogonalize_matrix
        # The batched hook takes a whole bucket as one square matrix, as Trigram's powersgd does.
        state = powerSGD_hook.PowerSGDState(None, run["rank"], start_powerSGD_iter=2,
                                            use_error_feedback=run["error_feedback"], warm_start=run["warm_start"])
        ddp.register_comm_hook(state, powerSGD_hook.batched_powerSGD_hook)
    elif run["hook"] == "fp16":
        ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)
    return ddp


def optimizer_of(model: torch.nn.Module, options: dict[str, Any]) -> torch.optim.Optimizer:
    if options["name"] == "sgd":
        return torch.optim.SGD(model.parameters(), options["lr"], options.get("momentum", 0))
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[options["name"]](model.parameters(), options["lr"])


def seconds_of(step: Callable[[], None], count: int) -> list[float]:
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times


def times_of(made_by_user: tuple[Any, ...], run: dict[str, Any]) -> dict[str, float]:
    model, batch, *rest = made_by_user
    arguments = batch if isinstance(batch, tuple) else (batch,)
    loss: Loss = rest[0] if rest else mean_square
    ddp = wrapped(model, run)
    optimizer = optimizer_of(model, run["optimizer"])

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        loss(ddp(*arguments)).backward()
        optimizer.step()

    def step_alone() -> None:
        with ddp.no_sync():
            step()

    seconds_of(step, WARM_UP)
    dist.barrier()
    before = sent_bytes()
    steps = seconds_of(step, run["steps"])
    sent = (sent_bytes() - before) / run["steps"]
    dist.barrier()
    alone = seconds_of(step_alone, min(run["steps"], 10))
    # The slowest rank's medians, and the bytes of all nodes, whose ranks share an interface.
    slowest = torch.tensor([statistics.median(steps), statistics.median(alone)], dtype=torch.float64)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    first_of_node = os.environ["OMPI_COMM_WORLD_LOCAL_RANK"] == "0"
    total = torch.tensor([sent if first_of_node else 0.0], dtype=torch.float64)
    dist.all_reduce(total)
    return {"step_s": float(slowest[0]), "compute_s": float(slowest[1]), "sent_bytes": float(total[0])}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    rank, size = (int(os.environ[f"OMPI_COMM_WORLD_{name}"]) for name in ("RANK", "SIZE"))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://{job['store']}:29500", rank=rank, world_size=size)
    results = {}
    for run in job["runs"]:
        torch.manual_seed(1)
        try:
            made = made_by(job["model"])
        except InputError as error:
            fail(str(error))
        results[run["id"]] = times_of(made, run)
        if rank == 0:
            write_whole(Path(job["results"]), json.dumps(results))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
