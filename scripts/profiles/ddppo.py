"""The network of DD-PPO on Habitat."""
from .profile import Profile, Row, flops_of, linear, matrix, norm, time_by_flops

FRAMES = 256  # frames of an iteration, from 2 environments
COLLECTING_S = 1.92445  # time to collect the frames: the mean of the distribution habitat_ddppo
RATE = 0.4 * 9.3e12  # FLOP/s of a P100 at 40 % of its peak


def convolution(name, kernel, inputs, outputs, side, first=False):
    flops = 2 * FRAMES * side**2 * kernel**2 * inputs * outputs
    return [matrix(name + ".weight", kernel**2 * inputs * outputs, flops, first=first)]


def encoder():
    """A ResNet-18 of half the usual width, for depth images of 256 x 256 pixels that are averaged over 2 x 2 pixels."""
    rows = convolution("backbone.conv1.0", 7, 1, 32, 64, first=True) + norm("backbone.conv1.1", 32)
    inputs, side = 32, 32
    for stage, width in enumerate((32, 64, 128, 256), start=1):
        for block in range(2):
            name = f"backbone.layer{stage}.{block}"
            side //= 2 if stage > 1 and block == 0 else 1
            rows += convolution(name + ".convs.0", 3, inputs, width, side)
            rows += norm(name + ".convs.1", width)
            rows += convolution(name + ".convs.3", 3, width, width, side)
            rows += norm(name + ".convs.4", width)
            if inputs != width:
                rows += convolution(name + ".downsample.0", 1, inputs, width, side)
                rows += norm(name + ".downsample.1", width)
            inputs = width
    return rows + convolution("compression.0", 3, 256, 128, side) + norm("compression.1", 128)


def lstm(inputs, width):
    rows = []
    for layer, layer_inputs in enumerate((inputs, width)):
        for part, size in (("ih", layer_inputs), ("hh", width)):
            numel = 4 * width * size
            rows.append(matrix(f"state_encoder.rnn.weight_{part}_l{layer}", numel, 2 * FRAMES * numel))
        rows += [Row(f"state_encoder.rnn.bias_{p}_l{layer}", 4 * width) for p in ("ih", "hh")]
    return rows


def ddppo():
    actions, width, embedded, none = 4, 512, 32, (0.0, 0.0)
    rows = encoder()
    rows += linear("visual_fc.1", 128 * 4 * 4, width, none, positions=FRAMES)
    rows += linear("tgt_embedding", 3, embedded, none, positions=FRAMES)
    rows += [Row("prev_action_embedding.weight", (actions + 1) * embedded)]
    rows += lstm(width + 2 * embedded, width)
    rows += linear("action_distribution.linear", width, actions, none, positions=FRAMES)
    rows += linear("critic.fc", width, 1, none, positions=FRAMES)
    time_by_flops(rows)
    learning_s = flops_of(rows) / RATE
    rows[0].forward += COLLECTING_S * RATE
    return Profile(
        "ddppo",
        "P100",
        FRAMES,
        COLLECTING_S + learning_s,
        [
            "shapes: DD-PPO's agent for navigation (arXiv 1911.00357) as in habitat-baselines: a"
            " ResNet-18 of base width 32 with group normalisation, of one depth camera of 256 x 256,"
            " a goal of 3 numbers, 4 actions, an LSTM of 2 layers of 512: 8,476,421 parameters, those"
            " of WAGMA-SGD's DD-PPO (arXiv 2005.00124)",
            "FLOPs: of these shapes, one pass over the frames of an iteration, 128 from each of 2"
            " environments (WAGMA-SGD)",
            "step time: collecting takes 1.92 s, the mean of habitat_ddppo (docs/machines.md), read off"
            " a figure of WAGMA-SGD; it is the first row's forward time",
        ],
        [
            f"learning takes {learning_s:.4f} s: its FLOPs, backward twice as long as forward, at 40 %"
            " of the 9.3 TFLOP/s of a P100; nobody has published it, nor how long each layer takes",
            "one pass of learning over what an iteration collects, and one exchange of gradients",
            "the observation's mean and variance, which no gradient changes, are not exchanged",
        ],
        rows,
    )
