"""ConvNeXt-Large, an image classifier (Liu et al., arXiv 2201.03545)."""
from .profile import Profile, Row, linear, matrix, norm, time_by_flops

DEPTHS, WIDTHS, CLASSES = (3, 3, 27, 3), (192, 384, 768, 1536), 1000
SIDE, BATCH = 224, 128
SAMPLES_PER_S = 70.1 / 2  # of one machine


def convnext_large():
    rows = []

    def convolution(name, inputs, outputs, kernel, positions, groups=1, first=False):
        numel = inputs // groups * outputs * kernel**2
        return [matrix(name + ".weight", numel, 2 * numel * positions, first=first), Row(name + ".bias", outputs)]

    def product(name, inputs, outputs, positions):
        return linear(name, inputs, outputs, (0.0, 0.0), positions=positions)

    for stage, (depth, width) in enumerate(zip(DEPTHS, WIDTHS)):
        positions = BATCH * (SIDE // 4 // 2**stage) ** 2
        start = f"downsample_layers.{stage}."
        if stage == 0:
            rows += convolution(start + "0", 3, width, 4, positions, first=True) + norm(start + "1", width)
        else:
            rows += norm(start + "0", WIDTHS[stage - 1])
            rows += convolution(start + "1", WIDTHS[stage - 1], width, 2, positions)
        for index in range(depth):
            block = f"stages.{stage}.{index}."
            rows += [Row(block + "gamma", width)]
            rows += convolution(block + "dwconv", width, width, 7, positions, groups=width)
            rows += norm(block + "norm", width)
            rows += product(block + "pwconv1", width, 4 * width, positions)
            rows += product(block + "pwconv2", 4 * width, width, positions)
    rows += norm("norm", WIDTHS[-1]) + product("head", WIDTHS[-1], CLASSES, BATCH)
    return Profile(
        "convnext_large",
        "T4",
        BATCH,
        BATCH / SAMPLES_PER_S,
        [
            "shapes: facebookresearch/ConvNeXt, models/convnext.py; 197,767,336 parameters, as torchvision"
            " documents for convnext_large",
            "FLOPs: 34.36e9 multiply-adds per image of 224 x 224 pixels forward, as torchvision documents",
            "step time: 70.1 samples/s on two machines with one T4 each in one region (Isenko et al., arXiv"
            " 2306.03163), half of it per machine; hivemind's overhead is part of it",
        ],
        [
            "mini-batches of 128 samples; that averages took no time of the 467 s of a step of these two machines",
            "time goes to layers by their FLOPs, backward twice as long as forward",
        ],
        time_by_flops(rows),
    )
