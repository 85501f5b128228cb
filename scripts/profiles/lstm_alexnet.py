"""A stand-in for BAGUA's LSTM+AlexNet, which has no public definition."""
from .profile import P100_SXM2, Profile, Row, flops_of, linear, matrix, time_by_flops

BATCH, STEPS = 128, 35


def alexnet(batch):
    rows = []
    for index, kernel, inputs, outputs, side in (
        (0, 11, 3, 64, 55),
        (3, 5, 64, 192, 27),
        (6, 3, 192, 384, 13),
        (8, 3, 384, 256, 13),
        (10, 3, 256, 256, 13),
    ):
        rows += linear(
            f"alexnet.features.{index}",
            kernel**2 * inputs,
            outputs,
            (0.0, 0.0),
            positions=batch * side**2,
            first=index == 0,
        )
    for index, inputs, outputs in ((1, 256 * 6 * 6, 4096), (4, 4096, 4096), (6, 4096, 1000)):
        rows += linear(
            f"alexnet.classifier.{index}", inputs, outputs, (0.0, 0.0), positions=batch
        )
    return rows


def lstm(batch):
    width, vocabulary = 1500, 10000
    tokens = batch * STEPS
    numel = 4 * width * width
    rows = [Row("lstm.encoder.weight", vocabulary * width)]
    for layer in range(2):
        rows += [matrix(f"lstm.rnn.weight_{part}_l{layer}", numel, 2 * tokens * numel) for part in ("ih", "hh")]
        rows += [Row(f"lstm.rnn.bias_{part}_l{layer}", 4 * width) for part in ("ih", "hh")]
    return rows + linear("lstm.decoder", width, vocabulary, (0.0, 0.0), positions=tokens)


def lstm_alexnet():
    rows = time_by_flops(alexnet(BATCH) + lstm(BATCH))
    measured = alexnet(512)
    step_s = 512 / 2987 * flops_of(rows) / flops_of(measured)
    return Profile(
        "lstm_alexnet",
        "P100",
        BATCH,
        step_s,
        [
            "shapes: AlexNet as in torchvision (arXiv 1404.5997) beside the large LSTM of Zaremba et"
            " al. (arXiv 1409.2329) as in PyTorch's word_language_model: 2 layers of 1,500, 10,000"
            " words; both whole, with their heads",
            "FLOPs: of these shapes, on images of 224 x 224 and sequences of 35 words as in those"
            " papers",
            "step time: of its FLOPs at the rate of a P100 with AlexNet, 2,987 images/s with a batch"
            " of 512, fp32 (TensorFlow's benchmarks of 2017)",
        ],
        [
            "the P100 of those benchmarks was one with NVLink, as in a DGX-1",
            "everything: BAGUA's LSTM+AlexNet (arXiv 2107.01499) is internal to Kuaishou and its"
            " layers are not public; this is a surrogate of the same kind",
            f"a batch of 128; a step takes {step_s:.4f} s: the LSTM has the rate of AlexNet, which it"
            " will not reach",
            "the towers compute one after another, the LSTM's gradients first; time goes to layers by"
            " their FLOPs; an LSTM's gradients are complete layer by layer",
        ],
        rows,
        rates=P100_SXM2,
    )
