"""`trigram emulate` on a kernel that has netem: packets are late and lost as they should be.

CTest runs it in a virtual machine, by scripts/in_vm, whose clock does not depend on how busy this
machine is: so the tolerances are narrow.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import unittest
from typing import Any

from emulated import CLUSTER, NamespaceTest
from harness import SOURCE
from test_emulate_netem import KERNEL_HAS_NETEM


@unittest.skipUnless(KERNEL_HAS_NETEM, "this kernel has no netem; scripts/in_vm starts one that has")
class RealNetem(NamespaceTest):
    def emulate(self, config: Any, command: str = "emulate", *arguments: Any) -> str:
        return self.trigram(command, self.write(config), *arguments, timeout_s=600).stdout

    def assert_links(self, links: list[dict[str, Any]]) -> None:
        self.assertEqual(len(links), 2)
        for link in links:
            self.assertFalse(link["warning"], link)
            self.assertLess(abs(link["achieved_Bps"] / link["bandwidth_Bps"] - 1), 0.05, link)
            self.assertLess(abs(link["achieved_latency_s"] / link["latency_s"] - 1), 0.05, link)

    def test_links_and_steps_are_as_described(self) -> None:
        numel = 250_000  # a megabyte: 0.2 s at 40 Mbit/s
        self.emulate(self.traffic(numel))
        (manifest,) = self.manifests()
        self.assertEqual(manifest["experiment"]["runtime"]["emulated"], "bandwidth_and_latency")
        self.assert_links(manifest["links"])
        # A ring of two: two stages of half of the vector, each after a latency.
        expected_s = 2 * (0.020 + 4 * numel / 2 / 5e6)
        self.assertLess(abs(manifest["summary"]["step_s"] / expected_s - 1), 0.10)

    def test_a_short_message_takes_one_latency(self) -> None:
        self.emulate(self.traffic(100))
        (manifest,) = self.manifests()
        # Of two stages; by a rendezvous each would take two and more. The ranks share one slow CPU.
        latencies = manifest["summary"]["step_s"] / 0.020 / 2
        self.assertGreater(latencies, 0.95)
        self.assertLess(latencies, 1.6)

    def netem(self, namespace: str) -> dict[str, int]:
        """What is counted of the queue where packets leave a node."""
        shown = subprocess.run(["tc", "-s", "-j", "-n", namespace, "qdisc", "show"],
                               capture_output=True, text=True, check=True).stdout
        (netem,) = [q for q in json.loads(shown) if q["kind"] == "netem"]
        return netem

    def dropped(self, namespace: str) -> float:
        """The share of packets that it has dropped, when it has seen many."""
        self.wait_for(lambda: self.netem(namespace)["packets"] > 500)
        seen = self.netem(namespace)
        return seen["drops"] / (seen["packets"] + seen["drops"])

    def test_packets_are_dropped(self) -> None:
        for loss in (0.05, 0):
            runtime = {"name": "mpi", "loss": loss}
            config = self.traffic(100_000, runtime=runtime, steps=1_000_000)
            command = self.start(config)
            self.wait_for(lambda: list(self.results.glob("*.tmp.*/metrics.jsonl")))
            shares = [self.dropped(f"trigram-{command.pid}-10.77.0.{n}") for n in (1, 2)]
            command.send_signal(signal.SIGINT)
            command.communicate(timeout=60)
            self.assert_nothing_is_left(command.pid)
            for share in shares:
                self.assertAlmostEqual(share, loss, delta=0.025 if loss else 0)

    def test_runs_with_loss_end_and_are_slower(self) -> None:
        step_s = []
        for loss in (0, 0.02):
            self.emulate(self.traffic(100_000, runtime={"name": "mpi", "loss": loss}, steps=10))
        for manifest in self.manifests():
            step_s.append((manifest["experiment"]["runtime"]["loss"], manifest["summary"]["step_s"]))
        (_, without), (_, with_loss) = sorted(step_s)
        self.assertGreater(with_loss, without)

    def test_steps_are_as_predicted(self) -> None:
        cluster = {**CLUSTER, "nodes": 4, "inter": {"bandwidth": "50Mbps", "latency": "20ms"}}
        sweep = {"/algorithm": ["gradient_allreduce", {"name": "decentralized", "mode": "ring"}]}
        profile = SOURCE / "configs" / "profiles" / "resnet20.csv"
        config = self.config(cluster=cluster, workload=f"profile:{profile}", steps=6,
                             eval_every=0, runtime="sim", sweep=sweep)
        printed = self.emulate(config, "compare-worlds", "--worlds", "sim,mpi")
        for manifest in self.manifests():
            if manifest["world"] == "mpi":
                self.assert_links(manifest["links"])
        greatest = re.search(r"greatest ([-+][\d.]+) %", printed).group(1)
        self.assertLess(abs(float(greatest)), 25, printed)


if __name__ == "__main__":
    unittest.main()
