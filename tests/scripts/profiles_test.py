#!/usr/bin/env python3
"""Compares configs/profiles/*.csv with published numbers, independently of the script that writes the files."""

from __future__ import annotations

import csv
import pathlib
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "configs" / "profiles"

# Number of parameters and of tensors.
PUBLISHED = {
    "vgg16": (138_357_544, 32),
    "resnet50": (25_559_081, 161),  # WAGMA-SGD (arXiv 2005.00124), 1,001 classes
    "bert_base": (109_482_240, 199),
    "transformer_base": (61_362_176, 185),  # WAGMA-SGD
    "lstm_alexnet": (61_100_840 + 66_034_000, 16 + 11),
    "gpt2": (124_439_808, 148),
    "ddppo": (8_476_421, 80),  # WAGMA-SGD
    "diloco_measured": (30_846_720, 57),  # Adnan082/diloco-measured
}

# Lengths of ResNet-50's gradients in the order of WAGMA-SGD's code, block by block.
FIRST = [1001, 2048 * 1001]
LAST = [64, 64, 9408]
STAGES = [
    ([2048, 2048, 1048576, 512, 512, 2359296, 512, 512], 1048576, 524288, 2097152, 3),
    ([1024, 1024, 262144, 256, 256, 589824, 256, 256], 262144, 131072, 524288, 6),
    ([512, 512, 65536, 128, 128, 147456, 128, 128], 65536, 32768, 131072, 4),
    ([256, 256, 16384, 64, 64, 36864, 64, 64], 16384, 4096, 16384, 3),
]


class ProfileFile:
    def __init__(self, path: pathlib.Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        pairs = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
        self.head = {key: value for key, value in pairs}
        self.sources = [value for key, value in pairs if key == "source"]
        self.assumed = [value for key, value in pairs if key == "assumed"]
        self.rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))

    def lengths(self) -> list[int]:
        return [int(row["numel"]) for row in self.rows]

    def total(self, column: str) -> float:
        return sum(float(row[column]) for row in self.rows)

    def ready_at(self, fraction: float) -> float:
        """The share of the gradient that is complete after a given share of the backward pass."""
        spent = ready = 0.0
        for row in reversed(self.rows):
            spent += float(row["backward_s"])
            if spent > fraction * self.total("backward_s"):
                break
            ready += int(row["numel"])
        return ready / sum(self.lengths())


def profile(name: str) -> ProfileFile:
    return ProfileFile(FOLDER / (name + ".csv"))


