"""The model and the data that both scripts train: a CNN with batch normalisation on Fashion-MNIST.

`make` is what `trigram profile --torch fashion.py:make` measures, and `python3 fashion.py` writes the model and
the data as files for a workload "torchscript".
"""

import gzip
import os

import torch
from torch import nn

FOLDER = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")


def idx(name, header):
    """The bytes of an IDX file, gzipped or not, after its header."""
    path = os.path.join(FOLDER, name)
    with (open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")) as file:
        return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)


def images(part):
    """Images as n x 1 x 28 x 28 floats of mean about 0, and their classes; `part` is "train" or "t10k"."""
    pixels = idx(f"{part}-images-idx3-ubyte", 16).view(-1, 1, 28, 28).float().div_(255).sub_(0.3)
    return pixels, idx(f"{part}-labels-idx1-ubyte", 8).long()


def network(channels=16):
    def block(inputs, outputs):
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1)
        return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2))

    return nn.Sequential(block(1, channels), block(channels, 2 * channels), nn.Flatten(),
                         nn.Linear(2 * channels * 49, 64), nn.ReLU(), nn.Linear(64, 10))


def epoch_of(rank, size, samples, batch, seed):
    """The mini-batches of a rank in an epoch: lists of indices."""
    order = torch.randperm(samples, generator=torch.Generator().manual_seed(seed))
    return order[rank::size][:samples // size // batch * batch].view(-1, batch)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    correct = sum((model(x[i:i + 500]).argmax(1) == y[i:i + 500]).sum().item() for i in range(0, len(x), 500))
    model.train()
    return correct / len(x)


def make():
    torch.manual_seed(1)
    x, y = torch.randn(32, 1, 28, 28), torch.randint(10, (32,))
    return network(), x, lambda output: nn.functional.cross_entropy(output, y)


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.jit.script(network()).save("net.pt")
    torch.save(images("train"), "train.pt")
    print("net.pt, train.pt")
