"""The stages of the calibration: each stage fits the parameters that its rows determine, and the last stage refines all
parameters together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from .cells import Cell, distinct
from .fitting import Linear, Problem, Simulate, fit
from .identifiability import Interval, unpinned
from .parameters import PARAMETERS, Parameter, Values

SLOW = ("1", "4")  # Gbps at which bandwidth alone determines allreduces


@dataclass(frozen=True)
class Stage:
    title: str
    parameters: tuple[str, ...]
    algorithms: tuple[str, ...]
    plateau: bool  # true: fits cells on plateaus; false: fits cells whose time the bandwidth determines

    def cells(self, cells: list[Cell]) -> list[Cell]:
        return [c for c in cells if c.algorithm in self.algorithms and c.plateau == self.plateau
                and (self.plateau or c.gbps in SLOW)]


STAGES = (
    Stage("goodput, of the allreduces at 1 to 4 Gbps", ("transport.goodput",), ("pytorch_ddp", "horovod"), False),
    Stage("efficiency of leaders, of ByteGrad and the decentralised there", ("transport.efficiency.leaders",),
          ("bytegrad", "decentralized", "low_precision_decentralized"), False),
    Stage("caps of the transport, of plateaus in full precision and exchanges with peers",
          ("transport.connection_cap", "transport.stream_cap", "transport.node_cap"),
          ("pytorch_ddp", "horovod", "decentralized", "low_precision_decentralized"), True),
    Stage("overheads of stages and of waiting, and how steps vary, of the compressed plateaus",
          ("transport.stage_overhead", "accelerator.synchronize_overhead", "run_times.variation"),
          ("bytegrad", "onebit_adam"), True),
)
SERVER = Stage("efficiency of servers, of BytePS at 4 Gbps",
               ("transport.efficiency.server", "accelerator.host_bandwidth"), ("byteps",), False)


@dataclass
class Calibration:
    """Fits the parameters to `cells`. `say` prints a line about the progress."""

    simulate: Simulate
    cells: list[Cell]
    say: Callable[[str], None] = print
    parameters: tuple[Parameter, ...] = PARAMETERS
    unpinned: list[Interval] = field(default_factory=list)  # filled in by run()

    def run(self, evaluations: int, rounds: int) -> tuple[Values, Linear]:
        """The fitted values, except those of servers, and the linear model of the joint refinement. A parameter that
        the data limit on neither side goes back to its prior, and the other parameters are refined once more, until no
        such parameter is left."""
        values = {p.name: p.prior for p in self.parameters}
        for stage in STAGES:
            if stage.cells(self.cells):
                values, _ = self._fit(stage.title, stage.parameters, stage.cells(self.cells), values, 2)
        names = tuple(p.name for p in self.parameters if p.name not in SERVER.parameters)
        cells = [c for c in self.cells if c.algorithm not in SERVER.algorithms]
        values, model = self._fit("all together", names, cells, values, evaluations, rounds)
        while more := unpinned(model):
            self.unpinned += more
            priors = {i.parameter.name: i.parameter.prior for i in more}
            self.say("not pinned down, so at their priors: " + ", ".join(f"{n} = {v:g}" for n, v in priors.items()))
            names = tuple(name for name in names if name not in priors)
            values, model = self._fit("all others together", names, cells, values | priors, evaluations, rounds)
        return values, model

    def with_servers(self, values: Values) -> Values:
        """Fits the servers' share of bandwidth, once the rate at which hosts copy is known. A single cell must suffice,
        because traffic of servers is simulated message by message, which takes a minute per cell. Its time is inversely
        proportional to the share."""
        (share,) = (p for p in self.parameters if p.name == SERVER.parameters[0])
        slow = [c for c in SERVER.cells(self.cells) if c.gbps == SLOW[-1]]
        for cell in slow:
            (time,) = self.simulate([(values, cell)])
            values = values | {share.name: min(max(values[share.name] * time / cell.published, share.low), share.high)}
            self.say(f"{SERVER.title}: {share.name} = {values[share.name]:.4g}")
        return values

    def _fit(self, title: str, names: tuple[str, ...], cells: list[Cell], values: Values,
             evaluations: int, rounds: int = 1) -> tuple[Values, Linear]:
        parameters = [p for p in self.parameters if p.name in names]
        model = fit(Problem(self.simulate, parameters, cells, values), evaluations, rounds)
        values = model.problem.values(model.x)
        self.say(f"{title}: " + ", ".join(f"{p.name} = {values[p.name]:.4g}" for p in parameters))
        return values, model


def floor(simulate: Simulate, cells: list[Cell], values: Values) -> tuple[float, float]:
    """The published and the simulated mean seconds of the asynchronous rows, which consist of computation only."""
    rows = distinct([c for c in cells if c.algorithm == "async_model_average"], tuple({c.gbps for c in cells}))
    return float(np.mean([c.published for c in rows])), float(np.mean(simulate([(values, c) for c in rows])))
