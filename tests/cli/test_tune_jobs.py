"""`trigram tune --launcher`: each point is a job of MPI processes."""

from __future__ import annotations

import json

from harness import CLUSTER, experiment
from jobs import JobTest

LAUNCHER = "mpirun -n 2"


class UnderALauncher(JobTest):
    def setUp(self) -> None:
        super().setUp()
        tune = {"space": {"/algorithm/bucket": {"values": ["64KiB", "1MiB"]}}, "evaluations": 2}
        self.config = self.write(experiment(name="test", runtime="mpi", cluster=CLUSTER | {"nodes": 1}, tune=tune))

    def tune(self, launcher: str, code: int = 0) -> tuple[str, str]:
        process = self.popen([self.program, "tune", self.config, "--launcher", launcher], env=self.environment)
        out, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def test_each_point_is_a_job(self) -> None:
        self.tune(LAUNCHER)
        runs = {path.parent.name: json.loads(path.read_text()) for path in self.results.glob("*/manifest.json")}
        record = json.loads((self.results / "tuning.json").read_text())
        self.assertEqual({run for tried in record["tried"] for run in tried["runs"]}, set(runs))
        self.assertEqual([manifest["time_kind"] for manifest in runs.values()], ["wall", "wall"])
        out, _ = self.tune("false")  # reads the results
        self.assertIn("best of 2", out)

    def test_a_launcher_that_starts_nothing(self) -> None:
        _, err = self.tune("false", code=1)
        self.assertIn('--launcher "false" has not made the runs; its exit code is 1', err)

    def test_without_a_launcher(self) -> None:
        process = self.popen([self.program, "tune", self.config], env=self.environment)
        _, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("/runtime: in the world \"mpi\" each point is a job of its own", err)
        self.assertIn(f'trigram tune {self.config} --launcher "{LAUNCHER}"', err)
        self.assertNotIn("trigram run", err)
