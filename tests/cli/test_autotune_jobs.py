"""Tuning of buckets within a run (`autotune`) whose ranks are processes."""

from __future__ import annotations

from typing import Any

from harness import experiment
from jobs import JobTest


class AutotuneJobs(JobTest):
    def summary_of(self, **changes: Any) -> dict[str, Any]:
        name = f"{changes['algorithm']}_{len(changes)}"
        config = experiment(
            name=name,
            runtime="mpi",
            cluster={"nodes": 2},
            workload={"name": "quadratic", "dimension": 512, "tensors": 8, "noise": 0.1},
            optimizer="adam",
            steps=30,
        )
        self.results = self.folder / "results" / name
        self.job(2, "run", self.write(config | changes), "--quiet", "--no-table")
        (manifest,) = self.manifests()
        return manifest["summary"]

    def test_all_ranks_change_at_the_same_step(self) -> None:
        """Two workers, because the sum of two gradients does not depend on the buckets."""
        for algorithm in ("gradient_allreduce", "parameter_server"):
            with self.subTest(algorithm):
                self.check(algorithm)

    def check(self, algorithm: str) -> None:
        tuned = self.summary_of(
            algorithm=algorithm, autotune={"every": 3, "evaluations": 4, "smallest": "64B", "largest": "16KiB"}
        )
        self.assertEqual(tuned["weights_hash"], self.summary_of(algorithm=algorithm)["weights_hash"])
        self.assertEqual([trial["first_step"] for trial in tuned["autotune"]["tried"]], [0, 3, 6, 9])
        self.assertEqual(tuned["autotune"]["from_step"], 12)
