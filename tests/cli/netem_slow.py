"""`trigram emulate` on a kernel with netem: packets are delayed and lost as configured.

CTest runs this file in a virtual machine, with scripts/in_vm. The clock of the virtual machine does not depend on the
load of the host, so the tolerances for links are narrow. Its CPU is slow, so runs are few and short.
"""

from __future__ import annotations

import json
import subprocess
import unittest

from emulated import CLUSTER, NamespaceTest
from harness import SOURCE
from test_emulate_netem import KERNEL_HAS_NETEM

QUADRATIC = {
    "cluster": {**CLUSTER, "inter": {"bandwidth": "50Mbps", "latency": "20ms"}},
    "workload": {"name": "quadratic", "dimension": 256},
}


@unittest.skipUnless(KERNEL_HAS_NETEM, "this kernel has no netem; scripts/in_vm starts one with it")
class RealNetem(NamespaceTest):
    wait_timeout_s = 600  # long, because files come from the host, and its clock runs at another rate

    def test_links_are_as_described(self) -> None:
        profile = SOURCE / "configs" / "profiles" / "resnet20.csv"
        config = self.config(cluster=QUADRATIC["cluster"], workload=f"profile:{profile}", steps=4,
                             eval_every=0, runtime="sim")
        printed = self.trigram("compare-worlds", self.write(config), "--worlds", "sim,mpi",
                               timeout_s=self.wait_timeout_s).stdout
        (manifest,) = [m for m in self.manifests() if m["world"] == "mpi"]
        # Step times are only printed, because it is not known why they exceed the simulated times.
        print(printed, *manifest["links"], sep="\n", flush=True)
        self.assertEqual(manifest["experiment"]["runtime"]["emulated"], "bandwidth_and_latency")
        self.assertEqual(len(manifest["links"]), 2)
        for link in manifest["links"]:
            self.assertFalse(link["warning"], link)
            self.assertLess(abs(link["achieved_Bps"] / link["bandwidth_Bps"] - 1), 0.05, link)
            self.assertLess(abs(link["achieved_latency_s"] / link["latency_s"] - 1), 0.05, link)

    def queue_counters(self, namespace: str) -> dict[str, int]:
        """The counters of the netem queue of a node; zeros if the queue no longer exists."""
        shown = subprocess.run(["tc", "-s", "-j", "-n", namespace, "qdisc", "show"],
                               capture_output=True, text=True).stdout
        netem = [q for q in json.loads(shown or "[]") if q["kind"] == "netem"]
        return netem[0] if netem else {"packets": 0, "drops": 0}

    def test_a_run_that_loses_packets_ends_with_the_same_weights(self) -> None:
        loss = 0.05
        command = self.start(self.config(**QUADRATIC, steps=40,
                                         runtime={"name": "mpi", "loss": loss}))
        dropped = self.wait_for(
            lambda: self.queue_counters(f"trigram-{command.pid}-10.77.0.1")["drops"])
        print(f"{dropped} packets are lost", flush=True)
        out, err = command.communicate(timeout=self.wait_timeout_s)
        self.assertEqual(command.returncode, 0, out + err)
        self.assert_nothing_is_left(command.pid)
        (with_loss,) = self.manifests()
        self.assertEqual(with_loss["experiment"]["runtime"]["loss"], loss)
        self.trigram("run", self.write(self.config(**QUADRATIC, steps=40, runtime="sim")),
                     timeout_s=self.wait_timeout_s)
        hashes = {m["world"]: m["summary"]["weights_hash"] for m in self.manifests()}
        self.assertEqual(set(hashes), {"sim", "mpi"})
        self.assertEqual(hashes["sim"], hashes["mpi"])

    def test_a_killed_run_leaves_no_namespaces(self) -> None:
        self.assert_cleans_up_when_killed(self.start_endless(**QUADRATIC))
