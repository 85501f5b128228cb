"""Compares simulated with measured times of six algorithms on four networks, which takes minutes of real time.

It is the experiment of docs/validation-real-time.md, with the tolerances stated there.
"""

from __future__ import annotations

import os
import re
import shutil
import unittest

from harness import SOURCE, CommandTest, worlds

MEDIAN, GREATEST = 10, 25  # per cent


@unittest.skipUnless(worlds()["sim"], "this build has no simulated world")
class Predictions(CommandTest):
    def compare(self, measured: str) -> None:
        printed = self.trigram("compare-worlds", SOURCE / "configs" / "emulation.json",
                               "--worlds", f"sim,{measured}", timeout_s=600).stdout
        median, greatest = re.search(r"median error ([\d.]+) %, greatest ([-+][\d.]+) %", printed).groups()
        self.assertLessEqual(float(median), MEDIAN, printed)
        self.assertLessEqual(abs(float(greatest)), GREATEST, printed)
        ordered, apart = re.search(r"order: (\d+) of (\d+) pairs", printed).groups()
        self.assertEqual(ordered, apart, printed)
        self.assertGreater(int(apart), 40)

    def test_threads(self) -> None:
        self.compare("threads")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("tc") and shutil.which("mpirun"),
                         "needs root, tc and mpirun")
    def test_mpi_on_a_network_of_the_kernel(self) -> None:
        self.compare("mpi")


if __name__ == "__main__":
    unittest.main()
