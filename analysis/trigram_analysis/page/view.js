// The reader's choices for one experiment: the algorithms that are shown, and the setting. A setting (`at`) is the list of
// the indices of its values on all axes.

export class View {
  constructor(data, source) {
    this.data = data;
    this.source = source;
    this.hidden = new Set();
    this.at = [...data.middle];
    this.listeners = {toggle: [], setting: [], theme: []};
  }
  on(what, listener) { this.listeners[what].push(listener); }
  changed(what) { for (const listener of this.listeners[what]) listener(); }
  toggle(algorithm) {
    if (!this.hidden.delete(algorithm)) this.hidden.add(algorithm);
    this.changed("toggle");
  }
  /** Shows only this algorithm, or all again if only this one was shown. */
  solo(algorithm) {
    const others = this.data.algorithms.map((_, i) => i).filter(i => i !== algorithm);
    const alone = others.every(i => this.hidden.has(i)) && !this.hidden.has(algorithm);
    this.hidden = new Set(alone ? [] : others);
    this.changed("toggle");
  }
  choose(at) {
    this.at = [...at];
    this.changed("setting");
  }
  /** The items (points, curves or timelines) at the chosen setting, with any values on the axes `free`. */
  here(items, free = []) {
    return items.filter(item => this.at.every((value, i) => free.includes(i) || item.at[i] === value));
  }
  /** [axis, its index] for each axis with several values, except those in `without`. */
  varying(without = []) {
    return this.data.axes.map((axis, i) => [axis, i]).filter(([axis, i]) => axis.values.length > 1 && !without.includes(i));
  }
  label(at = this.at, without = []) {
    return this.varying(without).map(([axis, i]) => `${axis.title} ${axis.values[at[i]].label}`).join(", ");
  }
}
