"""`trigram calibrate`: a world in real time becomes a cluster that the simulator loads."""

from __future__ import annotations

import json
import re
import unittest

from harness import CommandTest, experiment, worlds


def rows(table: str) -> list[tuple[str, float, float, float]]:
    """Probe, size, measured and fitted time in microseconds."""
    pattern = r"^ *(\w+) +(\d+) +(?:B|FLOP) +([\d.]+) +([\d.]+) +-?[\d.]+ %$"
    return [
        (m[1], float(m[2]), float(m[3]), float(m[4])) for m in re.finditer(pattern, table, re.M)
    ]


class Calibrate(CommandTest):
    def calibrate(self, *arguments: str) -> str:
        """What it prints. While others use the machine, times may not grow with the size: again."""
        command = ("calibrate", "--max-bytes", "256KiB", "--iters", "5", *arguments)
        for _ in range(9):
            try:
                return self.trigram(*command).stdout
            except AssertionError as error:
                if "the times to fit do not grow with the size" not in str(error):
                    raise
        return self.trigram(*command).stdout

    def test_it_writes_what_the_simulator_loads(self) -> None:
        table = self.calibrate("--runtime", "threads", "--ranks", "3", "-o", "cluster.json",
                               "--workload", '{"name": "quadratic", "dimension": 4096}')
        probes = {row[0] for row in rows(table)}
        self.assertEqual(probes, {"axpby", "gemm", "pingpong", "sendrecv", "allreduce"})
        self.assertIn("a training step without communication takes", table)
        text = (self.folder / "cluster.json").read_text()
        self.assertTrue(text.startswith("// trigram calibrate: world threads, 3 ranks"))
        cluster = json.loads(text.split("\n", 1)[1])
        self.assertEqual((cluster["nodes"], cluster["workers_per_node"]), (3, 1))
        for name in ("latency", "bandwidth"):
            self.assertRegex(table, rf"{name} +{re.escape(cluster['inter'][name])}\n")
        if not worlds()["sim"]:
            return
        [manifest] = self.run_config(experiment(runtime="sim", cluster="cluster.json"))
        self.assertEqual(manifest["experiment"]["cluster"]["inter"], cluster["inter"])

    @unittest.skipUnless(worlds()["sim"], "needs the simulated world")
    def test_its_prediction_of_a_ring_is_the_simulators(self) -> None:
        table = self.calibrate("--ranks", "4", "-o", "cluster.json")
        simulated = json.loads(
            self.trigram("bench", "allreduce", "--algorithm", "ring", "--runtime", "sim",
                         "--cluster", "cluster.json", "--min-bytes", "1KiB", "--max-bytes",
                         "256KiB", "--json").stdout)["rows"]
        predicted = [row for row in rows(table) if row[0] == "allreduce"]
        self.assertEqual(len(predicted), len(simulated))
        for (_, size, _, fitted_us), row in zip(predicted, simulated):
            self.assertEqual(size, row["bytes"])
            self.assertAlmostEqual(fitted_us, 1e6 * row["time_s"], delta=0.01)

    def test_a_lone_rank_has_no_network(self) -> None:
        table = self.calibrate("--ranks", "1")
        self.assertEqual({row[0] for row in rows(table)}, {"axpby", "gemm"})
        self.assertNotIn("latency", table)

    def test_bad_input(self) -> None:
        cases = [
            (["--runtime", "sim"], "--runtime: expected a world in real time"),
            (["--max-bytes", "1KiB"], "--max-bytes: expected at least 4 x --min-bytes"),
            (["-o", "no/such/folder"], "--output: expected a file that can be written"),
            (["--workload", "vgg16"], "--workload: has no values to compute with"),
            (["--workload", "fashion"], 'did you mean "fashion_mnist"?'),
            (["--quantile", "2"], "--quantile"),
            (["--workload", "{"], "--workload: expected a name or an object in JSON"),
        ]
        if not worlds()["sim"]:
            cases = cases[1:]
        for arguments, text in cases:
            err = self.trigram("calibrate", *arguments, code=2).stderr
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn(text, err)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
