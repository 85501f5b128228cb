"""The commands that advice names below its answer, the order of what it prints, and which runs it makes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

from advice import AdviseTest
from harness import TRIGRAM, one_tensor_profile

CLUSTER = {"nodes": 8, "inter": {"bandwidth": "25Gbps", "latency": "50us"}}
RING = {"name": "gradient_allreduce", "overlap": False, "allreduce": "ring"}
DOUBLING = RING | {"allreduce": "recursive_doubling"}


class AdviseNextCommands(AdviseTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(one_tensor_profile(1_000_000, 0.4e-3, 0.6e-3, accelerator="none"), "one.json")
        self.write(CLUSTER, "eight.json")
        self.among(DOUBLING, RING)

    def among(self, *algorithms: Any) -> list[str]:
        """Asks for advice among these algorithms."""
        self.write({"cluster": CLUSTER, "workload": "bert_large", "steps": 20, "until_steady": True,
                    "sweep": {"/algorithm": algorithms}}, "candidates.json")
        return self.command("eight")

    def test_the_text_ranks_before_it_searches_and_names_the_comparison_of_the_first_two(self) -> None:
        """Progress is on another stream, in which the search follows the ranking's runs."""
        command = [TRIGRAM, *self.command("eight"), "-o", "a b"]
        text = subprocess.run(command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300, check=True).stdout
        self.assertLess(text.index("best: "), text.rindex(" runs in "), text)
        words = shlex.split(text[text.index("trigram why ") :].splitlines()[0])[2:4]
        advice = json.loads((self.folder / Path(words[0]).parent / "advice.json").read_text())
        self.assertEqual([Path(word).name for word in words], [row["run"] for row in advice["candidates"]])
        self.trigram("why", *words)

    def test_the_text_names_the_comparison_with_full_precision(self) -> None:
        few = [{"name": "local_sgd", "sync_every": every} for every in (2, 3)]
        text = self.trigram(*self.among(*few, RING), "--range", "1.1").stdout
        line = text[text.index("why gradient_allreduce takes longer: trigram why ") :].splitlines()[0]
        explained = self.trigram(*shlex.split(line.split(": trigram ")[1])).stdout
        self.assertRegex(explained, r"B is bound by .*between nodes")
        self.assertRegex(explained, r"\nhidden: exchanges while the worker computes +\S+ ")
        self.assertNotIn("asked for", text)

    def test_the_text_names_algorithms_of_each_kind_whose_learning_to_compare(self) -> None:
        """local_sgd is first and bytegrad has another trigram, which powersgd has, too."""
        rare = {"name": "local_sgd", "sync_every": 9}
        command = [*self.among("bytegrad", "powersgd", RING, rare), "--ranking-only"]
        text = self.trigram(*command).stdout
        self.assertIn("--target accuracy=0.8 --ranking-only --algorithms local_sgd,bytegrad,gradient_allreduce\n", text)
        text = self.trigram(*command, "--only", "low").stdout
        self.assertIn("\nonly the 2 candidates asked for were compared\n", text)

    def test_no_run_is_made_twice(self) -> None:
        """The length of an asynchronous candidate's run is found by runs, of which the last is the result."""
        command = [*self.among("adpsgd", RING), "--ranking-only"]
        for more in ([], ["--force"]):
            made = re.findall(r"^\[\d+/\d+\] (\w+)", self.trigram(*command, *more).stderr, re.MULTILINE)
            self.assertEqual(len(made), len(set(made)), made)
            self.assertGreaterEqual(len(made), 2, made)
        names = {folder.name for folder in (self.folder / "results").iterdir()}
        self.assertEqual(len(names), 2, names)
        results = self.folder / "results" / min(names)
        kept = {path.parent.name for path in results.glob("*/DONE")}
        self.assertTrue(kept & set(made) and len(kept) == 2, (kept, made))
