// One chart: uPlot with markers, dashes, a readout at the cursor, and zoom by dragging.
import {el, whenSeen} from "./dom.js";
import {show} from "./format.js";
import {appearance, colour, drawMarker} from "./appearance.js";
import {scaleOf, uplotAxis, uplotScale} from "./scales.js";
import {figureCaption, saveCsv} from "./copy.js";

const HEIGHT = 280, READ_OUT = 12;

/** A figure of {title, name, x: {title, kind, log, wanted}, y: {kind, log}, series: [{algorithm, xs, ys, spreads}], line}.
 *  The chart is drawn when the figure is about to be seen. */
export function figureOf(view, chart) {
  const host = el("div", {class: "plot", role: "img", "aria-label": `chart of ${chart.title} against ${chart.x.title}; the table has its numbers`});
  let logarithmic, plot = null;
  const values = chart.series.flatMap(s => s.ys).filter(v => v !== null);
  const automatic = scaleOf(values).kind !== "linear";
  const swap = el("button", {type: "button", title: "logarithmic or linear", click: () => { logarithmic = !(logarithmic ?? automatic); draw(); }});
  const save = el("button", {type: "button", title: "save the numbers", click: () => saveCsv(chart.name, rowsOf(view, chart))}, "CSV");
  const node = el("figure", {}, el("h4", {}, el("span", {}, chart.title), el("span", {}, swap, " ", save)), host,
    figureCaption(chart.note, view.source));
  const draw = () => {
    plot?.destroy();
    host.replaceChildren();
    const scale = scaleOf(values, logarithmic);
    swap.textContent = scale.kind === "linear" ? "linear" : "log";
    plot = typeof uPlot === "undefined" ? missing(host) : plotInto(host, view, chart, scale);
  };
  whenSeen(node, () => {
    draw();
    view.on("toggle", () => plot && node.isConnected && chart.series.forEach((s, i) => plot.setSeries(i + 1, {show: !view.hidden.has(s.algorithm)})));
    view.on("theme", () => node.isConnected && draw());
    new ResizeObserver(() => plot && host.clientWidth && Math.abs(host.clientWidth - plot.width) > 1 && plot.setSize({width: host.clientWidth, height: HEIGHT}))
      .observe(host);
  });
  return node;
}

function missing(host) {
  host.append(el("p", {class: "soft"}, "No chart: uPlot was not there when this page was written. scripts/setup installs it."));
  return null;
}

function plotInto(host, view, chart, yScale) {
  const colours = {ink: colour("ink"), line: colour("line"), page: colour("page")};
  const xScale = scaleOf(chart.series.flatMap(s => s.xs), chart.x.log);
  const appearances = chart.series.map(s => appearance(view.data.algorithms[s.algorithm].look));
  const tip = el("div", {class: "tip", hidden: ""});
  const data = alignedData(chart.series);
  const options = {
    width: host.clientWidth || 400, height: HEIGHT, legend: {show: false}, padding: [8, 14, 0, 0],
    cursor: {drag: {x: true, y: true, uni: 24}, points: {size: 9}, dataIdx: nearest},
    scales: {x: uplotScale(xScale), y: uplotScale(yScale, true)},
    axes: [uplotAxis(xScale, chart.x.kind, true, colours, chart.x.title, chart.x.wanted), uplotAxis(yScale, chart.y.kind, false, colours)],
    series: [{}, ...chart.series.map((s, i) => ({
      label: view.data.algorithms[s.algorithm].label, stroke: appearances[i].colour, width: 2, dash: appearances[i].dash, spanGaps: true,
      points: {show: false}, show: !view.hidden.has(s.algorithm),
    }))],
    hooks: {
      drawSeries: [(u, i) => drawExtras(u, i, chart, appearances[i - 1])],
      drawAxes: [u => chart.line && drawLine(u, chart.line, colours.ink)],
      setCursor: [u => readOut(u, tip, view, chart)],
    },
  };
  const plot = new uPlot(options, data, host);
  plot.over.append(tip);
  plot.over.addEventListener("mouseleave", () => { tip.hidden = true; });
  plot.over.title = "drag to zoom, double-click for all";
  host.chart = plot;
  return plot;
}

/** uPlot's aligned data: one list of x for all series, and a list of y for each series, with null if it has no value. */
function alignedData(series) {
  const xs = [...new Set(series.flatMap(s => s.xs))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, i) => [x, i]));
  return [xs, ...series.map(s => {
    const ys = Array(xs.length).fill(null);
    s.xs.forEach((x, i) => { ys[place.get(x)] = s.ys[i]; });
    return ys;
  })];
}

