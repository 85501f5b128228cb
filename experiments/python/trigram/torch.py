"""Trains PyTorch models with the algorithms of Trigram, in the user's own loop.

    trainer = trigram.torch.Trainer(model, optimizer={"name": "adamw", "lr": 3e-4}, algorithm="bytegrad")
    for x, y in batches:
        loss = criterion(model(x), y)
        trainer.step(loss)

Each process that `mpirun` or `srun` starts is a rank; without them there is one rank. PyTorch computes, on the CPU;
Trigram exchanges and updates. The parameters and gradients of the model are views of Trigram's memory.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import sys
import traceback
import weakref
from typing import Any, Iterator, Mapping

import numpy as np
import torch

try:
    from . import _engine
except ImportError as error:
    if error.name not in ("trigram._engine", None):
        raise
    raise ImportError("this build has no module for Python; install pybind11-dev and python3-dev (scripts/setup "
                      "--torch), then configure and build again") from error
from .measurement import profile

__all__ = ["ConfigError", "Trainer", "profile"]

ConfigError = _engine.ConfigError

_open: weakref.WeakSet[Trainer] = weakref.WeakSet()


def _named(options: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"name": options} if isinstance(options, str) else dict(options)


def _trained(model: torch.nn.Module) -> list[tuple[str, torch.nn.Parameter]]:
    """The parameters that are trained, each once, last first: about the order in which backward completes them."""
    trained = [(name, p) for name, p in model.named_parameters() if p.requires_grad and p.numel() > 0]
    if not trained:
        raise ValueError("the model has no parameter that requires a gradient")
    for name, p in trained:
        if p.dtype != torch.float32 or p.device.type != "cpu":
            raise ValueError(f"{name} is {p.dtype} on {p.device}; expected torch.float32 on the CPU")
    return trained[::-1]


def _flat(tensors: list[torch.Tensor]) -> np.ndarray:
    return torch.cat([t.detach().reshape(-1) for t in tensors]).numpy() if tensors else np.zeros(0, np.float32)


def _views(memory: np.ndarray, like: list[torch.Tensor]) -> list[torch.Tensor]:
    """Views of consecutive parts of the memory, with the shapes of the tensors."""
    flat, begin, views = torch.from_numpy(memory) if memory.size else torch.zeros(0), 0, []
    for tensor in like:
        views.append(flat[begin:begin + tensor.numel()].view(tensor.shape))
        begin += tensor.numel()
    return views


class Trainer:
    """Makes the steps of one rank.

    `optimizer` and `algorithm` are names, or dictionaries with a name and options, as in an experiment
    (docs/optimizers.md, docs/algorithms.md). `steps` is the number of steps, which learning-rate schedules (`decay`,
    `warmup_steps`) and some algorithms use; without it the run has no end, and learning rates do not decay. All ranks
    start from rank 0's parameters and buffers. Rank 0's buffers, such as the statistics of batch normalisation, are
    broadcast before each forward pass if the algorithm is gradient_allreduce, as by PyTorch's DDP; with other
    algorithms each rank has its own until `sync_buffers`. Raises ConfigError (a ValueError) for bad options.

    The parameters must not be replaced while the trainer is open; `model.load_state_dict` copies into them.
    """

    def __init__(self, model: torch.nn.Module, optimizer: str | Mapping[str, Any] = "sgd",
                 algorithm: str | Mapping[str, Any] = "gradient_allreduce", *, steps: int | None = None, seed: int = 1,
                 clip_norm: float | None = None):
        self.model = model
        trained = _trained(model)
        self._parameters = [p for _, p in trained]
        buffers = [b for b in model.buffers() if b.dtype == torch.float32 and b.numel() > 0]
        frozen = [p for p in model.parameters() if not p.requires_grad and p.dtype == torch.float32 and p.numel() > 0]
        algorithm = _named(algorithm)
        if buffers and _engine.algorithm_has_option(json.dumps(algorithm), "broadcast_buffers"):
            if not algorithm.get("fusion_buffer"):
                algorithm.setdefault("broadcast_buffers", True)
        options = {"algorithm": algorithm, "optimizer": _named(optimizer), "steps": steps, "seed": seed}
        if clip_norm is not None:
            options["clip_norm"] = clip_norm
        self._engine = _engine.Trainer(
            json.dumps(options), [name for name, _ in trained], [p.numel() for p in self._parameters],
            [p.shape[0] if p.dim() >= 2 else 1 for p in self._parameters], _flat(self._parameters), _flat(buffers),
            _flat(frozen))
        self._grads = _views(self._engine.gradients(), self._parameters)
        self._flat_grad = torch.from_numpy(self._engine.gradients())
        for p, view in zip(self._parameters, _views(self._engine.weights(), self._parameters)):
            p.data = view
        for b, view in zip(buffers, _views(self._engine.buffers(), buffers)):
            b.data = view
        for p, values in zip(frozen, _views(self._engine.constants(), frozen)):
            p.data.copy_(values)
        self._begun = self._accumulated = False
        self._exchanging = False  # the gradients of this backward pass are exchanged
        self._accumulators = [self._hook(i, p) for i, p in enumerate(self._parameters)]
        self._before_forward = model.register_forward_pre_hook(self._begin_by_forward)
        _open.add(self)
        if self.size > 1:
            _abort_on_exceptions()

    rank = property(lambda self: self._engine.rank, doc="This process's rank.")
    size = property(lambda self: self._engine.size, doc="The number of ranks.")

    def _hook(self, index: int, parameter: torch.nn.Parameter) -> Any:
        accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]

        def on_gradient(*_: Any) -> None:
            if self._exchanging:
                self._engine.complete(index)

        accumulator.register_hook(on_gradient)
        return accumulator  # kept: otherwise autograd makes another one, without the hook

    def _begin_by_forward(self, *_: Any) -> None:
        if self.model.training and torch.is_grad_enabled() and not self._accumulating:
            self._begin()

    def _begin(self) -> None:
        if not self._begun:
            self._engine.begin_step()
            self._begun = True

    def _place_grads(self) -> None:
        """Makes gradients lie in Trigram's memory again, if the user has set them to None or to other tensors."""
        for p, grad in zip(self._parameters, self._grads):
            if p.grad is not grad:
                if p.grad is not None and self._accumulated:
                    grad.copy_(p.grad)
                p.grad = grad

    _accumulating = False

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, `loss.backward()` adds to the gradients, which the next `step` exchanges together with its own."""
        if not self._accumulated:
            self._flat_grad.zero_()
        self._accumulated = self._accumulating = True
        self._place_grads()
        try:
            yield
        finally:
            self._accumulating = False

    def step(self, loss: torch.Tensor) -> float:
        """Backward pass, exchange and update. Returns the loss of this rank. Afterwards `p.grad` has what the optimizer
        saw, such as the mean gradient of all ranks."""
        self._begin()
        value = float(loss.detach())
        if not self._accumulated:
            self._flat_grad.zero_()
        self._place_grads()
        self._engine.end_forward(value)
        self._exchanging = True
        try:
            loss.backward()
        except BaseException:
            self._exchanging = False
            self.close()
            raise
        self._exchanging = self._begun = self._accumulated = False
        self._engine.end_backward()
        return value

    def sync_buffers(self, how: str = "rank 0") -> None:
        """Makes the buffers of all ranks those of rank 0, or their mean (how="mean"). Collective."""
        if how not in ("rank 0", "mean"):
            raise ValueError(f'how={how!r}; expected "rank 0" or "mean"')
        self._between_steps()
        self._engine.average_buffers() if how == "mean" else self._engine.broadcast_buffers()

    def mean(self, value: float) -> float:
        """The mean of a number over the ranks, in single precision. Collective."""
        self._between_steps()
        return self._engine.mean(value)

    def _between_steps(self) -> None:
        if self._begun:
            raise RuntimeError("a forward pass in training mode has begun a step; expected step(loss) first")

    def counters(self) -> dict[str, Any]:
        """Of this rank since the start: steps, seconds of communication, seconds of it in which the algorithm waited
        (exposed_s), bytes and messages sent."""
        return self._engine.counters()

    def state_dict(self) -> dict[str, Any]:
        """The state of this rank, for `torch.save`: the model's, the optimizer's and the algorithm's. An algorithm with
        exchanges in flight between steps, such as an asynchronous one, does not continue exactly."""
        self._between_steps()
        return {"model": {k: v.clone() for k, v in self.model.state_dict().items()}, "trainer": self._engine.state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state that the same rank saved with the same options; before the first step."""
        if self.counters()["steps"] > 0:
            raise RuntimeError("expected load_state_dict before the first step")
        self._between_steps()
        self._engine.set_state(state["trainer"])
        self.model.load_state_dict(state["model"])

    def close(self) -> None:
        """Ends the training; the model keeps its parameters. Collective; at the end of the program by itself."""
        self._before_forward.remove()
        _open.discard(self)
        self._engine.close()

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()


@atexit.register
def _close_all() -> None:
    for trainer in list(_open):
        trainer.close()


def _abort_on_exceptions() -> None:
    """Makes an exception that ends this process end the other ranks, too, which would wait for it."""
    if getattr(sys.excepthook, "_of_trigram", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        traceback.print_exception(kind, error, trace)
        sys.stderr.flush()
        _engine.abort(f"{kind.__name__}: {error}")

    hook._of_trigram = True  # type: ignore[attr-defined]
    sys.excepthook = hook
