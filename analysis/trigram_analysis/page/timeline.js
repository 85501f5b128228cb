// One step of every algorithm on a common time scale, with a lane for each stream of a worker.
import {el, keptFocus, svg, whenSeen} from "./dom.js";
import {figureCaption} from "./copy.js";
import {show, tick} from "./format.js";
import {ticks} from "./scales.js";
import {keyList} from "./bars.js";
import {recordedControl} from "./settings.js";

let drawings = 0;  // so that the patterns of each drawing have ids of their own

const LANE = 17, GAP = 34, TOP = 26;

export function startTimeline(host, view) {
  const {timelines, kinds} = view.data;
  if (!timelines.length) return;
  const controls = el("div", {class: "controls"}), legend = el("div"), stage = el("div", {class: "plot"}), note = el("div");
  host.append(el("h3", {}, "Timeline of one step"), controls, el("figure", {}, legend, stage, note));
  let range = null;
  const draw = () => {
    const shown = view.here(timelines).filter(t => !view.hidden.has(t.algorithm)).sort((a, b) => a.algorithm - b.algorithm);
    const longest = Math.max(...shown.map(endOf), 0);
    const zoomed = range ?? [0, longest];
    const zoom = by => () => { const middle = (zoomed[0] + zoomed[1]) / 2, half = (zoomed[1] - zoomed[0]) / 2 * by;
      range = half * 2 >= longest ? null : [Math.max(middle - half, 0), Math.min(Math.max(middle - half, 0) + 2 * half, longest)]; draw(); };
    const move = (by, label) => el("button", {type: "button", click: () => {
      const length = zoomed[1] - zoomed[0], start = Math.min(Math.max(zoomed[0] + by * length, 0), longest - length);
      range = [start, start + length]; draw(); }}, label);
    const restoreFocus = keptFocus(controls);
    controls.replaceChildren(...recordedControl(view, timelines), el("button", {type: "button", click: zoom(0.5)}, "zoom in"), el("button", {type: "button", click: zoom(2)}, "zoom out"),
      el("button", {type: "button", click: () => { range = null; draw(); }}, "all"), ...(range ? [move(-0.5, "earlier"), move(0.5, "later")] : []));
    restoreFocus();
    const used = new Set(shown.flatMap(t => t.boxes.filter((_, i) => i % 4 === 1)));
    legend.replaceChildren(keyList(kinds.map((k, i) => [k.key, k.title, i]).filter(([, , i]) => used.has(i))));
    const missing = view.here(timelines).length ? "" : "no timeline of this setting is in the page: choose one that is; trace.json beside the results has it";
    note.replaceChildren(figureCaption(view.label() && `at ${view.label()}`, missing, "each lane is a stream of a worker; drag to zoom, double-click for all",
      "trace.json beside the results opens in Perfetto (ui.perfetto.dev)", view.source));
    stage.replaceChildren(lanes(view, shown, zoomed, stage.clientWidth || 800, next => { range = next; draw(); }));
  };
  whenSeen(stage, () => {
    draw();
    view.on("setting", () => { range = null; draw(); });
    view.on("toggle", draw);
    let width = stage.clientWidth;
    new ResizeObserver(() => { if (stage.clientWidth && Math.abs(stage.clientWidth - width) > 1) { width = stage.clientWidth; draw(); } }).observe(stage);
  });
}

/** The end, in microseconds. `boxes` is a flat list of row, kind, begin and length. */
function endOf(timeline) {
  let end = 0;
  for (let i = 0; i < timeline.boxes.length; i += 4) end = Math.max(end, timeline.boxes[i + 2] + timeline.boxes[i + 3]);
  return end;
}

