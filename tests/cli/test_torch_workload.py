"""Workloads from TorchScript files, in every world of the CPU."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from torch_models import Awkward, Perceptron, images, require, save, torch  # first: it skips this suite
from torch_models import nn

from harness import CLUSTER, SOURCE, CommandTest, experiment, needs_simulator, read_json, worlds
from jobs import JobTest

require("libtorch", "lib/trigram/libtrigram_torch.so")

SMALLER = {"switch_step": 3, "warmup_steps": 2, "freeze_step": 3, "warmup_every": 2, "local_doubling": 2,
           "sync_every": 2}


def synchronous_candidates() -> list[dict[str, Any]]:
    """The synchronous candidates of `trigram advise`, which cover the library, with periods that fit into few steps."""
    chosen = []
    for point in read_json(SOURCE / "configs" / "advise.json")["zip"]:
        algorithm = point["/algorithm"]
        algorithm = {"name": algorithm} if isinstance(algorithm, str) else dict(algorithm)
        if algorithm["name"] in ("async_model_average", "eager_sgd", "wagma", "async_parameter_server", "ssp", "adpsgd",
                                 "async_diloco", "dsgd_aau", "swarm_sgd"):
            continue
        algorithm.update({key: value for key, value in SMALLER.items() if key in algorithm})
        if algorithm["name"] in ("streaming_diloco", "decoupled_diloco"):  # its fragments consist of buckets
            algorithm["bucket"] = "1kB"
        optimizer = point.get("/optimizer", {"name": "sgd", "lr": 0.05, "momentum": 0.5})
        chosen.append({"/algorithm": algorithm, "/optimizer": optimizer})
    return chosen


class Files(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(3)

    def workload(self, model: nn.Module, samples: int = 120, **changes: Any) -> dict[str, Any]:
        return {**save(self.folder, model, images(samples)), "batch": 8, **changes}


class Oracle(Files):
    def expected(self, model: nn.Module, steps: int, lr: float, momentum: float, trained: slice | torch.Tensor,
                 data: tuple[torch.Tensor, torch.Tensor], held_out: torch.Tensor) -> float:
        """The held-out loss after steps of PyTorch's SGD on all training samples at once."""
        optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr, momentum=momentum)
        x, y = data
        model.train()
        for _ in range(steps):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[trained]), y[trained]).backward()
            optimizer.step()
        model.eval()
        return float(nn.functional.cross_entropy(model(x[held_out]), y[held_out]))

    def held_out_loss(self, ranks: int, **changes: Any) -> float:
        cluster = {**CLUSTER, "nodes": ranks, "workers_per_node": 1}
        config = experiment(cluster=cluster, runtime="threads", eval_every=0, **changes)
        [manifest] = self.run_config(config)
        return self.metrics(manifest["id"])[-1]["eval_loss"]

    def check(self, model: nn.Module, ranks: int) -> None:
        data = images(121)
        index = torch.arange(121)
        trained, held_out = index[index % 11 != 0], index[index % 11 == 0]  # 110 and 11
        workload = {**save(self.folder, model, data), "batch": 110 // ranks, "held_out": 11}
        optimizer = {"name": "sgd", "lr": 0.2, "momentum": 0.9}
        loss = self.held_out_loss(ranks, workload=workload, steps=15, optimizer=optimizer)
        expected = self.expected(model, 15, 0.2, 0.9, trained, data, held_out)
        self.assertAlmostEqual(loss, expected, delta=1e-4 * expected)

    def test_a_rank_with_all_samples_trains_as_pytorch_does(self) -> None:
        self.check(Awkward(), 1)

    def test_the_mean_gradient_of_two_ranks_is_the_gradient_of_all_samples(self) -> None:
        self.check(Perceptron(), 2)


class Worlds(Files, JobTest):
    @needs_simulator
    def test_synchronous_algorithms_give_the_same_weights_in_every_world(self) -> None:
        candidates = synchronous_candidates()
        self.assertGreater(len(candidates), 30)
        config = experiment(workload=self.workload(Awkward()), steps=6, eval_every=6, zip=candidates)
        del config["algorithm"], config["optimizer"]
        config.update(algorithm="gradient_allreduce", optimizer="sgd")
        path = self.write(config)
        by_world = {}
        for world in ("sim", "threads", "mpi"):
            if not worlds()[world] and world != "mpi":
                continue
            if world == "mpi":
                self.job(4, "run", path, "--set", "/runtime=mpi", "--no-table")
            else:
                self.trigram("run", path, "--set", f"/runtime={world}", timeout_s=300)
            by_world[world] = self.hashes_by_point()
            shutil.rmtree(self.results)
        self.assertEqual(len(by_world["sim"]), len(candidates))
        self.assertGreater(len(set(by_world["sim"].values())), 15)
        for world, hashes in by_world.items():
            self.assertEqual(hashes, by_world["sim"], world)

    def hashes_by_point(self) -> dict[str, str]:
        return {json.dumps(m["experiment"]["algorithm"]): m["summary"]["weights_hash"] for m in self.manifests()}

    @needs_simulator
    def test_phantoms_take_the_same_time(self) -> None:
        workload = self.workload(Awkward())
        times = []
        for values in (True, False):
            config = experiment(workload={**workload, "values": values}, steps=4, eval_every=0)
            times.append(self.run_config(config)[0]["summary"]["time_s"])
            shutil.rmtree(self.results)
        self.assertEqual(times[0], times[1])
        self.assertGreater(times[0], 0)

    @needs_simulator
    def test_dropout_does_not_depend_on_the_world(self) -> None:
        model = nn.Sequential(nn.Flatten(), nn.Linear(16, 32), nn.Dropout(0.5), nn.Linear(32, 3))
        workload = self.workload(model)
        hashes = set()
        for world in ("sim", "threads", "threads"):
            [manifest] = self.run_config(experiment(workload=workload, runtime=world, steps=5, eval_every=0), "--force")
            hashes.add(manifest["summary"]["weights_hash"])
            shutil.rmtree(self.results)
        self.assertEqual(len(hashes), 1)

    def test_it_learns_with_the_timing_of_a_profile(self) -> None:
        workload = self.workload(Awkward(), samples=400, priced_as="resnet50")
        algorithm = {"name": "gradient_allreduce", "broadcast_buffers": True}
        config = experiment(workload=workload, algorithm=algorithm, steps=60, eval_every=60, runtime="sim",
                            optimizer={"name": "sgd", "lr": 0.1, "momentum": 0.9})
        [manifest] = self.run_config(config)
        self.assertGreater(manifest["summary"]["accuracy"], 0.8)


class BadInput(Files):
    def refused(self, **changes: Any) -> str:
        config = experiment(workload={**self.workload(Perceptron()), **changes}, runtime="threads")
        return self.refusal("run", self.write(config))

    def test_files(self) -> None:
        bad = self.folder / "bad.pt"
        bad.write_text("no archive")
        self.assertIn("/workload/model: ", self.refused(model=str(bad)))
        self.assertIn("expected a TorchScript file, written by torch.jit.save", self.refused(model=str(bad)))
        self.assertIn("cannot be read", self.refused(model=str(self.folder / "absent.pt")))
        self.assertIn("/workload/data: ", self.refused(data=str(bad)))
        torch.save((torch.zeros(5, 16), torch.zeros(4)), bad)
        self.assertIn("expected inputs and targets of the same number of samples", self.refused(data=str(bad)))
        torch.save((torch.zeros(5, 16), torch.zeros(5)), bad)
        self.assertIn("expected int64 classes", self.refused(data=str(bad)))
        torch.save({"inputs": torch.zeros(50, 9), "targets": torch.zeros(50).long()}, bad)
        self.assertIn("/workload/model: ", self.refused(data=str(bad)))
        self.assertIn("fails on the first samples", self.refused(data=str(bad)))

    def test_models(self) -> None:
        frozen = Perceptron().requires_grad_(False)
        path = self.write(experiment(workload=self.workload(frozen)))
        self.assertIn("no parameter that is trained", self.refusal("run", path))
        double = Perceptron().double()
        path = self.write(experiment(workload=self.workload(double)))
        self.assertIn("expected float32", self.refusal("run", path))

    def test_options(self) -> None:
        self.assertIn("/workload/batch: expected at most 27", self.refused(batch=28))
        self.assertIn("/workload/loss", self.refused(loss="hinge"))

    def test_a_build_without_pytorch_says_so(self) -> None:
        data = self.folder / "share" / "trigram"
        data.mkdir(parents=True)
        for part in ("configs", "analysis"):
            os.symlink(SOURCE / part, data / part)
        path = self.write(experiment(workload=self.workload(Perceptron())))
        os.environ["TRIGRAM_DATA_DIR"] = str(data)
        self.addCleanup(os.environ.pop, "TRIGRAM_DATA_DIR")
        self.assertIn("this build has no PyTorch; install libtorch-dev", self.refusal("run", path))

