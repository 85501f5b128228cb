"""Mutated experiments and profiles: the program either accepts or refuses each as documented."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import clusters
import draws
from algorithms import BULK, PEERS, TIMING_DEPENDENT
from base import CLUSTER, SOURCE, HostileTest, amount, draws_of, needs_simulator
from commands import NOT_FINITE, call, files_in, wrong_end
from mutations import damage, mutated

RUN_TIMEOUT_S = 120
MAX_WORKERS = 16


def committed_configurations() -> list[dict[str, Any]]:
    found = []
    for path in sorted((SOURCE / "configs").glob("*.json")):
        if path.name != "schema.json":
            config = json.loads(path.read_text())
            for key in ("cluster", "algorithm"):  # these may be paths of files
                if isinstance(config.get(key), str) and "/" in config[key]:
                    config[key] = CLUSTER if key == "cluster" else "gradient_allreduce"
            found.append(config)
    return found


def bounded(text: bytes) -> bytes | None:
    """The experiment in `text`, with fewer steps and workers so that it takes little time; None if there is none."""
    config = json.loads(text)
    if not isinstance(config, dict) or not isinstance(config.get("cluster"), dict):
        return None
    if isinstance(config.get("steps"), int) and config["steps"] > 4:
        config["steps"] = 3
    cluster = config["cluster"]
    for key in ("nodes", "workers_per_node"):
        if isinstance(cluster.get(key), (int, float)) and cluster[key] > MAX_WORKERS:
            cluster[key] = 2
    runtime = config.get("runtime")
    name = runtime.get("name") if isinstance(runtime, dict) else runtime
    if name in ("threads", "mpi", "nccl"):  # these worlds run in real time
        config["runtime"] = "sim"
    return json.dumps(config).encode()


class Fuzz(HostileTest):
    def setUp(self) -> None:
        super().setUp()
        draws.write_profiles(self.folder)

    def drawn_experiment(self, rng: random.Random) -> dict[str, Any]:
        draw = rng.choice([draws.experiment, draws.training])
        return draw(rng, BULK + PEERS + TIMING_DEPENDENT, clusters.cluster)

    def test_validate_accepts_or_refuses_mutated_experiments(self) -> None:
        def check(number: int) -> str:
            rng = draws_of("validate", number)
            folder = Path(self.folder / f"validate{number}")
            folder.mkdir()
            config = rng.choice(committed_configurations()) if rng.random() < 0.3 else self.drawn_experiment(rng)
            text = mutated(rng, config | {"workload": "resnet50"})
            (folder / "mutated.json").write_bytes(text)
            ended = call(folder, "validate", "mutated.json")
            problem = wrong_end(*ended, expected=(0, 2))
            if files_in(folder) != {"mutated.json"}:
                problem = problem or f"writes {files_in(folder)}"
            return problem and f"validate {number}: {problem}: {text[:3000]!r}"

        self.check_all(check, range(amount(100, 2000)))

    def test_validate_accepts_or_refuses_damaged_profiles(self) -> None:
        csv = (SOURCE / "tests" / "data" / "tiny_profile.csv").read_bytes()

        def check(number: int) -> str:
            rng = draws_of("profile", number)
            as_csv = rng.random() < 0.5
            name = f"damaged{number}" + (".csv" if as_csv else ".json")
            text = damage(rng, csv) if as_csv else mutated(rng, draws.profile(0, 1, 1))
            (self.folder / name).write_bytes(text)
            config = {"cluster": CLUSTER, "algorithm": "bytegrad", "steps": 2}
            path = self.write(config | {"workload": f"profile:{name}"}, f"of_profile{number}.json")
            problem = wrong_end(*call(self.folder, "validate", path), expected=(0, 2))
            return problem and f"profile {number}: {problem}: {text[:1500]!r}"

        self.check_all(check, range(amount(25, 300)))

    @needs_simulator
    def test_run_accepts_or_refuses_mutated_experiments(self) -> None:
        def check(number: int) -> str:
            rng = draws_of("run", number)
            folder = Path(self.folder / f"run{number}")
            folder.mkdir()
            draws.write_profiles(folder)
            text = bounded(mutated(rng, self.drawn_experiment(rng), damage_text=False))
            if text is None:
                return ""
            (folder / "mutated.json").write_bytes(text)
            before = files_in(folder)
            options = ("--jobs", 1, "--quiet")
            ended = call(folder, "run", "mutated.json", *options, timeout_s=RUN_TIMEOUT_S)
            problem = wrong_end(*ended, expected=(0, 1, 2)) or self.wrong_results(folder, before)
            return problem and f"run {number}: {problem}: {text[:3000]!r}"

        self.check_all(check, range(amount(25, 300)))

    def wrong_results(self, folder: Path, before: set[str]) -> str:
        """Finds files written elsewhere, and numbers that are not finite."""
        unexpected = {f for f in files_in(folder) - before if not f.startswith("results")}
        if unexpected:
            return f"writes {unexpected}"
        for path in folder.glob("results/*/*/*.json*"):
            if found := NOT_FINITE.search(path.read_text(errors="replace")):
                return f"{path.name} has {found[0]}"
        return ""
