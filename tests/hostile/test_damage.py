"""Commands that read damaged results end as documented, and print only finite numbers."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

from base import CLUSTER, HostileTest, amount, draws_of, needs_simulator
from commands import NOT_FINITE, call, files_in, wrong_end
from mutations import damage, mutate

EXPERIMENT: dict[str, Any] = {
    "cluster": CLUSTER,
    "workload": "quadratic",
    "steps": 4,
    "eval_every": 2,
    "timeline": {"step": 1, "ranks": 2},
    "sweep": {"/algorithm": ["gradient_allreduce", "bytegrad"], "/cluster/inter/bandwidth": ["1Gbps", "10Gbps"]},
}
# Commands that read results, with the files that they may write.
READERS = [
    (["status", "results"], set()),
    (["table", "results/test"], set()),
    (["table", "results", "--csv"], set()),
    (["report", "results/test"], {"results/test/report.html"}),
    (["report", "results", "--check", "-o", "page.html"], {"page.html"}),
    (["plot", "results/test", "-o", "plots"], {"plots"}),
]
FAST_READERS = READERS[:3]
# Notes about some of the results that a command may print before its output.
NOTE = re.compile(r"^(?:\d+ unfinished runs are not counted|not read: .*)\n", re.MULTILINE)


def damage_json(rng: random.Random, text: str) -> str:
    tree = json.loads(text)
    for _ in range(rng.choice([1, 1, 3])):
        mutate(rng, tree)
    return json.dumps(tree)


def damage_file(rng: random.Random, path: Path) -> str:
    """Damages one file, and returns a description of the damage."""
    kind = rng.choice(["tree", "tree", "tree", "text", "text", "gone", "empty", "folder", "link"])
    if kind == "tree" and path.suffix in (".json", ".jsonl") and path.stat().st_size:
        lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        at = rng.randrange(len(lines))
        lines[at] = damage_json(rng, lines[at])
        path.write_text("\n".join(lines) + "\n")
    elif kind in ("tree", "text"):
        path.write_bytes(damage(rng, path.read_bytes()))
    else:
        path.unlink()
        if kind == "empty":
            path.write_text("")
        elif kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to("nowhere")
    return f"{kind} of {path.name}"


@needs_simulator
class Damage(HostileTest):
    def setUp(self) -> None:
        super().setUp()
        self.intact = self.folder / "intact"
        self.intact.mkdir()
        (self.intact / "test.json").write_text(json.dumps(EXPERIMENT))
        ended = call(self.intact, "run", "test.json", "--quiet", "--no-table", timeout_s=100)
        self.assertEqual(ended[0], 0, ended)

    def damaged(self, number: int, rng: random.Random) -> tuple[Path, str]:
        folder = self.folder / f"damaged{number}"
        shutil.copytree(self.intact, folder)
        files = sorted(path for path in folder.glob("results/test/*/*") if path.name != "log.txt")
        done = [damage_file(rng, path) for path in rng.sample(files, rng.choice([1, 1, 2, 4]))]
        return folder, ", ".join(done)

    def check_reading(self, folder: Path, command: list[str], writes: set[str]) -> str:
        before = files_in(folder)
        code, out, err = call(folder, *command, timeout_s=120)
        err = NOTE.sub("", err)
        expected = (0, 1, 2, 3) if "--check" in command else (0, 1, 2)
        if problem := wrong_end(code, out, err, expected):
            return problem
        if unexpected := {f for f in files_in(folder) - before if not any(f.startswith(w) for w in writes)}:
            return f"writes {unexpected}"
        found = NOT_FINITE.search(out) if command[0] in ("table", "report") else None
        return f"prints {found[0]}: {out[:600]}" if found else ""

    def check_run(self, folder: Path) -> str:
        """Checks that `run` makes the missing runs, and that `status` can read the results afterwards."""
        code, out, err = call(folder, "run", "test.json", "--quiet", "--no-table", timeout_s=100)
        if problem := wrong_end(code, out, err, (0, 1)):
            return problem
        code, out, err = call(folder, "status", "results")
        problem = wrong_end(code, out, err, (0,))
        return problem or ("" if " done\n" in out else f"nothing is done: {out}")

    def check_case(self, number: int) -> str:
        rng = draws_of("damage", number)
        folder, how = self.damaged(number, rng)
        commands = [*FAST_READERS[:1], rng.choice(FAST_READERS[1:])] + [READERS[3 + number % 3]] * (number % 2)
        for command, writes in commands:
            if problem := self.check_reading(folder, command, writes):
                return f"damage {number} ({how}): {' '.join(command)}: {problem}"
        problem = self.check_run(folder)
        shutil.rmtree(folder)
        return problem and f"damage {number} ({how}): run: {problem}"

    def test_commands_that_read_damaged_results_end_as_documented(self) -> None:
        self.check_all(self.check_case, range(amount(6, 150)))
