"""Llama 3.2 1B and Llama 3.1 8B."""
from .profile import H100, Profile, Row, flops_of, matrix, tie_head, time_by_flops

VOCABULARY = 128256
SEQUENCES, LENGTH = 2, 8192  # of the measured step
TOKENS = SEQUENCES * LENGTH
MEASURED_TOKENS_PER_S = 6667  # of Llama 3.1 8B, per H100


def decoder(width, inner, layers, heads, key_value_heads, tied):
    """The rows of a model. `width` is split among `heads`; groups of heads share a head of keys and values."""
    key_value_width = width // heads * key_value_heads
    # FLOPs of scores and weighted sums; every token attends to all tokens before it, which are half of all pairs.
    attention = 2 * 2 * TOKENS * LENGTH * width // 2

    def product(name, inputs, outputs, extra_flops=0):
        return matrix(name + ".weight", inputs * outputs, 2 * TOKENS * inputs * outputs + extra_flops)

    rows = [Row("model.embed_tokens.weight", VOCABULARY * width)]
    for index in range(layers):
        layer = f"model.layers.{index}."
        rows += [
            Row(layer + "input_layernorm.weight", width),
            product(layer + "self_attn.q_proj", width, width),
            product(layer + "self_attn.k_proj", width, key_value_width),
            product(layer + "self_attn.v_proj", width, key_value_width),
            product(layer + "self_attn.o_proj", width, width, extra_flops=attention),
            Row(layer + "post_attention_layernorm.weight", width),
            product(layer + "mlp.gate_proj", width, inner),
            product(layer + "mlp.up_proj", width, inner),
            product(layer + "mlp.down_proj", inner, width),
        ]
    rows += [Row("model.norm.weight", width)]
    if not tied:
        rows += [product("lm_head", width, VOCABULARY)]
    time_by_flops(rows)
    if tied:
        tie_head(rows, 2 * TOKENS * width * VOCABULARY)
    return rows


def rows_of_8b():
    return decoder(4096, 14336, layers=32, heads=32, key_value_heads=8, tied=False)


STEP_OF_8B_S = TOKENS / MEASURED_TOKENS_PER_S
RATE = flops_of(rows_of_8b()) / STEP_OF_8B_S  # FLOP/s of an H100 with Llama 3.1 8B
UTILISATION = f"{RATE / 989e12:.1%}".replace("%", " %")

FLOPS = f"FLOPs: of these shapes, with {SEQUENCES} sequences of {LENGTH:,} tokens, attention to what is before"
MEASURED = (
    f"{MEASURED_TOKENS_PER_S:,} tokens/s of Llama 3.1 8B on each of 8 H100 with {SEQUENCES} sequences, bfloat16,"
    " FSDP and torch.compile (pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md, Table 1)"
)
ASSUMED_OF_STEP = [
    "an H100 SXM takes this time; those measured had 2.4 TB/s and a limit of 500 W, and torchtitan too takes 989"
    " TFLOP/s for their peak, of which it reports 39 %, counting attention to all tokens",
    f"the measured sequences had {LENGTH:,} tokens, with which those 39 % follow from the measured tokens/s",
    "that step is forward and backward alone (it has an optimizer's step, some activations that are computed twice, and"
    " FSDP's exchange within a node, too)",
]
ASSUMED_OF_LAYERS = (
    "time goes to layers by their FLOPs, backward twice as long as forward: no profile of the layers is public"
)


def llama_8b():
    return Profile(
        "llama_8b",
        "H100",
        TOKENS,
        STEP_OF_8B_S,
        [
            "shapes: Llama 3.1 8B (arXiv 2407.21783; config.json of meta-llama/Llama-3.1-8B): 32 layers of width"
            " 4,096, 32 heads of queries and 8 of keys and values, gated feed-forward layers of 14,336, 128,256"
            " subwords with an embedding and a head of their own; names as in Hugging Face Transformers",
            FLOPS,
            f"step time: {TOKENS:,} tokens at {MEASURED}",
            f"batch: in tokens, {SEQUENCES} sequences as measured there",
        ],
        [
            *ASSUMED_OF_STEP,
            "a worker is one accelerator that holds the whole model with gradients and optimizer; the measured run"
            " divided them among 8, as 8 billion parameters with Adam's state in f32 do not fit",
            ASSUMED_OF_LAYERS,
        ],
        rows_of_8b(),
        rates=H100,
    )


def llama_1b():
    rows = decoder(2048, 8192, layers=16, heads=32, key_value_heads=8, tied=True)
    step_s = flops_of(rows) / RATE
    return Profile(
        "llama_1b",
        "H100",
        TOKENS,
        step_s,
        [
            "shapes: Llama 3.2 1B (config.json of meta-llama/Llama-3.2-1B): 16 layers of width 2,048, 32 heads of"
            " queries and 8 of keys and values, gated feed-forward layers of 8,192, 128,256 subwords, the head shares"
            " the embedding; names as in Hugging Face Transformers",
            FLOPS,
            f"step time: of its FLOPs at the rate that an H100 has with llama_8b, {MEASURED}",
            "batch: in tokens, as many as in llama_8b",
        ],
        [
            f"an H100 has the rate with Llama 3.2 1B that it has with Llama 3.1 8B, {UTILISATION} of 989 TFLOP/s with"
            f" these FLOPs: a step takes {step_s:.4f} s, which nobody has published",
            *ASSUMED_OF_STEP,
            ASSUMED_OF_LAYERS,
            "the head takes its time at the end of forward and the start of backward, before the gradient of the last"
            " normalisation; its FLOPs stand with the embedding, whose weights it shares, and whose gradient is"
            " complete last",
        ],
        rows,
        rates=H100,
    )
