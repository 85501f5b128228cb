"""`trigram emulate`: the world mpi in network namespaces."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import unittest
from typing import Any

from emulated import CLUSTER, EmulateTest, NamespaceTest
from harness import TRIGRAM
from jobs import ENVIRONMENT


class Emulation(NamespaceTest):
    def buckets(self, namespace: str) -> dict[str, float]:
        """By device: the rate, in bit/s, of the token bucket through which frames leave it."""
        shown = subprocess.run(["tc", "-j", "-n", namespace, "qdisc", "show"], capture_output=True,
                               text=True, check=True).stdout
        return {q["dev"]: 8 * q["options"]["rate"] for q in json.loads(shown) if q["kind"] == "tbf"}

    def assert_not_too_fast(self, slowness: float) -> None:
        """Checks the ratio of a measured to a configured time. It may be above 1 on a busy machine, but not much below
        1."""
        self.assertGreater(slowness, 0.85)
        self.assertLess(slowness, 3)

    def test_links_are_as_configured_and_affect_runs(self) -> None:
        numel = 250_000  # a megabyte: 0.2 s at 40 Mbit/s
        command = self.start(self.traffic(numel))
        out, err = command.communicate(timeout=100)
        self.assertEqual(command.returncode, 0, out + err)
        self.assertIn("gradient_allreduce", out)
        self.assertRegex(err, r"node 0 to node 1 +bandwidth +40 Mbit/s +[\d.]+ Mbit/s")
        self.assert_nothing_is_left(command.pid)
        (manifest,) = self.manifests()
        links = manifest["links"]
        self.assertEqual(len(links), 2)
        for link in links:
            self.assert_not_too_fast(5e6 / link["achieved_Bps"])
            self.assert_not_too_fast(link["achieved_latency_s"] / 0.020)
        # A ring of two ranks has two stages of half of the vector, each after a latency.
        expected = 2 * (0.020 + 4 * numel / 2 / 5e6)
        self.assert_not_too_fast(manifest["summary"]["step_s"] / expected)
        # A finished run is not repeated, so the command needs no network.
        again = self.trigram("emulate", self.write(self.traffic(numel)))
        self.assertNotIn("Mbit/s", again.stderr)

    def test_a_message_may_be_in_flight_for_longer_than_the_watchdog_waits(self) -> None:
        numel = 16_000_000  # each half: 6.4 s at 40 Mbit/s
        config = self.traffic(numel, runtime={"name": "mpi", "watchdog": "5s"}, steps=1)
        self.trigram("emulate", self.write(config))
        (manifest,) = self.manifests()
        self.assertGreater(manifest["summary"]["step_s"], 2 * 4 * numel / 2 / 5e6)

    def test_each_run_of_a_sweep_has_its_own_network(self) -> None:
        sweep = {"/cluster/inter/bandwidth": ["20Mbps", "80Mbps"]}
        self.trigram("emulate", self.write(self.traffic(50_000, sweep=sweep)))
        achieved = {m["sweep"]["/cluster/inter/bandwidth"]: m["links"][0]["achieved_Bps"]
                    for m in self.manifests()}
        self.assertGreater(achieved["80Mbps"] / achieved["20Mbps"], 2)
        self.assertEqual(len(self.done()), 2)

    def test_messages_inside_a_node_do_not_use_its_nic(self) -> None:
        cluster = {**CLUSTER, "nodes": 1, "workers_per_node": 2}
        cluster["inter"] = {"bandwidth": "1Mbps", "latency": "100ms"}
        self.trigram("emulate", self.write(self.traffic(250_000, cluster=cluster)))
        (manifest,) = self.manifests()
        self.assertEqual(manifest["links"], [])
        self.assertLess(manifest["summary"]["step_s"], 1)  # 8 s at 1 Mbit/s

    def test_messages_have_their_priced_size(self) -> None:
        numel = 250_000
        for runtime in ("mpi", "sim", {"name": "mpi", "watchdog": "40s"}):
            self.trigram("emulate", self.write(self.traffic(numel, runtime=runtime)))
            (manifest,) = self.manifests()
            self.assertTrue(manifest["experiment"]["runtime"]["padded"])
            self.assertGreater(manifest["summary"]["step_s"], 4 * numel / 5e6)
            shutil.rmtree(self.results)
        bare = self.traffic(numel, runtime={"name": "mpi", "padded": False})
        self.trigram("emulate", self.write(bare))  # an explicit "padded": false is obeyed
        (manifest,) = self.manifests()
        self.assertFalse(manifest["experiment"]["runtime"]["padded"])

    def test_options_of_another_world_are_left_out(self) -> None:
        sweep = {"/runtime/network_model": ["alpha_beta", "tcp"]}
        config = self.config(runtime={"name": "sim", "fidelity": "message"}, sweep=sweep, steps=2)
        self.trigram("emulate", self.write(config), "--set", "/runtime/watchdog=40s")
        (manifest,) = self.manifests()
        self.assertEqual(manifest["experiment"]["runtime"]["watchdog"], "40s")
        self.assertEqual(manifest["sweep"], {})

    def test_worlds_are_compared_on_an_emulated_network(self) -> None:
        sweep = {"/algorithm": ["gradient_allreduce", "bytegrad"]}
        config = self.traffic(250_000, sweep=sweep, runtime="sim")
        compared = self.trigram("compare-worlds", self.write(config), "--worlds", "sim,mpi").stdout
        by_world: dict[str, dict[str, Any]] = {"sim": {}, "mpi": {}}
        for m in self.manifests():
            by_world[m["world"]][m["experiment"]["algorithm"]["name"]] = m["summary"]
            self.assertEqual(bool(m["links"]), m["world"] == "mpi")
        for name in sweep["/algorithm"]:
            (row,) = [line.split() for line in compared.splitlines() if line.startswith(name)]
            for world, cell in (("sim", row[1]), ("mpi", row[2])):
                self.assertAlmostEqual(float(cell), 1e3 * by_world[world][name]["step_s"], 2)
            self.assertEqual(row[-1], "1.000", "the same bytes")
        self.assertIn("order: 1 of 1 pairs", compared)  # their times differ by a factor
        self.assertIn("median error", compared)

    def test_options_reach_mpirun(self) -> None:
        path = self.write(self.config(steps=2))
        done = self.trigram("emulate", path, "--", "--report-pid", self.folder / "mpirun.pid")
        self.assertTrue((self.folder / "mpirun.pid").exists(), done.stderr)
        (before,) = self.manifests()
        self.trigram("emulate", path, "--force")
        (after,) = self.manifests()
        self.assertEqual(before["id"], after["id"])
        self.assertNotEqual(before["started"], after["started"])

    def test_each_direction_of_each_nic_has_a_bucket(self) -> None:
        def frames(bits: float) -> float:  # a frame of 1,514 bytes has 1,448 bytes of payload
            return bits * 1514 / 1448

        for transport, payload in (({}, 40e6), ({"goodput": 0.5}, 20e6), ({"node_cap": "5Mbps"}, 5e6)):
            command = self.start_endless(cluster={**CLUSTER, "transport": transport})
            name = f"trigram-{command.pid}-"
            sides = {side: self.buckets(name + side) for side in ("switch", "10.77.0.1", "10.77.0.2")}
            command.send_signal(signal.SIGINT)
            command.communicate(timeout=60)
            self.assertEqual({side: sorted(rates) for side, rates in sides.items()},
                             {"switch": ["p0", "p1"], "10.77.0.1": ["eth0"], "10.77.0.2": ["eth0"]})
            for rates in sides.values():
                for rate in rates.values():
                    self.assertAlmostEqual(rate / frames(payload), 1, delta=0.01)
            shutil.rmtree(self.results)

    def test_options_that_cannot_be_emulated_are_refused(self) -> None:
        def cluster(**changes: Any) -> dict[str, Any]:
            return self.config(cluster={**CLUSTER, **changes})

        cases = [
            (cluster(topology={"kind": "torus", "dimensions": [2]}), "/cluster/topology: "),
            (cluster(nics="per_worker", workers_per_node=2), "/cluster/nics: "),
            (cluster(transport={"window": "4MiB"}), "/cluster/transport/window: "),
            (cluster(inter={"bandwidth": "1bps", "latency": "0s"}), "/cluster/inter/bandwidth: "),
            (cluster(inter={"bandwidth": "10Tbps", "latency": "0s"}), "/cluster/inter/bandwidth: "),
            (self.config(stepz=3), '/stepz: unknown key "stepz"'),
        ]
        for config, message in cases:
            self.assertIn(message, self.error(config))
        self.assert_nothing_is_left(os.getpid())

    def test_a_file_is_checked_before_the_machine_is_changed(self) -> None:
        for tool in ("ip", "tc", "unshare", "mpirun"):
            self.script(f"bin/{tool}", f"#!/bin/sh\necho {tool} >> {self.folder}/called\n")
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        threads = ("--set", '/runtime={"name":"threads"}')
        cases = [
            ((self.config(stepz=3),), '/stepz: unknown key "stepz"'),
            ((self.config(cluster={**CLUSTER, "inter": {"bandwidth": 0, "latency": "1ms"}}),),
             "/cluster/inter/bandwidth: "),
            ((self.config(cluster={**CLUSTER, "transport": {"window": "4MiB"}}),),
             "/cluster/transport/window: "),
            ((self.config(), *threads), "--set /runtime: trigram emulate runs the world mpi"),
            ((self.config(runtime={"name": "mpi", "emulated": "nothing"}),), "/runtime/emulated: "),
            ((self.config(), "--set", "/runtime/fidelity=fluid"), "/runtime/fidelity: "),
        ]
        for (config, *arguments), message in cases:
            self.assertIn(message, self.error(config, *arguments, PATH=path))
        self.assertFalse((self.folder / "called").exists())

    def test_tools_that_are_missing_are_named(self) -> None:
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "ip").symlink_to(shutil.which("ip"))
        for tool, package in (("tc", "iproute2"), ("unshare", "util-linux"), ("mpirun", "openmpi-bin")):
            error = self.error(self.config(), PATH=str(folder))
            self.assertIn(f"{tool}: no such program in PATH; install {package}", error)
            (folder / tool).symlink_to(shutil.which(tool))

    def test_only_emulate_may_set_the_option_emulated(self) -> None:
        config = self.config(runtime={"name": "mpi", "emulated": "bandwidth"})
        command = ["mpirun", "--allow-run-as-root", "-n", "2", "--oversubscribe", TRIGRAM, "run",
                   str(self.write(config))]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/runtime/emulated: is set only by trigram emulate", done.stderr)


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun here: apt-get install openmpi-bin")
class AddedLatency(EmulateTest):
    """The delay that ranks add if the kernel has no netem. These tests need no root."""

    def summary(self, nodes: int, algorithm: str) -> dict[str, Any]:
        cluster = {**CLUSTER, "nodes": nodes, "workers_per_node": 4 // nodes}
        cluster["inter"] = {"bandwidth": "10Gbps", "latency": "30ms"}
        runtime = {"name": "mpi", "padded": True, "emulated": "bandwidth"}
        config = self.traffic(1000, cluster=cluster, algorithm=algorithm, runtime=runtime)
        shutil.rmtree(self.results, ignore_errors=True)
        command = ["mpirun", "-n", "4", TRIGRAM, "run", str(self.write(config))]
        environment = {**ENVIRONMENT, "TRIGRAM_EMULATED_NETWORK": "1"}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        (manifest,) = self.manifests()
        return {**manifest["summary"], "links": manifest["links"]}

    def test_messages_between_nodes_take_the_latency(self) -> None:
        summary = self.summary(4, "gradient_allreduce")
        self.assertGreater(summary["links"][0]["achieved_latency_s"], 0.9 * 0.030)
        self.assertLess(summary["links"][0]["achieved_latency_s"], 1.8 * 0.030)
        # A ring of four ranks has six stages.
        self.assertGreaterEqual(summary["step_s"], 6 * 0.030)
        self.assertLess(summary["step_s"], 20 * 0.030)

    def test_messages_inside_a_node_do_not_take_the_latency(self) -> None:
        self.assertLess(self.summary(1, "gradient_allreduce")["step_s"], 6 * 0.030)

    def test_algorithms_that_depend_on_control_messages_end(self) -> None:
        self.summary(4, "wagma")
        # An average of adpsgd takes a request, an answer and an exchange, each of which takes one latency. Three of the
        # four steps wait for an average.
        self.assertGreater(self.summary(4, "adpsgd")["step_s"], 3 / 4 * 3 * 0.030)


@unittest.skipIf(os.geteuid() != 0, "not root, so it cannot become another user")
class Privileges(EmulateTest):
    def test_it_needs_root(self) -> None:
        path = self.write(self.config())
        self.folder.chmod(0o755)
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        done = subprocess.run([*nobody, TRIGRAM, "emulate", str(path)], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^trigram: .*need root.*\n$")
        compared = subprocess.run([*nobody, TRIGRAM, "compare-worlds", str(path), "--worlds", "sim,mpi"],
                                  cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(compared.returncode, 2, compared.stderr)
        self.assertRegex(compared.stderr, r"^trigram: .*need root.*\n$")
