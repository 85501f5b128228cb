// Choosing the setting that figures of one setting show.
import {select} from "./dom.js";

/** A choice for every axis that varies, but for those of `free`. */
export function settingControls(view, free = []) {
  return view.data.axes.map((axis, i) => [axis, i]).filter(([axis, i]) => axis.values.length > 1 && !free.includes(i))
    .map(([axis, i]) => select(axis.title, axis.values.map(v => v.label), view.at[i], value => view.choose(view.at.with(i, value))));
}
