"""Helpers of tests of `trigram advise`."""

from __future__ import annotations

import json
from typing import Any

from harness import CommandTest, needs_simulator


@needs_simulator
class AdviseTest(CommandTest):
    def command(self, cluster: str, *more: str) -> list[str]:
        """Asks for advice on the cluster in CLUSTER.json, the profile in one.json and the candidates in
        candidates.json."""
        return [
            *("advise", "--cluster", f"{cluster}.json", "--profile", "profile:one.json"),
            *("--candidates", "candidates.json", *more),
        ]

    def answer(self, command: list[str]) -> dict[str, Any]:
        return json.loads(self.trigram(*command, "--json").stdout)
