"""The experiments of configs/papers/ that take seconds; `make papers` runs all of them."""

from __future__ import annotations

import json
from typing import Any

from harness import SOURCE, CommandTest, needs_simulator


@needs_simulator
class Papers(CommandTest):
    def manifests_of(self, name: str, *options: str) -> list[dict[str, Any]]:
        path = SOURCE / "configs" / "papers" / f"{name}.json"
        self.trigram("run", path, "-o", "papers", "--no-table", *options)
        folder = self.folder / "papers" / name
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*/manifest.json"))]

    def test_a_claim_that_holds(self) -> None:
        runs = self.manifests_of("bagua_net_allreduce")
        self.assertEqual({run["status"] for run in runs}, {"done"})
        checked = self.trigram("report", "papers", "--check").stdout
        self.assertIn("order: 13 of 13 pairs", checked)
        self.assertIn("holds", checked.splitlines())

    def test_a_collective_that_ends_before_a_rank_learns_of_its_start(self) -> None:
        """A rank learns of the servers' sums after they begin. An earlier version set the simulator's clock back
        then."""
        row = {"/cluster/nodes": 2, "/algorithm": "../systems/byteps.json"}
        (fluid,) = self.manifests_of("vgg16_scaling", "--set", f"/zip={json.dumps([row])}")
        (messages,) = self.manifests_of("vgg16_scaling", "--set", f"/zip={json.dumps([row])}", "--force",
                                        "--set", "/runtime/fidelity=message")[-1:]
        self.assertEqual(fluid["status"], "done")
        steps = [run["summary"]["step_s"] for run in (fluid, messages)]
        self.assertAlmostEqual(steps[0] / steps[1], 1, delta=0.02)

    def test_a_slow_worker_slows_workers_that_wait_for_it(self) -> None:
        rates: dict[str, list[float]] = {}  # without and with the slow worker
        for run in self.manifests_of("slow_worker"):
            slow_workers = len(run["sweep"]["/cluster/slow_workers"])
            name = run["experiment"]["algorithm"]["name"]
            rates.setdefault(name, [0, 0])[slow_workers] = run["summary"]["samples_per_s"]
        # Only the slow worker computes 2.205 times as long. The other workers continue, or wait for it.
        self.assertAlmostEqual(rates["async_model_average"][1] / rates["async_model_average"][0],
                               1 - (1 - 1 / 2.205) / 128, delta=0.02)
        # An algorithm that waits is not faster than the slow worker, except that other workers may be a step ahead when
        # a run ends. It loses throughput, unless the network is slower than the worker.
        paced_by_it = 128 * 32 / (2.205 * 0.1396)
        for name in ("gradient_allreduce", "bytegrad", "decentralized", "dcd_psgd"):
            self.assertLess(rates[name][1], 1.03 * paced_by_it, name)
            self.assertLess(rates[name][1], 0.97 * rates[name][0], name)
        self.assertLess(rates["bytegrad"][1], 0.7 * rates["bytegrad"][0])

    def test_time_to_an_accuracy_is_the_steps_times_the_step_time(self) -> None:
        """The target is lower than in the experiment, so that all algorithms reach it in a few small steps."""
        smaller = ("/target_accuracy=0.4", "/eval_every=6", "/workload/batch=8", "/steps=60")
        runs = self.manifests_of(
            "convergence_wagma", *(word for setting in smaller for word in ("--set", setting))
        )
        self.assertEqual(len(runs), 7)
        step_times = {}
        for run in runs:
            name, target = run["experiment"]["algorithm"]["name"], run["summary"]["target"]
            steps = target["epochs"] * 468  # 60,000 / (16 x 8)
            if run["algorithm_trigram"].startswith("async"):  # other workers may be ahead of the slowest worker
                self.assertTrue(target["steps"] - 1e-9 <= steps <= 1.5 * target["steps"], (name, steps, target))
            else:
                self.assertAlmostEqual(steps, target["steps"], places=9)
            step_times[name] = target["time_s"] / target["steps"]
        # In every step, some worker is late by 320 ms, which delays every step of an algorithm that waits for all
        # workers.
        compute_s = 0.615  # 128 images at 208 a second
        for name in ("gradient_allreduce", "local_sgd"):
            self.assertGreater(step_times[name], compute_s + 0.32, name)
        for name in ("adpsgd", "dpsgd", "eager_sgd", "wagma"):
            self.assertLess(step_times[name], step_times["gradient_allreduce"], name)
