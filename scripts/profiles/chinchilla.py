"""The models of 1, 10 and 100 billion parameters for which the papers about DiLoCo simulate training."""
from .profile import Profile, Row, flops_of, tie_head, time_by_flops

TOKENS = 2**19  # of a worker in a step

STREAMING = "Streaming DiLoCo (arXiv 2501.18512)"
SCALING = "Scaling Laws for DiLoCo (arXiv 2503.09799)"
SIMULATED = f"of pure computation in the simulation of {STREAMING}, Table 4"
SCALED = f"of pure computation in the simulation of {SCALING}, Table 6"


def decoder(width, layers, vocabulary, length):
    """The rows of a model, one for each layer: 4 projections of attention, 2 matrices of a feed-forward layer that is
    4 times as wide, and 2 normalisations."""
    weights = (4 + 2 * 4) * width**2
    # FLOPs of scores and weighted sums; every token attends to all tokens before it, which are half of all pairs.
    attention = 2 * 2 * TOKENS * length * width // 2
    flops = 2 * TOKENS * weights + attention
    rows = [Row("embedding", vocabulary * width)]
    rows += [
        Row(f"layers.{index}", weights + 2 * width, forward_flops=flops, backward_flops=2 * flops)
        for index in range(layers)
    ]
    rows += [Row("norm", width)]
    time_by_flops(rows)
    tie_head(rows, 2 * TOKENS * width * vocabulary)
    return rows


def model(name, step_s, shapes, step_time, batch, rows, assumed):
    rate = flops_of(rows) / step_s
    return Profile(
        name,
        "none",
        TOKENS,
        step_s,
        [f"shapes: {shapes}", "FLOPs: of these shapes, attention to what is before", f"step time: {step_time}"],
        [
            *assumed,
            f"batch: in tokens; {batch}",
            "the head shares the embedding, a layer has no biases, and a normalisation has one parameter for each"
            " feature; the sizes that Scaling Laws for DiLoCo gives for its shapes follow from this within 5 %",
            f"a worker is as many accelerators as compute {rate / 1e15:.0f} PFLOP/s together, and what they exchange"
            " among themselves takes no time; give the memory bandwidth that they have together in"
            " /cluster/accelerator, or the optimizer takes as long as on one accelerator",
            "time goes to layers by their FLOPs, backward twice as long as forward; the head takes its time at the end"
            " of forward and the start of backward, and its FLOPs stand with the embedding, whose gradient is complete"
            " last",
        ],
        rows,
    )


def diloco_1b():
    return model(
        "diloco_1b",
        0.1,
        f"{STREAMING}, Table 2: 24 layers, 32 heads, feed-forward layers of 8,192, 32,000 subwords; width 2,048, as in"
        f" the table of shapes of {SCALING} (1.3B)",
        f"0.1 s {SIMULATED}",
        "25 billion tokens in 0.67 h without communication (Table 1 of Streaming DiLoCo) are 1.04 million in a step of"
        f" 0.1 s, which is taken for 2^20, half of them on each of two workers: {TOKENS:,}",
        decoder(2048, 24, 32000, 1024),
        ["sequences have 1,024 tokens, as in that paper's experiments on C4"],
    )


def diloco_10b():
    return model(
        "diloco_10b",
        0.8,
        f"{SCALING}, table of shapes: 48 layers of width 4,096, 64 heads, feed-forward layers of 16,384, 32,768"
        " subwords, sequences of 2,048 tokens",
        f"0.8 s {SIMULATED}, and of Scaling Laws for DiLoCo, Table 6: of its FLOPs at 60 % of the peak of accelerators"
        " that the papers do not name",
        f"as many as in diloco_1b, {TOKENS:,}, with which both models compute as many FLOP/s within 5 %",
        decoder(4096, 48, 32768, 2048),
        [],
    )


def even(name, source, step_s, layers, numel, origin, simulation=SIMULATED):
    """Layers that all take the same time and have the same number of parameters, as the papers' simulations seem to
    assume."""
    rows = [Row(f"layers.{index}", numel, 1, 2) for index in range(layers)]
    return Profile(
        name,
        "none",
        TOKENS,
        step_s,
        [
            f"shapes: {layers} layers ({source})",
            "FLOPs: none are published, and none are needed",
            f"step time: {step_s} s {simulation}",
        ],
        [
            f"{numel:,} parameters in a layer, with 16 bits each, {origin}: {layers * numel * 16 / 1e9:g} Gbit for the"
            " model",
            "all layers take the same time, backward twice as long as forward",
            "batch: in tokens, as in diloco_1b",
        ],
        rows,
    )


FITTED = "the one number that is fitted to the bandwidths of Table 4"


def streaming_1b():
    return even("streaming_1b", f"{STREAMING}, Table 4", 0.1, 24, 35_000_000, FITTED)


def streaming_10b():
    return even("streaming_10b", f"{STREAMING}, Table 4", 0.8, 48, 175_000_000, FITTED)


def streaming_100b():
    origin = "84 % of the size in the model's name, which is what was fitted to the two smaller models"
    return even("streaming_100b", f"{STREAMING}, Table 4", 4.9, 108, 777_777_778, origin)


def scaling_10b():
    origin = "the one number that is fitted to the bandwidths of Table 6"
    return even("scaling_10b", f"{SCALING}, table of shapes", 0.8, 48, 150_000_000, origin, SCALED)


OF_NAME = "72 % of the size in the model's name, which is what was fitted to the model of 10 billion parameters"


def scaling_405b():
    return even("scaling_405b", "The Llama 3 Herd of Models, arXiv 2407.21783", 26, 126, 2_314_285_714, OF_NAME, SCALED)


def scaling_671b():
    return even("scaling_671b", "DeepSeek-V3, arXiv 2412.19437", 20, 61, 7_920_000_000, OF_NAME, SCALED)


def diloco_100b():
    return model(
        "diloco_100b",
        4.9,
        f"{STREAMING}, Table 4: 108 layers, 32,000 subwords as in its Table 2",
        f"4.9 s {SIMULATED}: of its FLOPs at 60 % of the peak of accelerators that the paper does not name",
        f"as many as in diloco_1b, {TOKENS:,}",
        decoder(9216, 108, 32000, 1024),
        [
            "width 9,216, 144 heads and feed-forward layers of 36,864, which nobody has published: the smaller models"
            " of both papers have 4 heads of 64 for every 3 layers. These are 110 billion parameters",
            "sequences have 1,024 tokens, as in that paper's experiments on C4",
        ],
    )
