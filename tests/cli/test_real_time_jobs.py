"""MPI jobs with a small model that is priced as another model."""

from __future__ import annotations

import json

from jobs import JobTest
from test_real_time import COMPUTED_S, PROFILE, priced


class PricedInMpi(JobTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "model.csv")

    def test_priced_sizes_need_padded_messages(self) -> None:
        for padded in (True, False):
            with self.subTest(padded=padded):
                name = f"padded{padded}"
                config = self.write(priced(name=name, runtime={"name": "mpi", "padded": padded}))
                out, _ = self.job(2, "run", config)
                warning = "priced_as: messages in this world do not have the sizes of model"
                self.assertEqual(warning in out, not padded)
                (path,) = (self.folder / "results" / name).glob("*/manifest.json")
                summary = json.loads(path.read_text())["summary"]
                self.assertGreater(summary["compute_s"], 0.95 * COMPUTED_S)
                batch = summary["samples_per_s"] * summary["step_s"] / 2
                if padded:
                    self.assertAlmostEqual(batch, 32, delta=2)
                else:
                    self.assertLess(batch, 16)
