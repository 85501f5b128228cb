"""The systems of configs/systems, each of which runs in virtual and in real time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from harness import SOURCE, CommandTest, experiment, needs_simulator, read_json

SYSTEMS = SOURCE / "configs" / "systems"


class Systems(CommandTest):
    def files(self) -> list[Path]:
        found = sorted(SYSTEMS.glob("*.json"))
        self.assertLessEqual({"pytorch_ddp", "horovod", "byteps", "bagua_bytegrad"}, {path.stem for path in found})
        return found

    def run_all(self, runtime: str) -> list[dict[str, Any]]:
        # QAdam exchanges a moment, which plain SGD does not have.
        zipped = [
            {"/algorithm": str(path), "/optimizer": {"name": "adam", "lr": 0.01} if "qadam" in path.stem else "sgd"}
            for path in self.files()
        ]
        config = experiment(
            runtime=runtime,
            name="test",
            workload={"name": "quadratic", "dimension": 600, "tensors": 6},
            steps=3,
            eval_every=0,
            zip=zipped,
        )
        for key in ("algorithm", "optimizer"):
            del config[key]
        return self.run_config(config)

    @needs_simulator
    def test_every_system_runs_in_virtual_time(self) -> None:
        manifests = self.run_all("sim")
        self.assertEqual(len(manifests), len(self.files()))
        self.assertEqual(len(self.done()), len(manifests))

    def test_every_system_runs_between_threads(self) -> None:
        self.run_all("threads")
        self.assertEqual(len(self.done()), len(self.files()))

    def test_schema_accepts_every_system(self) -> None:
        schema = json.loads(self.trigram("schema").stdout)["properties"]["algorithm"]
        validator = jsonschema.Draft7Validator(schema)
        for path in self.files():
            with self.subTest(path.name):
                validator.validate(read_json(path))
        validator.validate("systems/horovod.json")
        self.assertFalse(validator.is_valid("horovod"))

    def test_every_file_names_its_source_and_the_options_of_its_system(self) -> None:
        options = {
            "pytorch": "bucket_cap_mb",
            "horovod": "HOROVOD_CYCLE_TIME",
            "byteps": "BYTEPS_PARTITION_BYTES",
            "bagua": "hierarchical|interval_ms",
        }
        for path in self.files():
            first, *lines = path.read_text().splitlines()
            with self.subTest(path.name):
                self.assertRegex(first + lines[0], "https://")
                comments = "\n".join(line.partition("//")[2] for line in lines)
                self.assertRegex(comments, options[path.stem.split("_")[0]])

    def test_a_file_that_is_not_there_is_bad_input(self) -> None:
        config = self.write(experiment(algorithm="systems/nowhere.json"))
        self.assertIn("/algorithm", self.trigram("validate", config, code=2).stderr)
