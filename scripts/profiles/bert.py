"""BERT-Large and BERT-Base."""
from .profile import Profile, Row, flops_of, linear, norm


def encoder(hidden, layers, tokens, length):
    """Embeddings and blocks; a block's time goes to its weights by their sizes."""
    vocabulary, positions = 30522, 512
    # Every token with every other of its sample: scores, and sums weighted by them.
    attention = 2 * 2 * tokens * length * hidden

    def block_part(name, inputs, outputs, more=0):
        work = inputs * outputs  # multiply-adds per token
        return linear(name, inputs, outputs, (work, 2 * work), positions=tokens, more=more)

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
ASSUMED_OF_BLOCKS = [
    "within a block, time goes to the weight matrices in proportion to their sizes",
    "backward takes twice the time of forward",
]


def bert_large():
    hidden, batch = 1024, 6
    tokens = batch * LENGTH
    rows = encoder(hidden, 24, tokens, LENGTH)
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
        ],
        [
            "all 24 blocks take the same time; embeddings and head take none",
            *ASSUMED_OF_BLOCKS,
            "the step whose time was measured had sequences of 384 tokens, too",
            "gradients complete in the reverse order of the rows, embeddings last",
        ],
        rows,
    )


def bert_base():
    hidden, batch = 768, 12
    tokens = batch * LENGTH
    rows = encoder(hidden, 12, tokens, LENGTH)
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
        ],
        [
            f"a V100 has the rate with BERT-Base that it has with BERT-Large: a step takes {step_s:.4f}"
            " s, which nobody has published",
            "all 12 blocks take the same time; embeddings and pooler take none",
            *ASSUMED_OF_BLOCKS,
            "gradients complete in the reverse order of the rows, embeddings last",
        ],
        rows,
    )
