#!/usr/bin/env python3
"""Tests the table that scripts/convergence.py makes from runs, and that its check can fail."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import convergence  # noqa: E402
from convergence import Case  # noqa: E402

SGD = {"name": "sgd", "lr": 0.05}
ADAM = {"name": "adam", "lr": 0.001}


def case(name, accuracies, optimizer=None, **options):
    return Case({"name": name, **options}, optimizer or SGD, accuracies=accuracies)


def failures(*cases, banner=""):
    convergence.set_baselines(cases)
    return list(convergence.failures(cases, lambda name: banner + "\n#include <x>\n"))


class Judgement(unittest.TestCase):
    def test_two_points_below_are_the_limit(self):
        baseline = case("gradient_allreduce", [82.0, 82.2, 81.8])
        self.assertEqual([], failures(baseline, case("near", [80.1, 80.0, 80.2])))
        (failure,) = failures(baseline, case("far", [79.9, 80.0, 79.8]))
        self.assertIn("`far`: 2.10 points below gradient_allreduce", failure)

    def test_an_accuracy_above_the_baseline_is_no_failure(self):
        self.assertEqual([], failures(case("gradient_allreduce", [82.0]), case("best", [90.0])))

    def test_the_baseline_has_the_same_optimizer(self):
        cases = [
            case("gradient_allreduce", [82.0]),
            case("gradient_allreduce", [84.0], ADAM),
            case("moments", [81.9], {**ADAM, "lr": 0.002}),
        ]
        (failure,) = failures(*cases)
        self.assertIn("`moments`: 2.10 points", failure)

    def test_a_banner_may_state_the_shortfall(self):
        cases = [case("gradient_allreduce", [82.0]), case("far", [78.0])]
        banner = "// It drifts: docs/convergence.md has it 4.0 points\n// below gradient_allreduce."
        self.assertEqual([], failures(*cases, banner=banner))
        self.assertEqual(1, len(failures(*cases, banner=banner.replace("4.0", "3.0"))))
        self.assertEqual(1, len(failures(*cases, banner=banner.replace("//", ""))))

    def test_every_registered_algorithm_needs_a_row(self):
        cases = [case("gradient_allreduce", []), case("wagma", [], codec="sign")]
        listed = ["gradient_allreduce", "wagma", "new"]
        self.assertEqual(["new"], convergence.missing_algorithms(cases, listed))


class Page(unittest.TestCase):
    def test_a_written_table_can_be_read(self):
        cases = [case("gradient_allreduce", [82.0, 81.0]), case("wagma", [80.0], codec="sign")]
        convergence.set_baselines(cases)
        text = convergence.table(cases)
        self.assertEqual(1, len({len(line) for line in text.splitlines()}), "aligned")
        self.assertEqual(
            {("`gradient_allreduce`", "sgd, lr 0.05"): 81.5,
             ("`wagma`, codec sign", "sgd, lr 0.05"): 80.0},
            convergence.committed_means(text),
        )

    def test_a_page_that_is_out_of_date_is_found(self):
        old = [case("gradient_allreduce", [82.0]), case("gone", [82.0])]
        new = [case("gradient_allreduce", [82.6]), case("new", [82.0])]
        for cases in (old, new):
            convergence.set_baselines(cases)
        self.assertEqual([], list(convergence.drift(old, convergence.table(old))))
        self.assertEqual(3, len(list(convergence.drift(new, convergence.table(old)))))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
