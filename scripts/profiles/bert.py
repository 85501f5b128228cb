"""BERT-Large and BERT-Base."""
from .profile import Profile, Row, V100, flops_of, linear, norm


# Times of one block on a V100, fp32, in ms: (forward, backward) by the number of sequences of 128 tokens, as measured
# in github.com/Shigangli/Chimera (arXiv 2107.06925), prof/bert-*_time_memory_*.csv.
MEASURED_LENGTH = 128
LARGE_BLOCK = {
    1: (1.31, 1.24),
    8: (2.90, 4.55),
    16: (5.44, 8.60),
    32: (10.39, 16.28),
    64: (19.98, 32.29),
}
BASE_BLOCK = {8: (1.98, 2.83), 32: (6.07, 9.73), 64: (12.05, 19.17)}


def backward_over_forward(block, tokens):
    """The backward time of a block over its forward time, interpolated between the measured numbers of sequences."""
    sequences = tokens / MEASURED_LENGTH
    below = max(n for n in block if n <= sequences)
    above = min(n for n in block if n > sequences)
    share = (sequences - below) / (above - below)
    forward, backward = (a + share * (b - a) for a, b in zip(block[below], block[above]))
    return backward / forward


def encoder(hidden, layers, tokens, length, backward):
    """The rows of embeddings and blocks. A block's time is divided among its weights by their sizes.

    Backward takes `backward` times as long as forward.
    """
    vocabulary, positions = 30522, 512
    # FLOPs of scores and weighted sums; every token attends to every token of its sample.
    attention = 2 * 2 * tokens * length * hidden

    def block_part(name, inputs, outputs, extra_flops=0):
        work = inputs * outputs  # multiply-adds per token
        return linear(name, inputs, outputs, (work, backward * work), positions=tokens, extra_flops=extra_flops)

    rows = [
        Row("embeddings.word_embeddings.weight", vocabulary * hidden),
        Row("embeddings.position_embeddings.weight", positions * hidden),
        Row("embeddings.token_type_embeddings.weight", 2 * hidden),
        *norm("embeddings.LayerNorm", hidden),
    ]
    for index in range(layers):
        block = f"encoder.layer.{index}."
        for part in ("query", "key", "value"):
            rows += block_part(block + "attention.self." + part, hidden, hidden)
        rows += block_part(block + "attention.output.dense", hidden, hidden, attention)
        rows += norm(block + "attention.output.LayerNorm", hidden)
        rows += block_part(block + "intermediate.dense", hidden, 4 * hidden)
        rows += block_part(block + "output.dense", 4 * hidden, hidden)
        rows += norm(block + "output.LayerNorm", hidden)
    return rows


LENGTH = 384


def source_of_blocks(name, block, tokens):
    return (
        f"backward: {backward_over_forward(block, tokens):.3f} times forward, as in a block of {name}"
        f" on a V100, fp32, with as many tokens in {tokens // MEASURED_LENGTH} sequences of"
        f" {MEASURED_LENGTH}, on the line between its measured times (github.com/Shigangli/Chimera,"
        " prof/; arXiv 2107.06925)"
    )


ASSUMED_OF_BLOCKS = [
    "within a block, time goes to the weight matrices in proportion to their sizes, in either pass",
    f"with sequences of {LENGTH} tokens, a block's backward takes as many times its forward as with as many"
    f" tokens in sequences of {MEASURED_LENGTH}",
]


def bert_large():
    hidden, batch = 1024, 6
    tokens = batch * LENGTH
    backward = backward_over_forward(LARGE_BLOCK, tokens)
    rows = encoder(hidden, 24, tokens, LENGTH, backward)
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
            source_of_blocks("BERT-Large", LARGE_BLOCK, tokens),
        ],
        [
            "all 24 blocks take the same time; embeddings and head take none",
            *ASSUMED_OF_BLOCKS,
            "the step whose time was measured had sequences of 384 tokens, too",
            "gradients complete in the reverse order of the rows, embeddings last",
        ],
        rows,
        rates=V100,
    )


def bert_base():
    hidden, batch = 768, 12
    tokens = batch * LENGTH
    backward = backward_over_forward(BASE_BLOCK, tokens)
    rows = encoder(hidden, 12, tokens, LENGTH, backward)
    rows += linear("pooler.dense", hidden, hidden, (0.0, 0.0), positions=batch)
    large = bert_large()
    step_s = large.step_s * flops_of(rows) / flops_of(large.rows)
    return Profile(
        "bert_base",
        "V100",
        batch,
        step_s,
        [
            "shapes: BERT-Base, uncased (arXiv 1810.04805), with its pooler and no head; names as in"
            " Hugging Face Transformers",
            "FLOPs: of these shapes, with 12 sequences of 384 tokens, the largest batch of that length"
            " that google-research/bert has for 12 GB (its README)",
            "step time: of its FLOPs at the rate that a V100 has with bert_large",
            source_of_blocks("BERT-Base", BASE_BLOCK, tokens),
        ],
        [
            f"a V100 has the rate with BERT-Base that it has with BERT-Large: a step takes {step_s:.4f}"
            " s, which nobody has published",
            "all 12 blocks take the same time; embeddings and pooler take none",
            *ASSUMED_OF_BLOCKS,
            "gradients complete in the reverse order of the rows, embeddings last",
        ],
        rows,
        rates=V100,
    )
