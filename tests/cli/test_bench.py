"""`trigram bench`: the columns of nccl-tests in every world, with every element checked."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from harness import TRIGRAM, CommandTest, listed, needs_simulator

BUS_FACTORS = {  # nccl-tests, doc/PERFORMANCE.md
    "allreduce": lambda P: 2 * (P - 1) / P,
    "reduce_scatter": lambda P: (P - 1) / P,
    "allgather": lambda P: (P - 1) / P,
    "all_to_all": lambda P: (P - 1) / P,
    "broadcast": lambda P: 1,
    "sendrecv": lambda P: 1,
    "pingpong": lambda P: 1,
}


class Bench(CommandTest):
    def bench(self, *arguments: Any) -> dict[str, Any]:
        return json.loads(self.trigram("bench", "--json", *arguments).stdout)

    def test_every_collective_is_correct_and_has_the_columns_of_nccl_tests(self) -> None:
        for ranks in (1, 3, 4):
            report = self.bench("--ranks", ranks, "--max-bytes", "100kB", "--factor", "100",
                                "--iters", "2", "--warmup", "1")
            self.assertEqual(report["time_kind"], "wall")
            operations = {row["operation"] for row in report["rows"]}
            self.assertEqual(operations, set(BUS_FACTORS) - ({"pingpong"} if ranks == 1 else set()))
            for row in report["rows"]:
                self.assertEqual(row["wrong"], 0, row)
                self.assertEqual(row["bytes"], 4 * row["count"])
                self.assertAlmostEqual(row["algbw_Bps"] * row["time_s"] / row["bytes"], 1)
                factor = BUS_FACTORS[row["operation"]](ranks)
                self.assertAlmostEqual(row["busbw_Bps"], factor * row["algbw_Bps"])

    def test_a_machine_with_too_little_memory_is_named(self) -> None:
        done = subprocess.run([TRIGRAM, "bench", "allreduce", "--algorithm", "ring", "--min-bytes",
                               "1e15B", "--max-bytes", "1e15B"], capture_output=True, text=True,
                              env={**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("there is no memory for 1125899906842624 bytes", done.stderr)

    def test_output_that_cannot_be_written_is_an_error(self) -> None:
        for form in ([], ["--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TRIGRAM, "bench", "allreduce", "--max-bytes", "8B", *form],
                                      stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("could not be written", done.stderr)

    def test_every_codec_encodes_and_decodes(self) -> None:
        report = self.bench("encode", "decode", "--ranks", "1", "--min-bytes", "40kB",
                            "--max-bytes", "40kB", "--iters", "2")
        self.assertEqual({row["wrong"] for row in report["rows"]}, {0})
        coded = [row["algorithm"] for row in report["rows"] if row["operation"] == "encode"]
        self.assertEqual(coded, [codec["name"] for codec in listed("codecs")])

    @needs_simulator
    def test_simulated_times_equal_closed_forms(self) -> None:
        cluster = {"nodes": 4, "inter": {"bandwidth": "8Gbps", "latency": "10us"},
                   "accelerator": {"launch_overhead": "0s"}}
        path = self.write(cluster, "cluster.json")
        for check in ([], ["--no-check"]):
            report = self.bench("allgather", "sendrecv", "pingpong", "--runtime", "sim",
                                "--cluster", path, "--min-bytes", "4MB", "--max-bytes", "4MB",
                                *check)
            self.assertEqual(report["time_kind"], "simulated")
            times = {(row["operation"], row["algorithm"]): row["time_s"] for row in report["rows"]}
            whole, part = 1e-5 + 4e6 / 1e9, 1e-5 + 1e6 / 1e9
            self.assertAlmostEqual(times["allgather", "ring"], 3 * part, delta=1e-12)
            self.assertAlmostEqual(times["sendrecv", "transfer"], whole, delta=1e-12)
            self.assertAlmostEqual(times["pingpong", "transfer"], whole, delta=1e-12)
            self.assertEqual({row["wrong"] for row in report["rows"]}, {None if check else 0})

    def test_the_table_has_a_line_for_each_size(self) -> None:
        out = self.trigram("bench", "allreduce", "--algorithm", "ring", "--min-bytes", "1kB",
                           "--max-bytes", "4kB", "--factor", "2", "--iters", "1").stdout
        rows = [line.split() for line in out.splitlines()[3:]]
        self.assertEqual([row[:6] for row in rows],
                         [["allreduce", "ring", str(n), str(n // 4), "float", "sum"]
                          for n in (1000, 2000, 4000)])
        self.assertEqual({row[-1] for row in rows}, {"0"})

    def test_the_least_size_is_an_element_for_each_rank(self) -> None:
        report = self.bench("allreduce", "--algorithm", "ring", "--ranks", "3", "--min-bytes", "1B",
                            "--max-bytes", "32B", "--factor", "2", "--iters", "1")
        self.assertEqual([row["bytes"] for row in report["rows"]], [12, 24])

    def test_bad_input(self) -> None:
        missing = self.folder / "none.json"
        cases = [
            (["allredcue"], '--operation: unknown operation "allredcue"', 'did you mean "allreduce"?'),
            (["--algorithm", "rin"], "--algorithm", 'did you mean "ring"?'),
            (["allreduce", "--algorithm", "binomial"], "--algorithm", "allreduce has no algorithm"),
            (["--algorithm", "native"], "--algorithm", "has no collectives of its own"),
            (["--runtime", "thread"], "--runtime", 'did you mean "threads"?'),
            (["--runtime", "{"], "--runtime", "expected a name or an object"),
            (["--cluster", missing], "--cluster", "expected a file that describes a cluster"),
            (["--min-bytes", "4"], "--min-bytes", "4"),
            (["--min-bytes", "4kB", "--max-bytes", "1kB"], "--max-bytes", "at least --min-bytes"),
            (["--max-bytes", "1B", "--min-bytes", "1B"], "--max-bytes",
             "expected at least 8 B, one f32 element for each of 2 ranks, not 1 B"),
            (["--min-bytes", "3B", "--max-bytes", "5B"], "--max-bytes", "at least 8 B"),
            (["--ranks", "5", "--max-bytes", "19B"], "--max-bytes", "at least 20 B"),
            (["--min-bytes", "0.5B"], "--min-bytes", "expected at least 1 B, not 0.5B"),
            (["--ranks", "0"], "--ranks", "1"),
            (["--runtime", "mpi"], "--runtime", "mpi"),
        ]
        preset = ["--cluster", "v100_16x8_100gbps", "--ranks", "3"]
        cases.append((preset, "--cluster", "has 128 workers; expected 3"))
        for arguments, place, text in cases:
            err = self.refusal("bench", *arguments)
            self.assertIn(place, err)
            self.assertIn(text, err)
