"""A run warns if the network changes during it: because shaped links use up their token-bucket credit, or because links
change at given times."""

from __future__ import annotations

import shutil
from typing import Any

from harness import CommandTest, needs_simulator, one_tensor_profile

PROFILE = one_tensor_profile(25_000_000, 0.05, 0.1)
NOT_THE_SAME = "network not the same in all steps: "


@needs_simulator
class ChangingNetworks(CommandTest):
    def warnings_of_run(self, steps: int, algorithm: Any = "gradient_allreduce", **inter: Any) -> list[str]:
        """The warnings of a run. A step of an allreduce sends 150 MB out of each of four nodes, which takes 120 ms at
        10 Gbps."""
        self.write(PROFILE, "one.json")
        config = {
            "cluster": {"nodes": 4, "workers_per_node": 1,
                        "inter": {"bandwidth": "10Gbps", "latency": "50us"} | inter},
            "workload": "profile:one.json", "algorithm": algorithm, "steps": steps}
        shutil.rmtree(self.results, ignore_errors=True)
        out = self.trigram("run", self.write(config), table=True).stdout
        (manifest,) = self.manifests()
        found = [w for w in manifest["warnings"] if w.startswith(NOT_THE_SAME)]
        for warning in found:
            self.assertIn(warning, out)
            self.assertIn(warning, self.trigram("table", self.results).stdout)
        return found

    def test_saved_credit_that_remains_is_a_warning(self) -> None:
        shaping = {"rate": "1Gbps", "depth": "10GB"}
        (warning,) = self.warnings_of_run(12, shaping=shaping)
        self.assertRegex(warning, "began with 10 GB of saved credit, of which 8\\.\\d+ GB was left after the last of 12 "
                                  "steps; steps are slower once it is used up, as a longer run shows")

    def test_saved_credit_that_is_used_up_is_a_warning(self) -> None:
        (warning,) = self.warnings_of_run(40, shaping={"rate": "1Gbps", "depth": "1GB"})
        self.assertRegex(warning, "began with 1 GB of saved credit, which was used up in step \\d of 40; later steps")

    def test_no_warning_if_there_is_no_saved_credit_or_it_is_not_used_up(self) -> None:
        for shaping in ({"rate": "9Gbps", "depth": "1GB"}, {"rate": "1Gbps"},
                        {"rate": "1Gbps", "depth": "1GB", "initial": "0B"}):
            self.assertEqual(self.warnings_of_run(12, shaping=shaping), [], shaping)
        local = {"name": "local_sgd", "sync_every": 4}
        self.assertEqual(self.warnings_of_run(12, local, shaping={"rate": "5Gbps", "depth": "2GB"}), [])

    def test_changes_at_certain_times_are_a_warning(self) -> None:
        changes = [{"at": "0s", "bandwidth": 1}, {"at": "1s", "bandwidth": 0.5}, {"at": "100s", "bandwidth": 0.1}]
        (warning,) = self.warnings_of_run(12, profile=changes)
        self.assertIn("1 of the changes of /cluster/inter/profile came during the run, the last at 1 s of ", warning)
        self.assertIn("the next change of /cluster/inter/profile, at 100 s, comes after the end", warning)
        self.assertEqual(self.warnings_of_run(13, profile=changes[:1]), [])
