// The winner map: one cell per setting, with the winner's colour and marker. A larger margin gives a deeper colour.
import {breakable, el, select} from "./dom.js";
import {show, significant} from "./format.js";
import {badge} from "./appearance.js";

const TIE = 0.01, COARSE = 1 / 5;  // as in winner_map.py and time_to_target.py

const factor = (a, b) => a === b ? 1 : Math.min(Math.abs(a), Math.abs(b)) === 0 ? Infinity
  : Math.max(Math.abs(a), Math.abs(b)) / Math.min(Math.abs(a), Math.abs(b));

/** The winner among `points` by the measure with index `m`, or null; see Winner in winner_map.py. Points whose runs are too
 *  short take no part. If a value is the end of an interval, it ties with the values that it may be lower than. `rivals` may
 *  be earlier but are not ranked: coarse values that end later than a value that is not coarse and, if `someSeeds`, points
 *  that reach the target with only some of their seeds. */
export function winner(points, m, better) {
  const ranked = points.filter(p => p.values[m] !== null && !p.excluded.includes(m))
    .sort((a, b) => better === "high" ? b.values[m] - a.values[m] : a.values[m] - b.values[m]);
  if (!ranked.length) return null;
  const value = ranked[0].values[m], least = p => p.least[m] ?? p.values[m];
  const leads = p => factor(value, p.values[m]) <= 1 + TIE || least(p) < Math.min(value, p.values[m]);
  const isCoarse = p => p.values[m] - least(p) > COARSE * p.values[m] * (1 + 1e-9);
  const possiblyFirst = ranked.filter(leads), behind = ranked.find(p => !leads(p));
  const earliestKnownEnd = Math.min(...possiblyFirst.filter(p => !isCoarse(p)).map(p => p.values[m]));
  const leaders = possiblyFirst.filter(p => !isCoarse(p) || p.values[m] <= earliestKnownEnd * (1 + TIE));
  const early = unranked(points, m).filter(p => p.partly[m].least < value);
  const rivals = [...possiblyFirst.filter(p => !leaders.includes(p)), ...early];
  return {ranked, leaders, value, rivals, someSeeds: early.length > 0, coarse: isCoarse(ranked[0]), runnerUp: behind, margin: behind ? factor(value, behind.values[m]) : null};
}

/** The points that reach the target with only some of their seeds. */
export const unranked = (points, m) => points.filter(p => p.partly[m] && !p.excluded.includes(m));

export function startMap(host, view) {
  const {data} = view;
  const measures = data.measures.map((m, i) => [m, i]).filter(([m]) => m.better);
  if (!measures.length) return;
  let [x, y] = data.mapAxes, chosen = 0;
  const fixed = [...data.middle];
  const table = el("div", {class: "wide", tabindex: 0, role: "group", "aria-label": "winner map"}), controls = el("div", {class: "controls"});
  const article = data.quality === "accuracy" ? "an" : "a";
  host.replaceChildren(controls, table, el("p", {class: "soft"},
    `Values within 1 % tie, and so do times to ${article} ${data.quality} that evaluations cannot tell apart (~: fewer than five until then). What reaches the ${data.quality} with some seeds, and never with the others, is not ranked. Deeper colour: larger margin. Choose a cell to see its setting in the figures below.`), shortfallNote(data));

  const visible = points => points.filter(p => !view.hidden.has(p.algorithm));
  const draw = () => {
    const [measure, m] = measures[chosen];
    const others = data.axes.map((_, i) => i).filter(i => i !== x && i !== y);
    const slice = visible(data.points).filter(p => others.every(i => p.at[i] === fixed[i]));
    const columns = x === null ? [0] : data.axes[x].values, rows = y === null ? [0] : data.axes[y].values;
    const body = rows.map((row, j) => el("tr", {}, y === null ? null : el("th", {scope: "row"}, row.label), columns.map((column, i) => {
      const here = slice.filter(p => (x === null || p.at[x] === i) && (y === null || p.at[y] === j));
      return cell(view, measure, winner(here, m, measure.better), here, column.label && (/[a-z]/i.test(column.label) ? column.label : `${data.axes[x].title} ${column.label}`));
    })));
    const corner = y === null ? null : el("th", {}, `${data.axes[y].title} ↓, ${data.axes[x].title} →`);
    const head = x === null ? null : el("thead", {}, el("tr", {}, corner, columns.map(c => el("th", {scope: "col"}, c.label))));
    table.replaceChildren(el("table", {class: "map", role: "grid", style: `--wide:${7.6 * (columns.length + (y === null ? 0 : 1))}rem`}, el("caption", {}, measure.title), head, el("tbody", {}, body)));
  };
  const fill = () => {
    const varying = view.varying(), titles = varying.map(([axis]) => axis.title);
    const swap = (i, other) => { if (i === other[0]) other[1](); };
    controls.replaceChildren(select("winner by", measures.map(([m]) => m.title), chosen, i => { chosen = i; draw(); }));
    if (varying.length > 1) {
      controls.append(select("across", titles, varying.findIndex(([, i]) => i === x), i => { const to = varying[i][1]; swap(to, [y, () => { y = x; }]); x = to; fill(); }),
        select("down", titles, varying.findIndex(([, i]) => i === y), i => { const to = varying[i][1]; swap(to, [x, () => { x = y; }]); y = to; fill(); }));
      for (const [axis, i] of varying) if (i !== x && i !== y)
        controls.append(select(axis.title, axis.values.map(v => v.label), fixed[i], value => { fixed[i] = value; draw(); }));
    }
    draw();
  };
  fill();
  view.on("toggle", draw);
  view.on("setting", draw);
}

