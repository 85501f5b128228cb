#!/usr/bin/env python3
"""Tests what scripts/loading.py computes itself: the distribution of sums of lengths, and the mean of the largest."""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import loading  # noqa: E402


class Prediction(unittest.TestCase):
    def test_sums_of_two_lengths(self):
        self.assertEqual([0, 0, 0.25, 0, 0.5, 0, 0.25], loading.distribution([1, 3], 2))

    def test_the_largest_of_equally_likely_numbers(self):
        # Of n throws of a die, the largest is above x with probability 1 - (x / 6)^n.
        die = loading.distribution([1, 2, 3, 4, 5, 6], 1)
        for throws in (1, 2, 8):
            self.assertAlmostEqual(sum(1 - (x / 6) ** throws for x in range(6)), loading.expected_maximum(die, throws))

    def test_equal_lengths_leave_nobody_idle(self):
        self.assertAlmostEqual(0, loading.predicted_idle_share([7, 7, 7], 4, 8))

    def test_it_agrees_with_draws(self):
        lengths, draw = [10, 20, 90, 100, 300], random.Random(1)
        largest = 0
        for _ in range(20000):
            largest += max(sum(draw.choices(lengths, k=3)) for _ in range(5)) / 20000
        self.assertAlmostEqual(1 - 3 * 104 / largest, loading.predicted_idle_share(lengths, 3, 5), 2)

    def test_the_largest_of_uniform_times(self):
        # The mean of the largest of n uniform numbers on [0, 1] is n / (n + 1).
        uniform = loading.quartiles(0, 0.25, 0.5, 0.75, 1)
        self.assertAlmostEqual(1 - 0.5 / (8 / 9), loading.idle_share_of_quantiles(uniform, 8), 6)

    def test_bounded_times_have_their_mean_and_their_bounds(self):
        quantile = loading.bounded(1, 1e9, 3, 1.5)
        self.assertAlmostEqual(3, sum(quantile((i + 0.5) / 10**5) for i in range(10**5)) / 10**5, 2)
        self.assertEqual(4, loading.bounded(1, 4, 3, 1.5)(0.99))


if __name__ == "__main__":
    unittest.main()
