"""Draws the cases of relations, and runs the experiments of many checks together."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from base import SEED, draws_of
from relations import Json, VariantOrFunction, Relation, Variant
from sweeps import Result, Sweeps

ATTEMPTS = 40  # a draw to which the relation does not apply is repeated at most this many times


@dataclass
class Check:
    relation: Relation
    number: int
    rng: random.Random
    variants: list[VariantOrFunction] = field(default_factory=list)
    variants_run: list[Variant] = field(default_factory=list)
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
        if self.problem or len(self.variants_run) == len(self.variants):
            return None
        variant = self.variants[len(self.variants_run)]
        return variant if isinstance(variant, Variant) else variant(self.results)

    def add_result(self, result: Result | None) -> None:
        """Adds the result of the last variant; None if it has no run."""
        if result is None:
            self.problem = "a run is missing"
        elif result.error:
            self.problem = f"a run failed: {result.error}"
        else:
            self.results.append(result)

    def compare(self) -> None:
        if not self.problem:
            self.problem = self.relation.check(self.results, self.relation.tolerance)

    def message(self) -> str:
        """The problem, and everything that is needed to repeat the check."""
        lines = [
            f"{self.relation.name}: {self.problem}",
            f"  {self.relation.statement}",
            f"  HOSTILE_SEED={SEED} HOSTILE_CHECK='{self.relation.name}/{self.number}'",
        ]
        lines += [f"  {v.method}: {json.dumps(v.config)}" for v in self.variants_run]
        return "\n".join(lines)


def draw_checks(relation: Relation, numbers: range, sweeps: Sweeps) -> list[Check]:
    """One check for each of `numbers`. If the program refuses the first experiment of a check, the check is drawn
    again."""
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


def run_checks(checks: list[Check], sweeps: Sweeps) -> None:
    """Runs the first variants of all checks, then the second variants, and so on, and compares their results."""
    while True:
        rows_by_method: dict[str, dict[int, Json]] = {}
        for i, check in enumerate(checks):
            if variant := check.next_variant():
                check.variants_run.append(variant)
                rows_by_method.setdefault(variant.method, {})[i] = variant.config
        if not rows_by_method:
            break
        for method, rows in rows_by_method.items():
            refused = sweeps.refused(rows) if method != "set" else {}
            for i, why in refused.items():
                checks[i].problem = f"a variant is refused: {why}"
            rows = {i: row for i, row in rows.items() if i not in refused}
            results = sweeps.run(rows, method) if rows else {}
            for i in rows:
                checks[i].add_result(results.get(i))
    for check in checks:
        check.compare()
