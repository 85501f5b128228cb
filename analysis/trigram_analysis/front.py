"""The front of an experiment's page: the verdict in two sentences, one chart, and the caveats."""

from __future__ import annotations

from . import overview, shortfall, units
from .appearance import Appearances
from .caveats import caveats, outcomes
from .comparison import Comparison, Setting
from .markup import CONTENTS, Bar, bars, breakable, caveat_list, listed
from .measures import Measure
from .winner_map import Winner, contenders, winner

_MOST_NAMED = 8  # settings that a sentence names
_MOST_BARS = 12
_MOST_COUNTED = 4  # winners of many settings that a sentence names
_MOST_TIED = 3  # algorithms that a sentence names if they tie


def section(comparison: Comparison) -> str:
    """The front as HTML. The page's script fills the contents, and replaces the bars by a chart against the numeric
    option of the sweep."""
    return (f'<h3>Verdict</h3><p class="verdict">{breakable(" ".join(verdict(comparison)))}</p>{CONTENTS}'
            f'<div data-part="legend"></div><div data-part="front-chart">{_ranking(comparison)}</div>'
            + caveat_list(caveats_of(comparison)))


def verdict(comparison: Comparison) -> list[str]:
    """At most two sentences: which algorithm is first where, and how far it is ahead."""
    measure = overview.deciding(comparison)
    found = [(s, w) for s in comparison.settings if measure and (w := winner(comparison, s, measure))]
    if measure is None or not found:
        return ["No finished run shows which algorithm is first."]
    if len(comparison.algorithms) < 2:
        return [_alone(comparison, measure, [w for _, w in found])]
    if len(found) == 1:
        return _at_one_setting(comparison, measure, *found[0])
    return [_first_where(comparison, measure, found), _lead(comparison, found)]


def caveats_of(comparison: Comparison) -> list[str]:
    """The facts that limit what the verdict says, the most important first."""
    short = dict.fromkeys(f"{shortfall.MARK} {p.algorithm} is never first in means per step: {p.shortfall}"
                          for p in comparison.points if p.shortfall)
    lines = [*caveats(comparison.runs), *comparison.incomplete, *short]
    if any(p.oversubscribed for p in comparison.points):
        lines.append("more ranks than cores: these times say little about a real cluster")
    if comparison.target and all(len(p.by_seed) == 1 for p in comparison.points):
        lines.append("one seed each: chance may decide between results that are close")
    if all(run.simulated for run in comparison.runs):
        lines.append("times are simulated, from the descriptions of the cluster and of the model")
    return lines + outcomes(comparison.runs)


def _alone(comparison: Comparison, measure: Measure, found: list[Winner]) -> str:
    low, high = (overview.show(pick(w.value for w in found), measure.kind) for pick in (min, max))
    values = low if low == high else f"{low} to {high}"
    return f"Only {comparison.algorithms[0]} was run, with {values} ({measure.title})."


def _at_one_setting(comparison: Comparison, measure: Measure, setting: Setting, best: Winner) -> list[str]:
    value = f"with {overview.show(best.value, measure.kind)} ({measure.title})"
    value += ", as far as the evaluations tell" * best.coarse
    if best.rivals:
        first = f"{_who(best)}, {value}, as far as is known: {overview.rivals_text(best)}."
    elif len(best.leaders) > 1:
        first = f"{_who(best)} tie, {value}."
    else:
        first = f"{_who(best)} is first, {value}."
    ranked = contenders(comparison.at(setting), measure)
    behind = [c for c in ranked if c.algorithm not in best.leaders and c.algorithm not in best.rivals]
    sentences = [first]
    if behind and best.value:
        compared = dict.fromkeys((behind[0], behind[-1]))
        sentences.append("The next is {}.".format(", and the last of all ".join(
            f"{c.algorithm} with {overview.show(c.value, measure.kind)} ({_factor(c.value, best.value)})"
            for c in compared)))
    return sentences


def _factor(value: float, best: float) -> str:
    low, high = sorted((abs(value), abs(best)))
    return f"{units.significant(high / low)}×" if low else "no finite factor"


def _who(best: Winner) -> str:
    more = len(best.leaders) - _MOST_TIED
    return listed([*best.leaders[:_MOST_TIED], *([f"{more} more"] if more > 0 else [])])


def _first_where(comparison: Comparison, measure: Measure, found: list[tuple[Setting, Winner]]) -> str:
    where: dict[str, list[Setting]] = {}
    ties: list[Setting] = []
    for setting, best in found:
        tied = len(best.leaders) > 1 and not best.rivals
        who = "no algorithm for certain" if best.rivals else listed(sorted(best.leaders)) if tied else best.leaders[0]
        where.setdefault(who, []).append(setting)
        ties += [setting] if tied else []
    if len(where) == 1:
        return f"First in {measure.title} at all {len(found)} settings: {next(iter(where))}{', tied' if ties else ''}."
    varying = [i for i in range(len(comparison.axes)) if len({s[i].key for s in comparison.settings}) > 1]
    if len(varying) == 1 and len(found) <= _MOST_NAMED:
        axis = varying[0]
        parts = [f"{who}{', tied,' if settings[0] in ties else ''} at {listed([s[axis].label for s in settings])}"
                 for who, settings in where.items()]
        return f"First in {measure.title}, by {comparison.axes[axis].title}: {'; '.join(parts)}."
    counts = {who: len(settings) for who, settings in where.items() if settings[0] not in ties}
    if ties:
        counts["a tie"] = len(ties)
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    rest = sum(n for _, n in ordered[_MOST_COUNTED:])
    parts = [f"{who} at {n}" for who, n in ordered[:_MOST_COUNTED]] + ([f"others at {rest}"] if rest else [])
    return f"First in {measure.title} at {len(found)} settings: {listed(parts)}."


def _lead(comparison: Comparison, found: list[tuple[Setting, Winner]]) -> str:
    """How far the first is ahead, at the settings where one algorithm is first."""
    decided = [(w.margin, s) for s, w in found if w.margin is not None and len(w.leaders) == 1 and not w.rivals]
    if not decided:
        return "No lead is larger than a tie, or known."
    (least, near), (most, far) = (pick(decided, key=lambda pair: pair[0]) for pick in (min, max))
    if near == far or least == most:
        return f"The first is {_times(most)} ahead of the next at {comparison.label(far)}."
    return (f"Where one algorithm is first, its lead over the next is from {_times(least)} at {comparison.label(near)} "
            f"to {_times(most)} at {comparison.label(far)}.")


def _times(margin: float) -> str:
    return f"{units.significant(margin)}×" if margin != float("inf") else "without limit"


def _ranking(comparison: Comparison) -> str:
    """Bars of the deciding measure, the best first, at the setting that the page shows first."""
    measure = overview.deciding(comparison)
    if measure is None:
        return ""
    setting, appearances = comparison.middle_setting, Appearances(comparison.algorithms)
    ranked = contenders(comparison.at(setting), measure)
    shown = [Bar(c.algorithm, appearances.appearance(c.algorithm), c.value, overview.show(c.value, measure.kind))
             for c in ranked[:_MOST_BARS]]
    more = f", the best {_MOST_BARS} of {len(ranked)}" if len(ranked) > _MOST_BARS else ""
    where = f" at {label}" if (label := comparison.label(setting)) else ""
    return bars(f"{measure.title}{where}{more}", shown)
