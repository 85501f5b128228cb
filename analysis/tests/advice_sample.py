"""An answer of `trigram advise` with its runs, in the format of docs/advise-json.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sample

SETTINGS: list[dict[str, Any]] = [
    {"/algorithm": {"name": "bytegrad", "hierarchical": True}},
    {"/algorithm": {"name": "bytegrad", "bucket": "64MiB"}},
    {"/algorithm": {"name": "gradient_allreduce"}, "/optimizer": {"name": "adam", "lr": 0.05}},
    {"/algorithm": {"name": "decentralized", "mode": "shift_one"}},
]
NAMES = ["bytegrad", "bytegrad", "gradient_allreduce", "decentralized/shift_one"]


def candidate(i: int, step_s: float, **changes: Any) -> dict[str, Any]:
    return {"algorithm": NAMES[i], "settings": SETTINGS[i], "trigram": "sync, low, centralised", "run": f"run{i}",
            "step_s": step_s, "samples_per_s": 512 / step_s, "paces": None, "tied": False, "behind": step_s / 0.4 - 1,
            "not_compared": None, "needs_steps": None, "rates_not_compared": None} | changes


def flip(quantity: str, direction: str, first: Any = None, **more: Any) -> dict[str, Any]:
    return {"quantity": quantity, "direction": direction, "first": first, "not_known": None, "not_compared": []} | more


def document() -> dict[str, Any]:
    return {
        "question": {"cluster": "ten", "profile": "vgg16"},
        "target": "throughput", "ignored": "how much is learned in a step is ignored",
        "cluster": {"nodes": 8, "workers_per_node": 4, "inter": {"bandwidth": "10Gbps", "latency": "50us"},
                    "intra": {"bandwidth": "32GB/s", "latency": "5us"}, "accelerator": {"name": "A100"}},
        "warnings": ["layer times of V100"], "assumed": ["credit of token buckets is spent"], "tie": False,
        "candidates": [candidate(0, 0.4), candidate(1, 0.5), candidate(2, 0.8),
                       candidate(3, 0.6, behind=None, not_compared="sends nothing between nodes", needs_steps=80)],
        "left_out": ["powersgd hierarchical=false: the same as powersgd hierarchical=true"], "tuned": [],
        "where_nics_differ": [{"settings": SETTINGS[0], "bandwidth_jitter": 0.01, "least_more": 0.001,
                               "most_more": 0.25, "changes": True, "not_compared": None}],
        "flips": [flip("bandwidth", "down", SETTINGS[1], limit_factor=0.25, limit_Bps=312.5e6, holds_factor=0.36,
                       holds_Bps=450e6, flips_factor=0.35, flips_Bps=437.5e6),
                  flip("bandwidth", "up", limit_factor=64, limit_Bps=80e9),
                  flip("latency", "down", limit_factor=1 / 64, limit_s=50e-6 / 64),
                  flip("latency", "up", SETTINGS[2], limit_factor=4, limit_s=200e-6, holds_factor=1.1, holds_s=55e-6,
                       flips_factor=1.16, flips_s=58e-6)],
        "answer_warnings": ["where NICs differ by 1 %, bytegrad takes +0.1 to +25 %; NICs of a real cluster are not equal"],
        "results": "results/advise-ten-vgg16",
    }


def write(folder: Path, answer: dict[str, Any] | None = None) -> Path:
    """Writes the answer and its runs. The runs have other numbers of steps, and there is a run of another question
    that shares the folder."""
    for i, settings in enumerate(SETTINGS):
        path = sample.write_run(folder, f"run{i}", settings["/algorithm"]["name"], 10.0, steps=20 + i)
        _edit(path, settings)
    _edit(sample.write_run(folder, "other", "decentralized", 10.0, steps=77), {"/algorithm": {"name": "qsgd"}})
    (folder / "advice.json").write_text(json.dumps(answer or document()))
    return folder


def _edit(path: Path, settings: dict[str, Any]) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["name"] = manifest["experiment"]["name"] = path.parent.name
        manifest["sweep"] = settings
        for pointer, value in settings.items():
            manifest["experiment"][pointer[1:]] = value

    sample.edit(path, change)