class Profiles(unittest.TestCase):
    def test_parameters_and_tensors(self) -> None:
        for name, (parameters, tensors) in PUBLISHED.items():
            with self.subTest(name):
                self.assertEqual(sum(profile(name).lengths()), parameters)
                self.assertEqual(len(profile(name).rows), tensors)

    def test_every_file_says_where_its_numbers_come_from_and_what_is_assumed(self) -> None:
        for path in sorted(FOLDER.glob("*.csv")):
            with self.subTest(path.name):
                file = ProfileFile(path)
                self.assertEqual(file.head["name"], path.stem)
                self.assertIn("accelerator", file.head)
                self.assertTrue(any(s.startswith("shapes: ") for s in file.sources))
                self.assertTrue(any(s.startswith("FLOPs: ") for s in file.sources))
                self.assertTrue(file.assumed)
                for column in ("forward_s", "backward_s"):
                    self.assertAlmostEqual(file.total(column), float(file.head[column]), places=9)

    def test_resnet50s_gradients_have_the_published_order(self) -> None:
        expected = list(FIRST)
        for common, later_input, first_input, shortcut, blocks in STAGES:
            expected += (common + [later_input]) * (blocks - 1)
            width = common[0]
            expected += common + [first_input] + [width, width, shortcut]
        expected += LAST
        self.assertEqual(profile("resnet50").lengths()[::-1], expected)

    def test_resnet50_has_the_published_flops(self) -> None:
        """4.1e9 multiply-adds per image, of the variant that strides in 3 x 3 convolutions."""
        flops = profile("resnet50").total("forward_flops") / 128
        self.assertAlmostEqual(flops / 2 / 4.09e9, 1, delta=0.01)

    def test_resnet50_has_pipedreams_shape(self) -> None:
        """Forward takes 182.5 ms and backward 260.9 ms. The gradient becomes ready as in PipeDream's profile."""
        file = profile("resnet50")
        self.assertAlmostEqual(file.total("backward_s") / file.total("forward_s"), 260.9 / 182.5, 3)
        self.assertAlmostEqual(file.total("forward_s") + file.total("backward_s"), 128 / 208, 3)
        for fraction, ready in (
            (0.05, 0.214), (0.1, 0.430), (0.2, 0.699), (0.3, 0.807), (0.5, 0.954), (0.7, 0.991)
        ):
            # The share grows in steps of up to 0.09, the share of the largest tensor.
            self.assertAlmostEqual(file.ready_at(fraction), ready, delta=0.05)

    def test_flops_and_time_of_transformer(self) -> None:
        """Every weight takes 6 FLOPs per token; the embedding counts as the softmax."""
        file = profile("transformer_base")
        tokens = int(file.head["batch"])
        flops = file.total("forward_flops") + file.total("backward_flops")
        self.assertAlmostEqual(flops / (6 * 61_362_176 * tokens), 1, delta=0.02)
        self.assertAlmostEqual(tokens / (file.total("forward_s") + file.total("backward_s")),
                               14_600, delta=100)
        self.assertEqual(file.lengths()[0], 33_708 * 512)  # complete last

    def test_flops_of_gpt2(self) -> None:
        """A token takes 6 N + 6 layers * width * context FLOPs; attention to earlier tokens only halves the usual
        12."""
        file = profile("gpt2")
        flops = file.total("forward_flops") + file.total("backward_flops")
        weights = 124_439_808 - 1024 * 768
        expected = 12 * 1024 * (6 * weights + 6 * 12 * 768 * 1024)
        self.assertAlmostEqual(flops / expected, 1, delta=0.002)
        self.assertAlmostEqual(file.total("forward_s") + file.total("backward_s"), 0.135, 9)

    def test_flops_of_alexnet(self) -> None:
        """0.71e9 multiply-adds per image."""
        rows = [row for row in profile("lstm_alexnet").rows if row["tensor"].startswith("alexnet")]
        self.assertEqual(sum(int(row["numel"]) for row in rows), 61_100_840)
        flops = sum(int(row["forward_flops"]) for row in rows) / 128
        self.assertAlmostEqual(flops / 2 / 0.714e9, 1, delta=0.01)

    def test_bert_base_has_the_rate_of_bert_large(self) -> None:
        rates = []
        for name in ("bert_base", "bert_large"):
            file = profile(name)
            flops = file.total("forward_flops") + file.total("backward_flops")
            rates.append(flops / (file.total("forward_s") + file.total("backward_s")))
        self.assertAlmostEqual(rates[0] / rates[1], 1, places=6)

    def test_backward_over_forward_of_bert_equals_measured_blocks(self) -> None:
        """On a V100: 18 and 36 sequences of 128 tokens lie between the measured 16, 32 and 64."""
        large = (8.60 * 14 + 16.28 * 2) / (5.44 * 14 + 10.39 * 2)
        base = (9.73 * 28 + 19.17 * 4) / (6.07 * 28 + 12.05 * 4)
        for name, ratio, step_s in (("bert_large", large, 0.53), ("bert_base", base, None)):
            file = profile(name)
            forward_s, backward_s = file.total("forward_s"), file.total("backward_s")
            self.assertAlmostEqual(backward_s / forward_s, ratio, places=6)
            self.assertGreater(ratio, 1.57)
            self.assertLess(ratio, 1.70)
            if step_s is not None:
                self.assertAlmostEqual(forward_s + backward_s, step_s, places=9)

    def test_collecting_takes_nearly_all_of_ddppos_step(self) -> None:
        """The mean follows from the quartiles, range and clusters of the published figure, linear in between."""
        points = [(0, 1.7), (0.25, 1.78), (0.75, 1.87), (0.98, 2.0), (0.98, 4.3), (0.995, 5), (0.995, 9.5),
                  (0.9998, 14), (1, 43.5)]
        mean = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))
        step_s = profile("ddppo").total("forward_s") + profile("ddppo").total("backward_s")
        self.assertGreater(step_s, mean)
        self.assertLess(step_s, 1.05 * mean)


if __name__ == "__main__":
    unittest.main()
