#!/usr/bin/env python3
"""Tests what scripts/language_model.py computes itself: the split of the lines and the loss of a unigram model."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import language_model  # noqa: E402


class Unigram(unittest.TestCase):
    def test_bytes_that_are_equally_frequent(self):
        # 3 letters and the end of the line: 2 bits each, as the counts outweigh the smoothing.
        self.assertAlmostEqual(2, language_model.unigram_bits([b"abc"] * 10**6, [b"cab", b"a"]), 3)

    def test_a_frequent_byte_costs_less(self):
        # 7 of 8 bytes are a, 1 of 8 is the end: (7 log2(8/7) + 3) / 8 bits.
        self.assertAlmostEqual(0.5436, language_model.unigram_bits([b"a" * 7] * 10**6, [b"a" * 7]), 3)

    def test_a_byte_that_was_never_seen_costs_much_but_not_infinitely(self):
        self.assertGreater(language_model.unigram_bits([b"a"] * 100, [b"zzzz"]), 5)


class Split(unittest.TestCase):
    def test_it_takes_one_line_in_so_many_whatever_their_order(self):
        lines = [b"line %d" % i for i in range(6400)]
        train, held_out = language_model.split(lines, 64)
        self.assertEqual(6400, len(train) + len(held_out))
        self.assertTrue(70 < len(held_out) < 130, len(held_out))
        self.assertEqual(set(held_out), set(language_model.split(lines[::-1], 64)[1]))


if __name__ == "__main__":
    unittest.main()
