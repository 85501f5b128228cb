// Controls of figures that show one setting.
import {select} from "./dom.js";

/** One control for each axis with several values, except the axes `free`. */
export function settingControls(view, free = []) {
  return view.varying(free).map(([axis, i]) =>
    select(axis.title, axis.values.map(v => v.label), view.at[i], value => view.choose(view.at.with(i, value))));
}

/** A control that chooses among the settings of `items` (timelines). The chosen setting may have none. */
export function recordedControl(view, items) {
  const places = new Map(items.map(item => [item.at.join(), item.at]));
  const settings = [...places.values()].sort((a, b) => a.map((v, i) => v - b[i]).find(Boolean) ?? 0);
  const chosen = settings.findIndex(at => at.join() === view.at.join());
  if (settings.length < 2 && chosen === 0) return [];
  const none = chosen < 0 ? ["not recorded"] : [];
  return [select("setting", [...none, ...settings.map(at => view.label(at))], Math.max(chosen, 0), i => view.choose(settings[i - none.length]))];
}
