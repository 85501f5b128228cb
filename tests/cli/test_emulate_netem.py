"""`trigram emulate` on a kernel with netem, or with a substitute for netem if the kernel has none.

In these tests, `tc` is a script that records every command and passes it to the real tc. If the kernel rejects a
command only because it has no netem, the script adds a plain queue instead. The tests thus show that tc understands the
commands, that the kernel accepts a queue at this place in the tree of queues, and that ranks start, end and are cleaned
up. They do not show that packets are delayed or lost, nor how MPI behaves then; netem_slow.py does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unittest
from typing import Any

from emulated import CLUSTER, REASON, NamespaceTest, namespaces

STAND_IN = """#!{python}
import json, subprocess, sys

namespace, words = sys.argv[2], sys.argv[3:]
commands = sys.stdin.read().splitlines() if words == ["-batch", "-"] else [" ".join(words)]

def real(command):
    return subprocess.run(["{tc}", "-n", namespace, *command], capture_output=True, text=True)

for command in commands:
    with open("{log}", "a") as log:
        print(json.dumps([namespace, command]), file=log)
    words = command.split()
    done = real(words)
    if "netem" in words and done.stderr.strip() == "Error: Specified qdisc kind is unknown.":
        done = real([*words[:words.index("netem")], "pfifo", "limit", "1000"])
    if done.returncode:
        sys.exit(done.stderr or done.returncode)
"""


def kernel_has_netem() -> bool:
    if REASON:
        return False
    name = f"test-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    added = subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", "lo", "root", "netem"],
                           capture_output=True)
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return added.returncode == 0


KERNEL_HAS_NETEM = kernel_has_netem()


class Netem(NamespaceTest):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.folder / "log"
        tc = STAND_IN.format(python=sys.executable, tc=shutil.which("tc"), log=self.log)
        self.path = f"{self.script('bin/tc', tc).parent}:{os.environ['PATH']}"

    def commands(self) -> list[list[str]]:
        """The namespace and the text of each command, in order."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def start(self, config: Any, **environment: str) -> subprocess.Popen[str]:
        return super().start(config, **{"PATH": self.path, **environment})

    def run_until_end(self, config: Any) -> tuple[int, str]:
        """The process id of the command, and its error output."""
        command = self.start(config)
        out, err = command.communicate(timeout=100)
        self.assertEqual(command.returncode, 0, out + err)
        self.assert_nothing_is_left(command.pid)
        return command.pid, err

    def delays(self, pid: int) -> dict[str, list[str]]:
        """By the namespace of a node or of the switch: the words after "netem" in the command for its queue."""
        return {name.removeprefix(f"trigram-{pid}-"): command.split("netem ")[1].split()
                for name, command in self.commands()
                if "netem" in command and not name.endswith("-probe")}

    def test_the_kernel_adds_the_latency(self) -> None:
        pid, err = self.run_until_end(self.traffic(250_000))
        self.assertNotIn("no netem", err)
        probe, *others = [command for command in self.commands() if "netem" in command[1]]
        self.assertEqual(probe, [f"trigram-{pid}-probe", "qdisc add dev lo root netem delay 1ms"])
        # Packets are delayed by 20 ms when they leave a node, and not again when they leave the switch.
        self.assertEqual(len(others), CLUSTER["nodes"])
        for options in self.delays(pid).values():
            self.assertEqual(dict(zip(options[::2], options[1::2])),
                             {"limit": "1000000", "delay": "20000us", "loss": "0.000000%"})
        self.assertEqual(set(self.delays(pid)), {"10.77.0.1", "10.77.0.2"})
        # The delaying queue is inside the token bucket of the same device.
        for _, command in others:
            self.assertTrue(command.startswith("qdisc add dev eth0 parent 1:1 handle 10: "), command)
        buckets = [command for _, command in self.commands() if " tbf " in command]
        self.assertEqual(len(buckets), 2 * CLUSTER["nodes"])
        for command in buckets:
            self.assertRegex(command, r"^qdisc add dev (eth0|p\d) root handle 1: tbf rate ")
        (manifest,) = self.manifests()
        self.assertEqual(manifest["experiment"]["runtime"]["emulated"], "bandwidth_and_latency")
        # Ranks delay no message, so with a plain queue in place of netem, the check of links warns. But a send ends
        # when its message should have arrived, so a round trip takes one latency.
        for link in manifest["links"]:
            self.assertEqual(link["warning"], abs(link["off"]) > 0.05)
            if not KERNEL_HAS_NETEM:
                self.assertLess(link["achieved_latency_s"], 0.75 * link["latency_s"])
                self.assertTrue(link["warning"])

    def test_the_kernel_drops_packets(self) -> None:
        runtime = {"name": "mpi", "loss": 0.0125}
        pid, _ = self.run_until_end(self.traffic(1000, runtime=runtime))
        for options in self.delays(pid).values():
            self.assertEqual(options[-2:], ["loss", "1.250000%"])

    def test_mpis_own_collectives_are_not_refused(self) -> None:
        algorithm = {"name": "gradient_allreduce", "allreduce": "native"}
        self.run_until_end(self.traffic(1000, algorithm=algorithm))
        (manifest,) = self.manifests()
        self.assertEqual(manifest["experiment"]["algorithm"]["allreduce"], "native")

    @unittest.skipIf(KERNEL_HAS_NETEM, "this kernel has netem")
    def test_loss_without_netem_is_refused(self) -> None:
        error = self.error(self.config(runtime={"name": "mpi", "loss": 0.0125}))
        self.assertIn("trigram: /runtime/loss: this kernel has no netem", error)
        self.assertEqual([name for name in namespaces() if "probe" in name], [])

    def test_a_killed_run_cleans_up(self) -> None:
        command = self.start_endless()
        self.assertEqual(len(self.delays(command.pid)), 2)
        self.assert_cleans_up_when_killed(command)

    def test_a_command_that_tc_refuses_ends_the_run_and_leaves_nothing(self) -> None:
        tc = self.folder / "bin" / "tc"
        wrong = "command.replace('20000us', 'soon').split()"
        tc.write_text(tc.read_text().replace("command.split()", wrong))
        command = self.start(self.config())
        _, err = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 1, err)
        self.assertRegex(err, r"trigram: tc -n trigram-\d+-10\.77\.0\.1 -batch - failed: ")
        self.assert_nothing_is_left(command.pid)
