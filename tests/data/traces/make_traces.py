#!/usr/bin/env python3
"""Records the traces of this folder with the profiler of Debian's PyTorch 1.13: make_traces.py [FOLDER]

That PyTorch has no Kineto, and its own export lacks the shapes and the sequence numbers that its profiler records. So
this script writes the recorded events itself, with the names and arguments that Kineto gives them: "Input Dims",
"Sequence number", "Fwd thread id".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.autograd import profiler


class Residual(nn.Module):
    """A block whose input is added to its output, with a layer norm."""

    def __init__(self, width: int):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.relu(self.inner(self.norm(x)))


def mlp() -> tuple[nn.Module, torch.Tensor, int]:
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)), torch.randn(32, 64), 10


def cnn() -> tuple[nn.Module, torch.Tensor, int]:
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 26 * 26, 10))
    return model, torch.randn(16, 1, 28, 28), 10


def tied() -> tuple[nn.Module, torch.Tensor, int]:
    """An embedding whose table is also the last layer's, and residual blocks."""
    embedding, last = nn.Embedding(50, 24), nn.Linear(24, 50, bias=False)
    last.weight = embedding.weight
    return nn.Sequential(embedding, Residual(24), Residual(24), last), torch.randint(0, 50, (40,)), 50


MODELS = {"mlp": mlp, "cnn": cnn, "tied": tied}


def one_step(model: nn.Module, x: torch.Tensor, y: torch.Tensor, optimizer: torch.optim.Optimizer, number: int) -> None:
    with profiler.record_function(f"ProfilerStep#{number}"):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


def event_of(event: Any) -> dict[str, Any]:
    name = event.trace_name
    is_annotation = "#" in name
    arguments: dict[str, Any] = {"External id": event.id}
    if not is_annotation:
        arguments |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread or 0}
        if event.input_shapes:
            arguments["Input Dims"] = event.input_shapes
    return {"ph": "X", "cat": "user_annotation" if is_annotation else "cpu_op", "name": name, "pid": 1,
            "tid": event.thread, "ts": event.time_range.start, "dur": event.time_range.elapsed_us(),
            "args": arguments}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    torch.set_num_threads(1)
    for name, make in MODELS.items():
        torch.manual_seed(1)
        model, x, classes = make()
        y = torch.randint(0, classes, (x.shape[0],))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            one_step(model, x, y, optimizer, 0)
        with profiler.profile(record_shapes=True) as recorded:
            for number in (1, 2):
                one_step(model, x, y, optimizer, number)
        lines = [json.dumps(event_of(event)) for event in recorded.function_events]
        text = ",\n".join(lines)
        (folder / f"{name}.json").write_text(f'{{"schemaVersion": 1, "traceEvents": [\n{text}\n]}}\n')
        parameters = {n: p.numel() for n, p in model.named_parameters()}
        print(name, len(lines), "events", parameters)


if __name__ == "__main__":
    main()
