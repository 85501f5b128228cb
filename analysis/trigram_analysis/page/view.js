// The reader's choices for one experiment: which algorithms to see, and at which setting.

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
  /** Shows only this algorithm; shows all again if it was alone. */
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
  /** The items (points, curves, timelines) at the chosen setting. They may differ from it in the options `free`. */
  here(items, free = []) {
    return items.filter(item => this.at.every((value, i) => free.includes(i) || item.at[i] === value));
  }
  label(at = this.at, without = []) {
    return this.data.axes.map((option, i) => [option, i]).filter(([option, i]) => option.values.length > 1 && !without.includes(i))
      .map(([option, i]) => `${option.title} ${option.values[at[i]].label}`).join(", ");
  }
}
