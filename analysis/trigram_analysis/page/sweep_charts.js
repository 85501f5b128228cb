// Charts of every measure against a swept setting. The other settings stay at the chosen values.
import {el, select} from "./dom.js";
import {figureOf} from "./chart.js";
import {settingControls} from "./settings.js";
import {unranked} from "./winner_map.js";

export function startSweep(host, view) {
  const {data} = view;
  const numeric = data.axes.map((swept, i) => [swept, i]).filter(([swept]) => swept.numeric && swept.values.length > 1);
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
    const mine = points.filter(p => p.algorithm === algorithm && p.values[m] !== null && !p.apart.includes(m));
    return {algorithm, xs: mine.map(p => values[p.at[swept]].at), ys: mine.map(p => p.values[m]), spreads: mine[0]?.spreads && mine.map(p => p.spreads?.[m])};
  }).filter(s => s.xs.length);
  if (!series.length) return null;
  const compute = points.map(p => p.computeS).filter(v => v > 0);
  const floor = measure.key === "step_s" && compute.length ? {value: Math.min(...compute)} : undefined;
  const rest = view.label(view.at, [swept]), short = points.some(p => p.apart.includes(m));
  const some = [...new Set(unranked(points, m).map(p => data.algorithms[p.algorithm].label))];
  return figureOf(view, {
    title: measure.title, name: `${data.name}-${measure.key}`, note: [rest && `at ${rest}`, floor && "dashed: computation alone", short && "without what is marked ‡ above",
      some.length && `without settings that some seeds alone reach: ${some.join(", ")}`].filter(Boolean).join("; "),
    x: {title: unit ? `${title} (${unit})` : title, kind: "", wanted: values.map(v => v.at), show: x => values.find(v => v.at === x)?.label ?? x},
    y: {kind: measure.kind}, series, line: floor,
  });
}
