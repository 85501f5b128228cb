"""ResNet-50, and ResNet-20 for small networks."""
from .profile import P100, Profile, linear, matrix, norm

# PipeDream's ResNet-50 profile at batch 128. For the stem and for each convolution of a block, there are the (forward,
# backward) times in ms of the convolution, of its normalisation, and of the ReLU after it, if there is one. The last
# entry of a stage's first block is the convolution and normalisation of the shortcut.
STEM = ((9.706, 4.551), (2.946, 3.113), (1.357 + 1.204, 1.534 + 2.498))  # with its max-pooling
BLOCKS = (
    (
        (
            ((0.754, 2.025), (1.780, 0.819), (1.259, 0.401)),
            ((2.340, 4.940), (1.696, 0.823), (0.493, 0.404)),
            ((1.713, 3.086), (2.064, 3.069), (2.685, 2.963)),
            ((1.455, 3.065), (2.045, 3.064)),
        ),
        (
            ((1.530, 3.778), (0.941, 0.824), (0.495, 0.418)),
            ((2.111, 4.938), (0.952, 0.832), (0.490, 0.417)),
            ((1.449, 3.107), (2.096, 3.066), (2.690, 2.957)),
        ),
        (
            ((1.283, 4.313), (0.959, 0.823), (0.520, 0.418)),
            ((2.055, 5.768), (0.972, 0.836), (0.516, 0.402)),
            ((1.478, 4.357), (2.172, 3.074), (2.686, 2.963)),
        ),
    ),
    (
        (
            ((2.610, 5.483), (1.297, 1.379), (0.757, 0.773)),
            ((2.603, 8.481), (0.572, 0.388), (0.402, 0.227)),
            ((1.458, 2.511), (1.238, 1.452), (1.428, 1.477)),
            ((2.571, 6.494), (1.238, 1.432)),
        ),
        (
            ((1.486, 2.439), (0.593, 0.377), (0.425, 0.234)),
            ((1.586, 2.241), (0.582, 0.377), (0.361, 0.213)),
            ((1.299, 2.491), (1.274, 1.447), (1.423, 1.476)),
        ),
        (
            ((1.276, 2.438), (0.563, 0.376), (0.358, 0.216)),
            ((1.369, 2.241), (0.545, 0.377), (0.354, 0.213)),
            ((1.308, 2.492), (1.230, 1.444), (1.524, 1.478)),
        ),
        (
            ((1.280, 3.601), (0.554, 0.378), (0.358, 0.224)),
            ((1.348, 2.616), (0.575, 0.376), (0.361, 0.214)),
            ((1.318, 2.796), (1.236, 1.442), (1.420, 1.476)),
        ),
    ),
    (
        (
            ((2.571, 4.911), (0.763, 0.787), (0.500, 0.404)),
            ((3.347, 7.438), (0.477, 0.248), (0.324, 0.125)),
            ((1.464, 2.412), (0.884, 0.774), (0.783, 0.737)),
            ((2.777, 6.668), (0.907, 0.769)),
        ),
        (
            ((1.635, 2.243), (0.507, 0.247), (0.319, 0.123)),
            ((1.510, 2.121), (0.470, 0.248), (0.319, 0.122)),
            ((1.265, 2.410), (1.546, 0.772), (0.793, 0.733)),
        ),
        (
            ((1.483, 2.245), (0.471, 0.247), (0.336, 0.123)),
            ((1.306, 2.121), (0.465, 0.247), (0.299, 0.123)),
            ((1.286, 2.409), (0.855, 0.776), (0.812, 0.736)),
        ),
        (
            ((1.453, 2.243), (0.442, 0.247), (0.294, 0.123)),
            ((1.425, 2.120), (0.434, 0.249), (0.297, 0.127)),
            ((1.266, 2.409), (0.856, 0.769), (0.789, 0.736)),
        ),
        (
            ((1.446, 2.241), (0.438, 0.246), (0.290, 0.126)),
            ((1.285, 2.134), (0.443, 0.246), (0.300, 0.143)),
            ((1.271, 2.409), (0.859, 0.772), (0.797, 0.738)),
        ),
        (
            ((1.473, 2.532), (0.509, 0.248), (0.326, 0.125)),
            ((1.297, 2.511), (0.453, 0.248), (0.342, 0.123)),
            ((1.267, 2.695), (0.854, 0.774), (0.792, 0.756)),
        ),
    ),
    (
        (
            ((2.557, 5.270), (0.582, 0.424), (0.359, 0.233)),
            ((3.001, 6.524), (0.383, 0.150), (0.280, 0.079)),
            ((1.698, 2.416), (0.531, 0.423), (0.476, 0.378)),
            ((2.467, 6.227), (0.535, 0.440)),
        ),
        (
            ((2.491, 2.422), (0.379, 0.147), (0.280, 0.090)),
            ((2.663, 2.049), (0.383, 0.148), (0.300, 0.079)),
            ((1.338, 2.413), (0.521, 0.444), (0.476, 0.378)),
        ),
        (
            ((1.553, 4.246), (0.379, 0.148), (0.286, 0.089)),
            ((1.268, 3.520), (0.399, 0.151), (0.275, 0.080)),
            ((1.333, 3.859), (0.520, 0.442), (0.473, 0.229)),
        ),
    ),
)
POOLING, CLASSIFIER = (0.636, 0.403), (0.422, 0.185)


