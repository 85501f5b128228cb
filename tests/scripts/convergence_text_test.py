#!/usr/bin/env python3
"""Tests the orders of losses that scripts/convergence_text.py expects, and that each of them can fail."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import convergence_text  # noqa: E402
from convergence_text import Case  # noqa: E402

ADAM = {"name": "adam", "lr": 0.012}
SGD = {"name": "sgd", "lr": 0.5}


def case(name, loss, worker_loss=None, optimizer=None, **options):
    return Case({"name": name, **options}, optimizer or ADAM, "", loss, loss if worker_loss is None else worker_loss)


class Orders(unittest.TestCase):
    def test_losses_must_rise_with_local_steps(self):
        rows = [case("local_sgd", 3.0, sync_every=8), case("local_sgd", 2.9, sync_every=2), case("diloco", 2.0)]
        self.assertTrue(convergence_text.more_local_steps(rows).holds)
        self.assertFalse(convergence_text.more_local_steps([*rows, case("local_sgd", 2.95, sync_every=32)]).holds)
        self.assertFalse(convergence_text.more_local_steps(rows[:1]).holds, "one row has no order")

    def test_error_feedback_is_compared_under_the_same_optimizer(self):
        rows = [case("gradient_allreduce", 2.0), case("gradient_allreduce", 3.0, optimizer=SGD),
                case("topk", 3.02, optimizer=SGD)]
        self.assertTrue(convergence_text.error_feedback(rows, rows[2]).holds)
        self.assertFalse(convergence_text.error_feedback(rows, case("topk", 3.04, optimizer=SGD)).holds)
        self.assertFalse(convergence_text.error_feedback(rows, case("topk", 2.03)).holds)
        self.assertTrue(convergence_text.error_feedback(rows, case("topk", 1.5)).holds)

    def test_a_mean_model_that_is_worse_is_named(self):
        order = convergence_text.mean_models([case("local_sgd", 2.9, 3.0), case("gossipgrad", 3.1, 3.0)])
        self.assertFalse(order.holds)
        self.assertIn("gossipgrad", order.found)
        self.assertNotIn("local_sgd", order.found)
        self.assertTrue(convergence_text.mean_models([case("local_sgd", 2.9, 3.0)]).holds)


if __name__ == "__main__":
    unittest.main()
