"""Metamorphic relations between runs of random experiments: they must hold for all drawn
experiments.

HOSTILE_CHECK='NAME/NUMBER' makes only one check; a failure prints this setting."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

import draws
import relations_equal
import relations_made
import relations_runs
import relations_slower
from base import CommandTest, amount, worlds
from checks import draw_checks, make
from relations import Relation
from sweeps import Sweeps

RELATIONS: list[Relation] = [
    *relations_slower.RELATIONS,
    *relations_equal.RELATIONS,
    *relations_made.RELATIONS,
    *relations_runs.RELATIONS,
]
CHECKS_OF_EACH = amount(3, 20)
ONLY, _, NUMBER = os.environ.get("HOSTILE_CHECK", "").partition("/")


@unittest.skipUnless(worlds()["sim"], "this build has no simulator")
class Relations(CommandTest):
    def test_names_are_distinct_and_reasons_are_given(self) -> None:
        self.assertEqual(len({r.name for r in RELATIONS}), len(RELATIONS))
        self.assertGreaterEqual(len(RELATIONS), 40)
        for relation in RELATIONS:
            self.assertTrue(relation.holds and relation.where and relation.because, relation.name)

    def test_hold(self) -> None:
        draws.write_profiles(self.folder)
        sweeps = Sweeps(Path(self.folder))
        numbers = range(int(NUMBER), int(NUMBER) + 1) if NUMBER else range(CHECKS_OF_EACH)
        checks = []
        for relation in RELATIONS:
            if not ONLY or relation.name == ONLY:
                checks += draw_checks(relation, numbers, sweeps)
        make(checks, sweeps)
        self.assertTrue(checks, "no relation has this name")
        failed = [check for check in checks if check.problem]
        for check in failed:
            if check.relation.missed:
                print(f"known: {check.relation.missed}\n{check.message()}")
        wrong = [check.message() for check in failed if not check.relation.missed]
        if wrong:
            self.fail(f"{len(wrong)} of {len(checks)} checks:\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
