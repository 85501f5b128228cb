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
    "llama_1b": (1_235_814_400, 16 * 9 + 2),  # safetensors of meta-llama/Llama-3.2-1B
    "llama_8b": (8_030_261_248, 32 * 9 + 3),  # safetensors of meta-llama/Llama-3.1-8B
    "ddppo": (8_476_421, 80),  # WAGMA-SGD
    "convnext_large": (197_767_336, 344),  # torchvision's documentation; layers of facebookresearch/ConvNeXt
    "diloco_measured": (30_846_720, 57),  # Adnan082/diloco-measured
    "intellect_1": (10_211_381_248, 42 + 2),  # PrimeIntellect/INTELLECT-1-Instruct, a row for each layer
}

# The models of Scaling Laws for DiLoCo (arXiv 2503.09799): layers, width, size of the feed-forward layers; their sizes.
DILOCO_SHAPES = {
    (6, 512, 2048): 35e6,
    (9, 768, 3072): 90e6,
    (12, 1024, 4096): 180e6,
    (15, 1280, 5120): 330e6,
    (18, 1536, 6144): 550e6,
    (24, 2048, 8192): 1.3e9,
    (30, 2560, 10240): 2.4e9,
    (36, 3072, 12288): 4e9,
    (48, 4096, 16384): 10e9,
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

    def test_llamas_have_the_parameters_of_their_configurations(self) -> None:
        """With config.json's hidden_size, intermediate_size, num_hidden_layers, num_attention_heads,
        num_key_value_heads and tie_word_embeddings; the vocabulary has 128,256 subwords."""
        for name, width, inner, layers, heads, shared_heads, tied, tokens in (
            ("llama_1b", 2048, 8192, 16, 32, 8, True, 16_384),
            ("llama_8b", 4096, 14336, 32, 32, 8, False, 16_384),
            ("intellect_1", 4096, 14336, 42, 32, 8, False, 128 * 8_192),
        ):
            with self.subTest(name):
                attention = 2 * width**2 + 2 * width * (width // heads) * shared_heads
                layer = attention + 3 * width * inner + 2 * width
                total = (1 if tied else 2) * 128_256 * width + layers * layer + width
                file = profile(name)
                self.assertEqual(sum(file.lengths()), total)
                # A token takes 6 FLOPs per weight of a product and 6 layers * width * context for attention to earlier
                # tokens; a tied embedding is the head's weight, an untied one is in no product.
                weights = layers * (attention + 3 * width * inner) + 128_256 * width
                flops = tokens * (6 * weights + 6 * layers * width * 8_192)
                self.assertEqual(file.total("forward_flops") + file.total("backward_flops"), flops)

    def test_time_of_llamas_is_that_of_the_measured_tokens(self) -> None:
        """torchtitan reports 39 % of 989 TFLOP/s with full attention and without the embedding, at 6,667 tokens/s."""
        file = profile("llama_8b")
        tokens_per_s = 16_384 / (file.total("forward_s") + file.total("backward_s"))
        self.assertAlmostEqual(tokens_per_s, 6_667, delta=0.01)
        counted = 6 * (8_030_261_248 - 128_256 * 4_096) + 12 * 32 * 4_096 * 8_192
        self.assertAlmostEqual(tokens_per_s * counted / 989e12, 0.39, delta=0.005)
        rates = []
        for name in ("llama_1b", "llama_8b"):
            file = profile(name)
            flops = file.total("forward_flops") + file.total("backward_flops")
            rates.append(flops / (file.total("forward_s") + file.total("backward_s")))
        self.assertAlmostEqual(rates[0] / rates[1], 1, places=6)

    def test_step_of_intellect_1_has_the_published_utilisation(self) -> None:
        """The report has 36.2 % of the peak on three continents, where 83 % of the time is computation, with FLOPs as
        torchtitan counts them."""
        file = profile("intellect_1")
        step_s = file.total("forward_s") + file.total("backward_s")
        self.assertAlmostEqual(step_s, 38 * 60 / 100, delta=0.02)  # without the optimizer
        self.assertEqual(len(file.rows), 42 + 2)
        counted = 6 * (10_211_381_248 - 128_256 * 4_096) + 12 * 42 * 4_096 * 8_192
        self.assertAlmostEqual(0.83 * 128 * 8_192 * counted / step_s / (8 * 989e12), 0.362, delta=0.002)

    def test_models_of_diloco_have_the_published_shapes_and_times(self) -> None:
        def parameters(layers: int, width: int, inner: int, vocabulary: int) -> int:
            return layers * (4 * width**2 + 2 * width * inner + 2 * width) + width + vocabulary * width

        for (layers, width, inner), size in DILOCO_SHAPES.items():
            self.assertAlmostEqual(parameters(layers, width, inner, 32_768) / size, 1, delta=0.05)
        for name, shape, step_s in (
            ("diloco_1b", (24, 2048, 8192, 32_000), 0.1),
            ("diloco_10b", (48, 4096, 16384, 32_768), 0.8),
            ("diloco_100b", (108, 9216, 36864, 32_000), 4.9),
        ):
            with self.subTest(name):
                file = profile(name)
                self.assertEqual(sum(file.lengths()), parameters(*shape))
                self.assertEqual(len(file.rows), shape[0] + 2)
                self.assertAlmostEqual(file.total("forward_s") + file.total("backward_s"), step_s, 9)
        # 25 billion tokens of two workers take 0.67 h at 0.1 s a step.
        self.assertAlmostEqual(25e9 / (2 * int(profile("diloco_1b").head["batch"])) * 0.1 / 3600, 0.67, delta=0.01)

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
