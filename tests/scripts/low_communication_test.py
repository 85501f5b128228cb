#!/usr/bin/env python3
"""Tests the orders of losses that scripts/low_communication.py expects, and that each of them can fail."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import low_communication  # noqa: E402
from low_communication import Case  # noqa: E402


def cases():
    """The rows of the configuration with losses that have all expected orders."""
    config = json.loads(low_communication.CONFIG.read_text("utf-8"))
    rows = [Case(row["/algorithm"], [3.0], [3.2]) for row in config["zip"]]
    for case in rows:
        options = case.algorithm
        loss = {"diloco": 3.0 + options.get("sync_every", 0) / 1e4, "sparseloco": 3.05}.get(options["name"], 3.0)
        loss += 0.01 * (options.get("codec") == "e3m0") + 0.1 * (options.get("evaluate") == "workers")
        loss += 0.1 * (options.get("outer_momentum") == 0) + 0.2 * (options.get("momentum") == "nesterov")
        case.losses = [loss - 0.01, loss + 0.01]
    return rows


class Orders(unittest.TestCase):
    def test_all_orders_hold(self):
        orders = low_communication.orders(cases())
        self.assertEqual([order.text for order in orders if not order.holds], [])
        self.assertEqual(len(orders), 5)

    def check_fails(self, order, loss, name, **options):
        rows = cases()
        changed = [case for case in rows if case.algorithm["name"] == name
                   and all(case.algorithm.get(key) == value for key, value in options.items())]
        self.assertEqual(len(changed), 1)
        changed[0].losses = [loss]
        self.assertEqual([o.text for o in low_communication.orders(rows) if not o.holds], [order(rows).text])

    def test_each_order_can_fail(self):
        self.check_fails(low_communication.outer_parameters, 2.9, "streaming_diloco", evaluate="workers")
        self.check_fails(low_communication.outer_parameters, 3.3, "streaming_diloco", evaluate="workers")
        self.check_fails(low_communication.more_local_steps, 3.001, "diloco", sync_every=500)
        self.check_fails(low_communication.four_bits, 3.016, "streaming_diloco", codec="e3m0")
        self.check_fails(low_communication.sparse, 3.07, "sparseloco")
        self.check_fails(low_communication.late_momentum, 3.3, "async_diloco", outer_momentum=0)
        self.check_fails(low_communication.late_momentum, 3.05, "async_diloco", momentum="nesterov")


if __name__ == "__main__":
    unittest.main()
