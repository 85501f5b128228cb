// Charts of the training: loss, accuracy, staleness and consensus distance, against steps or time.
import {el, keptFocus} from "./dom.js";
import {figureOf} from "./chart.js";
import {settingControls} from "./settings.js";
import {isConstant} from "./sweep_charts.js";

export function startProgress(host, view) {
  const {curves} = view.data;
  if (!curves.series.length) return;
  const charts = el("div", {class: "charts"}), controls = el("div", {class: "controls"});
  host.append(el("h3", {}, "Step by step"), controls, charts);
  let byTime = true;
  const draw = () => {
    const choice = (label, value) => el("button", {type: "button", "aria-pressed": String(byTime === value), click: () => { byTime = value; draw(); }}, label);
    const restoreFocus = keptFocus(controls);
    controls.replaceChildren("against ", choice(view.data.time, true), choice("steps", false), ...settingControls(view));
    restoreFocus();
    const points = view.here(curves.points);
    const figures = curves.series.map(s => chartOf(view, s, points, byTime)).filter(Boolean);
    charts.replaceChildren(...(figures.length ? figures : [el("p", {class: "soft"}, "No run at this setting has such data.")]));
  };
  draw();
  view.on("setting", draw);
}

function chartOf(view, {key, title, kind}, points, byTime) {
  const series = points.filter(p => p.columns[key]?.[0].length).map(p => {
    const [steps, times, ys] = p.columns[key];
    return {algorithm: p.algorithm, xs: byTime ? times : steps.map(s => s + 1), ys};
  });
  if (!series.length || isConstant(series)) return null;
  const ends = series.map(s => s.xs.at(-1));
  return figureOf(view, {
    title, name: `${view.data.name}-${key}`, note: [view.label() && `at ${view.label()}`, "means over seeds and stretches of steps"].filter(Boolean).join("; "),
    // If the slowest run takes much longer, a linear axis would squeeze the curves of other runs to the left.
    x: {title: byTime ? view.data.time : "steps", kind: byTime ? "s" : "", log: byTime && Math.max(...ends) > 4 * Math.min(...ends)},
    y: {kind}, series,
  });
}
