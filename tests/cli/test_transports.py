"""Transports of other libraries: predictions from their messages, and the comparison with measured times by
scripts/compare_transports.py."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from emulated import NamespaceTest
from harness import SOURCE, TRIGRAM, CommandTest, needs_simulator

COMPARE = SOURCE / "scripts" / "compare_transports.py"
RANKS, BPS, LATENCY_S = 4, 50e6 / 8, 0.005
CLUSTER: dict[str, Any] = {
    "nodes": RANKS,
    "inter": {"bandwidth": "50Mbps", "latency": "5ms"},
    "transport": {"tcp": {"window": "3MiB", "slow_start": False}},
}


def gloo_s(nbytes: int) -> float:
    """The time of gloo's ring. Two segments of a chunk are in flight. A segment leaves one latency after its receive
    was posted, but not before the previous segment has left. It arrives one latency after it has left. All ranks do the
    same."""
    segment_s = nbytes / (2 * RANKS) / BPS
    now = 0.0
    for _phase in range(2):
        arrivals: list[float] = []
        left = 0.0
        for i in range(2 * RANKS - 2):
            if i >= 2:
                now = max(now, arrivals[i - 2])
            left = max(left, now + LATENCY_S) + segment_s
            arrivals.append(left + LATENCY_S)
        now = arrivals[-1]
    return now


@needs_simulator
class Predictions(CommandTest):
    def seconds(self, operation: str, algorithm: str, nbytes: int, protocol: str = "eager",
                chain: str = "0B") -> float:
        transport = {**CLUSTER["transport"], "protocol": protocol}
        cluster = self.write({**CLUSTER, "transport": transport}, "cluster.json")
        size = ["--min-bytes", f"{nbytes}B", "--max-bytes", f"{nbytes}B"]
        report = self.trigram("bench", operation, "--algorithm", algorithm, "--runtime", "sim",
                              "--cluster", cluster, *size, "--chain", chain, "--json").stdout
        (row,) = json.loads(report)["rows"]
        self.assertEqual(row["wrong"], 0)
        return row["time_s"]

    def assert_takes(self, found_s: float, expected_s: float) -> None:
        self.assertLess(abs(found_s / expected_s - 1), 2e-3, (found_s, expected_s))

    def test_open_mpi_requests_messages_above_its_eager_limit(self) -> None:
        for nbytes, latencies in ((128 << 10, 1), (2 << 20, 3)):
            stage_s = nbytes / RANKS / BPS + latencies * LATENCY_S
            self.assert_takes(self.seconds("allreduce", "open_mpi_ring", nbytes, "open_mpi"),
                              2 * (RANKS - 1) * stage_s)
        n = 2 << 20
        self.assert_takes(
            self.seconds("allreduce", "open_mpi_recursive_doubling", n, "open_mpi"),
            2 * (n / BPS + 3 * LATENCY_S))
        concurrent_s = 3 * n / RANKS / BPS + 3 * LATENCY_S
        self.assert_takes(self.seconds("all_to_all", "open_mpi_linear", n, "open_mpi"), concurrent_s)
        self.assert_takes(self.seconds("all_to_all", "open_mpi_linear_send", n), concurrent_s)

    def test_directions_take_turns_if_ranks_begin_a_latency_apart(self) -> None:
        # Rank 0 exchanges with rank 3 last, and their exchange takes as long as twice its bytes.
        n = 2 << 20
        seconds = self.seconds("all_to_all", "open_mpi_linear", n, "open_mpi", "16B")
        self.assertGreater(seconds, 1.5 * 3 * n / RANKS / BPS)

    def test_options_that_contradict_the_protocol_are_refused_in_one_line(self) -> None:
        for option, value in (("buffer", "4MiB"), ("slots", 8), ("streams", 2), ("channels", 2)):
            transport = {"protocol": "open_mpi", option: value}
            cluster = self.write({**CLUSTER, "transport": transport}, "cluster.json")
            refusal = self.refusal("bench", "allreduce", "--runtime", "sim", "--cluster", cluster)
            self.assertIn(f"/transport/{option}: ", refusal)

    def test_gloo_has_two_segments_in_flight(self) -> None:
        for nbytes in (64 << 10, 512 << 10, 2 << 20):
            found = self.seconds("allreduce", "gloo_ring", nbytes)
            self.assertLess(abs(found / gloo_s(nbytes) - 1), 5e-3, nbytes)

    def test_library_collectives_exist_in_the_simulated_world_only(self) -> None:
        command = ["bench", "allreduce", "--algorithm", "gloo_ring", "--ranks", "4"]
        self.assertIn("gloo_ring", self.trigram(*command, "--runtime", "threads", code=2).stderr)


@needs_simulator
class Comparison(CommandTest):
    def compare(self, entries: list[dict[str, Any]], *options: str, code: int = 0) -> str:
        measured = self.folder / "measured.jsonl"
        if entries:
            measured.write_text("".join(json.dumps(e) + "\n" for e in entries))
        command = [sys.executable, "-B", str(COMPARE), "--trigram", TRIGRAM, "-o", str(measured),
                   "--predict", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def entry(self, cell: str, *seconds: float) -> dict[str, Any]:
        sizes = (131072, 524288, 2097152)
        return {"cell": cell, "machine": "made up",
                "rows": [{"bytes": n, "seconds": s} for n, s in zip(sizes, seconds)]}

    def test_errors_and_orders(self) -> None:
        # Without latency, a ring takes 1.5 n / B in any library: 31.5, 125.8 and 503.3 ms. An all-to-all takes half of
        # that, so it should be first.
        printed = self.compare([
            self.entry("gloo/allreduce/ring/4x1/50Mbps/0ms/linux", 0.0315, 0.1398, 0.5033),
            self.entry("trigram/all_to_all/pairwise/4x1/50Mbps/0ms/linux", 0.01573, 0.1664, 0.2517),
        ])
        self.assertRegex(printed, r"gloo +allreduce/ring +512KiB +4x1 .* 12[56]\.\d +139\.8 +-(9|10)\.\d%")
        self.assertRegex(printed, r"all: 6 times, median error \d\.\d %, greatest -62\.\d %; 1 beyond 30 %")
        self.assertRegex(printed, "order: 2 of 3 pairs .* 0 may come out either way, 1 disagree")
        self.assertIn("gloo/allreduce/ring/4x1/50Mbps/0ms/linux 512KiB is shorter than trigram", printed)

    def test_both_possible_times_are_shown_if_ranks_may_begin_apart(self) -> None:
        printed = self.compare([
            self.entry("trigram/all_to_all/pairwise/4x1/50Mbps/5ms/linux", 0.0207, 0.0679, 0.2567),
            self.entry("open_mpi/all_to_all/linear/4x1/50Mbps/5ms/linux", 0.0207, 0.1765, 0.2667),
        ])
        self.assertRegex(printed, r"open_mpi .* 512KiB .* 77\.9 or 17\d\.\d +176\.5 +[+-]0\.\d%")
        self.assertRegex(printed, r"open_mpi .* 2MiB .* 266\.7 or .* 266\.7 +[+-]0\.\d%")
        # 67.9 is shorter than every possible time.
        self.assertIn("order: 1 of 1 pairs", printed)

    def test_impossible_requests_are_refused(self) -> None:
        self.assertIn("has nothing that was measured", self.compare([], code=2))
        self.assertIn("no cell has nonsense", self.compare([], "--cells", "nonsense", code=2))
        self.assertIn("no /nowhere", self.compare([], "--trigram", "/nowhere", code=77))


class Programs(NamespaceTest):
    def test_a_program_runs_on_every_node_under_the_described_tcp(self) -> None:
        cluster = {"nodes": 2, "workers_per_node": 2, "inter": {"bandwidth": "40Mbps", "latency": "0ms"},
                   "transport": {"tcp": {"window": "64KiB", "restart_after_idle": False}}}
        program = ("echo $(hostname -I) $OMPI_COMM_WORLD_RANK $(cat /proc/sys/net/ipv4/tcp_rmem"
                   " /proc/sys/net/ipv4/tcp_slow_start_after_idle)")
        printed = self.trigram("emulate", self.write(self.config(cluster=cluster)), "--program",
                               program).stdout
        self.assertEqual(sorted(line.split() for line in printed.splitlines()),
                         [[f"10.77.0.{1 + rank // 2}", str(rank), "4096", "131072", "131072", "0"]
                          for rank in range(4)])
        self.assertEqual(self.done(), set())

    def test_a_program_that_fails_makes_the_command_fail(self) -> None:
        cluster = {"nodes": 2, "inter": {"bandwidth": "40Mbps", "latency": "0ms"}}
        self.trigram("emulate", self.write(self.config(cluster=cluster)), "--program", "exit 3", code=1)
