"""`trigram bandwidth`: the least bandwidth for a compute utilisation."""

from __future__ import annotations

import csv
import json
import math
from typing import Any

from harness import CLUSTER, SOURCE, CommandTest, experiment, needs_simulator, one_tensor_profile

GRID = [10 ** (-1 + 4 * i / 49) for i in range(50)]  # Gbit/s
METHODS = ("data_parallel", "diloco", "streaming", "overlapped", "overlapped_fp4")
# Cells of the paper's Table 4 that the simulation misses, and by how many bandwidths of the grid.
MISSES = {
    ("1B", "overlapped", 95): -1,
    ("1B", "overlapped_fp4", 50): -1,
    ("10B", "data_parallel", 99): -1,
    ("10B", "overlapped", 50): -1,
    ("10B", "overlapped_fp4", 90): -1,
}


@needs_simulator
class Bandwidth(CommandTest):
    def needs(self, *arguments: str) -> list[dict[str, Any]]:
        return json.loads(self.trigram("bandwidth", *arguments, "--json").stdout)["runs"]

    def test_closed_form(self) -> None:
        """Two workers exchange S bits after each step of C seconds, without overlap. The utilisation is
        C / (C + S / bandwidth), so u needs the bandwidth S u / (1 - u) / C."""
        (self.folder / "one.json").write_text(json.dumps(one_tensor_profile(1_000_000, 0.01, 0.02)))
        cluster = CLUSTER | {"workers_per_node": 1, "inter": {"bandwidth": "1Gbps", "latency": "0s"}}
        cluster["accelerator"] = {"name": "ideal", "flops": "1000PFLOP/s", "memory_bandwidth": "1e9GB/s",
                                  "launch_overhead": "0s"}
        config = experiment(cluster=cluster, workload="profile:one.json", steps=3, eval_every=0,
                            algorithm={"name": "gradient_allreduce", "overlap": False})
        grid = ("--from", "100Mbps", "--to", "1Tbps")
        found = self.needs(str(self.write(config)), "--utilisation", "0.3,0.5,0.9", *grid)
        for need, share in zip(found[0]["least"], (0.3, 0.5, 0.9)):
            exact = 32e6 * share / (1 - share) / 0.03
            self.assertGreaterEqual(need["bps"], exact * (1 - 1e-6))
            self.assertLess(need["bps"], exact * (GRID[1] / GRID[0]) * (1 + 1e-6))

    def test_bad_grids(self) -> None:
        config = self.write(experiment())
        for arguments, pointer in ((["--from", "2Gbps", "--to", "1Gbps"], "--to"), (["--from", "fast"], "--from")):
            self.assertIn(pointer, self.refusal("bandwidth", config, *arguments))

    def test_table_4_of_streaming_diloco(self) -> None:
        """Published bandwidths have two digits, so the nearest bandwidth of the grid is meant."""
        with (SOURCE / "analysis/published/streaming_diloco_bandwidth.csv").open() as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        found = []
        for model in ("1b", "10b"):
            config = SOURCE / f"configs/papers/streaming_diloco_{model}.json"
            found += self.needs(str(config), "--utilisation", "0.5,0.8,0.9,0.95,0.99")
        self.assertEqual(len(found), len(rows))
        misses = {}
        for number, (run, row) in enumerate(zip(found, rows)):
            self.assertEqual(row["method"], METHODS[number % 5])
            for need in run["least"]:
                share = round(100 * need["utilisation"])
                published = float(row[str(share)])
                nearest = min(range(50), key=lambda i: abs(math.log(GRID[i] / published)))
                if need["point"] != nearest:
                    misses[row["model"], row["method"], share] = need["point"] - nearest
        self.assertEqual(misses, MISSES)
