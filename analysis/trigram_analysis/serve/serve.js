"use strict";
// The page of `trigram serve`. Texts of the server become text nodes only, never HTML.

const $ = (selector) => document.querySelector(selector);

function element(tag, text = "", attributes = {}) {
  const made = Object.assign(document.createElement(tag), attributes);
  if (text !== "") made.textContent = text;
  return made;
}

async function call(path, body) {
  const response = await fetch(path, body === undefined ? {} : {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  return answer;
}

// --- commands ---

const outcome = (command) => command.state === "running" ? "is running"
  : command.state === "stopped" ? "was stopped; run it again to go on"
  : command.exit_code === 0 ? "has ended" : `failed with exit code ${command.exit_code}`;

function newCommand(command) {
  const box = element("div", "", {className: "command", id: `command-${command.id}`});
  const stop = element("button", "Stop", {type: "button"});
  stop.addEventListener("click", () => call(`/api/stop/${command.id}`, {}).catch(() => {}).then(refresh));
  const show = element("button", "Show the report", {type: "button"});
  show.addEventListener("click", () => openReport(command.sweep));
  box.append(element("h3", command.title), element("p"), element("progress"), stop, show, element("pre", "", {tabIndex: 0}));
  box.querySelector("progress").setAttribute("aria-label", `runs of ${command.title}`);
  return box;
}

function updateCommand(command) {
  let box = document.getElementById(`command-${command.id}`);
  if (!box) $("#commands").prepend(box = newCommand(command));
  const counted = command.of === null ? "" : `, ${command.done} of ${command.of} runs`;
  const line = box.querySelector("p");
  line.textContent = outcome(command) + counted;
  line.className = command.state === "ended" && command.exit_code !== 0 ? "bad" : "soft";
  const bar = box.querySelector("progress");
  bar.hidden = command.state !== "running";
  if (command.of !== null) Object.assign(bar, {value: command.done, max: command.of});
  box.querySelector("button").hidden = command.state !== "running";
  const text = box.querySelector("pre");
  if (text.textContent !== command.text) text.textContent = command.text;
  text.hidden = command.text === "";
}

// --- results ---

function updateSweeps(sweeps) {
  $("#no-sweeps").hidden = sweeps.length > 0;
  $("#sweeps").hidden = sweeps.length === 0;
  $("#compare").hidden = sweeps.length < 2;
  const key = JSON.stringify(sweeps);
  if (key === updateSweeps.shown) return;  // the focus stays where it is
  updateSweeps.shown = key;
  $("#sweeps tbody").replaceChildren(...sweeps.map((sweep) => {
    const row = element("tr");
    const open = element("button", "Show", {type: "button"});
    open.setAttribute("aria-label", `Show the report of ${sweep.name}`);
    open.disabled = sweep.done + sweep.stale + sweep.failed === 0;
    open.addEventListener("click", () => openReport(sweep.name));
    row.append(element("td", sweep.name, {className: "key"}), element("td", String(sweep.done)),
               element("td", String(sweep.failed), {className: sweep.failed > 0 ? "bad" : ""}),
               element("td", String(sweep["under way"])),
               element("td", String(sweep.stale + sweep.partial + sweep.interrupted)));
    row.append(element("td"));
    row.lastChild.append(open);
    return row;
  }));
}

// --- the report, which is loaded again when runs have ended ---

let shown = null;  // the sweep whose report is open; "" for all

const version = (sweeps) => shown === "" ? sweeps.map((sweep) => sweep.version).join()
  : sweeps.find((sweep) => sweep.name === shown)?.version;

function openReport(sweep) {
  shown = sweep;
  openReport.version = undefined;
  const address = sweep === "" ? "/report" : `/report?sweep=${encodeURIComponent(sweep)}`;
  $("#report-title").textContent = sweep === "" ? "All experiments" : sweep;
  $("#alone").href = address;
  $("#report").hidden = false;
  refresh().then(() => $("#report").scrollIntoView());
}

function updateReport(sweeps) {
  if (shown === null) return;
  const now = version(sweeps);
  if (now === openReport.version) return;
  openReport.version = now;
  $("iframe").src = $("#alone").href;
}

async function refresh() {
  try {
    const state = await call("/api/state");
    $("#connection").textContent = "";
    $("#results").textContent = state.results;
    $("#no-commands").hidden = state.commands.length > 0;
    [...state.commands].reverse().forEach(updateCommand);
    updateSweeps(state.sweeps);
    updateReport(state.sweeps);
  } catch (error) {
    $("#connection").textContent = `The server does not answer (${error.message}).`;
  }
}

// --- forms ---

function say(form, text, bad) {
  let line = form.querySelector("[role=status]");
  if (!line) form.append(line = element("p"));
  line.setAttribute("role", "status");
  line.className = bad ? "bad" : "soft";
  line.textContent = text;
}

function onSubmit(form, send) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const started = await send(new FormData(form));
      say(form, `Started; its results go to ${started.sweep}.`, false);
      await refresh();
      document.getElementById(`command-${started.command}`)?.scrollIntoView({block: "nearest"});
    } catch (error) {
      say(form, error.message, true);
    }
  });
}

onSubmit($("#ask"), (values) => {
  const cluster = {
    nodes: Number(values.get("nodes")), workers_per_node: Number(values.get("workers")),
    inter: {bandwidth: values.get("bandwidth"), latency: values.get("latency")},
    intra: {bandwidth: values.get("inside"), latency: "5us"},
  };
  cluster.accelerator = JSON.parse(values.get("accelerator"));
  const name = `${cluster.nodes}x${cluster.workers_per_node}-${values.get("bandwidth")}`.replace(/[^A-Za-z0-9_.-]/g, "_");
  return call("/api/advise", {name, cluster, profile: values.get("profile"), target: values.get("target")});
});

onSubmit($("#start"), (values) => call("/api/run", {name: values.get("name"), config: values.get("config")}));

$("#start [name=experiment]").addEventListener("change", async (event) => {
  const name = event.target.value;
  if (name === "") return;
  const {text} = await call(`/api/experiment?name=${encodeURIComponent(name)}`);
  $("#start [name=config]").value = text;
  $("#start [name=name]").value = name;
});

$("#compare").addEventListener("click", () => openReport(""));
$("#close").addEventListener("click", () => {
  shown = null;
  $("#report").hidden = true;
  $("iframe").removeAttribute("src");
});

async function begin() {
  const {experiments, profiles, accelerators} = await call("/api/choices");
  const options = (names) => names.map((name) => element("option", name, {value: name}));
  $("#start [name=experiment]").append(...options(experiments));
  $("#ask [name=profile]").append(...options(profiles));
  $("#ask [name=accelerator]").append(...accelerators.map((one) => element(
    "option", `${one.name} (${one.flops}, ${one.memory_bandwidth})`,
    {value: JSON.stringify(one), defaultSelected: one.name === "A100"})));
  $("#ask [name=profile]").value = "gpt2";
  await refresh();
  setInterval(refresh, 1500);
}

begin().catch((error) => { $("#connection").textContent = error.message; });
