"""INTELLECT-1, a language model of 10 billion parameters that nodes of 8 H100 on three continents trained."""
from .llama import SEQUENCES, decoder
from .profile import H100, Profile, Rates, Row

LAYERS = 42
BATCH = 128  # sequences of a node's step
INNER_S, INNER_STEPS = 38 * 60, 100  # between two averages
OPTIMISER_S = 0.0111  # time of AdamW's step
EIGHT_H100 = Rates("7912TFLOP/s", "26800GB/s", f"8 times those of the {H100.source}")


def together(name, rows):
    """One row for several, with the FLOPs of the whole batch."""
    batches = BATCH // SEQUENCES
    forward = batches * sum(row.forward_flops for row in rows)
    backward = batches * sum(row.backward_flops for row in rows)
    return Row(name, sum(row.numel for row in rows), forward, backward, forward, backward)


def intellect_1():
    rows = decoder(4096, 14336, layers=LAYERS, heads=32, key_value_heads=8, tied=False)
    embedding, *layers, norm, head = rows
    size = len(layers) // LAYERS
    groups = [together("embedding", [embedding])]
    groups += [together(f"layers.{i}", layers[i * size : (i + 1) * size]) for i in range(LAYERS)]
    groups += [together("head", [norm, head])]
    return Profile(
        "intellect_1",
        "8 H100",
        BATCH * 8192,
        INNER_S / INNER_STEPS - OPTIMISER_S,
        [
            "shapes: config.json of PrimeIntellect/INTELLECT-1-Instruct: 42 layers of width 4,096, 32 heads of queries"
            " and 8 of keys and values, gated feed-forward layers of 14,336, 128,256 subwords with an embedding and a"
            " head of their own; a row is a layer, since the framework averages layer by layer"
            " (PrimeIntellect-ai/prime, src/zeroband/diloco.py)",
            "FLOPs: of these shapes, attention to what is before",
            "step time: 38 minutes between averages (INTELLECT-1, arXiv 2412.01152) for 100 steps, less the"
            " optimizer's",
            f"batch: in tokens, {BATCH} sequences of 8,192 (PrimeIntellect-ai/prime, configs/10B/H100.toml)",
        ],
        [
            "AdamW's step takes 11.1 ms of it: what the simulator charges for it at 26,800 GB/s, the memory bandwidth"
            " of 8 H100",
            "time goes to layers by their FLOPs, backward twice as long as forward: no profile of the layers is public",
        ],
        groups,
        rates=EIGHT_H100,
    )
