// Starts the page: tabs of experiments, the theme, and every part of the experiment that is shown.
import {el} from "./dom.js";
import {View} from "./view.js";
import {swatch} from "./appearance.js";
import {startCopying} from "./copy.js";
import {makeFiltered, makeSortable} from "./tables.js";
import {startMap} from "./winner_map.js";
import {startSweep} from "./sweep_charts.js";
import {startFront} from "./front.js";
import {startProgress} from "./progress_charts.js";
import {startBars} from "./bars.js";
import {startTimeline} from "./timeline.js";
import {startContents} from "./contents.js";

const started = new Map();

function startLegend(host, view) {
  host.className = view.data.algorithms.length > 12 ? "legend many" : "legend";
  const buttons = view.data.algorithms.map(({label, look}, i) => el("button", {
    type: "button", "aria-pressed": "true", title: "show or hide; double-click, or Shift and click or Enter: this one alone",
    click: event => event.shiftKey ? view.solo(i) : view.toggle(i), dblclick: () => view.solo(i)}, swatch(look), label));
  host.append(...buttons);
  view.on("toggle", () => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(!view.hidden.has(i)))));
}

function start(section) {
  if (started.has(section)) return;
  const view = new View(JSON.parse(section.querySelector(":scope > script").textContent), section.dataset.source);
  started.set(section, view);
  const startPart = (name, starter) => { const host = section.querySelector(`[data-part=${name}]`); if (host) starter(host, view); };
  startPart("front-chart", startFront);
  startPart("legend", startLegend);
  startPart("map", startMap);
  for (const table of section.querySelectorAll("table.sortable")) makeSortable(table);
  for (const table of section.querySelectorAll("table.filtered")) makeFiltered(table, view.data.name);
  startPart("sweep", startSweep);
  startPart("progress", startProgress);
  startPart("bars", startBars);
  startPart("timeline", startTimeline);
  startContents(section);
}

/** Shows the experiment that the address names, or that contains what it names; or else the one that is shown, or the
 *  first. */
function showChosen() {
  const sections = [...document.querySelectorAll(".experiment")], target = document.getElementById(location.hash.slice(1));
  const chosen = sections.find(s => target && s.contains(target)) ?? sections.find(s => started.has(s) && !s.hidden) ?? sections[0];
  for (const section of sections) section.hidden = section !== chosen;
  for (const link of document.querySelectorAll("#experiments a"))
    link.closest("tr").classList.toggle("chosen", link.getAttribute("href") === `#${chosen.id}`);
  if (chosen) start(chosen);
  if (target) target.scrollIntoView();
}

function startTheme(host) {
  const root = document.documentElement, names = ["system", "light", "dark"];
  const redraw = () => { for (const view of started.values()) view.changed("theme"); };
  const button = el("button", {type: "button", title: "colours", click: () => {
    const next = names[(names.indexOf(root.dataset.theme ?? "system") + 1) % names.length];
    if (next === "system") delete root.dataset.theme; else root.dataset.theme = next;
    button.textContent = `colours: ${next}`;
    redraw();
  }}, "colours: system");
  host.append(button);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

document.documentElement.classList.add("js");
startTheme(document.querySelector("[data-part=theme]"));
startCopying(document);
showChosen();
window.addEventListener("hashchange", showChosen);
