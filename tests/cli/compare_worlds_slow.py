"""Compares simulated with measured times of six algorithms on four networks, which takes minutes of real time.

This is the experiment of docs/validation-real-time.md, with the tolerances stated there.
"""

from __future__ import annotations

import os
import re
import shutil
import unittest

from harness import SOURCE, CommandTest, needs_simulator

MEDIAN, GREATEST = 10, 25  # per cent


@needs_simulator
class Predictions(CommandTest):
    def compare(self, measured: str) -> None:
        printed = self.trigram("compare-worlds", SOURCE / "configs" / "emulation.json",
                               "--worlds", f"sim,{measured}", timeout_s=600).stdout
        median, greatest = re.search(r"median error ([\d.]+) %, greatest ([-+][\d.]+) %", printed).groups()
        self.assertLessEqual(float(median), MEDIAN, printed)
        self.assertLessEqual(abs(float(greatest)), GREATEST, printed)
        ordered, pairs = re.search(r"order: (\d+) of (\d+) pairs", printed).groups()
        self.assertEqual(ordered, pairs, printed)
        self.assertGreater(int(pairs), 40)

    def test_threads(self) -> None:
        self.compare("threads")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("tc") and shutil.which("mpirun"),
                         "needs root, tc and mpirun")
    def test_mpi_on_a_network_of_the_kernel(self) -> None:
        self.compare("mpi")
