"""Transformer-base, as defined in TensorFlow's official models."""
from .profile import P100, Profile, Row, linear, matrix, norm, tie_head, time_by_flops

WIDTH, INNER, LAYERS, VOCABULARY = 512, 2048, 6, 33708
TOKENS, LENGTH = 4390, 30  # tokens of a batch, on each side; tokens of a sentence


def attention(name, positions):
    """The rows of four projections without biases. Scores and weighted sums are counted with the last projection."""
    flops = 2 * positions * WIDTH * WIDTH
    scores = 2 * 2 * positions * LENGTH * WIDTH
    return [
        matrix(f"{name}.{part}.weight", WIDTH * WIDTH, flops + extra_flops)
        for part, extra_flops in (("query", 0), ("key", 0), ("value", 0), ("output", scores))
    ]


def feed_forward(name, positions):
    return [
        *linear(name + ".filter", WIDTH, INNER, (0.0, 0.0), positions=positions),
        *linear(name + ".output", INNER, WIDTH, (0.0, 0.0), positions=positions),
    ]


def stack(name, parts):
    """The rows of an encoder's or decoder's layers. A normalisation precedes each sublayer and follows the last
    layer."""
    rows = []
    for index in range(LAYERS):
        for part, rows_of_part in parts:
            sublayer = f"{name}.layer.{index}.{part}"
            rows += norm(sublayer + ".layer_norm", WIDTH) + rows_of_part(sublayer, TOKENS)
    return rows + norm(name + ".layer_norm", WIDTH)


def transformer_base():
    rows = [Row("embedding_and_softmax.weight", VOCABULARY * WIDTH)]
    rows += stack("encoder", [("self_attention", attention), ("feed_forward", feed_forward)])
    rows += stack(
        "decoder",
        [
            ("self_attention", attention),
            ("encdec_attention", attention),
            ("feed_forward", feed_forward),
        ],
    )
    time_by_flops(rows)
    tie_head(rows, 2 * TOKENS * WIDTH * VOCABULARY)
    return Profile(
        "transformer_base",
        "P100",
        TOKENS,
        0.3,
        [
            "shapes: Transformer, base (arXiv 1706.03762), without biases in attention, one embedding"
            " of 33,708 subwords for both languages and the softmax, a normalisation before each"
            " sublayer, as in TensorFlow's official models: 61,362,176 parameters, those of"
            " WAGMA-SGD's Transformer (arXiv 2005.00124)",
            "FLOPs: of these shapes",
            "step time: rescaled to 0.3 s, the mean of wmt17_transformer (docs/machines.md), the run"
            " times of a batch of at most 8,192 tokens on a P100 in a figure of WAGMA-SGD (digitised)",
            "batch: in tokens; 14.6 thousand tokens/s, half-way between 14.0 and 15.2, the lines"
            " without communication at 64 and 16 workers in a figure of WAGMA-SGD (digitised), take"
            " 0.3 s for 4,390",
        ],
        [
            "time goes to layers by their FLOPs, backward twice as long as forward: no profile of the"
            " layers is public",
            "a batch has as many tokens of the source as of the target; a sentence has 30, which"
            " decides but attention's share of the FLOPs",
            "the softmax takes its time at the end of forward and the start of backward, before the"
            " gradient of the decoder's last normalisation; its FLOPs stand with the embedding, whose"
            " weights it shares, and whose gradient is complete last",
        ],
        rows,
        rates=P100,
    )