function lanes(view, timelines, [from, to], width, zoom) {
  const id = `lanes${++drawings}`;
  const left = width < 560 ? 96 : 150, right = 14, scale = (width - left - right) / Math.max(to - from, 1e-9);
  const x = us => left + (us - from) * scale;
  const height = TOP + timelines.reduce((sum, t) => sum + GAP + LANE * t.rows.length, 0) + 6;
  const root = svg("svg", {class: "lanes", width, height, role: "img", "aria-label": "timeline of one step of every algorithm"}, patterns(id));
  for (const us of ticks({kind: "linear"}, from, to, x, 90))
    root.append(svg("line", {x1: x(us), x2: x(us), y1: TOP - 6, y2: height}), svg("text", {x: x(us), y: 14, "text-anchor": "middle", class: "soft"}, tick(us / 1e6, "s")));
  let y = TOP;
  for (const t of timelines) {
    root.append(svg("text", {x: 0, y: y + 20, class: "name"}, `${view.data.algorithms[t.algorithm].label} (${[show(endOf(t) / 1e6, "s"), t.label].filter(Boolean).join(", ")})`));
    y += GAP - 6;
    t.rows.forEach((row, i) => root.append(svg("text", {x: left - 6, y: y + i * LANE + 12, "text-anchor": "end", class: "soft"}, width < 560 ? row.replace("worker ", "") : row)));
    for (let i = 0; i < t.boxes.length; i += 4) {
      const [row, kind, begin, length] = t.boxes.slice(i, i + 4);
      const start = Math.max(begin, from), end = Math.min(begin + length, to);
      if (end <= start) continue;
      const {key, title} = view.data.kinds[kind];
      root.append(svg("rect", {x: x(start).toFixed(2), y: y + row * LANE + 1, width: Math.max((end - start) * scale, 0.4).toFixed(2), height: LANE - 3, fill: `url(#${id}-${key})`},
        svg("title", {}, `${title}: ${show(length / 1e6, "s")}, from ${show(begin / 1e6, "s")}`)));
    }
    y += LANE * t.rows.length + 6;
  }
  dragToZoom(root, left, height, us => Math.min(Math.max(from + (us - left) / scale, from), to), zoom);
  return root;
}

/** The fills of the kinds of activities. They have hatches, so that they differ in black and white, too. Browsers draw
 *  nothing with patterns of a hidden element, so each drawing has its own. */
function patterns(id) {
  const paint = (name, ...marks) => svg("pattern", {id: `${id}-${name}`, width: 6, height: 6, patternUnits: "userSpaceOnUse"},
    svg("rect", {width: 6, height: 6, style: `fill:var(--${name})`}), marks);
  const line = (d, width = 1.3) => svg("path", {d, style: "stroke:var(--page)", "stroke-width": width, opacity: 0.75, fill: "none"});
  return svg("defs", {}, paint("compute"), paint("wait"), paint("encode", line("M0 0L6 6M0 6L6 0", 0.9)),
    paint("intra", svg("circle", {cx: 3, cy: 3, r: 1.1, style: "fill:var(--page)"})), ...["inter", "transfer"].map(name => paint(name, line("M-1 1L1 -1M0 6L6 0M5 7L7 5"))));
}

function dragToZoom(root, left, height, timeAt, zoom) {
  let start = null;
  const band = svg("rect", {class: "drag", y: 0, height, width: 0});
  root.append(band);
  const at = event => event.clientX - root.getBoundingClientRect().left;
  root.addEventListener("pointerdown", event => { if (at(event) > left) { start = at(event); root.setPointerCapture(event.pointerId); } });
  root.addEventListener("pointermove", event => {
    if (start === null) return;
    band.setAttribute("x", Math.max(Math.min(start, at(event)), left));
    band.setAttribute("width", Math.abs(at(event) - start));
  });
  root.addEventListener("pointerup", event => {
    const from = start;
    start = null;
    band.setAttribute("width", 0);
    if (from !== null && Math.abs(at(event) - from) > 6) zoom([timeAt(Math.min(from, at(event))), timeAt(Math.max(from, at(event)))]);
  });
  root.addEventListener("dblclick", () => zoom(null));
}
