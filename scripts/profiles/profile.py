"""A profile, its rows, and functions that return the rows of common layers."""
from dataclasses import dataclass, field


@dataclass
class Row:
    tensor: str
    numel: int
    forward: float = 0.0  # time in any unit, because profiles are rescaled to a step time
    backward: float = 0.0  # time in the same unit
    forward_flops: int = 0
    backward_flops: int = 0


@dataclass
class Rates:
    """Peak rates of an accelerator at the precision of a measurement."""

    flops: str
    memory_bandwidth: str
    source: str


V100 = Rates("15.7TFLOP/s", "900GB/s", "NVIDIA V100 data sheet, NVLink, single precision")
P100 = Rates("9.3TFLOP/s", "732GB/s", "NVIDIA P100 PCIe data sheet, 16 GB, single precision")
P100_SXM2 = Rates("10.6TFLOP/s", "732GB/s", "NVIDIA P100 data sheet, NVLink, single precision")
A100 = Rates("312TFLOP/s", "1555GB/s", "NVIDIA A100 data sheet, 40 GB, bfloat16 without sparsity")
H100 = Rates("989TFLOP/s", "3350GB/s", "NVIDIA H100 data sheet, SXM, bfloat16 without sparsity")


@dataclass
class Profile:
    name: str
    accelerator: str
    batch: int
    step_s: float
    sources: list
    assumed: list
    rows: list = field(default_factory=list)
    buffers: int = 0  # bytes that the model keeps beside its parameters
    rates: Rates | None = None  # without these rates, times cannot be scaled to another accelerator

    def text(self):
        """The text of the CSV file, with times rescaled so that forward and backward add up to `step_s`."""
        scale = self.step_s / sum(row.forward + row.backward for row in self.rows)
        total = {
            "forward_s": scale * sum(row.forward for row in self.rows),
            "backward_s": scale * sum(row.backward for row in self.rows),
        }
        lines = [f"# {key}: {getattr(self, key)}" for key in ("name", "accelerator", "batch")]
        if self.rates:
            lines.insert(2, f"# flops: {self.rates.flops}")
            lines.insert(3, f"# memory_bandwidth: {self.rates.memory_bandwidth}")
        if self.buffers > 0:
            lines.append(f"# buffers: {self.buffers}B")
        lines += [f"# {key}: {value:.12g}" for key, value in total.items()]
        lines += [f"# source: {line}" for line in self.sources]
        if self.rates:
            lines.append(f"# source: flops, memory_bandwidth: {self.rates.source}")
        lines += [f"# assumed: {line}" for line in self.assumed]
        lines.append("tensor,numel,forward_s,backward_s,forward_flops,backward_flops")
        lines += [
            f"{row.tensor},{row.numel},{scale * row.forward:.12g},{scale * row.backward:.12g}"
            f",{row.forward_flops},{row.backward_flops}"
            for row in self.rows
        ]
        return "\n".join(lines) + "\n"


def matrix(tensor, numel, flops, times=(0.0, 0.0), first=False):
    """The row of a weight whose product takes `flops` in the forward pass. `times` are the (forward, backward) times.
    `first` is true for the layer whose input is the data: its backward pass has one product, otherwise two."""
    return Row(tensor, numel, *times, flops, flops if first else 2 * flops)


def linear(name, inputs, outputs, times, after=(0.0, 0.0), positions=0, extra_flops=0, first=False):
    """The rows of a layer's weight and bias. `times` are its (forward, backward) times.

    The layer is applied at `positions` positions of the batch. `extra_flops` counts products without weights. `first`
    is as in `matrix`.

    `after` are the times of the following layers, which have no parameters. Their backward pass comes first, and
    completes the bias gradient, which is a sum over the gradients that they pass back.
    """
    flops = 2 * positions * inputs * outputs + extra_flops
    return [matrix(name + ".weight", inputs * outputs, flops, times, first), Row(name + ".bias", outputs, *after)]


def norm(name, width, forward=0.0, backward=0.0):
    """The rows of a normalisation's scale and shift. Both gradients are complete only after the time `backward`."""
    return [Row(name + ".weight", width, forward), Row(name + ".bias", width, 0.0, backward)]


def flops_of(rows):
    """The FLOPs of a step."""
    return sum(row.forward_flops + row.backward_flops for row in rows)


def time_by_flops(rows):
    """Sets the times of every row to its FLOPs (Profile.text rescales them to seconds); returns the rows."""
    for row in rows:
        row.forward, row.backward = float(row.forward_flops), float(row.backward_flops)
    return rows


def tie_head(rows, flops):
    """Adds a head whose weights are those of the embedding, rows[0], and whose product takes `flops` in the forward
    pass. Its time goes to the end of forward and the start of backward, before the gradient of the last row is
    complete. Its FLOPs stand with the embedding."""
    rows[0].forward_flops, rows[0].backward_flops = flops, 2 * flops
    rows[-1].forward, rows[-1].backward = flops, 2 * flops
