"""`trigram bandwidth`: the least bandwidth for a compute utilisation."""

from __future__ import annotations

import csv
import json
import math
from typing import Any

from harness import CLUSTER, SOURCE, CommandTest, experiment, needs_simulator, one_tensor_profile

GRID = [10 ** (-1 + 4 * i / 49) for i in range(50)]  # Gbit/s
SHARES = ("--utilisation", "0.5,0.8,0.9,0.95,0.99")
# Cells of the paper's Table 4 that the simulation misses, and by how many bandwidths of the grid.
MISSES = {
    ("1B", "overlapped", 95): -1,
    ("1B", "overlapped_fp4", 50): -1,
    ("10B", "data_parallel", 99): -1,
    ("10B", "overlapped", 50): -1,
    ("10B", "overlapped_fp4", 90): -1,
}
# The same of Table 6 of Scaling Laws for DiLoCo.
SCALING_MISSES = {("data_parallel", 99): -1, ("H=10", 95): -1, ("H=50", 95): 1, ("H=100", 50): 1, ("H=100", 95): 1}


@needs_simulator
class Bandwidth(CommandTest):
    def needs(self, *arguments: str) -> list[dict[str, Any]]:
        return json.loads(self.trigram("bandwidth", *arguments, "--json").stdout)["runs"]

    def test_closed_form(self) -> None:
        """Two workers exchange S bits after each step of C seconds, without overlap. The utilisation is
        C / (C + S / bandwidth), so u needs the bandwidth S u / (1 - u) / C."""
        (self.folder / "one.json").write_text(json.dumps(one_tensor_profile(1_000_000, 0.01, 0.02)))
        cluster = CLUSTER | {"workers_per_node": 1, "inter": {"bandwidth": "1Gbps", "latency": "0s"}}
        cluster["accelerator"] = {
            "name": "ideal",
            "flops": "1000PFLOP/s",
            "memory_bandwidth": "1e9GB/s",
            "launch_overhead": "0s",
        }
        config = experiment(
            cluster=cluster,
            workload="profile:one.json",
            steps=3,
            eval_every=0,
            algorithm={"name": "gradient_allreduce", "overlap": False},
        )
        grid = ("--from", "100Mbps", "--to", "1Tbps")
        found = self.needs(str(self.write(config)), "--utilisation", "0.3,0.5,0.9", *grid)
        for need, share in zip(found[0]["least"], (0.3, 0.5, 0.9)):
            exact = 32e6 * share / (1 - share) / 0.03
            self.assertGreaterEqual(need["bps"], exact * (1 - 1e-6))
            self.assertLess(need["bps"], exact * (GRID[1] / GRID[0]) * (1 + 1e-6))

    def test_runs_that_show_nothing_have_no_answer_and_warnings_are_repeated(self) -> None:
        """A run of 4 steps ends before the first average of local SGD every 64 steps."""
        local = {"name": "local_sgd", "sync_every": 64}
        cluster = CLUSTER | {"accelerator": {"name": "H100"}}
        config = experiment(cluster=cluster, workload="resnet50", steps=4, eval_every=0)
        file = str(self.write(config | {"sweep": {"/algorithm": ["gradient_allreduce", local]}}))
        first, second = self.needs(file)
        self.assertEqual(first["why_not"], "")
        self.assertGreater(first["least"][0]["bps"], 1e8)
        self.assertIn("4 of the 64 steps", second["why_not"])
        self.assertIsNone(second["least"][0]["bps"])
        out = self.trigram("bandwidth", file).stdout
        self.assertRegex(out, r"local_sgd sync_every=64 +\?\n")
        self.assertIn("what it needs is unknown, as it made 4 of the 64 steps", out)
        self.assertIn("warning: layer times of resnet50 are those of P100", out)

    def test_bad_grids(self) -> None:
        config = self.write(experiment())
        for arguments, pointer in ((["--from", "2Gbps", "--to", "1Gbps"], "--to"), (["--from", "fast"], "--from")):
            self.assertIn(pointer, self.refusal("bandwidth", config, *arguments))

    def misses(self, found: list[dict[str, Any]], table: str) -> dict[Any, int]:
        """By how many bandwidths of the grid the runs miss the cells of a published table, by row and share, where
        they miss. Published bandwidths have few digits, so the nearest bandwidth of the grid is meant.
        """
        with (SOURCE / "analysis/published" / table).open() as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        self.assertEqual(len(found), len(rows))
        missed = {}
        for run, row in zip(found, rows):
            name = tuple(value for column, value in row.items() if not column.isdigit())
            for need in run["least"]:
                share = round(100 * need["utilisation"])
                published = float(row[str(share)])
                nearest = min(range(50), key=lambda i: abs(math.log(GRID[i] / published)))
                if need["point"] != nearest:
                    missed[*name, share] = need["point"] - nearest
        return missed

    def test_table_4_of_streaming_diloco(self) -> None:
        found = []
        for model in ("1b", "10b"):
            found += self.needs(str(SOURCE / f"configs/papers/streaming_diloco_{model}.json"), *SHARES)
        self.assertEqual(self.misses(found, "streaming_diloco_bandwidth.csv"), MISSES)

    def test_table_6_of_scaling_laws(self) -> None:
        """Of the model to which one number is fitted, not of the two that are predicted."""
        config = json.loads((SOURCE / "configs/papers/scaling_laws.json").read_text())
        del config["sweep"]
        config["workload"] = f"profile:{SOURCE}/configs/profiles/scaling_10b.csv"
        found = self.needs(str(self.write(config)), *SHARES)
        self.assertEqual(self.misses(found, "scaling_laws_bandwidth.csv"), SCALING_MISSES)
