"""One or two sentences per setting: who wins, by how much."""

from __future__ import annotations

from dataclasses import dataclass

from . import units
from .comparison import Comparison, Point, Setting


@dataclass(frozen=True)
class Verdict:
    setting: str
    text: str


def verdicts(comparison: Comparison) -> list[Verdict]:
    return [
        Verdict(comparison.label(setting) or comparison.name, _verdict(comparison, setting))
        for setting in comparison.settings
    ]


def _verdict(comparison: Comparison, setting: Setting) -> str:
    contenders = comparison.at(setting)
    sentences = [_fastest_step(contenders), _first_to_target(comparison, contenders),
                 _most_accurate(contenders)]
    return " ".join(s for s in sentences if s) or "No finished run says anything here."


def _fastest_step(contenders: list[Point]) -> str:
    ranked = sorted((t, p.algorithm) for p in contenders if (t := p.mean("step_s")) is not None)
    if not ranked:
        return ""
    best, name = ranked[0]
    if len(ranked) == 1:
        return f"{name} takes {units.seconds(best)} per step; nothing to compare it with."
    runner_up = f"{ranked[1][0] / best:.2f}× faster than {ranked[1][1]}"
    last = f", {ranked[-1][0] / best:.2f}× than {ranked[-1][1]}" if len(ranked) > 2 else ""
    return f"{name} has the fastest step: {units.seconds(best)}, {runner_up}{last}."


def _first_to_target(comparison: Comparison, contenders: list[Point]) -> str:
    target = comparison.target
    if target is None or len(contenders) < 2:
        return ""
    ranked = sorted((t, p.algorithm) for p in contenders if (t := p.time_to(target)) is not None)
    if not ranked:
        return f"None reaches {100 * target:.0f} % accuracy."
    first = f"{ranked[0][1]} is first to {100 * target:.0f} % accuracy, at {units.seconds(ranked[0][0])}"
    missed = [p.algorithm for p in contenders if p.time_to(target) is None]
    return first + (f"; {', '.join(missed)} never gets there." if missed else ".")


def _most_accurate(contenders: list[Point]) -> str:
    ranked = sorted(((a, p.algorithm) for p in contenders if (a := p.mean("accuracy")) is not None),
                    reverse=True)
    if len(ranked) < 2:
        return ""
    best, worst = ranked[0], ranked[-1]
    return (f"Final accuracy: {100 * best[0]:.1f} % ({best[1]}) down to "
            f"{100 * worst[0]:.1f} % ({worst[1]}).")
