"""Installs, builds and runs examples/out_of_tree as its README says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import harness
from harness import SOURCE, CommandTest, experiment, listed, worlds

EXAMPLE = SOURCE / "examples" / "out_of_tree"
CMAKE = os.environ.get("CMAKE", "cmake")


class OutOfTree(CommandTest):
    prefix: Path
    program: str

    @classmethod
    def setUpClass(cls) -> None:
        # Always the same folder, so that the compiler cache works.
        folder = Path(os.environ["BUILD"]) / "out_of_tree"
        shutil.rmtree(folder, ignore_errors=True)
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.prefix = folder / "prefix"
        cls.command(CMAKE, "--install", os.environ["BUILD"], "--prefix", cls.prefix)
        launcher = shutil.which("ccache")
        cls.command(
            CMAKE, "-S", EXAMPLE, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []),
        )
        cls.command(CMAKE, "--build", folder / "build")
        cls.program = str(folder / "build" / "my_trigram")

    @staticmethod
    def command(*words: Any) -> str:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(setattr, harness, "TRIGRAM", harness.TRIGRAM)
        harness.TRIGRAM = self.program

    def test_it_is_listed_with_the_built_in_algorithms(self) -> None:
        extended = listed("algorithms")
        harness.TRIGRAM = os.environ["TRIGRAM"]
        built_in = listed("algorithms")
        self.assertEqual(extended[:-1], built_in)
        self.assertEqual(extended[-1]["name"], "proximal_sgd")
        self.assertEqual(extended[-1]["trigram"], "sync, full, centralised")

    def test_schema_and_suggestions_know_it(self) -> None:
        self.assertIn('"proximal_sgd"', self.trigram("schema").stdout)
        path = self.write(experiment(algorithm="proximal_sdg"))
        self.assertIn("proximal_sgd", self.trigram("validate", path, code=2).stderr)
        path = self.write(experiment(algorithm={"name": "proximal_sgd", "bucket": "1MB"}))
        self.assertIn("proximal_sgd has no buckets", self.trigram("validate", path, code=2).stderr)

    def test_it_finds_the_data_files_of_the_installed_trigram(self) -> None:
        self.assertTrue((self.prefix / "share" / "trigram" / "configs" / "profiles").is_dir())
        clusters = [cluster["path"] for cluster in listed("clusters")]
        self.assertTrue(clusters and all(str(self.prefix) in path for path in clusters), clusters)

    def test_it_trains_in_every_world_with_the_same_weights(self) -> None:
        config = json.loads((EXAMPLE / "proximal_sgd.json").read_text()) | {"steps": 10}
        config["sweep"]["/runtime"] = [world for world in ("sim", "threads") if worlds()[world]]
        manifests = self.run_config(config)
        hashes: dict[str, set[str]] = {}
        for m in manifests:
            self.assertEqual(m["status"], "done", m["error"])
            name = m["experiment"]["algorithm"]["name"]
            hashes.setdefault(name, set()).add(m["summary"]["weights_hash"])
        self.assertEqual(set(hashes), {"gradient_allreduce", "local_sgd", "proximal_sgd"})
        self.assertEqual([len(found) for found in hashes.values()], [1, 1, 1])
        self.assertEqual(len(set.union(*hashes.values())), 3, "three algorithms, three results")

    def test_another_program_makes_results_stale(self) -> None:
        """The commit of Trigram does not tell when an algorithm outside its tree has changed."""
        (manifest,) = self.run_config(experiment(algorithm="proximal_sgd"))
        self.assertRegex(manifest["git"], r"\+[0-9a-f]{8}$")
        changed_program = self.folder / "my_trigram"
        changed_program.write_bytes(Path(self.program).read_bytes() + b"changed")
        changed_program.chmod(0o755)
        harness.TRIGRAM = str(changed_program)
        self.assertIn("stale", self.trigram("status", "results").stdout)
