"""The language model of the project diloco-measured, which measured training over links of limited bandwidth."""
from .profile import Profile, Row, matrix, time_by_flops

WIDTH, INNER, LAYERS, VOCABULARY = 256, 768, 6, 50257
SEQUENCES, LENGTH = 4, 512
OPTIMISER_S = 0.0010  # time of Adam's step
ROTATIONS = LAYERS * 8 * 2**20  # bytes of cached rotations


def diloco_measured():
    return profile("diloco_measured", 0.0266, "26.6 ms of computation in a step of DiLoCo")


def diloco_measured_ddp():
    return profile(
        "diloco_measured_ddp", 0.02165, "20.7 to 22.6 ms of computation in a step of DDP, half-way"
    )


def profile(name, step_s, measured):
    tokens = SEQUENCES * LENGTH

    def product(name, inputs, outputs, extra_flops=0):
        return matrix(name, inputs * outputs, 2 * tokens * inputs * outputs + extra_flops)

    # FLOPs of scores and weighted sums; every token attends to all tokens before it, which are half of all pairs.
    attention = 2 * 2 * tokens * LENGTH * WIDTH // 2
    rows = [Row("embedding.weight", VOCABULARY * WIDTH)]
    for index in range(LAYERS):
        block = f"layers.{index}."
        rows += [Row(block + "attention_norm.weight", WIDTH)]
        rows += [product(block + f"attention.w{part}.weight", WIDTH, WIDTH) for part in "qkv"]
        rows += [product(block + "attention.wo.weight", WIDTH, WIDTH, extra_flops=attention)]
        rows += [Row(block + "ffn_norm.weight", WIDTH)]
        rows += [product(block + f"ffn.{part}.weight", WIDTH, INNER) for part in ("w1", "w3")]
        rows += [product(block + "ffn.w2.weight", INNER, WIDTH)]
    rows += [Row("norm.weight", WIDTH), product("output.weight", WIDTH, VOCABULARY)]
    time_by_flops(rows)
    return Profile(
        name,
        "L40S",
        tokens,
        step_s - OPTIMISER_S,
        [
            "shapes: 30,846,720 parameters (Adnan082/diloco-measured at 07b7885), which is that of 6"
            " layers of width 256 with gated feed-forward layers of 768, normalised by root mean"
            " squares, without biases, and 50,257 subwords with an embedding and a head of their own;"
            " buckets of 25 MB come out as 51 and 72 MB then, as measured there",
            "FLOPs: of these shapes, with 4 sequences of 512 tokens, attention to what is before",
            f"step time: {measured} (the same), less the optimiser's",
            "buffers: 50.3 MB, a cache of rotations of 8.39 MB in each layer (the same)",
        ],
        [
            "Adam's step takes 1.0 ms of it: what the simulator charges for it at 864 GB/s, the"
            " L40S's memory bandwidth (NVIDIA L40S data sheet)",
            "time goes to layers by their FLOPs, backward twice as long as forward: no profile of the"
            " layers is public",
        ],
        rows,
        buffers=ROTATIONS,
    )
