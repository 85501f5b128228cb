#!/usr/bin/env python3
"""Writes configs/profiles/*.csv: layer-time profiles of models, from shapes and published times.

    scripts/make_profiles.py            rewrite the files
    scripts/make_profiles.py --check    exit 1 when a file differs from what would be written

A profile lists tensors in the order of the forward pass. Backward completes gradients in the
reverse order, spending `backward_s` of a row just before the gradient of that row is complete.

FLOPs are those of matrix products alone, a multiply and an add being two: of a convolution as the
product of its windows with its filters, and of attention also the scores and the weighted sums. The
backward pass has two products of the same size, for the gradients of weights and of inputs; the first
layer, whose input is the data, has one.
"""
import argparse
import pathlib
import sys
from dataclasses import dataclass, field

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "configs" / "profiles"


@dataclass
class Row:
    tensor: str
    numel: int
    forward: float = 0.0  # in any unit: profiles are rescaled to a step time
    backward: float = 0.0
    forward_flops: int = 0
    backward_flops: int = 0


@dataclass
class Profile:
    name: str
    accelerator: str
    batch: int
    step_s: float
    sources: list
    assumed: list
    rows: list = field(default_factory=list)

    def text(self):
        """The CSV file, its times rescaled so that forward and backward sum to `step_s`."""
        scale = self.step_s / sum(row.forward + row.backward for row in self.rows)
        total = {
            "forward_s": scale * sum(row.forward for row in self.rows),
            "backward_s": scale * sum(row.backward for row in self.rows),
        }
        lines = [f"# {key}: {getattr(self, key)}" for key in ("name", "accelerator", "batch")]
        lines += [f"# {key}: {value:.12g}" for key, value in total.items()]
        lines += [f"# source: {line}" for line in self.sources]
        lines += [f"# assumed: {line}" for line in self.assumed]
        lines.append("tensor,numel,forward_s,backward_s,forward_flops,backward_flops")
        lines += [
            f"{row.tensor},{row.numel},{scale * row.forward:.12g},{scale * row.backward:.12g}"
            f",{row.forward_flops},{row.backward_flops}"
            for row in self.rows
        ]
        return "\n".join(lines) + "\n"


def linear(name, inputs, outputs, layer, after=(0.0, 0.0), positions=0, more=0, first=False):
    """Weight and bias of a layer that took `layer` = (forward, backward).

    It is applied at `positions` of the batch; `more` are FLOPs of products without weights.

    `after` are the layers without parameters that follow. Their backward comes first, and the bias
    gradient, a sum over what they pass on, is complete with it.
    """
    flops = 2 * positions * inputs * outputs + more
    return [
        Row(name + ".weight", inputs * outputs, *layer, flops, flops if first else 2 * flops),
        Row(name + ".bias", outputs, *after),
    ]


def vgg16():
    # (index in torchvision's `features`, in, out, (forward, backward) of the convolution,
    #  (forward, backward) of the ReLU and max-pooling after it); ms at batch 128.
    convolutions = [
        (0, 3, 64, (22.307, 24.613), (4.446, 5.553)),
        (2, 64, 64, (46.201, 113.330), (4.455 + 3.795, 5.311 + 5.579)),
        (5, 64, 128, (15.155, 39.648), (2.359, 2.738)),
        (7, 128, 128, (22.062, 53.379), (2.513 + 2.211, 2.620 + 2.788)),
        (10, 128, 256, (10.814, 18.335), (1.377, 1.380)),
        (12, 256, 256, (17.458, 27.023), (1.640, 1.463)),
        (14, 256, 256, (14.245, 33.888), (1.549 + 1.169, 1.321 + 1.513)),
        (17, 256, 512, (9.249, 14.574), (1.026, 0.696)),
        (19, 512, 512, (15.359, 21.900), (0.848, 0.679)),
        (21, 512, 512, (11.775, 28.670), (0.881 + 0.802, 0.642 + 0.781)),
        (24, 512, 512, (5.608, 7.381), (0.784, 0.266)),
        (26, 512, 512, (4.070, 7.396), (0.463, 0.190)),
        (28, 512, 512, (4.042, 8.648), (0.455 + 0.553, 0.175 + 0.234)),
    ]
    # (index in `classifier`, in, out, of the layer, of the ReLU after it)
    classifiers = [
        (0, 512 * 7 * 7, 4096, (2.475, 4.575), (0.377, 0.030)),
        (3, 4096, 4096, (0.709, 0.734), (0.277, 0.032)),
        (6, 4096, 1000, (0.393, 0.548), (0.0, 0.0)),
    ]
    batch = 32
    side = {0: 224, 2: 224, 5: 112, 7: 112, 10: 56, 12: 56, 14: 56, 17: 28, 19: 28, 21: 28}
    rows = []
    for index, inputs, outputs, layer, after in convolutions:
        pixels = batch * side.get(index, 14) ** 2
        name = f"features.{index}"
        rows += linear(name, 9 * inputs, outputs, layer, after, pixels, first=index == 0)
    for index, inputs, outputs, layer, after in classifiers:
        rows += linear(f"classifier.{index}", inputs, outputs, layer, after, batch)
    return Profile(
        "vgg16",
        "V100",
        batch,
        0.1396,
        [
            "shapes: VGG configuration D (arXiv 1409.1556); names as in torchvision",
            "FLOPs: of these shapes, on images of 224 x 224 as in that paper",
            "relative times: PipeDream's VGG16 profile, PyTorch 19.05, fp32, batch 128, input"
            " excluded (github.com/msr-fiddle/pipedream,"
            " profiler/image_classification/profiles/vgg16/graph.txt)",
            "step time: rescaled to 0.1396 s, the compute-only step at batch 32 that follows from"
            " the linear-scaling line, 229.3 images/s per V100, in the VGG16 scaling figure of"
            " BAGUA's tutorials (digitised; BAGUA is arXiv 2107.01499)",
        ],
        [
            "the shape measured at batch 128 on a GPU that the profile does not name holds at batch"
            " 32 on a V100",
            "a bias gradient is complete once the ReLU and pooling after its layer are passed back",
        ],
        rows,
    )


