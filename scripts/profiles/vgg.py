"""VGG16."""
from .profile import Profile, V100, linear


def vgg16():
    # (index in torchvision's `features`, inputs, outputs, (forward, backward) of the convolution,
    #  (forward, backward) of the ReLU and max-pooling after it), in ms at batch 128.
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
    # (index in `classifier`, inputs, outputs, times of the layer, times of the ReLU after it)
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
        rates=V100,
    )
