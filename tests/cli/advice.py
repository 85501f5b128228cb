"""Helpers of tests of `trigram advise`."""

from __future__ import annotations

import json
from typing import Any

from harness import CommandTest, needs_simulator, read_json


@needs_simulator
class AdviseTest(CommandTest):
    def command(self, cluster: str, *more: str) -> list[str]:
        """Asks for advice on the cluster in CLUSTER.json, the profile in one.json and the candidates in
        candidates.json."""
        return [
            *("advise", "--cluster", f"{cluster}.json", "--profile", "profile:one.json"),
            *("--candidates", "candidates.json", *more),
        ]

    def text_and_answer(self, command: list[str]) -> tuple[str, dict[str, Any]]:
        """What one call prints, and the answer that it stores."""
        text = self.trigram(*command).stdout
        stored = (self.folder / "results").glob("*/advice.json")
        return text, read_json(max(stored, key=lambda path: path.stat().st_mtime_ns))

    def answer(self, command: list[str]) -> dict[str, Any]:
        return json.loads(self.trigram(*command, "--json").stdout)
