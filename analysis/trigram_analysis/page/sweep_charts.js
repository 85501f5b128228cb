// Charts of every measure against a numeric axis. The other axes stay at the chosen setting.
import {el, select} from "./dom.js";
import {figureOf} from "./chart.js";
import {settingControls} from "./settings.js";
import {unranked} from "./winner_map.js";

export function startSweep(host, view) {
  const {data} = view;
  const numeric = view.varying().filter(([axis]) => axis.numeric);
  if (!numeric.length) return;
  let swept = numeric.some(([, i]) => i === data.mapAxes[0]) ? data.mapAxes[0] : numeric[0][1];
  const charts = el("div", {class: "charts"}), controls = el("div", {class: "controls"});
  const title = el("h3");
  host.append(title, controls, charts);
  const draw = () => {
    const {title: name, unit} = data.axes[swept];
    title.textContent = `Against ${name}`;
    controls.replaceChildren();
    if (numeric.length > 1)
      controls.append(select("against", numeric.map(([a]) => a.title), numeric.findIndex(([, i]) => i === swept), i => { swept = numeric[i][1]; draw(); }));
    controls.append(...settingControls(view, [swept]));
    const points = view.here(data.points, [swept]).sort((a, b) => a.at[swept] - b.at[swept]);
    charts.replaceChildren(...data.measures.map((measure, m) => chartOf(view, swept, measure, m, points)).filter(Boolean));
    drawn = key();
  };
  const key = () => view.at.filter((_, i) => i !== swept).join();
  let drawn;
  draw();
  view.on("setting", () => key() !== drawn && draw());
}

function chartOf(view, swept, measure, m, points) {
  const {data} = view, {title, unit, values} = data.axes[swept];
  const series = data.algorithms.map((_, algorithm) => {
    const ranked = points.filter(p => p.algorithm === algorithm && p.values[m] !== null && !p.excluded.includes(m));
    return {algorithm, xs: ranked.map(p => values[p.at[swept]].at), ys: ranked.map(p => p.values[m]), spreads: ranked[0]?.spreads && ranked.map(p => p.spreads?.[m])};
  }).filter(s => s.xs.length);
  if (!series.length) return null;
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