def bert_large():
    hidden, layers, vocabulary, positions = 1024, 24, 30522, 512
    batch, length = 6, 384
    tokens = batch * length
    # Every token with every other of its sample: scores, and sums weighted by them.
    attention = 2 * 2 * tokens * length * hidden

    def block_part(name, inputs, outputs, more=0):
        work = inputs * outputs  # multiply-adds per token
        return linear(name, inputs, outputs, (work, 2 * work), positions=tokens, more=more)

    def layer_norm(name):
        return [Row(name + ".weight", hidden), Row(name + ".bias", hidden)]

    rows = [
        Row("embeddings.word_embeddings.weight", vocabulary * hidden),
        Row("embeddings.position_embeddings.weight", positions * hidden),
        Row("embeddings.token_type_embeddings.weight", 2 * hidden),
        *layer_norm("embeddings.LayerNorm"),
    ]
    for index in range(layers):
        block = f"encoder.layer.{index}."
        for part in ("query", "key", "value"):
            rows += block_part(block + "attention.self." + part, hidden, hidden)
        rows += block_part(block + "attention.output.dense", hidden, hidden, attention)
        rows += layer_norm(block + "attention.output.LayerNorm")
        rows += block_part(block + "intermediate.dense", hidden, 4 * hidden)
        rows += block_part(block + "output.dense", 4 * hidden, hidden)
        rows += layer_norm(block + "output.LayerNorm")
    rows += linear("qa_outputs", hidden, 2, (0.0, 0.0), positions=tokens)
    return Profile(
        "bert_large",
        "V100",
        batch,
        0.53,
        [
            "shapes: BERT-Large, uncased (arXiv 1810.04805), fine-tuned for SQuAD: no pooler, a"
            " question-answering head; names as in Hugging Face Transformers",
            "FLOPs: of these shapes, with sequences of 384 tokens, which google-research/bert uses to"
            " fine-tune for SQuAD (its README: max_seq_length=384)",
            "step time: rescaled to 0.53 s, the compute floor at batch 6 of the Async run, about"
            " 61 s per epoch of 115.3 steps whatever the bandwidth, in the BERT-Large bandwidth"
            " figure of BAGUA's tutorials (128 V100; digitised; BAGUA is arXiv 2107.01499)",
        ],
        [
            "all 24 blocks take the same time; embeddings and head take none",
            "within a block, time goes to the weight matrices in proportion to their sizes",
            "backward takes twice the time of forward",
            "the step whose time was measured had sequences of 384 tokens, too",
            "gradients complete in the reverse order of the rows, embeddings last",
        ],
        rows,
    )


def resnet20():
    """Small enough for networks of some Mbit/s; its time is no machine's, but one to be slept."""
    batch = 128

    def convolution(name, inputs, outputs, side):
        pixels = batch * side**2
        flops = 2 * pixels * 9 * inputs * outputs
        return Row(name + ".weight", 9 * inputs * outputs, flops, 2 * flops, flops, 2 * flops)

    rows = [convolution("conv1", 3, 16, 32)]
    rows[0].backward_flops //= 2
    inputs = 16
    for stage, (width, side) in enumerate(((16, 32), (32, 16), (64, 8)), start=1):
        for block in range(3):
            name = f"layer{stage}.{block}.conv"
            rows.append(convolution(name + "1", inputs, width, side))
            rows.append(convolution(name + "2", width, width, side))
            inputs = width
    rows += linear("linear", 64, 10, (0.0, 0.0), positions=batch)
    return Profile(
        "resnet20",
        "none",
        batch,
        0.06,
        [
            "shapes: ResNet-20 for CIFAR-10, with shortcuts that have no weights (arXiv 1512.03385,"
            " section 4.2)",
            "FLOPs: of these shapes, on images of 32 x 32 as in that paper",
        ],
        [
            "a step computes for 60 ms, by the FLOPs of the convolutions, backward twice as long as"
            " forward: nobody has measured it",
            "batch normalisation has no weights",
        ],
        rows,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    stale = []
    for profile in (vgg16(), bert_large(), resnet20()):
        path = FOLDER / (profile.name + ".csv")
        if not arguments.check:
            path.write_text(profile.text(), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != profile.text():
            stale.append(str(path))
    if stale:
        sys.exit("not what scripts/make_profiles.py writes: " + ", ".join(stale))


if __name__ == "__main__":
    main()
