"""The hostile suites detect errors: a program with perturbed results fails their checks."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any
from unittest import mock

import commands
import draws
import sweeps
import test_effects
from base import TRIGRAM, CommandTest, needs_simulator
from checks import Check, draw_checks, run_checks
from disturbances import finished_runs, outcome
from option_schema import options
from relations import Relation
from test_relations import RELATIONS

# Runs the program, and then changes the results of the sweep with a certain number. Before each sweep that is run,
# there is a sweep that is only validated.
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
# Runs the program without the weight decay of the experiment.
IGNORING = """#!/usr/bin/env python3
import json, pathlib, subprocess, sys
path = pathlib.Path(sys.argv[2])
config = json.loads(path.read_text())
config["optimizer"].pop("weight_decay", None)
path.write_text(json.dumps(config))
sys.exit(subprocess.run([{trigram!r}, *sys.argv[1:]]).returncode)
"""
FIRST, SECOND = 0, 1


@needs_simulator
class SuitesCanFail(CommandTest):
    def perturbed(self, relation: Relation, change: str, sweep: int = SECOND) -> list[Check]:
        """Checks of the relation with a program that changes the results of one variant."""
        folder = self.folder / relation.name.replace(" ", "_")
        folder.mkdir()
        draws.write_profiles(folder)
        runner = sweeps.Sweeps(folder)
        checks = draw_checks(relation, range(1), runner)
        number = runner.count + 2 + 2 * sweep
        script = self.script(
            f"{folder.name}/perturbing", PERTURBING.format(trigram=TRIGRAM, change=change, number=number)
        )
        with mock.patch.object(sweeps, "TRIGRAM", str(script)):
            run_checks(checks, runner)
        return checks

    def relation(self, name: str) -> Relation:
        (found,) = [r for r in RELATIONS if r.name == name]
        return found

    def check_detected(self, name: str, change: str, problem: str) -> None:
        for check in self.perturbed(self.relation(name), change):
            self.assertIn(problem, check.problem, check.message())
            self.assertIn(f"HOSTILE_CHECK='{name}/", check.message())

    def test_a_change_that_makes_a_run_faster(self) -> None:
        change = 'manifest["summary"]["time_s"] *= 0.1'
        self.check_detected("half the bandwidth between nodes", change, "a share of 0.")

    def test_a_time_in_the_last_bit(self) -> None:
        change = 'manifest["summary"]["time_s"] *= 1 + 1e-15'
        self.check_detected("one job at a time", change, "time_s: ")

    def test_other_weights(self) -> None:
        change = 'manifest["summary"]["weights_hash"] = "0"'
        self.check_detected("weights in the simulator and between threads", change, "weights_hash: ")

    def test_a_run_that_failed_or_is_missing(self) -> None:
        change = 'manifest.update(status="failed", error="on purpose")'
        self.check_detected("made twice", change, "a run failed: on purpose")
        relation = dataclasses.replace(self.relation("made twice"), name="made  twice")
        change = "path.unlink(); continue"
        for check in self.perturbed(relation, change):
            self.assertEqual(check.problem, "a run is missing")

    def test_a_time_below_the_bound(self) -> None:
        change = 'manifest["summary"]["lower_bound_s"] *= 1e6'
        for check in self.perturbed(self.relation("a summary and its steps"), change, FIRST):
            self.assertIn("lower_bound_s", check.problem)

    def test_an_option_that_is_ignored(self) -> None:
        ignoring = self.script("ignoring", IGNORING.format(trigram=TRIGRAM))
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
        before = finished_runs(self.results)
        self.assertEqual(finished_runs(self.results), before)
        (manifest,) = self.manifests()
        other: dict[str, Any] = json.loads(json.dumps(manifest))
        other["summary"]["time_s"] *= 1 + 1e-15
        self.assertNotEqual(outcome(manifest, True), outcome(other, True))
        self.assertEqual(outcome(manifest, False), outcome(other, False))
        self.trigram("run", path, "--quiet", "--no-table", "--force")
        self.assertNotEqual(finished_runs(self.results), before, "a repeated run is detected")
        Path(self.results, manifest["id"], "DONE").unlink()
        self.assertEqual(finished_runs(self.results), {})
