// Copies commands and saves files. Both work offline.
import {el} from "./dom.js";

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // pages that were opened from a file may have no clipboard
    const area = el("textarea", {style: "position:fixed;opacity:0"});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Quotes a text as one word of a shell. Results may come from anyone, so the text may contain anything. */
const quoted = text => /^[\w.:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function startCopying(root) {
  root.addEventListener("click", async event => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    // A button under a figure has no command of its own. It copies the command of the whole experiment.
    await copyText(button.dataset.copy ?? button.closest(".experiment").querySelector(".command button").dataset.copy);
    const label = button.textContent;
    button.textContent = "copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  });
  for (const part of root.querySelectorAll(".runs[data-command]"))
    for (const row of part.querySelectorAll("tbody tr"))
      row.append(el("td", {}, el("button", {type: "button", class: "copy", "data-copy": `${part.dataset.command}=${quoted(row.cells[0].textContent)}`},
        "copy the command")));
}

/** The caption of a figure: `facts`, and a button that copies the command that makes the figure again. */
export function figureCaption(...facts) {
  return el("figcaption", {}, facts.filter(Boolean).join(" · ") + " ", el("button", {type: "button", class: "copy"}, "copy the command"));
}

export function saveCsv(name, rows) {
  const cell = value => /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  const text = rows.map(row => row.map(value => cell(String(value ?? ""))).join(",")).join("\n") + "\n";
  const link = el("a", {href: URL.createObjectURL(new Blob([text], {type: "text/csv"})), download: `${name}.csv`});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
