// The appearance of algorithms. They differ in marker and dashes, too, and not only in colour. `look` is the list of the
// numbers of an algorithm's colour, marker and dashes.
import {svg} from "./dom.js";

const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The appearance of a series of uPlot. */
export function appearance([series, marker, dashes]) {
  return {colour: colour(`series-${series}`), marker, dash: DASHES[dashes]};
}

/** The outline of a marker around (x, y), as a list of points; null is a circle. */
function corners(marker, x, y, r) {
  const around = (n, turn, far = () => 1) => Array.from({length: n}, (_, i) => {
    const angle = 2 * Math.PI * i / n + turn;
    return [x + r * far(i) * Math.cos(angle), y + r * far(i) * Math.sin(angle)];
  });
  const down = Math.PI / 2;
  // The ends of a cross's arms lie close to its axes, and its inner corners between them.
  const cross = turn => around(4, turn).flatMap((_, i) => [-0.32, 0.32, Math.PI / 4].map((off, j) => {
    const angle = i * Math.PI / 2 + turn + off, far = j === 2 ? 0.62 : 1.35;
    return [x + r * far * Math.cos(angle), y + r * far * Math.sin(angle)];
  }));
  switch (marker) {
    case 0: return null;
    case 1: return around(4, Math.PI / 4, () => 1.15);
    case 2: return around(3, -down, () => 1.2);
    case 3: return around(4, 0, () => 1.2);
    case 4: return around(3, down, () => 1.2);
    case 5: return cross(0);
    case 6: return around(10, -down, i => i % 2 ? 0.55 : 1.3);
    case 7: return cross(Math.PI / 4);
    case 8: return around(3, Math.PI, () => 1.2);
    case 9: return around(3, 0, () => 1.2);
    case 10: return around(4, 0, i => i % 2 ? 1.35 : 0.7);
    default: return around(5, -down, () => 1.15);
  }
}

export function drawMarker(context, marker, x, y, r) {
  context.beginPath();
  const points = corners(marker, x, y, r);
  if (points) points.forEach(([px, py], i) => i ? context.lineTo(px, py) : context.moveTo(px, py));
  else context.arc(x, y, r, 0, 2 * Math.PI);
  context.closePath();
  context.fill();
}

function markerShape([series, marker], x, y, r) {
  const points = corners(marker, x, y, r), style = `fill:var(--series-${series})`;
  return points ? svg("polygon", {points: points.map(p => p.join(",")).join(" "), style}) : svg("circle", {cx: x, cy: y, r, style});
}

/** A short line with its marker, for legends. */
export function swatch(look) {
  const [series, , dashes] = look;
  return svg("svg", {width: 28, height: 14, "aria-hidden": "true"},
    svg("line", {x1: 0, x2: 28, y1: 7, y2: 7, style: `stroke:var(--series-${series})`, "stroke-width": 2,
      "stroke-dasharray": DASHES[dashes].join(" ") || "none"}),
    markerShape(look, 14, 7, 4.2));
}

/** The marker alone. */
export function badge(look) {
  return svg("svg", {width: 12, height: 12, "aria-hidden": "true"}, markerShape(look, 6, 6, 4.4));
}
