"""Trigram in Python: train a PyTorch model with any algorithm (`trigram.torch`), and call the program.

    trigram.torch.Trainer(model, optimizer={"name": "adamw", "lr": 3e-4}, algorithm="bytegrad")
    trigram.torch.profile(model, batch, loss)
    trigram.run(configuration), trigram.advise(...), trigram.results(folder)
"""

from __future__ import annotations

from typing import Any

from .program import ProgramError, advise, results, run

__all__ = ["ProgramError", "advise", "results", "run", "torch"]


def __getattr__(name: str) -> Any:
    """Imports `trigram.torch` when it is first used: it needs PyTorch, which the rest does not."""
    if name == "torch":
        import importlib

        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module 'trigram' has no attribute {name!r}")
