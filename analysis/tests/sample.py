"""Small synthetic result folders with known numbers, in the format of docs/results.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

from matplotlib.figure import Figure
from trigram_analysis import plots, results
from trigram_analysis.comparison import Comparison

EXPOSED_S = {"gradient_allreduce": 8.0, "bytegrad": 2.0, "decentralized": 4.0}  # at 1 Gbps
FINAL_ACCURACY = {"gradient_allreduce": 0.86, "bytegrad": 0.85, "decentralized": 0.84}


def write_run(root: Path, run_id: str, algorithm: str = "bytegrad", gbps: float = 10.0,
              seed: int = 1, steps: int = 20, **manifest: Any) -> Path:
    """Writes a run whose steps take 0.5 s of computation and EXPOSED_S[algorithm] / gbps of exposed communication,
    multiplied by 1 + 0.1 (seed - 1)."""
    path = root / run_id
    path.mkdir(parents=True)
    exposed = EXPOSED_S.get(algorithm, 4.0) / gbps * (1 + 0.1 * (seed - 1))
    step_s = 0.5 + exposed
    final = FINAL_ACCURACY.get(algorithm, 0.8)
    records = [_record(step, steps, step_s, exposed, final) for step in range(steps)]
    (path / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (path / "trace.json").write_text(json.dumps(trace(step_s, exposed)))
    document = _manifest(run_id, algorithm, gbps, seed, steps) | {
        "summary": _summary(step_s, exposed, steps, final)
    }
    (path / "manifest.json").write_text(json.dumps(document | manifest))
    (path / "DONE").touch()
    return path


def write_sweep(root: Path, seeds: tuple[int, ...] = (1,)) -> Path:
    """Three algorithms at two bandwidths."""
    for algorithm in EXPOSED_S:
        for gbps in (1.0, 10.0):
            for seed in seeds:
                write_run(root, f"{algorithm}-{gbps:g}-{seed}", algorithm, gbps, seed)
    return root


def compare(folder: Path) -> Comparison:
    return Comparison("sample", results.load(folder).runs)


def plotted(folder: Path, name: str) -> Figure:
    return next(fig for stem, _, fig in plots.figures(compare(folder)) if stem == name)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Applies `change` to the manifest of the run in the folder `path`."""
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))


def write_diloco(root: Path, **summary: object) -> Path:
    """A run of diloco at 1 Gbps, with the shortest step and the best loss and accuracy."""
    path = write_run(root, "diloco", "diloco", 1.0)
    edit(path, lambda m: m["summary"].update({"step_s": 0.5, "time_s": 10, "exposed_s": 0, "accuracy": 0.99, "loss": 0.1,
                                              "samples_per_s": 1e6} | summary))
    return path


def trace(step_s: float, exposed: float, ranks: int = 4) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    for rank in range(ranks):
        for tid, name in enumerate(("main", "comm")):
            events.append({"ph": "M", "name": "thread_name", "pid": rank, "tid": tid,
                           "args": {"name": name}})
        events += [
            _event("compute", rank, 0, 0.0, step_s - exposed),
            _event("wait", rank, 0, step_s - exposed, exposed),
            _event("transfer", rank, 1, step_s - exposed, exposed),
        ]
    return {"traceEvents": events}


def _event(kind: str, rank: int, tid: int, begin: float, length: float) -> dict[str, Any]:
    return {"ph": "X", "name": kind, "cat": kind, "pid": rank, "tid": tid,
            "ts": 1e6 * begin, "dur": 1e6 * length}


def _record(step: int, steps: int, step_s: float, exposed: float, final: float) -> dict[str, Any]:
    done = (step + 1) / steps
    record = {"step": step, "time_s": (step + 1) * step_s, "step_s": step_s, "compute_s": 0.5,
              "communication_s": 2 * exposed, "exposed_s": exposed, "bytes_intra": 1000,
              "bytes_inter": 5000, "messages_intra": 4, "messages_inter": 2,
              "loss": 2.3 * (1 - 0.8 * done), "staleness_mean": None, "staleness_max": None}
    if (step + 1) % 5 == 0:
        record |= {"accuracy": final * done**0.5, "eval_loss": 2.3 * (1 - 0.75 * done),
                   "worker_accuracy_mean": 0.79, "worker_accuracy_min": 0.78,
                   "consensus_distance": 0.01}
    return record


def _summary(step_s: float, exposed: float, steps: int, final: float) -> dict[str, Any]:
    return {"time_s": steps * step_s, "step_s": step_s, "samples_per_s": 512 / step_s,
            "compute_s": 0.5, "communication_s": 2 * exposed, "exposed_s": exposed,
            "bytes_intra": 1000 * steps, "bytes_inter": 5000 * steps, "messages_intra": 4 * steps,
            "messages_inter": 2 * steps, "loss": 0.46, "accuracy": final,
            "worker_accuracy_mean": 0.79, "worker_accuracy_min": 0.78, "consensus_distance": 0.01,
            "staleness_mean": None, "staleness_max": None, "weights_hash": "0123456789abcdef",
            "lower_bound_s": 0.4 * step_s}


def _manifest(run_id: str, algorithm: str, gbps: float, seed: int, steps: int) -> dict[str, Any]:
    options = {"mode": "shift_one"} if algorithm == "decentralized" else {}
    return {
        "schema_version": 1, "id": run_id, "name": "sample", "status": "done", "error": None,
        "experiment": {
            "name": "sample",
            "runtime": {"name": "sim"},
            "cluster": {"nodes": 2, "workers_per_node": 2,
                        "intra": {"bandwidth": "150GB/s", "latency": "5us"},
                        "inter": {"bandwidth": f"{gbps:g}Gbps", "latency": "25us"}},
            "algorithm": {"name": algorithm, **options},
            "workload": {"name": "fashion_mnist"},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "steps": steps, "seed": seed, "eval_every": 5,
        },
        "sweep": {"/algorithm": algorithm, "/cluster/inter/bandwidth": f"{gbps:g}Gbps",
                  "/seed": seed},
        "version": "0.1.0", "git": "abc1234", "started": "2026-01-01T00:00:00Z",
        "finished": "2026-01-01T00:00:02Z", "wall_s": 2.0,
        "machine": {"cpu": "some CPU", "cores": 2}, "versions": {"simgrid": "3.32"},
        "oversubscribed": False, "world": "sim", "time_kind": "simulated",
        "algorithm_trigram": "sync, low, centralised",
    }
