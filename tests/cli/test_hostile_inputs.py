"""Unusual or damaged inputs lead neither to a crash, nor to an endless wait, nor to control characters in the
terminal."""

from __future__ import annotations

import json
import os
import subprocess

from harness import TRIGRAM, CommandTest, experiment, worlds

CLEAR_SCREEN = "\x1b[2J"
PROFILE = {"tensors": [{"tensor": "w", "numel": 1, "forward_s": 1, "backward_s": 1}]}


class HostileInputs(CommandTest):
    def test_devices_and_named_pipes_are_not_read(self) -> None:
        os.mkfifo(self.folder / "fifo")
        for path in ("fifo", "/dev/zero"):
            config = self.write(experiment(workload=f"profile:{path}"))
            cluster = self.write(experiment(cluster=path), "cluster.json")
            for arguments in (("run", path), ("validate", config), ("validate", cluster), ("show", "network", path)):
                with self.subTest(arguments):
                    refusal = self.refusal(*arguments, timeout_s=20)
                    self.assertIn("a device, a named pipe or a socket", refusal)
                    self.assertIn(path, refusal)

    def test_paths_that_are_too_long(self) -> None:
        config, long = self.write(experiment()), "a" * 5000
        advise = ("advise", "--cluster", "ethernet_10g", "--algorithms", "bytegrad")
        for arguments in (
            *((command, long) for command in ("run", "validate", "status", "table", "init", "replay")),
            ("show", "network", long), ("run", config, "-o", long), ("calibrate", "-o", long),
            *(("run", config, "--set", f"{pointer}={long}") for pointer in ("/cluster", "/algorithm", "/name")),
            ("run", config, "--set", f"/workload=profile:{long}"),
            ("run", config, "--set", json.dumps({"name": "fashion_mnist", "data": long}).join(("/workload=", ""))),
            (*advise, "--profile", f"profile:{long}"), ("compare-worlds", config, "--against", long),
        ):
            with self.subTest([word[:20] for word in map(str, arguments)]):
                self.refusal(*arguments, timeout_s=20)
        refused = self.trigram(*advise, "--profile", "vgg16", "-o", long, code=2, timeout_s=20).stderr
        self.assertIn("trigram: --output: expected a folder that can be written", refused)

    def test_anonymous_pipes_are_read(self) -> None:
        text = json.dumps(experiment())
        done = subprocess.run([TRIGRAM, "validate", "/dev/stdin"], input=text, text=True, capture_output=True,
                              cwd=self.folder, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (0, "/dev/stdin: ok, 1 run\n"), done.stderr)

    def test_endless_pipes_are_cut(self) -> None:
        endless = f"cat /dev/zero | {TRIGRAM} validate /dev/stdin"
        done = subprocess.run(["sh", "-c", endless], text=True, capture_output=True, cwd=self.folder, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn("expected a file of at most 64 MiB", done.stderr)

    def test_damaged_profiles(self) -> None:
        for text, where in (('{"tensors": [', ".json: 1:"), ('{"batch": 1e309}', ".json: 1:11: expected a number"),
                            (json.dumps(PROFILE).replace('"w"', '"\x01"'), ".json: 1:"),
                            ("[" * 70_000, "100 levels deep")):
            with self.subTest(where):
                self.write(text, "profile.json")
                config = self.write(experiment(workload="profile:profile.json"))
                refusal = self.refusal("validate", config, timeout_s=20)
                self.assertIn("/workload: ", refusal)
                self.assertIn(where, refusal)
                self.assertNotIn("json.exception", refusal)

    def test_control_characters_are_escaped(self) -> None:
        for config in (experiment(**{CLEAR_SCREEN + "\n": 1}), experiment(algorithm=CLEAR_SCREEN + "\n"),
                       experiment(cluster=CLEAR_SCREEN + "\n")):
            refusal = self.refusal("run", self.write(config), timeout_s=20)
            self.assertNotIn("\x1b", refusal)
            self.assertIn("\\u001b[2J\\n", refusal)
        refusal = self.refusal("run", self.write(experiment()), "--set", "/seed=\udcff", timeout_s=20)  # not UTF-8
        self.assertIn("/seed", refusal)

    def test_control_characters_do_not_reach_tables(self) -> None:
        self.trigram("run", self.write(experiment()), "--no-table")
        (path,) = self.results.glob("*/manifest.json")
        manifest = json.loads(path.read_text())
        manifest["experiment"]["algorithm"]["name"] = CLEAR_SCREEN
        manifest["sweep"] = {"/" + CLEAR_SCREEN: CLEAR_SCREEN + "\n"}
        path.write_text(json.dumps(manifest))
        for command in ("status", "table"):
            self.assertNotIn("\x1b", self.trigram(command, self.results).stdout)

    def test_an_unusable_manifest_does_not_hide_other_runs(self) -> None:
        self.trigram("run", self.write(experiment(sweep={"/seed": [1, 2]})), "--no-table")
        unusable, intact = sorted(self.results.glob("*/manifest.json"))
        whole = json.loads(unusable.read_text())
        for change in ({"sweep": {"": 1}}, {"sweep": None}, {"sweep": [1]}, {"error": 3, "status": "failed"}):
            with self.subTest(change):
                unusable.write_text(json.dumps(whole | change))
                self.assertIn(f"done      {intact.parent}", self.trigram("status", self.results).stdout)
        for text in ("[" * 70_000 + "]" * 70_000, '{"sweep": ' + "[" * 70_000):
            unusable.write_text(text)
            self.assertIn(f"partial   {unusable.parent}", self.trigram("status", self.results).stdout)
        unusable.unlink()
        unusable.mkdir()
        self.assertIn(f"partial   {unusable.parent}", self.trigram("status", self.results).stdout)

    def test_a_run_without_memory_says_so(self) -> None:
        for world, nodes in (("sim", 20000), ("threads", 2000)):
            if not worlds()[world]:
                continue
            config = experiment(runtime=world, cluster={"nodes": nodes}, steps=1,
                                algorithm={"name": "gradient_allreduce", "allreduce": "recursive_doubling"},
                                workload={"name": "quadratic", "values": False})
            limited = f"ulimit -v 2000000; exec {TRIGRAM} run {self.write(config)} --no-table"
            with self.subTest(world):
                done = subprocess.run(["sh", "-c", limited], text=True, capture_output=True, cwd=self.folder, timeout=60)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("FAILED: out of memory", done.stderr)
