"""Experiments of configs/papers/ that take seconds: what `make papers` makes of all."""

from __future__ import annotations

import json
import unittest
from typing import Any

from harness import SOURCE, CommandTest, worlds


@unittest.skipUnless(worlds()["sim"], "this build has no simulated world")
class Papers(CommandTest):
    def manifests_of(self, name: str) -> list[dict[str, Any]]:
        self.trigram("run", SOURCE / "configs" / "papers" / f"{name}.json", "-o", "papers", "--no-table")
        folder = self.folder / "papers" / name
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*/manifest.json"))]

    def test_a_claim_that_holds(self) -> None:
        runs = self.manifests_of("bagua_net_allreduce")
        self.assertEqual({run["status"] for run in runs}, {"done"})
        checked = self.trigram("report", "papers", "--check").stdout
        self.assertIn("order: 13 of 13 pairs", checked)
        self.assertIn("holds", checked.splitlines())

    def test_a_slow_worker_slows_those_who_wait(self) -> None:
        rates: dict[str, list[float]] = {}  # without and with it
        for run in self.manifests_of("slow_worker"):
            at = len(run["sweep"]["/cluster/slow_workers"])
            name = run["experiment"]["algorithm"]["name"]
            rates.setdefault(name, [0, 0])[at] = run["summary"]["samples_per_s"]
        # It alone computes 2.205 times as long: the others go on, or wait for it.
        self.assertAlmostEqual(rates["async_model_average"][1] / rates["async_model_average"][0],
                               1 - (1 - 1 / 2.205) / 128, delta=0.02)
        for name in ("gradient_allreduce", "bytegrad", "decentralized", "dcd_psgd"):
            self.assertLess(rates[name][1], 0.9 * rates[name][0], name)


if __name__ == "__main__":
    unittest.main()
