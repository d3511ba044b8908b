// Steps through a trace: the rows of its table are the steps, and a loop that is folded is one step. The line
// that is about to run is marked in the code, and one variable can be followed. Without this script the
// table is there all the same.

import { bring } from "./lines.js";

const LONGEST = 200;
const known = new WeakMap(); // steps section → what changes when, in the order of execution

export function listen() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-step-to]");
    if (button) go(button.closest("[data-steps]"), button.dataset.stepTo);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-follows]")) follow(event.target.closest("[data-steps]"));
  });
}

function go(steps, where) {
  const stops = stopsOf(steps);
  const at = stops.indexOf(current(steps, stops));
  if (where === "failing") return toFailing(steps);
  const next = stops[where === "next" ? at + 1 : at - 1];
  if (next) show(steps, next);
  else tell(steps, where === "next" ? "This was the last step." : "This was the first step.");
}

function stopsOf(steps) {
  const rows = [...steps.querySelectorAll("tr[data-step], tr[data-loop]")];
  return rows.filter((row) => !row.parentElement.closest("details:not([open])") && !isOpenLoop(row));
}

function isOpenLoop(row) {
  return row.querySelector(":scope > td > details")?.open === true;
}

// Where one is; in a loop that was folded meanwhile that is the loop.
function current(steps, stops) {
  const row = steps.querySelector("tr.is-step");
  if (!row || stops.includes(row)) return row;
  return stops.find((one) => one.contains(row)) ?? stops.findLast((one) => one.compareDocumentPosition(row) & 4);
}

function toFailing(steps) {
  const row = steps.querySelector("tr[data-failing]");
  for (let loop = row.parentElement.closest("details"); loop; loop = loop.parentElement.closest("details")) loop.open = true;
  show(steps, row);
}

function show(steps, row) {
  for (const old of document.querySelectorAll(".is-step")) {
    old.classList.remove("is-step");
    old.removeAttribute("aria-current");
  }
  mark(row);
  const line = document.getElementById(row.dataset.line);
  if (line) {
    mark(line);
    bring(line, line.closest(".code-scroll"));
  }
  bring(row, steps.querySelector(".trace-scroll"));
  tell(steps, said(steps, row));
}

function mark(element) {
  element.classList.add("is-step");
  element.setAttribute("aria-current", "step");
}

function said(steps, row) {
  const changes = own(row).map(({ name, value }) => `${name} = ${value}`);
  const shown = changes.length ? ` ${changes.join(", ")}.` : "";
  const place = row.dataset.loop ? `Loop at line ${row.dataset.loop}, ${row.dataset.passes} times` : `Step ${row.dataset.step}, line ${row.dataset.lineNumber}`;
  return `${place}.${shown}${followed(steps, row)}`;
}

function followed(steps, row) {
  const name = steps.querySelector("[data-follows]")?.value;
  if (!name) return "";
  const { events, reached } = story(steps);
  let value;
  for (const event of events.slice(0, reached.get(row))) {
    if (event.call) value = undefined;
    else if (event.name === name) value = event.value;
  }
  return value === undefined ? ` No value of ${name} is shown so far.` : ` Now ${name} is ${value}.`;
}

function follow(steps) {
  const name = steps.querySelector("[data-follows]").value;
  for (const change of steps.querySelectorAll(".change")) {
    change.classList.toggle("is-followed", name !== "" && nameOf(change) === name);
  }
  const row = steps.querySelector("tr.is-step");
  if (row) tell(steps, said(steps, row));
}

// All changes in the order of execution, and how many of them there are once a row is over.
function story(steps) {
  if (!known.has(steps)) {
    const found = { events: [], reached: new Map() };
    walk(steps.querySelectorAll("table.trace > tbody > tr"), found);
    known.set(steps, found);
  }
  return known.get(steps);
}

function walk(rows, { events, reached }) {
  for (const row of rows) {
    if (row.matches(".trace-call")) events.push({ call: true });
    walk(row.querySelectorAll(":scope > td > details > table > tbody > tr"), { events, reached });
    events.push(...own(row));
    reached.set(row, events.length);
  }
}

function own(row) {
  const changes = row.querySelectorAll(":scope > td > .change, :scope > td > details > summary > .change");
  return [...changes].map((change) => ({ name: nameOf(change), value: cut(change.lastElementChild.textContent) }));
}

function nameOf(change) {
  return change.firstElementChild.textContent;
}

function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function tell(steps, words) {
  steps.querySelector("[data-step-now]").textContent = words;
}
