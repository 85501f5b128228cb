"""A simulation with as many workers as possible."""

from __future__ import annotations

import resource
import unittest

from harness import CommandTest, experiment, worlds

WORKERS = 65_536
MOST_MEMORY_KIB = 16 << 20


@unittest.skipUnless(worlds()["sim"], "this build has no simulator")
class ManyWorkers(CommandTest):
    def test_stacks_of_all_workers_fit(self) -> None:
        """The workers need more stacks than the number of mappings that the kernel allows a process. Their messages
        form one chain, from the first worker to the last, in which each message shares links with the next."""
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


if __name__ == "__main__":
    unittest.main()
