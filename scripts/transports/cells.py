"""The cells that are measured: combinations of a library, one of its collectives, and a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


SIZES = (131072, 524288, 2097152)  # bytes
# Bytes of a library's header before each message. They take room in the window, so a message as long as the window does
# not fit. The exact number does not matter: with 1,448 bytes in place of 64, no prediction changes by more than 15 %.
HEADER = 64


@dataclass(frozen=True)
class Cell:
    stack: str  # open_mpi, gloo, trigram
    collective: str  # allreduce, all_to_all, ddp
    algorithm: str
    mbps: int
    latency_ms: int
    workers: int  # on each of the four nodes
    window: int = 0  # bytes; 0: Linux's default
    number: int = 0  # Open MPI's number of the algorithm, as in coll_tuned_allreduce_algorithm
    sizes: tuple[int, ...] = SIZES
    place: str = ""  # "vm": measured in the virtual machine, although it needs no netem
    flags: str = ""  # btl_tcp_flags: "send" sends long messages without put
    start: str = ""  # "together": ranks begin together; "": each begins when it has finished the previous collective

    @property
    def key(self) -> str:
        window = f"{self.window // 1024}KiB" if self.window else "linux"
        return (f"{self.stack}/{self.collective}/{self.label}/4x{self.workers}/{self.mbps}Mbps"
                f"/{self.latency_ms}ms/{window}" + (f"/{self.place}" if self.place else "")
                + (f"/{self.start}" if self.start else ""))

    @property
    def label(self) -> str:
        return self.algorithm + (f"+{self.flags}" if self.flags else "")

    @property
    def network(self) -> tuple[Any, ...]:
        return (self.mbps, self.latency_ms, self.workers, self.window, self.place)

    @property
    def job(self) -> tuple[Any, ...]:
        """A key that is equal for cells that one job measures."""
        return (self.stack, self.network, self.algorithm == "recursive_doubling", self.flags,
                self.start)

    @property
    def in_vm(self) -> bool:
        return self.latency_ms > 0 or self.window > 0 or self.place == "vm"

    def cluster(self) -> dict[str, Any]:
        return {
            "nodes": 4,
            "workers_per_node": self.workers,
            "inter": {"bandwidth": f"{self.mbps}Mbps", "latency": f"{self.latency_ms}ms"},
            "intra": {"bandwidth": "10Gbps", "latency": "20us"},
            "transport": {"tcp": {"window": f"{self.window}B"} if self.window else "linux"},
        }

    def predicted_cluster(self) -> dict[str, Any]:
        cluster = self.cluster()
        if self.window:
            cluster["transport"]["tcp"]["window"] = f"{self.window - HEADER}B"
        if self.uses_put:
            cluster["transport"]["protocol"] = "open_mpi"
        return cluster

    @property
    def uses_put(self) -> bool:
        """True if long messages go by `put`, after the receiver has asked for them."""
        return self.stack == "open_mpi" and not self.flags

    @property
    def predicted_starts(self) -> list[str]:
        """Values of `--chain` for all possible starts: ranks begin together, or each begins one latency after the
        previous rank, as after short messages of the previous collective. Ranks on one CPU reduce one after another, so
        in an allreduce even ranks that begin together may diverge in time. The start matters where receivers ask for
        messages, and where a window is full until acknowledgements arrive."""
        known = self.start == "together" and self.collective == "all_to_all"
        return ["0B", "16B"] if (self.uses_put or self.window) and not known else ["0B"]

    @property
    def predicted_operation(self) -> str:
        return "allreduce" if self.collective == "ddp" else self.collective

    @property
    def predicted_algorithm(self) -> str:
        name = self.algorithm + (f"_{self.flags}" if self.flags else "")
        return name if self.stack == "trigram" else f"{self.stack}_{name}"


def cells_of_network(mbps: int, latency_ms: int, workers: int, window: int = 0,
                     place: str = "") -> list[Cell]:
    network = (mbps, latency_ms, workers, window)
    return [
        Cell("open_mpi", "allreduce", "ring", *network, number=4, place=place),
        Cell("open_mpi", "all_to_all", "linear", *network, number=1, place=place),
        Cell("trigram", "allreduce", "ring", *network, place=place),
        Cell("trigram", "all_to_all", "pairwise", *network, place=place),
        Cell("gloo", "allreduce", "ring", *network, place=place),
        Cell("gloo", "ddp", "ring", *network, sizes=SIZES[-1:], place=place),
    ]


def all_to_all_without_put(mbps: int, latency_ms: int, workers: int) -> Cell:
    return Cell("open_mpi", "all_to_all", "linear", mbps, latency_ms, workers, number=1, flags="send")


def matrix() -> list[Cell]:
    """All cells, the most informative first, because each takes minutes in the virtual machine."""
    cells: list[Cell] = []
    for latency_ms in (5, 20):
        cells += cells_of_network(50, latency_ms, 1)
    cells += cells_of_network(50, 20, 1, window=65536)
    cells += [all_to_all_without_put(50, latency_ms, 1) for latency_ms in (5, 20)]
    cells += cells_of_network(50, 5, 2)
    cells += cells_of_network(50, 1, 1)
    cells += cells_of_network(50, 0, 1, place="vm")
    cells += cells_of_network(100, 5, 1)
    cells += cells_of_network(50, 20, 2)
    cells += cells_of_network(50, 1, 2)
    cells += cells_of_network(50, 5, 1, window=32768)
    cells += cells_of_network(100, 20, 1)
    for latency_ms, workers in ((5, 1), (20, 1), (5, 2)):
        cells.append(Cell("open_mpi", "allreduce", "recursive_doubling", 50, latency_ms, workers,
                          number=3))
    for latency_ms in (5, 20):
        network = (50, latency_ms, 1)
        cells += [Cell("open_mpi", "all_to_all", "linear", *network, number=1, start="together"),
                  Cell("open_mpi", "allreduce", "recursive_doubling", *network, number=3,
                       start="together")]
    cells += [cell for mbps in (50, 100, 200, 400) for workers in (1, 2)
              for cell in [*cells_of_network(mbps, 0, workers), all_to_all_without_put(mbps, 0, workers)]]
    return cells


MATRIX = matrix()
