// Axes of charts, with ticks at round numbers. A scale is linear, logarithmic, or asinh: nearly logarithmic, but with zero.
import {tick} from "./format.js";

/** The scale for `values`. It is linear if a value is negative, if none is positive, or if the largest is less than 4 times
 *  the smallest positive one. Otherwise it is logarithmic, or asinh if some values are zero. `force`, if given, overrides the
 *  factor of 4: true for a logarithmic or asinh scale where one is possible, false for a linear one. */
export function scaleOf(values, force) {
  const positive = values.filter(v => v > 0), lowest = Math.min(...positive), highest = Math.max(...positive);
  const canBeLogarithmic = values.length && !values.some(v => v < 0) && positive.length > 0;
  const log = force ?? (canBeLogarithmic && highest / lowest >= 4);
  if (!log || !canBeLogarithmic) return {kind: "linear", highest: Math.max(...values, 0)};
  const zero = positive.length < values.length;
  return {kind: zero ? "asinh" : "log", lowest, highest, threshold: zero ? Math.max(lowest, highest / 1e4) : undefined};
}

/** uPlot's options of a scale. A linear scale has margins of 4 % of its range at both ends; a logarithmic scale has margins of
 *  5 % of the range, or of 3 % of the values if that is more; an asinh scale has 20 % at its upper end. With `fromZero`, a
 *  linear scale starts at 0 if no value is negative and the smallest value is less than 0.6 times the largest. */
export function uplotScale(scale, fromZero) {
  if (scale.kind === "linear")
    return {time: false, range: (_, min, max) => {
      if (min === null) return [0, 1];
      const margin = max > min ? 0.04 * (max - min) : Math.abs(max) * 0.1 || 1;
      return [fromZero && min >= 0 && min < 0.6 * max ? 0 : min - margin, max + margin];
    }};
  const pad = (min, max) => { const factor = Math.max((max / min) ** 0.05, 1.03); return [min / factor, max * factor]; };
  if (scale.kind === "log") return {time: false, distr: 3, range: (_, min, max) => min === null ? [1, 10] : pad(min, max)};
  return {time: false, distr: 4, asinh: scale.threshold / 2, range: (_, min, max) => min === null ? [0, 1] : [Math.min(min, 0), max * 1.2]};
}

/** The ticks of an axis from `min` to `max`: the values `wanted` if at least two are in this range, otherwise round numbers.
 *  `position` maps a value to pixels. If two ticks are less than `minDistance` pixels apart, the tick with the higher priority
 *  stays. */
export function ticks(scale, min, max, position, minDistance, wanted) {
  const within = values => values.filter(v => v >= min * (1 - 1e-9) && v <= max * (1 + 1e-9));
  let found = wanted ? within(wanted) : [];
  if (found.length < 2) found = scale.kind === "linear" ? linear(min, max, position, minDistance) : logarithmic(scale, min, max);
  const kept = [];
  for (const value of [...found].sort((a, b) => priority(b) - priority(a) || a - b))
    if (kept.every(other => Math.abs(position(other) - position(value)) >= minDistance)) kept.push(value);
  return kept.sort((a, b) => a - b);
}

// The priority of a tick: zero has the highest, then powers of ten, then 2 and 5 times a power of ten, then other numbers.
const priority = value => {
  if (value === 0) return 3;
  const lead = Number(Math.abs(value).toExponential(4).split("e")[0]);
  return lead === 1 ? 2 : lead === 5 || lead === 2 ? 1 : 0;
};

function linear(min, max, position, minDistance) {
  const most = Math.max(Math.abs(position(max) - position(min)) / minDistance, 2);
  const rough = (max - min) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(s => s * power >= rough * 0.999);
  return Array.from({length: Math.floor(max / step + 1e-9) - Math.ceil(min / step - 1e-9) + 1},
    (_, i) => Number(((Math.ceil(min / step - 1e-9) + i) * step).toPrecision(12)));
}

function logarithmic(scale, min, max) {
  const low = scale.kind === "asinh" ? Math.max(scale.threshold, 1e-12) : min, found = scale.kind === "asinh" && min <= 0 ? [0] : [];
  const add = leads => {
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(max)); ++power)
      found.push(...leads.map(lead => Number(`${lead}e${power}`)).filter(v => v >= low && v <= max));
  };
  add([1, 2, 5]);
  if (found.length < 3 && scale.kind === "log") add([1.2, 1.5, 2.5, 3, 4, 6, 7, 8, 9]);
  return found;
}

/** uPlot's options of an axis whose ticks `ticks` chooses. `kind` is the kind of number, as in format.js. */
export function uplotAxis(scale, kind, horizontal, colours, label, wanted) {
  const minDistance = horizontal ? 46 : 22;
  return {
    scale: horizontal ? "x" : "y", stroke: colours.ink, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    label, labelSize: label ? 20 : 0, labelGap: 2, gap: 5, size: horizontal ? 30 : 62,
    grid: {stroke: colours.line, width: 1}, ticks: {stroke: colours.line, width: 1, size: 4},
    splits: (u, _, min, max) => ticks(scale, min, max, v => u.valToPos(v, horizontal ? "x" : "y"), minDistance, wanted),
    filter: (_, splits) => splits,
    values: (_, splits) => splits.map(v => tick(v, kind)),
  };
}
