"""The hostile suites detect errors: a program with perturbed results fails their checks."""

from __future__ import annotations

import dataclasses
import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import commands
import draws
import sweeps
import test_effects
from base import TRIGRAM, CommandTest, worlds
from checks import Check, draw_checks, make
from disturbances import finished, outcome
from option_schema import options
from relations import Relation
from test_relations import RELATIONS

# Runs the program, then changes the results of one sweep. Sweeps are numbered; before each sweep
# that is run, one is only validated.
PERTURBING = """#!/usr/bin/env python3
import json, pathlib, subprocess, sys
code = subprocess.run([{trigram!r}, *sys.argv[1:]]).returncode
if sys.argv[1] == "run":
    stem = pathlib.Path(sys.argv[2]).stem
    for path in pathlib.Path("results").glob(stem + "/*/manifest.json"):
        manifest = json.loads(path.read_text())
        if stem == "sweep{number}":
            {change}
            path.write_text(json.dumps(manifest))
sys.exit(code)
"""
# Runs the program without the weight decay that an experiment asks for.
IGNORING = """#!/usr/bin/env python3
import json, pathlib, subprocess, sys
path = pathlib.Path(sys.argv[2])
config = json.loads(path.read_text())
config["optimizer"].pop("weight_decay", None)
path.write_text(json.dumps(config))
sys.exit(subprocess.run([{trigram!r}, *sys.argv[1:]]).returncode)
"""
FIRST, SECOND = 0, 1


@unittest.skipUnless(worlds()["sim"], "this build has no simulator")
class SuitesCanFail(CommandTest):
    def perturbed(self, relation: Relation, change: str, sweep: int = SECOND) -> list[Check]:
        """Checks of the relation with a program that changes the results of one variant."""
        folder = self.folder / relation.name.replace(" ", "_")
        folder.mkdir()
        draws.write_profiles(folder)
        made = sweeps.Sweeps(folder)
        checks = draw_checks(relation, range(1), made)
        number = made.made + 2 + 2 * sweep
        script = folder / "perturbing"
        script.write_text(PERTURBING.format(trigram=TRIGRAM, change=change, number=number))
        script.chmod(0o755)
        with mock.patch.object(sweeps, "TRIGRAM", str(script)):
            make(checks, made)
        return checks

    def relation(self, name: str) -> Relation:
        (found,) = [r for r in RELATIONS if r.name == name]
        return found

    def check_seen(self, name: str, change: str, said: str) -> None:
        for check in self.perturbed(self.relation(name), change):
            self.assertIn(said, check.problem, check.message())
            self.assertIn(f"HOSTILE_CHECK='{name}/", check.message())

    def test_a_change_that_makes_a_run_faster(self) -> None:
        change = 'manifest["summary"]["time_s"] *= 0.1'
        self.check_seen("half the bandwidth between nodes", change, "a share of 0.")

    def test_a_time_in_the_last_bit(self) -> None:
        change = 'manifest["summary"]["time_s"] *= 1 + 1e-15'
        self.check_seen("one job at a time", change, "time_s: ")

    def test_other_weights(self) -> None:
        change = 'manifest["summary"]["weights_hash"] = "0"'
        self.check_seen("weights in the simulator and between threads", change, "weights_hash: ")

    def test_a_run_that_failed_or_is_missing(self) -> None:
        change = 'manifest.update(status="failed", error="on purpose")'
        self.check_seen("made twice", change, "a run failed: on purpose")
        relation = dataclasses.replace(self.relation("made twice"), name="made  twice")
        change = "path.unlink(); continue"
        for check in self.perturbed(relation, change):
            self.assertEqual(check.problem, "a run is missing")

    def test_a_time_below_the_bound(self) -> None:
        change = 'manifest["summary"]["lower_bound_s"] *= 1e6'
        for check in self.perturbed(self.relation("a summary and its steps"), change, FIRST):
            self.assertIn("lower_bound_s", check.problem)

    def test_an_option_that_is_ignored(self) -> None:
        ignoring = self.folder / "ignoring"
        ignoring.write_text(IGNORING.format(trigram=TRIGRAM))
        ignoring.chmod(0o755)
        schema = json.loads(self.trigram("schema").stdout)
        decay, lr = (
            option
            for name in ("weight_decay", "lr")
            for option in options(schema)
            if option.label == f"/optimizer/{name} of sgd"
        )
        suite = test_effects.Effects()
        suite.setUp()
        self.addCleanup(suite.doCleanups)
        with mock.patch.object(test_effects, "TRIGRAM", str(ignoring)):
            self.assertEqual(suite.verdict(decay), "silent")
            self.assertEqual(suite.verdict(lr), "changed")

    def test_undocumented_ways_to_end_are_found(self) -> None:
        def problem(code: int, out: str, err: str) -> str:
            return commands.wrong_end(code, out, err, (0, 2))

        self.assertEqual(problem(2, "", "trigram: /steps: expected an integer\n"), "")
        self.assertIn("hangs", problem(-1000, "", ""))
        self.assertIn("signal 11", problem(-11, "", ""))
        self.assertIn("exit code 1", problem(1, "", "trigram: x\n"))
        self.assertEqual(problem(2, "", "trigram: /a: x\ntrigram: /b: y\n"), "")
        self.assertIn("not whole lines", problem(2, "", "trigram: /a: x"))
        self.assertIn("not a line of the program's", problem(2, "", "trigram: /a: x\nand more\n"))
        self.assertIn("control", problem(2, "", "trigram: /a: \x1b[31m\n"))
        self.assertIn("neither", problem(2, "", "trigram: it is wrong\n"))
        self.assertIn("although", problem(2, "ok\n", "trigram: /a: x\n"))
        self.assertTrue(commands.NOT_FINITE.search("loss,nan,3"))
        self.assertFalse(commands.NOT_FINITE.search("name/nancy information 1e-3"))

    def test_results_that_a_resumed_sweep_changed(self) -> None:
        config = {"cluster": {"nodes": 2}, "algorithm": "bytegrad", "workload": "quadratic"}
        path = self.write(config | {"steps": 2})
        self.trigram("run", path, "--quiet", "--no-table")
        before = finished(self.results)
        self.assertEqual(finished(self.results), before)
        (manifest,) = self.manifests()
        other: dict[str, Any] = json.loads(json.dumps(manifest))
        other["summary"]["time_s"] *= 1 + 1e-15
        self.assertNotEqual(outcome(manifest, True), outcome(other, True))
        self.assertEqual(outcome(manifest, False), outcome(other, False))
        self.trigram("run", path, "--quiet", "--no-table", "--force")
        self.assertNotEqual(finished(self.results), before, "a run that was made again is seen")
        Path(self.results, manifest["id"], "DONE").unlink()
        self.assertEqual(finished(self.results), {})


if __name__ == "__main__":
    unittest.main()
