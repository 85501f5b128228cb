"""Commands that help to write a configuration: schema, validate, init, list, version."""

from __future__ import annotations

import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
from harness import SOURCE, TRIGRAM, CommandTest, experiment, listed, needs_simulator, read_json

CONFIGS = SOURCE / "configs"


class Configs(CommandTest):
    def committed(self) -> list[Path]:
        found = [*sorted(CONFIGS.glob("papers/*.json")),
                 *(path for path in sorted(CONFIGS.glob("*.json")) if path.name != "schema.json")]
        self.assertGreater(len(found), 3)
        return found

    def schema(self) -> Any:
        return json.loads(self.trigram("schema").stdout)

    def test_generated_files_equal_the_programs_output(self) -> None:
        check = [SOURCE / "scripts" / "generate", "--trigram", TRIGRAM, "--check"]
        done = subprocess.run(check, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + "write them: scripts/generate --trigram PROGRAM")

    def test_schema_is_draft_07(self) -> None:
        schema = self.schema()
        self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
        jsonschema.Draft7Validator.check_schema(schema)

    def test_schema_accepts_every_committed_config(self) -> None:
        validator = jsonschema.Draft7Validator(self.schema())
        for path in self.committed():
            with self.subTest(path.name):
                self.assertEqual([], list(validator.iter_errors(json.loads(path.read_text()))))

    def test_schema_accepts_every_committed_cluster(self) -> None:
        validator = jsonschema.Draft7Validator(self.schema()["properties"]["cluster"])
        paths = sorted(CONFIGS.glob("clusters/*.json"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                self.assertEqual([], list(validator.iter_errors(read_json(path))))

    def test_the_schema_refuses_mistakes_that_the_program_refuses(self) -> None:
        validator = jsonschema.Draft7Validator(self.schema())
        self.assertTrue(validator.is_valid(experiment()))
        no_steps = {key: value for key, value in experiment().items() if key != "steps"}
        for bad in (
            experiment(stepz=1),
            experiment(steps="many"),
            experiment(algorithm="nonsense"),
            experiment(algorithm={"name": "bytegrad", "overlp": True}),
            experiment(sweep={"/steps": []}),
            no_steps,
        ):
            self.assertFalse(validator.is_valid(bad), bad)
        self.assertTrue(validator.is_valid({**no_steps, "sweep": {"/steps": [1, 2]}}))

    @needs_simulator
    def test_program_accepts_every_committed_config(self) -> None:
        self.trigram("validate", *self.committed())

    @needs_simulator
    def test_starting_config_is_valid(self) -> None:
        self.trigram("init", "start.json")
        self.trigram("validate", "start.json")
        jsonschema.Draft7Validator(self.schema()).validate(read_json(self.folder / "start.json"))
        self.trigram("init", "start.json", code=2)  # it does not overwrite

    def test_list(self) -> None:
        components = json.loads(self.trigram("list", "--json").stdout)
        trigrams = {a["name"]: a["trigram"] for a in components["algorithms"]}
        self.assertEqual(trigrams["gradient_allreduce"], "sync, full, centralised")
        self.assertEqual(trigrams["bytegrad"], "sync, low, centralised")
        self.assertEqual(trigrams["decentralized"], "sync, full, decentralised")
        self.assertEqual(trigrams["async_model_average"], "async, full, centralised")
        for a in components["algorithms"]:
            coded = a["name"] in ("dedloc", "diloco", "streaming_diloco", "wagma", "adpsgd", "async_parameter_server",
                                  "ssp", "async_diloco")
            low = a["trigram"].replace("full", "low") if coded else None
            self.assertEqual(a.get("trigram_with_codec"), low)
        self.assertIn(f"**{len(components['algorithms'])} [algorithms]", (SOURCE / "README.md").read_text())
        text = self.trigram("list").stdout
        self.assertEqual(text.count("; low with a codec;"), 8)
        for kind in (
            "algorithms", "codecs", "graphs", "networks", "clusters", "workloads", "optimizers", "worlds"
        ):
            self.assertIn(kind, text)
            for entry in components[kind]:
                self.assertIn(entry["name"], text)
        for world in components["worlds"]:
            self.assertEqual(world["available"], world["reason"] is None)

    def test_list_of_one_kind(self) -> None:
        components = json.loads(self.trigram("list", "graphs", "--json").stdout)
        self.assertEqual(list(components), ["graphs"])
        gaps = {graph["name"]: graph["spectral_gap"] for graph in components["graphs"]}
        ring = 1 - (1 + 2 * math.cos(2 * math.pi / 16)) / 3
        self.assertAlmostEqual(gaps["ring"], ring, places=6)
        text = self.trigram("list", "graphs").stdout
        self.assertIn(f"spectral gap at P = 16: {ring:.4f} (one step)", text)
        self.assertNotIn("algorithms", text)
        self.assertIn("graphs", self.trigram("list", "graph", code=2).stderr)

    def test_convergence_has_every_algorithm(self) -> None:
        rows = json.loads((CONFIGS / "convergence.json").read_text())["zip"]
        shown = [row["/algorithm"] for row in rows]
        names = {a if isinstance(a, str) else a["name"] for a in shown}
        self.assertEqual(
            {a["name"] for a in listed("algorithms")} - names, {"stages"},  # which is made of the others
            "give each a row in configs/convergence.json, then: make convergence",
        )

    def test_version(self) -> None:
        text = self.trigram("--version").stdout
        for part in ("trigram ", "worlds:", "threads", "SimGrid", "Eigen", "Highway", "compiler"):
            self.assertIn(part, text)

    def test_version_marks_exactly_the_worlds_that_the_build_lacks(self) -> None:
        cache = (Path(os.environ["BUILD"]) / "CMakeCache.txt").read_text()
        line = next(line for line in self.trigram("--version").stdout.splitlines() if line.startswith("worlds:"))
        for option, world in (("MPI", "mpi"), ("SIM", "sim")):
            built = f"TRIGRAM_WITH_{option}:BOOL=ON" in cache
            self.assertEqual(f" {world} (absent)" in line, not built, line)