def normalised_convolution(name, norm_name, kernel, inputs, outputs, pixels, times, first=False):
    """The rows of a convolution without bias and of its batch normalisation. `times` has the times of both, and perhaps
    of layers without parameters after them."""
    convolution, normalisation, *after = times
    flops = 2 * pixels * kernel**2 * inputs * outputs
    forward, backward = (sum(t) for t in zip(normalisation, *after))
    return [
        matrix(name + ".weight", kernel**2 * inputs * outputs, flops, convolution, first),
        *norm(norm_name, outputs, forward, backward),
    ]


def bottleneck(name, inputs, width, stride, side, batch, times):
    """The rows of a block: of the convolution of its shortcut, if it has one, and then of 1 x 1, 3 x 3 and 1 x 1
    convolutions."""
    before, after = batch * side**2, batch * (side // stride) ** 2
    one, three, last, *shortcut = times
    rows = []
    for t in shortcut:
        rows += normalised_convolution(
            name + ".downsample.0", name + ".downsample.1", 1, inputs, 4 * width, after, t
        )
    for index, (kernel, channels_in, channels_out, pixels, t) in enumerate(
        (
            (1, inputs, width, before, one),
            (3, width, width, after, three),
            (1, width, 4 * width, after, last),
        ),
        start=1,
    ):
        rows += normalised_convolution(
            f"{name}.conv{index}", f"{name}.bn{index}", kernel, channels_in, channels_out, pixels, t
        )
    return rows


def resnet50():
    batch, classes, side = 128, 1001, 56
    rows = normalised_convolution("conv1", "bn1", 7, 3, 64, batch * 112**2, STEM, first=True)
    inputs = 64
    for stage, (width, blocks) in enumerate(zip((64, 128, 256, 512), BLOCKS), start=1):
        for index, times in enumerate(blocks):
            stride = 2 if stage > 1 and index == 0 else 1
            rows += bottleneck(
                f"layer{stage}.{index}", inputs, width, stride, side, batch, times
            )
            side //= stride
            inputs = 4 * width
    forward, backward = (sum(t) for t in zip(POOLING, CLASSIFIER))
    # Each normalised channel has a mean and a variance, in f32.
    channels = sum(row.numel for row in rows if row.tensor.endswith(".bias"))
    rows += linear("fc", inputs, classes, (forward, backward), positions=batch)
    return Profile(
        "resnet50",
        "P100",
        batch,
        0.615,
        [
            "shapes: ResNet-50 (arXiv 1512.03385, table 1) with the 1,001 classes of TensorFlow's"
            " models, as WAGMA-SGD trained it (arXiv 2005.00124: 25,559,081 parameters); with 1,000"
            " classes it has 2,049 fewer; names as in torchvision",
            "order: of the gradients in that paper's code (Shigangli/WAGMA-SGD): of a block with a"
            " shortcut's convolution, that one comes last",
            "FLOPs: of these shapes, on images of 224 x 224 as in that paper",
            "relative times: PipeDream's ResNet-50 profile, PyTorch 19.05, fp32, batch 128, input"
            " excluded (github.com/msr-fiddle/pipedream,"
            " profiler/image_classification/profiles/resnet50/graph.txt)",
            "step time: rescaled to 0.615 s, of 208 images/s per P100, the line without communication"
            " and delays in WAGMA-SGD's ResNet-50 figure (digitised)",
        ],
        [
            "the shape measured on a GPU that the profile does not name holds on a P100, though its"
            " strides are those of torchvision's blocks, in the 3 x 3 convolutions",
            "that line is computation alone: Eager-SGD's paper has 1.56 steps/s, 0.641 s, on one P100"
            " with this batch (arXiv 1908.04207)",
            "gradients of a normalisation are complete once it and what follows it are passed back;"
            " average pooling takes its time with the classifier",
            "buffers: running means and variances of the normalisations alone; torchvision's counters of"
            " batches, 8 bytes each, are left out",
        ],
        rows,
        2 * 4 * channels,
        rates=P100,
    )


def resnet20():
    """A model that is small enough for networks of some Mbit/s. Nobody has measured its time; ranks sleep for it."""
    batch = 128

    def convolution(name, inputs, outputs, side):
        pixels = batch * side**2
        flops = 2 * pixels * 9 * inputs * outputs
        return matrix(name + ".weight", 9 * inputs * outputs, flops, (flops, 2 * flops))

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
