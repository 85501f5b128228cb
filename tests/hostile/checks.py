"""Draws checks of relations, and makes the runs of many checks together."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from base import SEED, draws_of
from relations import Json, Later, Relation, Variant
from sweeps import Result, Sweeps

ATTEMPTS = 40  # a draw to which the relation does not apply is repeated at most this many times


@dataclass
class Check:
    relation: Relation
    number: int
    rng: random.Random
    variants: list[Later] = field(default_factory=list)
    made: list[Variant] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    problem: str = ""

    def draw(self) -> None:
        for _ in range(ATTEMPTS):
            config = self.relation.draw(self.rng)
            if self.relation.applies(config):
                break
        else:
            raise AssertionError(f"{self.relation.name}: applies to no draw")
        self.variants = self.relation.variants(config, self.rng)

    def next_variant(self) -> Variant | None:
        if self.problem or len(self.made) == len(self.variants):
            return None
        variant = self.variants[len(self.made)]
        return variant if isinstance(variant, Variant) else variant(self.results)

    def take(self, result: Result | None) -> None:
        """Takes the result of the variant that was made last; None if there is no run."""
        if result is None:
            self.problem = "a run is missing"
        elif result.error:
            self.problem = f"a run failed: {result.error}"
        else:
            self.results.append(result)

    def judge(self) -> None:
        if not self.problem:
            self.problem = self.relation.check(self.results, self.relation.tolerance)

    def message(self) -> str:
        """Everything that is needed to make the check again."""
        lines = [
            f"{self.relation.name}: {self.problem}",
            f"  {self.relation.holds}",
            f"  HOSTILE_SEED={SEED} HOSTILE_CHECK='{self.relation.name}/{self.number}'",
        ]
        lines += [f"  {v.how}: {json.dumps(v.config)}" for v in self.made]
        return "\n".join(lines)


def draw_checks(relation: Relation, numbers: range, sweeps: Sweeps) -> list[Check]:
    """Checks whose first experiments the program accepts. Those that it refuses are drawn again."""
    checks = [Check(relation, n, draws_of(relation.name, n)) for n in numbers]
    waiting = checks
    for _ in range(ATTEMPTS):
        for check in waiting:
            check.draw()
        rows = {i: check.variants[0].config for i, check in enumerate(waiting)}
        refused = sweeps.refused(rows)
        waiting = [check for i, check in enumerate(waiting) if i in refused]
        if not waiting:
            return checks
    raise AssertionError(f"{relation.name}: the program refuses {list(refused.values())[0]}")


def make(checks: list[Check], sweeps: Sweeps) -> None:
    """Makes the runs of all checks: first the first variants of all checks, then the second, and so
    on."""
    while True:
        by_how: dict[str, dict[int, Json]] = {}
        for i, check in enumerate(checks):
            if variant := check.next_variant():
                check.made.append(variant)
                by_how.setdefault(variant.how, {})[i] = variant.config
        if not by_how:
            break
        for how, rows in by_how.items():
            refused = sweeps.refused(rows) if how != "set" else {}
            for i, why in refused.items():
                checks[i].problem = f"a variant is refused: {why}"
            rows = {i: row for i, row in rows.items() if i not in refused}
            results = sweeps.run(rows, how) if rows else {}
            for i in rows:
                checks[i].take(results.get(i))
    for check in checks:
        check.judge()
