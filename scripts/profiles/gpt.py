"""The smallest GPT-2."""
from .profile import A100, Profile, Row, linear, norm, tie_head, time_by_flops


def gpt2():
    width, layers, vocabulary, positions = 768, 12, 50257, 1024
    batch = 12
    tokens = batch * positions
    # FLOPs of scores and weighted sums; every token attends to all tokens before it, which are half of all pairs.
    attention = 2 * 2 * tokens * positions * width // 2
    none = (0.0, 0.0)
    rows = [
        Row("wte.weight", vocabulary * width),
        Row("wpe.weight", positions * width),
    ]
    for index in range(layers):
        block = f"h.{index}."
        rows += norm(block + "ln_1", width)
        rows += linear(block + "attn.c_attn", width, 3 * width, none, positions=tokens)
        rows += linear(
            block + "attn.c_proj", width, width, none, positions=tokens, extra_flops=attention
        )
        rows += norm(block + "ln_2", width)
        rows += linear(block + "mlp.c_fc", width, 4 * width, none, positions=tokens)
        rows += linear(block + "mlp.c_proj", 4 * width, width, none, positions=tokens)
    rows += norm("ln_f", width)
    time_by_flops(rows)
    tie_head(rows, 2 * tokens * width * vocabulary)
    return Profile(
        "gpt2",
        "A100",
        batch,
        0.135,
        [
            "shapes: GPT-2, 124M (Radford et al., 2019), the head shares the embedding; names as in"
            " Hugging Face Transformers",
            "FLOPs: of these shapes, with 12 sequences of 1,024 tokens, attention to what is before",
            "step time: rescaled to 135 ms, an iteration of 12 sequences of 1,024 tokens on an A100"
            " of 40 GB with torch.compile (README of karpathy/nanoGPT; 250 ms without)",
        ],
        [
            "that iteration computed in bfloat16, which nanoGPT chooses by itself where it can",
            "that iteration is forward and backward alone (it has an optimizer's step, too)",
            "time goes to layers by their FLOPs, backward twice as long as forward: no profile of the"
            " layers is public",
            "the head takes its time at the end of forward and the start of backward, before the"
            " gradient of the last normalisation; its FLOPs stand with the embedding, whose weights"
            " it shares, and whose gradient is complete last",
        ],
        rows,
        rates=A100,
    )
