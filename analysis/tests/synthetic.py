"""A sweep of a thousand runs with known winners: ten algorithms at ten bandwidths and ten latencies."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import sample

ALGORITHMS = ["gradient_allreduce", "bytegrad", "decentralized", "async_model_average", "local_sgd",
              "qsgd", "topk", "powersgd", "choco_sgd", "wagma"]
GBPS = [1, 2, 4, 8, 10, 16, 25, 32, 64, 100]
LATENCIES_US = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000]
BYTES_GBIT = [8.0, 2.0, 5.0, 6.0, 4.0, 2.5, 1.0, 1.5, 2.2, 3.0]
ROUNDS = [30, 40, 2, 10, 8, 36, 60, 55, 4, 12]


def step_s(algorithm: int, gbps: float, latency_us: float) -> float:
    return 0.1 + BYTES_GBIT[algorithm] / gbps + 1e-6 * latency_us * ROUNDS[algorithm]


def write(root: Path, steps: int = 200) -> Path:
    """Writes curves, evaluations and traces like those of real runs. Each run has its own step time."""
    model = sample.write_run(root / "model", "model", steps=steps)
    manifest = json.loads((model / "manifest.json").read_text())
    lines = [json.loads(line) for line in (model / "metrics.jsonl").read_text().splitlines()]
    sweep = root / "thousand"
    for a, algorithm in enumerate(ALGORITHMS):
        for gbps in GBPS:
            for latency in LATENCIES_US:
                _write_run(sweep, manifest, lines, a, gbps, latency)
    return sweep


def write_timing(root: Path, a: int, gbps: int, latency_us: int) -> Path:
    """Writes a timing run, which learns nothing."""
    path = sample.write_run(root, f"{ALGORITHMS[a]}-{gbps}-{latency_us}", ALGORITHMS[a], gbps, steps=3)
    manifest = json.loads((path / "manifest.json").read_text())
    step = step_s(a, gbps, latency_us)
    manifest["name"] = manifest["experiment"]["name"] = root.name
    manifest["experiment"]["cluster"]["inter"]["latency"] = f"{latency_us}us"
    manifest["sweep"] |= {"/cluster/inter/latency": f"{latency_us}us"}
    manifest["summary"] |= {"step_s": step, "time_s": 3 * step, "exposed_s": step - 0.1,
                            "compute_s": 0.1, "samples_per_s": 512 / step, "accuracy": None, "loss": None,
                            "worker_accuracy_min": None, "consensus_distance": None}
    (path / "manifest.json").write_text(json.dumps(manifest))
    (path / "metrics.jsonl").unlink()
    return path


def _write_run(root: Path, manifest: dict, lines: list[dict], a: int, gbps: int, latency: int) -> None:
    run_id = f"{ALGORITHMS[a]}-{gbps}-{latency}"
    path = root / run_id
    path.mkdir(parents=True)
    step = step_s(a, gbps, latency)
    own_manifest = copy.deepcopy(manifest) | {"id": run_id, "name": "thousand"}
    own_manifest["experiment"] |= {"name": "thousand", "algorithm": {"name": ALGORITHMS[a]}}
    own_manifest["experiment"]["cluster"]["inter"] = {"bandwidth": f"{gbps}Gbps", "latency": f"{latency}us"}
    own_manifest["sweep"] = {"/algorithm": ALGORITHMS[a], "/cluster/inter/bandwidth": f"{gbps}Gbps",
                     "/cluster/inter/latency": f"{latency}us"}
    own_manifest["summary"] |= {"step_s": step, "exposed_s": step - 0.1, "compute_s": 0.1,
                        "time_s": step * len(lines), "samples_per_s": 512 / step}
    text = "".join(json.dumps(line | {"time_s": step * (line["step"] + 1), "step_s": step,
                                      "loss": line["loss"] * (1 + 0.01 * a)}) + "\n" for line in lines)
    (path / "metrics.jsonl").write_text(text)
    (path / "trace.json").write_text(json.dumps(sample.trace(step, step - 0.1)))
    (path / "manifest.json").write_text(json.dumps(own_manifest))
    (path / "DONE").touch()