/** The index nearest to `index` at which a series has a value. */
function nearest(u, series, index) {
  const ys = u.data[series];
  if (series === 0 || ys[index] !== null) return index;
  for (let d = 1; d < ys.length; ++d) {
    const found = [index - d, index + d].find(i => ys[i] !== null && ys[i] !== undefined);
    if (found !== undefined) return found;
  }
  return index;
}

function drawExtras(u, index, chart, style) {
  const series = chart.series[index - 1], {ctx} = u, ratio = devicePixelRatio;
  if (!u.series[index].show) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left - 6 * ratio, u.bbox.top - 6 * ratio, u.bbox.width + 12 * ratio, u.bbox.height + 12 * ratio);
  ctx.clip();
  ctx.fillStyle = ctx.strokeStyle = style.colour;
  ctx.lineWidth = 1.4 * ratio;
  const every = Math.max(Math.ceil(series.xs.length / 9), 1);
  series.xs.forEach((x, i) => {
    if (series.ys[i] === null || (i + 3 * index) % every && series.xs.length > 9) return;
    const px = u.valToPos(x, "x", true), py = u.valToPos(series.ys[i], "y", true);
    drawMarker(ctx, style.marker, px, py, 3.6 * ratio);
    const spread = series.spreads?.[i];
    if (!spread) return;
    ctx.beginPath();
    for (const end of [series.ys[i] - spread, series.ys[i] + spread]) {
      const to = u.valToPos(Math.max(end, u.scales.y.min), "y", true);
      ctx.moveTo(px, py);
      ctx.lineTo(px, to);
      ctx.moveTo(px - 4 * ratio, to);
      ctx.lineTo(px + 4 * ratio, to);
    }
    ctx.stroke();
  });
  ctx.restore();
}

function drawLine(u, {value}, ink) {
  const y = u.valToPos(value, "y", true);
  if (!(y > u.bbox.top && y < u.bbox.top + u.bbox.height)) return;
  u.ctx.save();
  u.ctx.strokeStyle = ink;
  u.ctx.globalAlpha = 0.6;
  u.ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  u.ctx.beginPath();
  u.ctx.moveTo(u.bbox.left, y);
  u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
  u.ctx.stroke();
  u.ctx.restore();
}

function readOut(u, tip, view, chart) {
  const {left, top} = u.cursor;
  const rows = chart.series.map((s, n) => {
    const index = u.cursor.idxs?.[n + 1];
    return {algorithm: view.data.algorithms[s.algorithm], shown: u.series[n + 1].show, x: u.data[0][index], y: u.data[n + 1][index]};
  })
    .filter(r => r.shown && r.y !== null && r.y !== undefined).map(r => ({...r, off: Math.abs(u.valToPos(r.y, "y") - top)}));
  tip.hidden = left < 0 || !rows.length;
  if (tip.hidden) return;
  const near = rows.reduce((a, b) => a.off <= b.off ? a : b);
  const shown = rows.length > READ_OUT ? [...rows].sort((a, b) => a.off - b.off).slice(0, READ_OUT) : rows;
  shown.sort((a, b) => b.y - a.y);
  const where = chart.x.show ? chart.x.show(near.x) : show(near.x, chart.x.kind);
  tip.replaceChildren(el("div", {class: "soft"}, `${chart.x.title} ${where}`), el("table", {}, el("tbody", {}, shown.map(r =>
    el("tr", {class: r === near ? "near" : undefined}, el("td", {class: "key"}, el("span", {style: `color:${appearance(r.algorithm.look).colour}`}, "■ "), r.algorithm.label),
      el("td", {}, show(r.y, chart.y.kind)))))));
  const right = left + tip.offsetWidth + 18 > u.over.clientWidth;
  tip.style.left = `${right ? Math.max(left - tip.offsetWidth - 12, -u.over.offsetLeft) : left + 14}px`;
  tip.style.top = `${Math.max(Math.min(top - 10, u.over.clientHeight - tip.offsetHeight), -4)}px`;
}

function rowsOf(view, chart) {
  return [["algorithm", chart.x.title, chart.title, "spread"], ...chart.series.flatMap(s =>
    s.xs.map((x, i) => [view.data.algorithms[s.algorithm].label, x, s.ys[i], s.spreads?.[i]]))];
}
