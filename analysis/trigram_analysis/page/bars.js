// Stacked bars: the parts of a step's time and of its bytes, with one bar for each algorithm at the chosen setting.
import {el} from "./dom.js";
import {figureCaption} from "./copy.js";
import {show} from "./format.js";
import {swatch} from "./appearance.js";
import {settingControls} from "./settings.js";

const STEP = [["compute", "computation"], ["inter", "exposed communication"], ["wait", "other"]];
const BYTES = [["intra", "inside nodes"], ["inter", "between nodes"]];

export function startBars(host, view) {
  const index = key => view.data.measures.findIndex(m => m.key === key);
  const [step, exposed, inside, between] = ["step_s", "exposed_s", "bytes_intra", "bytes_inter"].map(index);
  if (step < 0 && inside < 0 && between < 0) return;
  const controls = el("div", {class: "controls"}), charts = el("div", {class: "charts"});
  host.append(el("h3", {}, "Mean step time and bytes per step"), controls, charts);
  const draw = () => {
    controls.replaceChildren(...settingControls(view));
    const points = view.here(view.data.points).filter(p => !view.hidden.has(p.algorithm)).sort((a, b) => a.algorithm - b.algorithm);
    const value = (p, m) => m < 0 ? 0 : p.values[m] ?? 0;
    const times = points.map(p => {
      const compute = p.computeS ?? 0;
      return [compute, value(p, exposed), Math.max(value(p, step) - compute - value(p, exposed), 0)];
    });
    const bytes = points.map(p => [value(p, inside), value(p, between)]);
    const figures = [stack(view, "time per step", "s", STEP, points, times), stack(view, "bytes per step", "B", BYTES, points, bytes)];
    charts.replaceChildren(...figures.filter(Boolean));
  };
  draw();
  view.on("setting", draw);
  view.on("toggle", draw);
}

function stack(view, title, kind, parts, points, rows) {
  const totals = rows.map(row => row.reduce((a, b) => a + b, 0)), longest = Math.max(...totals, 0);
  if (!longest) return null;
  const bars = points.map((p, i) => {
    const {label, look} = view.data.algorithms[p.algorithm];
    const words = parts.map(([, name], j) => `${name} ${show(rows[i][j], kind)}`).join(", ");
    return el("div", {class: "row"}, el("span", {class: "name"}, swatch(look), " ", label + (p.shortfall ? " ‡" : "")),
      el("div", {class: "bar", title: words, role: "img", "aria-label": words}, parts.map(([key], j) => el("i", {class: `kind-${key}`, style: `width:${100 * rows[i][j] / longest}%`}))),
      el("span", {class: "total"}, show(totals[i], kind)));
  });
  const used = parts.filter((_, j) => rows.some(row => row[j] > 1e-4 * longest));
  return el("figure", {}, el("h4", {}, title), keyList(used), el("div", {class: "bars"}, bars),
    figureCaption(view.label() && `at ${view.label()}`, view.source));
}

export function keyList(parts) {
  return el("div", {class: "key-list"}, parts.map(([key, name]) => el("span", {}, el("i", {class: `kind-${key}`}), name)));
}
