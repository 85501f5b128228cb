"""Every documented option has an effect: if it alone is changed, the output of a simulation changes. silent_options.py
lists exactly the options without an effect, with the reasons.

EFFECTS_OF='TEXT' tests only the options whose label contains TEXT."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
from typing import Any

from base import SEED, TRIGRAM, CommandTest, amount, needs_simulator
from option_contexts import FILES, experiment_of, set_at
from option_schema import Option, options
from option_values import values_of
from silent_options import NEEDS_TORCH, REAL_TIME, SILENT, is_silent

ONLY = os.environ.get("EFFECTS_OF", "")
EVERY = amount(fast=24, slow=1)  # one of this many options is tested


@needs_simulator
class Effects(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.outcomes: dict[str, Any] = {}
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    def outcome(self, config: dict[str, Any]) -> Any:
        """The output of a run, without its id and its wall-clock times, or the text of its refusal."""
        text = json.dumps(config, sort_keys=True)
        if text not in self.outcomes:
            shutil.rmtree(self.folder / "results", ignore_errors=True)
            done = subprocess.run(
                [TRIGRAM, "run", str(self.write(config)), "--no-table", "--quiet"],
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=30,
            )
            self.outcomes[text] = done.stderr if done.returncode else self.output()
        return self.outcomes[text]

    def output(self) -> Any:
        (folder,) = (path.parent for path in self.folder.glob("results/*/*/DONE"))
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["summary"].pop("messages_simulated_per_wall_s")
        files = [(folder / file).read_text() for file in ("metrics.jsonl", "trace.json")]
        return [manifest[key] for key in ("summary", "warnings", "assumed", "links")] + files

    def verdict(self, option: Option) -> str:
        """Either "changed" or "silent", or the reason why neither can be determined."""
        base = experiment_of(option)
        before = self.outcome(base)
        if isinstance(before, str):
            return f"the experiment without it is refused: {before}"
        silent, refusal = False, "there is no other value"
        for value in values_of(option):
            changed = copy.deepcopy(base)
            set_at(changed, option.pointer, value)
            if changed == base:
                continue
            after = self.outcome(changed)
            if isinstance(after, str):
                refusal = f"{value!r} is refused: {after}"
            elif after != before:
                return "changed"
            else:
                silent = True
        return "silent" if silent else refusal

    def test_every_option_changes_something(self) -> None:
        schema = json.loads(self.trigram("schema").stdout)
        documented = [o for o in options(schema) if not re.fullmatch(f"{REAL_TIME}|{NEEDS_TORCH}", o.label)]
        self.assertGreater(len(documented), 800)
        for pattern in SILENT:
            self.assertTrue(
                [o for o in documented if re.fullmatch(pattern, o.label)], f"{pattern}: listed, and no option"
            )
        named = [option for option in documented if ONLY in option.label]
        tested = named if ONLY else documented[SEED % EVERY :: EVERY]
        for option in tested:
            with self.subTest(option.label):
                verdict = self.verdict(option)
                if is_silent(option):
                    self.assertNotEqual(verdict, "changed", "listed as silent")
                else:
                    self.assertEqual(verdict, "changed", f"EFFECTS_OF='{option.label}'")
