// Helpers that make elements.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element. Attributes that are functions become listeners; `undefined` attributes are left out. */
export function el(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

/** A <select> of labels. `change` gets the index of the chosen label. */
export function select(title, labels, chosen, change) {
  const box = el("select", {change: event => change(Number(event.target.value))},
    labels.map((label, i) => el("option", {value: i, selected: i === chosen ? "" : undefined}, label)));
  return el("label", {}, title, box);
}

/** Remembers which button of `host` has the focus. Call the result after the buttons were made again, so that the focus is
 *  not lost. */
export function keptFocus(host) {
  const text = host.contains(document.activeElement) && document.activeElement.tagName === "BUTTON" ? document.activeElement.textContent : null;
  return () => text !== null && [...host.querySelectorAll("button")].find(button => button.textContent === text)?.focus();
}

/** Text that may break after underscores, slashes and the like. */
export function breakable(text) {
  return text.split(/(?<=[_/,(=])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
}

/** Calls `draw` when `node` is about to be seen, or printed. */
export function whenSeen(node, draw) {
  let done = false;
  const once = () => {
    if (done || !node.isConnected) return;
    done = true;
    watcher.disconnect();
    draw();
  };
  const watcher = new IntersectionObserver(
    entries => entries.some(entry => entry.isIntersecting) && once(), {rootMargin: "300px"});
  watcher.observe(node);
  window.addEventListener("beforeprint", once);
}