/** The note on runs that are too short to show what an algorithm costs, with the reasons. */
function shortfallNote(data) {
  const found = new Set(data.points.filter(p => p.shortfall).map(p => `${data.algorithms[p.algorithm].label} ${p.shortfall}`));
  return found.size ? el("p", {class: "soft"}, `‡ never first per step or second, nor in anything without an exchange: ${[...found].join("; ")}.`) : "";
}

function cell(view, measure, best, here, column) {
  const m = view.data.measures.indexOf(measure), label = p => view.data.algorithms[p.algorithm].label, unrankedHere = unranked(here, m);
  if (!best) return el("td", {class: "none", "data-label": column}, unrankedHere.length ? "none with every seed" : here.some(p => p.excluded.length) ? "too short" : here.length ? "no value" : "not run");
  const {at} = here[0];
  const names = best.leaders.map(p => view.data.algorithms[p.algorithm]), rivals = best.rivals.length;
  const title = names.length === 1 ? names[0].label : names.length === 2 ? `${names[0].label} = ${names[1].label}`
    : `${names[0].label} and ${names.length - 1} more tie`;
  const behind = best.runnerUp && label(best.runnerUp);
  const margin = rivals ? `${best.someSeeds ? "of those with every seed" : "as far as known"}; ${rivals === 1 ? label(best.rivals[0]) : `${rivals} others`} may be earlier`
    : best.margin === null ? (names.length > 1 ? "tie of all" : "alone")
    : best.margin === Infinity ? `0 against ${behind}` : `${significant(best.margin)}× ahead of ${behind}`;
  const undecided = names.length > 1 || rivals > 0;
  const depth = undecided || best.margin === null ? 12 : Math.min(14 + 30 * Math.log2(best.margin), 62);
  const ranking = [...best.ranked.map(p => `${label(p)}: ${show(p.values[m], measure.kind)}`), ...unrankedHere.map(p => `${label(p)}: ${p.partly[m].text}`)].join("\n");
  const choose = () => { view.choose(at); };
  return el("td", {class: undecided ? "tie" : "won", "data-label": column, style: `--c:var(--series-${names[0].look[0]});--depth:${depth.toFixed(0)}%`, title: ranking,
    tabindex: 0, "aria-selected": String(at.every((v, i) => v === view.at[i])), click: choose,
    keydown: event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } }},
    el("b", {}, names.length === 1 ? [badge(names[0].look), " "] : null, breakable(title)), el("span", {}, `${best.coarse ? "~ " : ""}${show(best.value, measure.kind)}`), el("small", {}, breakable(margin)));
}
