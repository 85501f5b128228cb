"""The figures of performance that a GPU should reach, read from the output of bench_cuda_kernels, bench_nccl and
overlap.py."""

from __future__ import annotations

import re
from dataclasses import dataclass

HOLDS, BELOW, REPORTED, LEFT_OUT = "holds", "below", "reported", "left out"


@dataclass
class Figure:
    name: str
    target: float | None = None  # the ratio should be at least this
    ratio: float | None = None  # None: not measured

    @property
    def verdict(self) -> str:
        if self.ratio is None:
            return LEFT_OUT
        if self.target is None:
            return REPORTED
        return HOLDS if self.ratio >= self.target else BELOW


def kernel_figures() -> list[Figure]:
    figures = []
    for chunks in (8, 16):
        buckets = f"buckets of {chunks} chunks: "
        figures += [
            Figure(buckets + "encode", 0.8),
            Figure(buckets + "encode, vs batched min, max, quantise", 1.8),
            Figure(buckets + "encode, vs the same launched per chunk", 8),
            Figure(buckets + "decode", 0.8),
        ]
    return figures + [
        Figure("a whole bucket as one chunk: encode", 0.6),
        Figure("owner's pass of 8 ranks: decode, reduce, encode", 0.7),
        Figure("a single bucket of 8 chunks: encode"),
        Figure("a single bucket of 16 chunks: encode"),
        *optimizer_figures("SGD with momentum"),
        *optimizer_figures("Adam"),
        Figure("LAMB, 161 tensors of ResNet-50"),
    ]


def optimizer_figures(name: str) -> list[Figure]:
    return [
        Figure(f"{name}, 161 tensors of ResNet-50", 0.8),
        Figure(f"{name}, the same in one bucket"),
        Figure(f"{name}, vs a launch per tensor"),
    ]


def allreduce_figures() -> list[Figure]:
    return [
        Figure(f"allreduce of {size} MiB, {checked}", 0.97)
        for checked in ("checked", "unchecked")
        for size in (4, 16, 64, 256)
    ]


def overlap_figures() -> list[Figure]:
    return [
        Figure(f"overlap of {algorithm}: step / longer")
        for algorithm in ("gradient_allreduce", "bytegrad", "decentralized")
    ]


def figures() -> list[Figure]:
    return kernel_figures() + allreduce_figures() + overlap_figures()


def ratios(output: str) -> dict[str, float]:
    """{name of a figure: ratio}, read from the tables that the programs have printed."""
    found = {}
    for line in output.splitlines():
        row = re.match(r"(\S.*?\S)  +[\d.]+ +([\d.]+) +(?:[\d.]+ +(?:holds|below)|- +-)$", line)
        if row:
            found[row[1]] = float(row[2])
        # The columns of overlap.py: step, computing, sending, exposed; step/longer; sum/longer.
        row = re.match(r"(\w+)(?: +[\d.]+){4} +([\d.]+) +[\d.]+$", line)
        if row:
            found[f"overlap of {row[1]}: step / longer"] = float(row[2])
    return found


def measured(output: str) -> list[Figure]:
    """All figures, with their ratios if `output` has them."""
    found = ratios(output)
    return [Figure(f.name, f.target, found.get(f.name)) for f in figures()]


def table(rows: list[Figure]) -> str:
    lines = [f"{'':<66}{'measured':>9}{'target':>8}  verdict"]
    for f in rows:
        ratio = "-" if f.ratio is None else f"{f.ratio:.3f}"
        target = "-" if f.target is None else f"{f.target:.2f}"
        lines.append(f"{f.name:<66}{ratio:>9}{target:>8}  {f.verdict}")
    return "\n".join(lines)
