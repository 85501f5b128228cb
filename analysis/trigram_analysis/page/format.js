// Formats numbers for people, by the same rules as units.py.

/** Three significant digits. */
export function significant(value) {
  if (value === 0 || !isFinite(value)) return String(value);
  const places = Math.max(2 - Math.floor(Math.log10(Math.abs(value))), 0);
  if (places > 8) return value.toExponential(2);
  return value.toLocaleString("en-US", {minimumFractionDigits: places, maximumFractionDigits: places});
}

const SECONDS = [[1e-3, 1e6, "µs"], [1, 1e3, "ms"]];
const BYTES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

/** The value of a number of seconds or bytes in a suitable unit, and the unit. A time just below `limit` of a unit, by the
 *  factor `rounding`, gets the next unit. */
function inUnit(value, kind, rounding = 1) {
  if (kind === "s") {
    const [, scale, unit] = SECONDS.find(([limit]) => value !== 0 && Math.abs(value) < limit * rounding) ?? [0, 1, "s"];
    return [value * scale, unit];
  }
  const [limit, unit] = BYTES.find(([limit]) => Math.abs(value) >= limit) ?? [1, "B"];
  return [value / limit, unit];
}

export function show(value, kind) {
  if (value === null || value === undefined) return "–";
  if (kind === "share") return `${(100 * value).toFixed(1)}%`;
  if (!kind) return significant(value);
  const [number, unit] = inUnit(value, kind);
  return `${significant(number)} ${unit}`;
}

/** The label of a tick: a round number without needless zeros. */
export function tick(value, kind) {
  if (value === 0) return "0";
  const trim = (number, unit) => `${Number(number.toPrecision(4)).toLocaleString("en-US", {maximumFractionDigits: 9})}${unit}`;
  if (kind === "share") return trim(100 * value, "%");
  if (!kind) return Math.abs(value) < 1e-4 ? value.toExponential(0) : trim(value, "");
  const [number, unit] = inUnit(value, kind, 0.9999);
  return trim(number, ` ${unit}`);
}
