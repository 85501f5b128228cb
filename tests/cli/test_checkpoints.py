"""Checkpoints: a run that was killed continues, and damaged checkpoints are not used."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
import unittest
from pathlib import Path
from typing import Any

from harness import TRIGRAM, CommandTest, children, experiment, needs_simulator

STEPS, EVERY = 30, 5
RANKS = 4


def checkpointed(**changes: Any) -> dict[str, Any]:
    algorithm = {"name": "diloco", "sync_every": 4}
    config = experiment(algorithm=algorithm, optimizer="adam", steps=STEPS, eval_every=10)
    return config | {"checkpoint": {"every": EVERY, "keep": 100}} | changes


class Checkpoints(CommandTest):
    def checkpoint(self, step: int) -> Path:
        (folder,) = self.results.glob("*.checkpoints")
        return folder / f"step-{step:06}"

    def steps(self) -> list[int]:
        return sorted(int(p.parent.name[5:]) for p in self.results.glob("*.checkpoints/*/complete.json"))

    def whole(self, config: dict[str, Any]) -> dict[str, Any]:
        """The manifest of the whole run, which is then made unfinished, so that it can be resumed."""
        (manifest,) = self.run_config(config)
        self.unfinish()
        return manifest

    def unfinish(self) -> None:
        for path in self.results.glob("*/manifest.json"):
            (path.parent / "DONE").unlink()
            path.unlink()

    def resumed(self, config: dict[str, Any], *arguments: Any) -> dict[str, Any]:
        (manifest,) = self.run_config(config, "--resume", *arguments)
        return manifest

    @needs_simulator
    def test_checkpoints_between_exchanges_leave_the_steps_of_decoupled_diloco_as_they_are(self) -> None:
        algorithm = {"name": "decoupled_diloco", "sync_every": 6, "fragments": 1}
        hashes = set()
        for every in ({}, {"checkpoint": {"every": 7}}):
            config = experiment(algorithm=algorithm, steps=20, eval_every=0, **every)
            (manifest,) = self.run_config(config, "--force")
            hashes.add(manifest["summary"]["weights_hash"])
            self.unfinish()
        self.assertEqual(len(hashes), 1)

    @needs_simulator
    def test_a_resumed_run_has_the_results_of_the_whole_run(self) -> None:
        whole = self.whole(checkpointed())
        lines = self.metrics(whole["id"])
        self.assertEqual(self.steps(), list(range(EVERY, STEPS, EVERY)))
        resumed = self.resumed(checkpointed())
        self.assertEqual(self.metrics(resumed["id"]), lines)
        (continued,) = resumed["summary"]["checkpoint"].pop("resumed")
        self.assertEqual(continued["step"], STEPS - EVERY)
        # The resumed run wrote none, so that the last one is the one from which it continues.
        self.assertEqual(resumed["summary"]["checkpoint"]["last"]["step"], STEPS - EVERY)
        for summary in (whole["summary"], resumed["summary"]):
            summary["checkpoint"].pop("resumed", None)
            summary.pop("messages_simulated_per_wall_s")
        self.assertEqual(resumed["summary"], whole["summary"])

    @needs_simulator
    def test_damaged_checkpoints_are_not_used(self) -> None:
        """A file is cut short, or one bit of it changes, at random places."""
        whole = self.whole(checkpointed())["summary"]
        draw = random.Random(1)
        files = [f"rank-{rank:04}.bin" for rank in range(RANKS)] + ["complete.json"]
        for trial in range(20):
            path = self.checkpoint(STEPS - EVERY) / draw.choice(files)
            content = bytearray(path.read_bytes())
            torn = draw.random() < 0.4
            if torn:
                damaged = content[: draw.randrange(len(content))]
            else:
                damaged = bytearray(content)
                damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            path.write_bytes(damaged)
            with self.subTest(trial=trial, file=path.name, torn=torn):
                try:
                    manifest = self.resumed(checkpointed())
                finally:
                    self.unfinish()
                summary = manifest["summary"]
                self.assertEqual(summary["weights_hash"], whole["weights_hash"])
                self.assertEqual(summary["time_s"], whole["time_s"])
                step = summary["checkpoint"]["resumed"][0]["step"]
                self.assertEqual(step, STEPS - 2 * EVERY)
                self.assertIn(path.name, "".join(manifest["warnings"]))

    @needs_simulator
    def test_without_any_valid_checkpoint_the_run_begins_again(self) -> None:
        whole = self.whole(checkpointed())["summary"]
        for path in self.results.glob("*.checkpoints/*/rank-0002.bin"):
            path.write_bytes(path.read_bytes()[:-1])
        manifest = self.resumed(checkpointed())
        self.assertEqual(manifest["summary"]["weights_hash"], whole["weights_hash"])
        self.assertEqual(manifest["summary"]["checkpoint"]["resumed"], [])
        damaged = [warning for warning in manifest["warnings"] if "rank-0002.bin differs from its checksum" in warning]
        self.assertEqual(len(damaged), STEPS // EVERY - 1)

    @needs_simulator
    def test_checkpoints_are_not_overwritten_unasked(self) -> None:
        config = self.write(checkpointed())
        self.whole(checkpointed())
        error = self.refusal("run", config)
        self.assertIn("--resume: ", error)
        self.assertIn(f"has a checkpoint of step {STEPS - EVERY}", error)
        self.assertEqual(self.steps(), list(range(EVERY, STEPS, EVERY)))
        self.assertIn("either", self.refusal("run", config, "--resume", "--force"))
        self.trigram("run", config, "--force")

    @needs_simulator
    def test_checkpoints_of_another_run_are_refused(self) -> None:
        self.whole(checkpointed())
        (folder,) = self.results.glob("*.checkpoints")
        for place, changes in {
            "/workload/dimension": {"workload": {"name": "quadratic", "dimension": 32}},
            "/algorithm/sync_every": {"algorithm": {"name": "diloco", "sync_every": 5}},
            "/optimizer/beta1": {"optimizer": {"name": "adam", "beta1": 0.5}},
            "/seed": {"seed": 2},
        }.items():
            with self.subTest(place):
                config = self.write(checkpointed(**changes))
                plan = self.trigram("run", config, "--dry-run").stdout
                copied = self.results / f"{plan.split()[0]}.checkpoints"
                copied.mkdir()
                for step in folder.iterdir():
                    (copied / step.name).mkdir()
                    for path in step.iterdir():
                        (copied / step.name / path.name).write_bytes(path.read_bytes())
                error = self.refusal("run", config, "--resume")
                self.assertIn("of another run", error)
                self.assertIn(place, error)
                self.assertEqual(len(list(copied.glob("*/complete.json"))), STEPS // EVERY - 1)

    @needs_simulator
    def test_another_format_is_refused(self) -> None:
        self.whole(checkpointed())
        for path in self.results.glob("*.checkpoints/*/complete.json"):
            content = json.loads(path.read_text())["content"] | {"format": 99}
            text = json.dumps(content, sort_keys=True, separators=(",", ":"))
            checksum = hashlib.sha256(text.encode()).hexdigest()
            path.write_text(json.dumps({"content": content, "sha256": checksum}))
        error = self.refusal("run", self.write(checkpointed()), "--resume")
        self.assertRegex(error, r"has format 99, this program's is \d")

    def test_bad_options(self) -> None:
        for pointer, changes in {
            "/checkpoint/every": {"checkpoint": {"every": 0}},
            "/checkpoint/keep": {"checkpoint": {"every": 1, "keep": 0}},
            "/checkpoint/evry": {"checkpoint": {"every": 1, "evry": 1}},
            "/checkpoint": {"checkpoint": {"every": 1}, "autotune": True, "steps": 100},
        }.items():
            with self.subTest(pointer):
                config = self.write(experiment(algorithm="gradient_allreduce") | changes)
                self.assertIn(f"{pointer}: ", self.refusal("validate", config))
        threads = checkpointed(runtime="threads", checkpoint={"every": 5, "write_bandwidth": "1GB/s"})
        self.assertIn("/checkpoint/write_bandwidth: ", self.refusal("validate", self.write(threads)))
        self.assertIn("no run has checkpoints", self.refusal("run", self.write(experiment()), "--resume"))

    @needs_simulator
    def test_another_number_of_workers(self) -> None:
        self.whole(checkpointed())
        (folder,) = self.results.glob("*.checkpoints")
        config = self.write(checkpointed())
        fewer = ("--set", "/cluster/nodes=1", "--resume-from", folder)
        self.trigram("run", config, *fewer)
        (manifest,) = self.manifests()
        self.assertEqual(manifest["summary"]["steps"], EVERY)
        self.assertEqual(manifest["summary"]["checkpoint"]["resumed"][0]["step"], STEPS - EVERY)
        self.assertIn("goes on with 2 workers after 25 steps of 4", "".join(manifest["warnings"]))
        for reason, arguments in {
            "of another training: /algorithm/sync_every": ("--set", "/algorithm/sync_every=7", *fewer[2:]),
            "expected more than 25 steps": ("--set", "/steps=25", *fewer[2:]),
            "expected a folder ID.checkpoints": (*fewer[:3], self.folder),
            "expected an experiment of one run": ("--set", "/seed=[2,3]", *fewer[2:]),
            "expected either this option or --resume": (*fewer, "--set", "/seed=3", "--resume"),
        }.items():
            with self.subTest(reason):
                self.assertIn(reason, self.refusal("run", config, *arguments))

    def test_a_killed_run_continues(self) -> None:
        """In real time, killed at random moments until it ends by itself."""
        steps = 3000
        config = checkpointed(runtime="threads", steps=steps, eval_every=1000, checkpoint={"every": 50})
        whole = self.whole(config)["summary"]
        for path in self.results.glob("*.checkpoints"):
            path.rename(self.folder / "other")
        draw, kills = random.Random(2), 0
        path = self.write(config)
        while True:
            command = self.popen([TRIGRAM, "run", path, "--resume", "--no-table"], start_new_session=True)
            before = self.steps()
            if kills < 5:
                self.wait_for(lambda: self.steps()[-1:] > before[-1:] or command.poll() is not None, "a checkpoint")
                time.sleep(draw.random() * 0.1)
                self.kill_all(command.pid)
                kills += 1
            _, errors = command.communicate(timeout=60)
            if self.done():
                break
            self.assertTrue(command.returncode != 0, errors)
        (manifest,) = self.manifests()
        summary = manifest["summary"]
        self.assertEqual(summary["weights_hash"], whole["weights_hash"])
        self.assertEqual(summary["steps"], steps)
        self.assertEqual(len(self.metrics(manifest["id"])), steps)
        self.assertGreater(len(summary["checkpoint"]["resumed"]), 0)

    def kill_all(self, pid: int) -> None:
        """Kills a command and its workers at once."""
        workers = children(pid)
        for process in [pid, *workers]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass


if __name__ == "__main__":
    unittest.main()
