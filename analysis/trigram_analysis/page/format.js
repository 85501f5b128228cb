// Formats numbers for people, by the same rules as units.py.

export function significant(value, digits = 3) {
  if (value === 0 || !isFinite(value)) return String(value);
  const places = Math.max(digits - 1 - Math.floor(Math.log10(Math.abs(value))), 0);
  if (places > 8) return value.toExponential(digits - 1);
  return value.toLocaleString("en-US", {minimumFractionDigits: places, maximumFractionDigits: places});
}

const SECONDS = [[1e-3, 1e6, "µs"], [1, 1e3, "ms"]];
const BYTES = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

export function show(value, kind) {
  if (value === null || value === undefined) return "–";
  if (kind === "share") return `${(100 * value).toFixed(1)}%`;
  if (kind === "s") {
    for (const [limit, scale, unit] of SECONDS)
      if (value !== 0 && Math.abs(value) < limit) return `${significant(value * scale)} ${unit}`;
    return `${significant(value)} s`;
  }
  if (kind === "B") {
    for (const [limit, unit] of BYTES) if (Math.abs(value) >= limit) return `${significant(value / limit)} ${unit}`;
    return `${significant(value)} B`;
  }
  return significant(value);
}

/** The label of a tick: a round number without needless zeros. */
export function tick(value, kind) {
  if (value === 0) return "0";
  const trim = (number, unit) => `${Number(number.toPrecision(4)).toLocaleString("en-US", {maximumFractionDigits: 9})}${unit}`;
  if (kind === "share") return trim(100 * value, "%");
  if (kind === "s") {
    for (const [limit, scale, unit] of SECONDS) if (Math.abs(value) < limit * 0.9999) return trim(value * scale, ` ${unit}`);
    return trim(value, " s");
  }
  if (kind === "B") {
    for (const [limit, unit] of BYTES) if (Math.abs(value) >= limit) return trim(value / limit, ` ${unit}`);
    return trim(value, " B");
  }
  return Math.abs(value) < 1e-4 ? value.toExponential(0) : trim(value, "");
}
