"""A simulation with as many workers as possible."""

from __future__ import annotations

import resource

from harness import CommandTest, experiment, needs_simulator

WORKERS = 65_536
MOST_MEMORY_KIB = 16 << 20


@needs_simulator
class ManyWorkers(CommandTest):
    def test_stacks_of_all_workers_fit(self) -> None:
        """The kernel allows a process fewer mappings than there are stacks of workers. The messages form a single chain
        from the first worker to the last, in which each message shares links with the next one."""
        config = experiment(
            cluster={"nodes": WORKERS},
            algorithm={"name": "decentralized", "mode": "ring"},
            workload={"name": "quadratic", "values": False},
            steps=1,
            eval_every=0,
        )
        self.trigram("run", self.write(config), timeout_s=280)
        (manifest,) = self.manifests()
        self.assertEqual(manifest["summary"]["messages_inter"], 2 * WORKERS)
        used_KiB = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(used_KiB, MOST_MEMORY_KIB)
