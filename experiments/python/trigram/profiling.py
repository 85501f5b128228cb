"""Measures the layers of a PyTorch model, and writes them as a profile that Trigram simulates (docs/profiles.md).

    trigram profile --torch script.py:make --output net.csv

runs this module, and `python3 -m trigram.profiling script.py:make --output net.csv` does without the program. They call
`make()` of the script, which returns the model, a batch (a tensor or a tuple of arguments), and optionally a
function from the model's output to the loss.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import platform
import queue
import statistics
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import torch


Loss = Callable[[Any], torch.Tensor]


class InputError(ValueError):
    """The script, the model or the output cannot be used; one line says why."""


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


def mean_square(output: torch.Tensor) -> torch.Tensor:
    """The default loss."""
    return output.float().pow(2).mean()


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


def profile_together(reference: str, processes: int, *, name: str | None = None, repeat: int = 10) -> Profile:
    """The model's profile if that many processes of this machine compute at the same time, each on one thread.

    The processes begin each pass together, as workers of synchronous training do. Times are means over passes and
    processes: where processes share cores, a layer that waits for a core is rare, and a median would ignore it."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(processes), context.Queue()
    children = [context.Process(target=_profile_beside, args=(reference, barrier, results, name, repeat))
                for _ in range(processes)]
    for child in children:
        child.start()
    try:
        profiles = _collect(results, children, reference)
    finally:
        for child in children:  # after a failure, others still wait at the barrier
            child.terminate()
            child.join()
    mean = profiles[0]
    for i, row in enumerate(mean.rows):
        row.forward_s = statistics.fmean(p.rows[i].forward_s for p in profiles)
        row.backward_s = statistics.fmean(p.rows[i].backward_s for p in profiles)
    cores = len(os.sched_getaffinity(0))
    mean.flops_per_s = statistics.fmean(p.flops_per_s or 0 for p in profiles)
    mean.memory_Bps = statistics.fmean(p.memory_Bps or 0 for p in profiles)
    mean.notes = [f"measured with trigram.torch.profile, PyTorch {torch.__version__}, means of {repeat} passes of "
                  f"{processes} processes that compute together on {cores} cores"]
    return mean


def _collect(results: Any, children: list[Any], reference: str) -> list[Profile]:
    """The profile of every child. Raises InputError with what a child says, or if one ends without a result."""
    found: list[Profile] = []
    silent = 0  # children that had ended without a result a second ago; it may still have been on the way
    while len(found) < len(children):
        try:
            result = results.get(timeout=1)
        except queue.Empty:
            if silent > 0:
                raise InputError(f"{reference}: a process that measures the model has ended early") from None
            silent = sum(child.exitcode is not None for child in children) - len(found)
            continue
        silent = 0
        if isinstance(result, str):
            raise InputError(result)
        found.append(result)
    return found


def _profile_beside(reference: str, barrier: Any, results: Any, name: str | None, repeat: int) -> None:
    try:
        results.put(_profile_with_rates(reference, barrier, name, repeat))
    except InputError as error:
        results.put(str(error))


def _profile_with_rates(reference: str, barrier: Any, name: str | None, repeat: int) -> Profile:
    torch.set_num_threads(1)
    measured = _profile_made(reference, name=name, repeat=repeat, before_pass=barrier.wait, average=statistics.fmean)
    matrix, vector = torch.ones(512, 512), torch.ones(sum(row.numel for row in measured.rows))
    copy = torch.empty_like(vector)
    measured.flops_per_s = 2 * 512**3 / _mean_seconds(lambda: matrix @ matrix, barrier)
    measured.memory_Bps = 8 * vector.numel() / _mean_seconds(lambda: copy.copy_(vector), barrier)
    return measured


def _mean_seconds(call: Callable[[], Any], barrier: Any, repeat: int = 50) -> float:
    """The mean seconds of a call while the other processes make it, too."""
    call()
    barrier.wait()
    begin = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - begin) / repeat


def _printable(text: str) -> str:
    """The text without control characters, which would spoil a line."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _user_error(reference: str, error: BaseException) -> InputError:
    """What the script or its model raised, with its place in the script."""
    path = reference.rpartition(":")[0]
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if os.path.abspath(frame.filename) == os.path.abspath(path)]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    text = next((line for line in str(error).splitlines() if line.strip()), "no reason given")
    where = f" (line {lines[-1]} of {path})" if lines and lines[-1] else ""
    return InputError(f"{reference}: {type(error).__name__}: {text}{where}")


def made_by(reference: str) -> tuple[Any, ...]:
    """What the function of `script.py:function` returns. Raises InputError."""
    path, _, function = reference.rpartition(":")
    if not path.endswith(".py") or not Path(path).is_file():
        raise InputError(f"{reference}: expected FILE.py:FUNCTION")
    spec = importlib.util.spec_from_file_location("profiled", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["profiled"] = module  # data classes look their module up
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as if Python ran the script
    try:
        spec.loader.exec_module(module)
        if not hasattr(module, function):
            raise InputError(f"{path}: has no function {function}")
        made = getattr(module, function)()
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise _user_error(reference, error) from error
    if not isinstance(made, tuple) or len(made) not in (2, 3) or not isinstance(made[0], torch.nn.Module):
        got = type(made).__name__
        raise InputError(f"{reference}: returned {got}; expected (model, batch) or (model, batch, loss)")
    return made


def _profile_made(reference: str, **options: Any) -> Profile:
    """The profile of what `reference` makes. Raises InputError."""
    model, batch, *loss = made_by(reference)
    try:
        return profile(model, batch, *loss, **options)
    except InputError as error:
        raise InputError(f"{reference}: {error}") from error
    except (Exception, SystemExit) as error:
        raise _user_error(reference, error) from error


def _measured(options: argparse.Namespace) -> Profile:
    if options.name and not options.name.isprintable():
        raise InputError("--name: expected printable characters")
    if options.processes > 1 and options.threads:
        raise InputError("--threads: with --processes, each process has one thread")
    torch.set_num_threads(options.threads or 1)
    if options.processes > 1:
        return profile_together(options.made_by, options.processes, name=options.name, repeat=options.repeat)
    return _profile_made(options.made_by, name=options.name, repeat=options.repeat)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m trigram.profiling", description="Measures a model as a profile.")
    parser.add_argument("made_by", metavar="FILE.py:FUNCTION", help="returns the model, a batch, and perhaps a loss")
    parser.add_argument("-o", "--output", default="profile.csv", help="file to write (default: %(default)s)")
    parser.add_argument("--name", help="name of the profile; by default, that of the model's class")
    parser.add_argument("--threads", type=int, help="threads of PyTorch, without --processes (default: 1)")
    parser.add_argument("--repeat", type=int, default=10, help="passes to measure (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=1,
                        help="processes that compute at the same time, on one thread each, as workers on this machine"
                             " would")
    parser.add_argument("--quiet", action="store_true", help="do not print what is assumed")
    options = parser.parse_args(arguments)
    try:
        measured = _measured(options)
        path = measured.write(options.output)
    except InputError as error:
        print(f"trigram: {_printable(str(error))}", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"trigram: --output: {_printable(options.output)} cannot be written: {reason}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    numel = sum(row.numel for row in measured.rows)
    print(f"{path}: {len(measured.rows)} tensors, {numel:,} parameters, forward {measured.forward_s * 1e3:.3g} ms, "
          f"backward {measured.backward_s * 1e3:.3g} ms on {measured.machine}")
    for note in measured.assumed if not options.quiet else []:
        print(f"assumed: {note}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
