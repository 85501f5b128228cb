// Tables that sort by a click on a heading, and filter by their key columns and by any text.
import {el} from "./dom.js";
import {saveCsv} from "./copy.js";

const number = text => text === "" ? NaN : Number(text);

export function makeSortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = el("button", {type: "button", class: "sort", click: () => sort(table, head)}, ...head.childNodes);
    head.replaceChildren(button);
  }
}

function sort(table, head) {
  const up = head.getAttribute("aria-sort") !== "ascending";
  const key = row => { const cell = row.cells[head.cellIndex]; return cell?.dataset.sort ?? cell?.textContent ?? ""; };
  const order = (a, b) => {
    const difference = number(a) - number(b);
    if (a === b) return 0;
    return isNaN(number(a)) || isNaN(number(b)) ? a.localeCompare(b) : difference;
  };
  const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? 1 : -1) * order(key(a), key(b)));
  for (const row of rows) row.classList.remove("group");
  table.tBodies[0].append(...rows);
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
}

export function makeFiltered(table, name) {
  const keys = Number(table.dataset.keys), rows = [...table.tBodies[0].rows];
  const chosen = Array(keys).fill("");
  let words = [];
  const count = el("span", {class: "soft"});
  const apply = () => {
    let seen = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = chosen.every((value, i) => !value || row.cells[i].textContent === value) && words.every(word => text.includes(word));
      row.hidden = !fits;
      seen += fits;
    }
    count.textContent = seen === rows.length ? `${seen} rows` : `${seen} of ${rows.length} rows`;
  };
  const choices = [...table.tHead.rows[0].cells].slice(0, keys).map((head, i) => {
    const values = [...new Set(rows.map(row => row.cells[i].textContent))];
    return values.length < 2 ? null : el("label", {}, head.textContent,
      el("select", {change: event => { chosen[i] = event.target.value; apply(); }},
        el("option", {value: ""}, "all"), values.map(value => el("option", {value}, value))));
  });
  // Where rows are cards, the headings that sort are not shown.
  const heads = [...table.tHead.rows[0].cells];
  const order = el("label", {class: "narrow-only"}, "sort by", el("select", {change: event => heads[Number(event.target.value)]?.querySelector("button").click()},
    el("option", {value: -1}, "–"), heads.map((head, i) => el("option", {value: i}, head.textContent))));
  const search = el("input", {type: "search", placeholder: "filter: any words", "aria-label": "filter the table",
    input: event => { words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean); apply(); }});
  const save = el("button", {type: "button", click: () => saveCsv(name, csv(table))}, "CSV");
  table.closest(".wide").before(el("div", {class: "controls"}, search, choices, order, count, save));
  apply();
}

/** The rows that are shown. Cells that have a value in base units give that value. */
function csv(table) {
  const cells = row => [...row.cells].map((cell, i) =>
    i < Number(table.dataset.keys) || cell.dataset.sort === undefined ? cell.textContent : cell.dataset.sort.replace("Infinity", ""));
  return [[...table.tHead.rows[0].cells].map(head => head.textContent.replace(/ \((s|ms|µs|B|kB|MB|GB|%)\)$/, "")),
    ...[...table.tBodies[0].rows].filter(row => !row.hidden).map(cells)];
}
