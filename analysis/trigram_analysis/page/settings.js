// Controls that choose the setting for figures that show one setting.
import {select} from "./dom.js";

/** One control for each option that varies, except those in `free`. */
export function settingControls(view, free = []) {
  return view.data.axes.map((option, i) => [option, i]).filter(([option, i]) => option.values.length > 1 && !free.includes(i))
    .map(([option, i]) => select(option.title, option.values.map(v => v.label), view.at[i], value => view.choose(view.at.with(i, value))));
}

/** A control for the settings for which there are `items` (timelines). The present setting may not be among them. */
export function recordedControl(view, items) {
  const places = new Map(items.map(item => [item.at.join(), item.at]));
  const settings = [...places.values()].sort((a, b) => a.map((v, i) => v - b[i]).find(Boolean) ?? 0);
  const chosen = settings.findIndex(at => at.join() === view.at.join());
  if (settings.length < 2 && chosen === 0) return [];
  const none = chosen < 0 ? ["not recorded"] : [];
  return [select("setting", [...none, ...settings.map(at => view.label(at))], Math.max(chosen, 0), i => view.choose(settings[i - none.length]))];
}
