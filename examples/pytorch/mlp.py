"""A multilayer perceptron on random images, whose gradients of 3.7 MB take longer on a slow network than its passes.

    trigram profile --torch mlp.py:make --output mlp.csv
"""

from __future__ import annotations

from typing import Callable

import torch
from torch import nn


def make() -> tuple[nn.Module, torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]:
    """The model, a batch and the loss."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(784, 640), nn.ReLU(), nn.Linear(640, 640), nn.ReLU(), nn.Linear(640, 10))
    x, y = torch.randn(8, 784), torch.randint(0, 10, (8,))
    return model, x, lambda output: nn.functional.cross_entropy(output, y)
