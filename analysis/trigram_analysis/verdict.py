"""Says in one or two sentences per setting which algorithm wins, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from . import units
from .comparison import Comparison, Point, Setting, samples_differ
from .markup import listed
from .measures import time_to
from .winner_map import (TIE, Contender, Unranked, cannot_be_ranked, contenders, early_with_some_seeds, leaders,
                         order_unknown, unranked)


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
    points = comparison.at(setting)
    compared = [p for p in points if not p.exclusion(rates=False)]
    sentences = [_fastest_step([p for p in points if not p.shortfall]), _first_to_target(comparison, compared),
                 _final_quality(comparison, compared),
                 *(f"Not compared{'' if p.exclusion(rates=False) else ' per step'}: {p.algorithm} {p.shortfall}."
                   for p in points if p.shortfall)]
    if absent := comparison.without_run(setting):
        sentences.append(f"Without a run here: {', '.join(absent)}.")
    return " ".join(s for s in sentences if s) or "No finished run says anything here."


def _fastest_step(contenders: list[Point]) -> str:
    if samples_differ(contenders):
        return _most_samples(contenders)
    ranked = sorted((t, p.algorithm) for p in contenders if (t := p.mean("step_s")) is not None)
    if not ranked:
        return ""
    best, name = ranked[0]
    if len(ranked) == 1:
        return f"{name} takes {units.seconds(best)} per step; nothing to compare it with."
    fastest = _fastest(ranked)
    if len(fastest) == len(ranked):
        return f"All steps take {units.seconds(best)}, within {TIE:.0%}."
    first = f"{listed(fastest)} {'has' if len(fastest) == 1 else 'share'} the fastest step: "
    if best == 0:  # other steps are not a finite factor slower
        return f"{first}{units.seconds(best)}."
    compared = [ranked[len(fastest)]] + [ranked[-1]] * (len(ranked) - len(fastest) > 1)
    factors = [f"{t / best:.2f}× faster than {other}" for t, other in compared]
    return f"{first}{units.seconds(best)}, {', '.join(factors)}."


def _most_samples(contenders: list[Point]) -> str:
    """The comparison of runs whose steps have different numbers of samples."""
    ranked = sorted(((rate, p.algorithm) for p in contenders if (rate := p.mean("samples_per_s"))), reverse=True)
    best = ranked[0][0]
    first = [name for rate, name in ranked if rate >= best / (1 + TIE)]
    verb = "trains" if len(first) == 1 else "train"
    behind = ranked[len(first):]
    others = behind[:1] + behind[1:][-1:]  # the next one, and the last one
    factors = "".join(f", {best / rate:.2f}× as many as {other}" for rate, other in others)
    return (f"{listed(first)} {verb} {units.significant(best)} samples/s{factors}; steps have different numbers of samples "
            "and are not ranked.")


def _fastest(ranked: list[tuple[float, str]]) -> list[str]:
    """The algorithms with the fastest step, ties included."""
    return [name for time, name in ranked if time <= ranked[0][0] * (1 + TIE)]


def _first_to_target(comparison: Comparison, points: list[Point]) -> str:
    target = comparison.target
    if target is None or len(points) < 2:
        return ""
    goal = target.goal
    ranked, not_ranked = (find(points, time_to(target)) for find in (contenders, unranked))
    reaching = {entry.algorithm for entry in [*ranked, *not_ranked]}
    missed = [p.algorithm for p in points if p.algorithm not in reaching]
    if not (ranked or not_ranked):
        return f"None reaches {goal}."
    parts = [*(_first_of(ranked, goal, bool(not_ranked)) if ranked else [f"None reaches {goal} with every seed"]),
             *_some_seeds(ranked, not_ranked)]
    if missed:
        parts.append(f"{listed(missed)} never {'gets' if len(missed) == 1 else 'get'} there")
    return "; ".join(parts) + "."


def _first_of(ranked: list[Contender], goal: str, some_seeds: bool) -> list[str]:
    """Clauses that name the first algorithm among those that reach the goal with every seed. They mention this limit if
    `some_seeds`, that is, if other algorithms reach the goal with only some seeds."""
    begin = "Of those that get there with every seed, " if some_seeds else ""
    if order_unknown(ranked):
        return [f"{begin}{listed([c.algorithm for c in ranked])} reach {goal} by their first evaluations, which do "
                "not tell who is first"]
    first = leaders(ranked)
    late = cannot_be_ranked(ranked)
    if late:
        begin += "as far as evaluations tell, " if begin else "As far as evaluations tell, "
    clauses = [f"{begin}{listed([c.algorithm for c in first])} {_are(first)} first to {goal}, {_when(ranked[0])}"]
    if late:
        clauses.append(f"{listed([c.algorithm for c in late])} may be earlier, too few evaluations tell")
    return clauses


def _some_seeds(ranked: list[Contender], not_ranked: list[Unranked]) -> list[str]:
    early = early_with_some_seeds(ranked, not_ranked) if ranked else []
    late = [other for other in not_ranked if other not in early]

    def named(found: list[Unranked]) -> str:
        return listed([f"{o.algorithm} ({o.partly}, {_between(o.partly.least, o.partly.most)})" for o in found])

    return ([f"{named(early)} may be earlier, and {_are(early)} not ranked"] if early else []) + (
        [f"{named(late)} {_are(late)} not ranked"] if late else [])


def _are(items: Sequence[object]) -> str:
    return "is" if len(items) == 1 else "are"


def _when(best: Contender) -> str:
    return _between(best.least, best.value) + (", as far as the evaluations tell" if best.coarse else "")


def _between(least: float, value: float) -> str:
    if least in (0, value):
        return f"{'at' if least else 'by'} {units.seconds(value)}"
    return f"between {units.seconds(least)} and {units.seconds(value)}"


def _final_quality(comparison: Comparison, contenders: list[Point]) -> str:
    quality, target = comparison.quality, comparison.target
    ranked = sorted(((value, p.algorithm) for p in contenders if (value := p.mean(quality.column)) is not None),
                    reverse=quality.better == "high")
    if len(ranked) < 2:
        return ""
    best, worst = ranked[0], ranked[-1]
    if target is not None and any(p.stopped for p in contenders):
        return (f"Runs stop at {target.short}, so their final {quality.plural}, {quality.show(worst[0])} to "
                f"{quality.show(best[0])}, rank nothing.")
    down = "down" if quality.better == "high" else "up"
    return (f"Final {quality.title}: {quality.show(best[0])} ({best[1]}) {down} to {quality.show(worst[0])} "
            f"({worst[1]}).")
