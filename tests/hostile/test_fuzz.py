"""Mutated experiments and profiles: the program either accepts or refuses each as documented."""

from __future__ import annotations

import json
import random
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import clusters
import draws
from algorithms import BULK, FREE, PEERS
from base import SEED, SOURCE, CommandTest, amount, draws_of, worlds
from commands import NOT_FINITE, call, files_in, wrong_end
from mutations import damage, mutated

SMALL_CLUSTER = {
    "nodes": 2,
    "workers_per_node": 2,
    "inter": {"bandwidth": "10Gbps", "latency": "50us"},
    "intra": {"bandwidth": "100Gbps", "latency": "5us"},
}
RUNS_AT_MOST_S = 120
WORKERS_AT_MOST = 16


def committed() -> list[dict[str, Any]]:
    found = []
    for path in sorted((SOURCE / "configs").glob("*.json")):
        if path.name != "schema.json":
            config = json.loads(path.read_text())
            for key in ("cluster", "algorithm"):  # these may be paths of files
                if isinstance(config.get(key), str) and "/" in config[key]:
                    config[key] = SMALL_CLUSTER if key == "cluster" else "gradient_allreduce"
            found.append(config)
    return found


def bounded(text: bytes) -> bytes | None:
    """The experiment in `text`, made small enough to take little time; None if `text` has no experiment."""
    config = json.loads(text)
    if not isinstance(config, dict) or not isinstance(config.get("cluster"), dict):
        return None
    if isinstance(config.get("steps"), int) and config["steps"] > 4:
        config["steps"] = 3
    cluster = config["cluster"]
    for key in ("nodes", "workers_per_node"):
        if isinstance(cluster.get(key), (int, float)) and cluster[key] > WORKERS_AT_MOST:
            cluster[key] = 2
    runtime = config.get("runtime")
    name = runtime.get("name") if isinstance(runtime, dict) else runtime
    if name in ("threads", "mpi", "nccl"):  # these worlds would sleep
        config["runtime"] = "sim"
    return json.dumps(config).encode()


class Fuzz(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        draws.write_profiles(self.folder)

    def each(self, count: int, one: Callable[[int], str]) -> None:
        with ThreadPoolExecutor(2) as pool:
            wrong = [problem for problem in pool.map(one, range(count)) if problem]
        if wrong:
            self.fail(f"HOSTILE_SEED={SEED}: {len(wrong)} of {count}:\n" + "\n".join(wrong))

    def subject(self, rng: random.Random) -> dict[str, Any]:
        if rng.random() < 0.3:
            return rng.choice(committed())
        make = rng.choice([draws.experiment, draws.training])
        return make(rng, BULK + PEERS + FREE, clusters.cluster)

    def test_validate_takes_or_refuses_mutated_experiments(self) -> None:
        def one(number: int) -> str:
            rng = draws_of("validate", number)
            folder = Path(self.folder / f"validate{number}")
            folder.mkdir()
            text = mutated(rng, self.subject(rng) | {"workload": "resnet50"})
            (folder / "mutated.json").write_bytes(text)
            ended = call(folder, "validate", "mutated.json")
            problem = wrong_end(*ended, expected=(0, 2))
            if files_in(folder) != {"mutated.json"}:
                problem = problem or f"writes {files_in(folder)}"
            return problem and f"validate {number}: {problem}: {text[:3000]!r}"

        self.each(amount(100, 2000), one)

    def test_validate_takes_or_refuses_damaged_profiles(self) -> None:
        csv = (SOURCE / "tests" / "data" / "tiny_profile.csv").read_bytes()

        def one(number: int) -> str:
            rng = draws_of("profile", number)
            as_csv = rng.random() < 0.5
            name = f"damaged{number}" + (".csv" if as_csv else ".json")
            text = damage(rng, csv) if as_csv else mutated(rng, draws.profile(0, 1, 1))
            (self.folder / name).write_bytes(text)
            config = {"cluster": SMALL_CLUSTER, "algorithm": "bytegrad", "steps": 2}
            path = self.write(config | {"workload": f"profile:{name}"}, f"of_profile{number}.json")
            problem = wrong_end(*call(self.folder, "validate", path), expected=(0, 2))
            return problem and f"profile {number}: {problem}: {text[:1500]!r}"

        self.each(amount(25, 300), one)

    @unittest.skipUnless(worlds()["sim"], "this build has no simulator")
    def test_run_makes_or_refuses_mutated_experiments(self) -> None:
        def one(number: int) -> str:
            rng = draws_of("run", number)
            folder = Path(self.folder / f"run{number}")
            folder.mkdir()
            draws.write_profiles(folder)
            text = bounded(mutated(rng, self.subject_of_runs(rng), text_too=False))
            if text is None:
                return ""
            (folder / "mutated.json").write_bytes(text)
            before = files_in(folder)
            options = ("--jobs", 1, "--quiet")
            ended = call(folder, "run", "mutated.json", *options, timeout_s=RUNS_AT_MOST_S)
            problem = wrong_end(*ended, expected=(0, 1, 2)) or self.wrong_results(folder, before)
            return problem and f"run {number}: {problem}: {text[:3000]!r}"

        self.each(amount(25, 300), one)

    def subject_of_runs(self, rng: random.Random) -> dict[str, Any]:
        make = rng.choice([draws.experiment, draws.training])
        return make(rng, BULK + PEERS + FREE, clusters.cluster)

    def wrong_results(self, folder: Path, before: set[str]) -> str:
        """Finds files written elsewhere, and numbers that are not finite."""
        strange = {f for f in files_in(folder) - before if not f.startswith("results")}
        if strange:
            return f"writes {strange}"
        for path in folder.glob("results/*/*/*.json*"):
            if found := NOT_FINITE.search(path.read_text(errors="replace")):
                return f"{path.name} has {found[0]}"
        return ""


if __name__ == "__main__":
    unittest.main()
