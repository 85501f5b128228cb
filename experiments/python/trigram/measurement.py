"""Measures how long the layers of a PyTorch model take, forward and backward (docs/profiles.md)."""

from __future__ import annotations

import os
import platform
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import torch

from .user_script import InputError, Loss, made_by, mean_square, user_error


def write_whole(path: Path, text: str) -> None:
    """Writes a file that is complete whenever it exists, even if the process ends meanwhile."""
    if path.exists() and not path.is_file():  # such as /dev/stdout, which must not be replaced
        path.write_text(text, encoding="utf-8")
        return
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@dataclass
class Row:
    tensor: str
    numel: int
    forward_s: float
    backward_s: float


@dataclass
class Profile:
    """The layers of a model in the order of its forward pass; gradients complete in the reverse order."""

    name: str
    machine: str
    batch: int
    buffer_bytes: int
    rows: list[Row]
    notes: list[str] = field(default_factory=list)    # how it was measured
    assumed: list[str] = field(default_factory=list)  # what could not be attributed
    flops_per_s: float | None = None     # of matrix products, if measured
    memory_Bps: float | None = None      # bytes read and written by copies, if measured

    forward_s = property(lambda self: sum(row.forward_s for row in self.rows), doc="Seconds of a forward pass.")
    backward_s = property(lambda self: sum(row.backward_s for row in self.rows), doc="Seconds of a backward pass.")
    ready_order = property(lambda self: [row.tensor for row in reversed(self.rows)],
                           doc="The tensors in the order in which backward completes their gradients.")

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Writes the profile as CSV, for `"workload": "profile:PATH"`."""
        lines = [f"# name: {self.name}", f"# accelerator: {self.machine}", f"# batch: {self.batch}",
                 f"# buffers: {self.buffer_bytes}B"]
        if self.flops_per_s and self.memory_Bps:
            lines += [f"# flops: {self.flops_per_s / 1e9:.4g}GFLOP/s",
                      f"# memory_bandwidth: {self.memory_Bps / 1e9:.4g}GB/s"]
        lines += [f"# source: {note}" for note in self.notes] + [f"# assumed: {note}" for note in self.assumed]
        lines.append("tensor,numel,forward_s,backward_s")
        lines += [f"{r.tensor},{r.numel},{r.forward_s:.9g},{r.backward_s:.9g}" for r in self.rows]
        write_whole(Path(path), "\n".join(lines) + "\n")
        return Path(path)


def machine_name() -> str:
    """The processor and the number of threads that PyTorch uses."""
    model = platform.processor() or platform.machine()
    try:
        names = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                 if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    threads = torch.get_num_threads()
    return f"{model} ({threads} thread{'s' if threads > 1 else ''})"


class _Clock:
    """Adds the time since the last mark to a name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.order: list[str] = []
        self.last = time.perf_counter()

    def mark(self, name: str) -> None:
        now = time.perf_counter()
        if name not in self.seconds:
            self.order.append(name)
        self.seconds[name] = self.seconds.get(name, 0) + now - self.last
        self.last = now

    def rest_to_last(self) -> None:
        if self.order:
            self.mark(self.order[-1])


def _one_pass(model: torch.nn.Module, arguments: tuple[Any, ...], loss: Callable[[Any], torch.Tensor],
              clock: list[_Clock]) -> tuple[_Clock, _Clock]:
    clock[0] = forward = _Clock()
    value = loss(model(*arguments))
    forward.rest_to_last()
    clock[0] = backward = _Clock()
    value.backward()
    backward.rest_to_last()
    return forward, backward


def profile(model: torch.nn.Module, batch: Any, loss: Loss | None = None, *, name: str | None = None, repeat: int = 10,
            warmup: int = 3, before_pass: Callable[[], Any] | None = None,
            average: Callable[[list[float]], float] = statistics.median) -> Profile:
    """Measures forward and backward passes over one batch, on the CPU, in training mode.

    `batch` is the argument of the model, or a tuple of arguments; `loss` maps the model's output to a scalar, by
    default its mean square. Times are medians of `repeat` passes after `warmup`, or another `average`; `before_pass` is
    called before each pass. The time of a layer's forward pass ends with the layer, and includes what came since the
    last layer that has parameters, such as activations. The time of a tensor's backward pass ends when its gradient is
    complete. The model's buffers change, as in training; its gradients are removed."""
    arguments = batch if isinstance(batch, tuple) else (batch,)
    loss = loss or mean_square
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad and p.numel() > 0}
    if not parameters:
        raise InputError("the model has no parameter that requires a gradient")
    known = {id(p): n for n, p in parameters.items()}
    clock = [_Clock()]
    handles: list[Any] = []
    for module in model.modules():
        own = [known[id(p)] for p in module._parameters.values() if p is not None and id(p) in known]
        if own:
            handles.append(module.register_forward_hook(lambda *_, n=own[0]: clock[0].mark(n)))
    accumulators = []
    for n, p in parameters.items():
        accumulators.append(p.expand_as(p).grad_fn.next_functions[0][0])
        handles.append(accumulators[-1].register_hook(lambda *_, n=n: clock[0].mark(n)))
    was_training = model.training
    model.train()
    try:
        passes = []
        for i in range(warmup + repeat):
            model.zero_grad(set_to_none=True)
            if before_pass:
                before_pass()
            measured = _one_pass(model, arguments, loss, clock)
            if i >= warmup:
                passes.append(measured)
    finally:
        for handle in handles:
            handle.remove()
        model.train(was_training)
        model.zero_grad(set_to_none=True)

    def median(n: str, which: int) -> float:
        return average([both[which].seconds.get(n, 0.0) for both in passes])

    order = passes[-1][1].order
    unused = [n for n in parameters if n not in order]
    rows = [Row(n, parameters[n].numel(), median(n, 0), median(n, 1)) for n in reversed(order + unused)]
    first = arguments[0] if arguments else None
    assumed = [f"{n} gets no gradient from this batch; its gradient, of zeros, is exchanged last" for n in unused]
    if frozen := sum(p.numel() for p in model.parameters() if not p.requires_grad):
        assumed.append(f"{frozen} elements of frozen parameters are not exchanged")
    return Profile(
        name=name or type(model).__name__.lower(), machine=machine_name(),
        batch=int(first.shape[0]) if isinstance(first, torch.Tensor) and first.dim() > 0 else 1,
        buffer_bytes=sum(b.numel() * 4 for b in model.buffers() if b.is_floating_point()), rows=rows,
        notes=[f"measured with trigram.torch.profile, PyTorch {torch.__version__}, medians of {repeat} passes"],
        assumed=assumed)


def profile_script(reference: str, **options: Any) -> Profile:
    """The profile of what `reference` makes. Raises InputError."""
    model, batch, *loss = made_by(reference)
    try:
        return profile(model, batch, *loss, **options)
    except InputError as error:
        raise InputError(f"{reference}: {error}") from error
    except (Exception, SystemExit) as error:
        raise user_error(reference, error) from error
