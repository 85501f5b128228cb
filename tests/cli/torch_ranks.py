"""What each rank of a job of test_torch_trainer runs: torch_ranks.py CHECK FOLDER. A check prints one JSON line."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

sys.path.insert(0, str(Path(__file__).parent))
import torch
from torch import nn
from torch_models import Awkward, Perceptron, SmallTransformer, images, sequences

import trigram.torch

FOLDER = Path(sys.argv[2])
RANK, SIZE = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0)), int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))
torch.set_num_threads(1)
Data = tuple[torch.Tensor, torch.Tensor]


def made(kind: type[nn.Module], seed: int = 1) -> nn.Module:
    torch.manual_seed(seed)
    return kind()


def batches(data: Data, steps: int) -> Iterator[Data]:
    """The rank's share of 16 samples in each step."""
    x, y = data
    for step in range(steps):
        chosen = (torch.arange(RANK, 16, SIZE) + 16 * step) % len(x)
        yield x[chosen], y[chosen]


def loss_of(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = model(x)
    return nn.functional.cross_entropy(output.reshape(-1, output.shape[-1]), y.reshape(-1))


def flat(model: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()]).double()


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).norm() / b.norm())


class UnfusedSGD:
    """SGD whose products are rounded before sums, as Trigram's; PyTorch's own fuses them on processors that can."""

    def __init__(self, parameters: Any, lr: float, momentum: float):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.lr, self.momentum = lr, momentum
        self.moments = [torch.zeros_like(p) for p in self.parameters]

    def zero_grad(self) -> None:
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        for p, m in zip(self.parameters, self.moments):
            m.mul_(self.momentum).add_(p.grad if p.grad is not None else torch.zeros_like(p))
            p.sub_(m * self.lr)


def ddp_equality() -> dict[str, Any]:
    """Relative distances of weights and of buffers from those of DistributedDataParallel after 50 steps: with PyTorch's
    own optimizer, and with one that rounds as Trigram's."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{FOLDER}/store", rank=RANK, world_size=SIZE)
    found = {}
    for kind, data, options in [
        (Awkward, images(200), {"name": "sgd", "lr": 0.05, "momentum": 0.9}),
        (SmallTransformer, sequences(200), {"name": "sgd", "lr": 0.1, "momentum": 0.0}),
    ]:
        ours = made(kind, seed=1 + RANK)  # all ranks start from rank 0's weights
        with trigram.torch.Trainer(ours, options) as trainer:
            for x, y in batches(data, 50):
                trainer.step(loss_of(ours, x, y))
            trainer.sync_buffers()
        for rule in (torch.optim.SGD, UnfusedSGD):
            theirs = made(kind)
            ddp = nn.parallel.DistributedDataParallel(theirs, find_unused_parameters=True)
            optimizer = rule(ddp.parameters(), lr=options["lr"], momentum=options["momentum"])
            for x, y in batches(data, 50):
                optimizer.zero_grad()
                loss_of(ddp, x, y).backward()
                optimizer.step()
            name = f"{kind.__name__} {rule.__name__}"
            found[name] = distance(flat(ours), flat(theirs))
            found[name + " from start"] = distance(flat(made(kind)), flat(theirs))
            pairs = [(a, b) for a, b in zip(ours.buffers(), theirs.buffers()) if a.dtype == torch.float32]
            # DDP broadcasts buffers before a pass, so rank 0's are the common ones.
            found[name + " buffers"] = max([distance(a.double(), b.double()) for a, b in pairs], default=0)
    torch.distributed.destroy_process_group()
    return found


def bare_loop() -> dict[str, Any]:
    """One rank against PyTorch's own optimizers, with accumulated gradients and gradients set to None."""
    found = {}
    data = images(200)
    # Adam divides by the size of gradients, which are nothing but rounding errors in a bias before a normalisation.
    for name, kind, rule in [
        ("sgd", Awkward, lambda p: torch.optim.SGD(p, lr=0.05)),
        ("adamw", Perceptron, lambda p: torch.optim.AdamW(p, lr=0.05, weight_decay=0)),
    ]:
        theirs, ours = made(kind), made(kind)
        optimizer = rule([p for p in theirs.parameters() if p.requires_grad])
        with trigram.torch.Trainer(ours, {"name": name, "lr": 0.05}) as trainer:
            for i, (x, y) in enumerate(batches(data, 20)):
                loss = loss_of(theirs, x, y) / 2
                loss.backward()
                if i % 2:
                    optimizer.step()
                    optimizer.zero_grad()
                loss = loss_of(ours, x, y) / 2 if i % 2 else None
                if i % 2 and loss is not None:
                    trainer.step(loss)
                    ours.zero_grad(set_to_none=i % 4 == 3)
                else:
                    with trainer.no_sync():
                        (loss_of(ours, x, y) / 2).backward()
            found[name] = distance(flat(ours), flat(theirs))
    return found


def resume() -> dict[str, Any]:
    """Ten steps, and five steps, a checkpoint and five steps of another model and trainer."""
    data, options = images(200), {"optimizer": {"name": "adam", "lr": 0.02}, "algorithm": "powersgd", "steps": 20}
    whole = made(Awkward)
    with trigram.torch.Trainer(whole, **options) as trainer:
        for x, y in batches(data, 10):
            trainer.step(loss_of(whole, x, y))
    halves = list(batches(data, 10))
    first = made(Awkward)
    with trigram.torch.Trainer(first, **options) as trainer:
        for x, y in halves[:5]:
            trainer.step(loss_of(first, x, y))
        state = trainer.state_dict()
    second = made(Awkward, seed=9)
    with trigram.torch.Trainer(second, **options) as trainer:
        trainer.load_state_dict(state)
        for x, y in halves[5:]:
            trainer.step(loss_of(second, x, y))
        steps = trainer.counters()["steps"]
    return {"equal": bool(torch.equal(flat(whole), flat(second))), "moved": distance(flat(whole), flat(made(Awkward))),
            "steps": steps}


def algorithms() -> dict[str, Any]:
    """By algorithm: the loss before and after some steps, and whether all ranks have the same weights."""
    found = {}
    data = images(200)
    for name, options in json.loads((FOLDER / "algorithms.json").read_text()).items():
        model = made(Awkward)
        with trigram.torch.Trainer(model, options["optimizer"], options["algorithm"], steps=80) as trainer:
            losses = [trainer.step(loss_of(model, x, y)) for x, y in batches(data, 80)]
            own = float(flat(model).sum())
            mean = trainer.mean(own)
            found[name] = {"first": losses[0], "last": sum(losses[-5:]) / 5, "bytes": trainer.counters()["bytes"],
                           "finite": math.isfinite(mean)}
    return found


def fails_on_one_rank() -> dict[str, Any]:
    model = made(Awkward)
    trainer = trigram.torch.Trainer(model)
    for step, (x, y) in enumerate(batches(images(200), 10)):
        if RANK == 1 and step == 3:
            raise RuntimeError("a bug in the user's script")
        trainer.step(loss_of(model, x, y))
    return {}


CHECKS: dict[str, Callable[[], dict[str, Any]]] = {
    f.__name__: f for f in (ddp_equality, bare_loop, resume, algorithms, fails_on_one_rank)
}

if __name__ == "__main__":
    result = CHECKS[sys.argv[1]]()
    if RANK == 0:
        print(json.dumps(result))
