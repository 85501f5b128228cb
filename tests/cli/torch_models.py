"""Models and data of PyTorch for tests; what PyTorch itself computes is the oracle."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def skip(what: str) -> None:
    """Skips the whole suite: CTest knows this exit code (SKIP_RETURN_CODE)."""
    print(f"skipped: no {what}; scripts/setup --torch installs what it needs", file=sys.stderr)
    sys.exit(77)


try:
    import torch
    from torch import nn
except ImportError:
    skip("PyTorch for Python here")

BUILD = Path(os.environ["BUILD"])
torch.set_num_threads(1)


def require(part: str, file: str) -> None:
    """Skips the suite if the build lacks a part."""
    if not list(BUILD.glob(file)):
        skip(f"{part} in this build")


class Awkward(nn.Module):
    """A CNN with batch normalisation, tied weights, an unused parameter and a frozen one."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.hidden = nn.Linear(64, 16)
        self.twin = nn.Linear(16, 16)
        self.again = nn.Linear(16, 16)
        self.again.weight = self.twin.weight
        self.frozen = nn.Linear(16, 16)
        self.unused = nn.Parameter(torch.ones(7))
        self.head = nn.Linear(16, 3)
        for parameter in self.frozen.parameters():
            parameter.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(x))).flatten(1)
        x = torch.tanh(self.hidden(x))
        x = torch.tanh(self.again(torch.tanh(self.twin(x))))
        return self.head(torch.tanh(self.frozen(x)))


class Perceptron(nn.Module):
    """Its mini-batches' gradients are means over samples: nothing in it looks at the whole mini-batch."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.Tanh(), nn.Linear(12, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class SmallTransformer(nn.Module):
    """A causal language model on 32 symbols whose last layer has the embedding's weights."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(32, width)
        self.position = nn.Parameter(0.02 * torch.randn(16, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(width, 32, bias=False)
        self.out.weight = self.embedding.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = torch.full((16, 16), float("-inf")).triu(1)
        return self.out(self.blocks(self.embedding(x) + self.position, mask))


def images(samples: int, seed: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of three classes, each with its own mean."""
    generator = torch.Generator().manual_seed(seed)
    classes = torch.randint(3, (samples,), generator=generator)
    means = torch.randn(3, 1, 4, 4, generator=generator)
    return means[classes] + 0.5 * torch.randn(samples, 1, 4, 4, generator=generator), classes


def sequences(samples: int, seed: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences of 16 symbols, each of which mostly follows from the one before, and their successors."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(32, (samples, 17), generator=generator)
    for i in range(1, 17):
        x[:, i] = torch.where(torch.rand(samples, generator=generator) < 0.8, (5 * x[:, i - 1] + 3) % 32, x[:, i])
    return x[:, :-1].contiguous(), x[:, 1:].contiguous()


def save(folder: Path, model: nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> dict[str, str]:
    """Writes both files, and returns the workload."""
    torch.jit.script(model).save(str(folder / "net.pt"))
    torch.save(data, folder / "train.pt")
    return {"name": "torchscript", "model": str(folder / "net.pt"), "data": str(folder / "train.pt")}
