// Charts of every measure against a numeric axis. The other axes stay at the chosen setting.
import {el, select} from "./dom.js";
import {figureOf} from "./chart.js";
import {settingControls} from "./settings.js";
import {unranked} from "./winner_map.js";

const numericAxes = view => view.varying().filter(([axis]) => axis.numeric);

/** The index of the axis that charts begin with; null if no axis is numeric. */
export function sweptAxis(view) {
  const numeric = numericAxes(view), first = view.data.mapAxes[0];
  return !numeric.length ? null : numeric.some(([, i]) => i === first) ? first : numeric[0][1];
}

export function startSweep(host, view) {
  const {data} = view, numeric = numericAxes(view);
  let swept = sweptAxis(view);
  if (swept === null) return;
  const charts = el("div", {class: "charts"}), controls = el("div", {class: "controls"});
  const title = el("h3"), constant = el("p", {class: "soft"});
  host.append(title, controls, charts, constant);
  const draw = () => {
    const {title: name, unit} = data.axes[swept];
    title.textContent = `Against ${name}`;
    controls.replaceChildren();
    if (numeric.length > 1)
      controls.append(select("against", numeric.map(([a]) => a.title), numeric.findIndex(([, i]) => i === swept), i => { swept = numeric[i][1]; draw(); }));
    controls.append(...settingControls(view, [swept]));
    const figures = data.measures.map((measure, m) => [measure, sweepChart(view, swept, m)]);
    charts.replaceChildren(...figures.map(([, figure]) => figure).filter(Boolean));
    const left = figures.filter(([, figure]) => !figure).map(([measure]) => measure.title);
    constant.textContent = left.length ? `Without a chart, as no algorithm's value changes with the ${name} here: ${left.join(", ")}.` : "";
    drawn = key();
  };
  const key = () => view.at.filter((_, i) => i !== swept).join();
  let drawn;
  draw();
  view.on("setting", () => key() !== drawn && draw());
}

/** True if no series has two different values, so that a chart would show nothing that changes. */
export const isConstant = series => series.every(({ys}) => {
  const known = ys.filter(y => y !== null), low = Math.min(...known), high = Math.max(...known);
  return high - low <= 1e-4 * Math.max(Math.abs(low), Math.abs(high));
});

/** The chart of the measure with index `m` against the axis with index `swept`, at the chosen setting of the other axes;
 *  null if there is nothing to see. */
export function sweepChart(view, swept, m) {
  const {data} = view, {title, unit, values} = data.axes[swept], measure = data.measures[m];
  const points = view.here(data.points, [swept]).sort((a, b) => a.at[swept] - b.at[swept]);
  const series = data.algorithms.map((_, algorithm) => {
    const ranked = points.filter(p => p.algorithm === algorithm && p.values[m] !== null && !p.excluded.includes(m));
    return {algorithm, xs: ranked.map(p => values[p.at[swept]].at), ys: ranked.map(p => p.values[m]), spreads: ranked[0]?.spreads && ranked.map(p => p.spreads?.[m])};
  }).filter(s => s.xs.length);
  if (!series.length || isConstant(series)) return null;
  const compute = points.map(p => p.computeS).filter(v => v > 0);
  const floor = measure.key === "step_s" && compute.length ? {value: Math.min(...compute)} : undefined;
  const rest = view.label(view.at, [swept]), short = points.some(p => p.excluded.includes(m));
  const partly = [...new Set(unranked(points, m).map(p => data.algorithms[p.algorithm].label))];
  return figureOf(view, {
    title: measure.title, name: `${data.name}-${measure.key}`, note: [rest && `at ${rest}`, floor && "dashed: computation alone", short && "without what is marked ‡ above",
      partly.length && `without settings that some seeds alone reach: ${partly.join(", ")}`].filter(Boolean).join("; "),
    x: {title: unit ? `${title} (${unit})` : title, kind: "", wanted: values.map(v => v.at), show: x => values.find(v => v.at === x)?.label ?? x},
    y: {kind: measure.kind}, series, line: floor,
  });
}
