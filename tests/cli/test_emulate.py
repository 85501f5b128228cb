"""`trigram emulate`: the world mpi in network namespaces, of which none survives."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any, Callable

from harness import TRIGRAM, CommandTest, experiment
from jobs import ENVIRONMENT

CLUSTER = {
    "nodes": 2,
    "workers_per_node": 1,
    "inter": {"bandwidth": "40Mbps", "latency": "20ms"},
    "intra": {"bandwidth": "100Gbps", "latency": "5us"},
}
ENDLESS = 50_000_000


def why_not() -> str:
    """What this machine lacks; empty when it can emulate networks."""
    if os.geteuid() != 0:
        return "not root"
    for tool in ("ip", "tc", "mpirun", "unshare"):
        if not shutil.which(tool):
            return f"no {tool} here"
    name = f"test-{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return "network namespaces cannot be made here"
    bucket = "qdisc add dev lo root tbf rate 1mbit burst 2k limit 10k".split()
    done = subprocess.run(["tc", "-n", name, *bucket], capture_output=True)
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return "this kernel has no tbf" if done.returncode else ""


REASON = why_not()


def namespaces() -> list[str]:
    folder = Path("/run/netns")
    return [p.name for p in folder.iterdir() if p.name.startswith("trigram-")] if folder.exists() else []


class EmulateTest(CommandTest):
    def config(self, **changes: Any) -> dict[str, Any]:
        return experiment(**{"cluster": CLUSTER, "runtime": "mpi", **changes})

    def traffic(self, numel: int, **changes: Any) -> dict[str, Any]:
        """A model of one tensor, which is sent as filler, and next to no computation."""
        head = "# name: made_up\n# accelerator: none\n# batch: 1\n# source: made up for this test\n"
        row = f"tensor,numel,forward_s,backward_s\nx,{numel},0.0001,0.0001\n"
        self.write(head + row, "model.csv")
        return self.config(**{"workload": "profile:model.csv", "steps": 4, "eval_every": 0,
                              **changes})

    def error(self, config: Any, *arguments: Any, **environment: str) -> str:
        """The one line that a refused command says."""
        command = [TRIGRAM, "emulate", str(self.write(config)), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, env={**os.environ, **environment},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("trigram: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertEqual(self.done(), set())
        return lines[0]


@unittest.skipIf(REASON, REASON)
class Emulation(EmulateTest):
    def wait_for(self, condition: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 60
        while not (value := condition()):
            self.assertLess(time.monotonic(), deadline, "waited in vain")
            time.sleep(0.05)
        return value

    def of(self, pid: int) -> list[str]:
        return [name for name in namespaces() if name.startswith(f"trigram-{pid}-")]

    def start(self, config: Any, **environment: str) -> subprocess.Popen[str]:
        self.temporary.mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(self.temporary), **environment}
        command = subprocess.Popen([TRIGRAM, "emulate", str(self.write(config))], cwd=self.folder,
                                   env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(command.kill)
        self.addCleanup(command.stdout.close)
        self.addCleanup(command.stderr.close)
        return command

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    def start_endless(self, **changes: Any) -> subprocess.Popen[str]:
        command = self.start(self.config(steps=ENDLESS, **changes))
        self.wait_for(lambda: list(self.results.glob("*.tmp.*/metrics.jsonl")))
        self.assertEqual(len(self.of(command.pid)), 3)
        return command

    def assert_nothing_is_left(self, pid: int) -> None:
        self.assertEqual(self.of(pid), [])
        ranks = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True)
        self.assertEqual(ranks.stdout, "", "processes are left")
        if self.temporary.exists():
            self.assertEqual(list(self.temporary.iterdir()), [])

    def buckets(self, namespace: str) -> dict[str, float]:
        """Device -> rate in bit/s of the token bucket by which frames leave it."""
        shown = subprocess.run(["tc", "-j", "-n", namespace, "qdisc", "show"], capture_output=True,
                               text=True, check=True).stdout
        return {q["dev"]: 8 * q["options"]["rate"] for q in json.loads(shown) if q["kind"] == "tbf"}

    def assert_no_faster(self, slowness: float) -> None:
        """Of a network, over what is configured: a busy machine makes it slower, nothing faster."""
        self.assertGreater(slowness, 0.85)
        self.assertLess(slowness, 3)

    def test_links_are_as_configured_and_felt(self) -> None:
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
            self.assert_no_faster(5e6 / link["achieved_Bps"])
            self.assert_no_faster(link["achieved_latency_s"] / 0.020)
        # A ring of two: two stages of half of the vector, each after a latency.
        expected = 2 * (0.020 + 4 * numel / 2 / 5e6)
        self.assert_no_faster(manifest["summary"]["step_s"] / expected)
        # What is there is not made again, and needs no network.
        again = self.trigram("emulate", self.write(self.traffic(numel)))
        self.assertNotIn("Mbit/s", again.stderr)

    def test_a_sweep_of_the_network_has_a_network_for_each_run(self) -> None:
        sweep = {"/cluster/inter/bandwidth": ["20Mbps", "80Mbps"]}
        self.trigram("emulate", self.write(self.traffic(50_000, sweep=sweep)))
        achieved = {m["sweep"]["/cluster/inter/bandwidth"]: m["links"][0]["achieved_Bps"]
                    for m in self.manifests()}
        self.assertGreater(achieved["80Mbps"] / achieved["20Mbps"], 2)
        self.assertEqual(len(self.done()), 2)

    def test_workers_of_a_node_do_not_pass_its_nic(self) -> None:
        cluster = {**CLUSTER, "nodes": 1, "workers_per_node": 2}
        cluster["inter"] = {"bandwidth": "1Mbps", "latency": "100ms"}
        self.trigram("emulate", self.write(self.traffic(250_000, cluster=cluster)))
        (manifest,) = self.manifests()
        self.assertEqual(manifest["links"], [])
        self.assertLess(manifest["summary"]["step_s"], 1)  # 8 s at 1 Mbit/s

    def test_messages_have_the_size_that_they_are_priced_at(self) -> None:
        numel = 250_000
        for runtime in ("mpi", "sim", {"name": "mpi", "watchdog": "40s"}):
            self.trigram("emulate", self.write(self.traffic(numel, runtime=runtime)))
            (manifest,) = self.manifests()
            self.assertTrue(manifest["experiment"]["runtime"]["padded"])
            self.assertGreater(manifest["summary"]["step_s"], 4 * numel / 5e6)
            shutil.rmtree(self.results)
        bare = self.traffic(numel, runtime={"name": "mpi", "padded": False})
        self.trigram("emulate", self.write(bare))  # who says so gets it
        (manifest,) = self.manifests()
        self.assertFalse(manifest["experiment"]["runtime"]["padded"])

    def test_options_of_another_world_are_left_out(self) -> None:
        sweep = {"/runtime/network_model": ["alpha_beta", "tcp"]}
        config = self.config(runtime={"name": "sim", "fidelity": "message"}, sweep=sweep, steps=2)
        self.trigram("emulate", self.write(config), "--set", "/runtime/watchdog=40s")
        (manifest,) = self.manifests()
        self.assertEqual(manifest["experiment"]["runtime"]["watchdog"], "40s")
        self.assertEqual(manifest["sweep"], {})

    def test_worlds_are_compared_on_it(self) -> None:
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
        self.assertIn("order: 1 of 1 pairs", compared)  # they differ by a factor
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
        def frames(bits: float) -> float:  # of payload; 1,448 bytes of it are in 1,514
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

    def test_a_run_whose_watcher_is_killed_cleans_up(self) -> None:
        command = self.start_endless()
        for pid in Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split():
            if Path(f"/proc/{pid}/comm").read_text().strip() == "trigram":
                os.kill(int(pid), signal.SIGKILL)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 130, err)
        self.assert_nothing_is_left(command.pid)

    def test_an_interrupted_run_cleans_up(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            command = self.start_endless()
            command.send_signal(number)
            _, err = command.communicate(timeout=60)
            self.assertEqual(command.returncode, 130, err)
            self.assert_nothing_is_left(command.pid)
            shutil.rmtree(self.results)

    def test_a_killed_run_cleans_up(self) -> None:
        command = self.start_endless()
        command.kill()
        command.wait()
        self.wait_for(lambda: not self.of(command.pid))
        self.wait_for(lambda: subprocess.run(["pgrep", "-f", str(self.folder)],
                                             capture_output=True).returncode == 1)
        self.assert_nothing_is_left(command.pid)

    def test_what_was_being_made_when_it_was_killed_is_removed_too(self) -> None:
        folder = self.folder / "bin"
        folder.mkdir()
        mark = self.folder / "mark"
        slow = folder / "ip"
        slow.write_text(f'#!/bin/sh\ncase "$*" in "netns add "*10.77.0.1) touch {mark}; sleep 1;; '
                        f'esac\nexec {shutil.which("ip")} "$@"\n')
        slow.chmod(0o755)
        command = self.start(self.config(), PATH=f"{folder}:{os.environ['PATH']}")
        self.wait_for(mark.exists)
        self.assertEqual(len(self.of(command.pid)), 1)  # the switch
        command.kill()
        command.wait()
        time.sleep(1.5)
        self.wait_for(lambda: not self.of(command.pid))
        time.sleep(0.5)
        self.assert_nothing_is_left(command.pid)

    def test_a_job_whose_mpirun_is_killed_cleans_up(self) -> None:
        command = self.start_endless()
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        (mpirun,) = [int(pid) for pid in children
                     if Path(f"/proc/{pid}/comm").read_text().strip() == "mpirun"]
        os.kill(mpirun, signal.SIGKILL)
        _, err = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 1, err)
        self.assertIn("mpirun was ended by signal 9", err)
        self.assert_nothing_is_left(command.pid)

    def test_what_nobody_could_clean_up_is_swept(self) -> None:
        dead = subprocess.Popen(["true"])
        dead.wait()
        name = f"trigram-{dead.pid}-switch"
        subprocess.run(["ip", "netns", "add", name], check=True)
        other = f"trigram-{os.getpid()}-switch"  # of a process that lives
        subprocess.run(["ip", "netns", "add", other], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "delete", other], check=True)
        self.trigram("emulate", "--clean")
        self.assertNotIn(name, namespaces())
        self.assertIn(other, namespaces())

    def test_what_cannot_be_emulated_is_refused(self) -> None:
        def cluster(**changes: Any) -> dict[str, Any]:
            return self.config(cluster={**CLUSTER, **changes})

        cases = [
            (cluster(topology={"kind": "torus", "dimensions": [2]}), "/cluster/topology: "),
            (cluster(nics="per_worker", workers_per_node=2), "/cluster/nics: "),
            (cluster(transport={"window": "4MiB"}), "/cluster/transport/window: "),
            (self.config(stepz=3), '/stepz: unknown key "stepz"'),
        ]
        for config, message in cases:
            self.assertIn(message, self.error(config))
        self.assert_nothing_is_left(os.getpid())

    def test_a_file_is_checked_before_the_machine_is_touched(self) -> None:
        folder = self.folder / "bin"
        folder.mkdir()
        for tool in ("ip", "tc", "unshare", "mpirun"):
            (folder / tool).write_text(f"#!/bin/sh\necho {tool} >> {self.folder}/called\n")
            (folder / tool).chmod(0o755)
        path = f"{folder}:{os.environ['PATH']}"
        threads = ("--set", '/runtime={"name":"threads"}')
        cases = [
            ((self.config(stepz=3),), '/stepz: unknown key "stepz"'),
            ((self.config(cluster={**CLUSTER, "inter": {"bandwidth": 0, "latency": "1ms"}}),),
             "/cluster/inter/bandwidth: "),
            ((self.config(cluster={**CLUSTER, "transport": {"window": "4MiB"}}),),
             "/cluster/transport/window: "),
            ((self.config(), *threads), "--set /runtime: trigram emulate makes runs in the world mpi"),
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
            told = self.error(self.config(), PATH=str(folder))
            self.assertIn(f"{tool}: no such program in PATH; install {package}", told)
            (folder / tool).symlink_to(shutil.which(tool))

    def test_a_network_is_claimed_by_emulate_alone(self) -> None:
        config = self.config(runtime={"name": "mpi", "emulated": "bandwidth"})
        command = ["mpirun", "--allow-run-as-root", "-n", "2", "--oversubscribe", TRIGRAM, "run",
                   str(self.write(config))]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/runtime/emulated: is set by trigram emulate", done.stderr)


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun here: apt-get install openmpi-bin")
class AddedLatency(EmulateTest):
    """What the ranks do where the kernel has no netem; it needs no root."""

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

    def test_messages_between_nodes_take_it(self) -> None:
        summary = self.summary(4, "gradient_allreduce")
        self.assertGreater(summary["links"][0]["achieved_latency_s"], 0.9 * 0.030)
        self.assertLess(summary["links"][0]["achieved_latency_s"], 1.8 * 0.030)
        # A ring of four ranks has six stages.
        self.assertGreaterEqual(summary["step_s"], 6 * 0.030)
        self.assertLess(summary["step_s"], 20 * 0.030)

    def test_messages_inside_a_node_do_not(self) -> None:
        self.assertLess(self.summary(1, "gradient_allreduce")["step_s"], 6 * 0.030)

    def test_algorithms_that_live_by_control_messages_end(self) -> None:
        self.summary(4, "wagma")
        # A step of adpsgd asks, is answered, and exchanges: that all three are late is felt.
        self.assertGreater(self.summary(4, "adpsgd")["step_s"], 2.5 * 0.030)


@unittest.skipIf(os.geteuid() != 0, "not root, and so it cannot become nobody")
class Privileges(EmulateTest):
    def test_without_root_it_says_so(self) -> None:
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


if __name__ == "__main__":
    unittest.main()
