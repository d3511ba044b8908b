// Lines of the function that are the reason of a label or decision. A field of its form has them as "4-7"; who has
// selected code can take its lines by a button, or by entering the field. What is marked is seen in the code. Lines
// have the numbers that the page shows: a docstring that a study hides leaves a gap in them.

import { say } from "./status.js";

const WRITTEN = /^(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?$/;

let selected = null; // lines of the function in which a selection is, or was before the field was entered

export function listen() {
  document.addEventListener("selectionchange", select);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-marks]");
    if (button) mark(button.value);
  });
  document.addEventListener("focusin", ({ target }) => {
    if (target === field() && !target.value && selected) mark(write(selected));
  });
  for (const happening of ["input", "restored"]) {
    document.addEventListener(happening, ({ target }) => target === field() && show());
  }
}

export function prepare() {
  selected = null;
  show();
}

// Whether what is marked can be stored. The server tells of lines that the page does not show.
export function isSound(form) {
  const written = form.elements.lines?.value.trim() ?? "";
  return written === "" || read(written) !== null;
}

function field() {
  return document.querySelector('.lines-field [name="lines"]');
}

function lines() {
  return [...document.querySelectorAll("#pane-code .line")];
}

function read(written) {
  const found = WRITTEN.exec(written.trim());
  if (!found) return null;
  const [first, last] = [Number(found[1]), Number(found[2] ?? found[1])];
  return first >= 1 && first <= last && last <= numberOf(lines().at(-1)) ? { first, last } : null;
}

function numberOf(line) {
  return Number(line?.querySelector(".ln").textContent ?? 0);
}

function write({ first, last }) {
  return first === last ? String(first) : `${first}-${last}`;
}

// A selection that begins or ends outside the code marks nothing. In a field there is none.
function select() {
  if (document.activeElement === field()) return;
  const selection = document.getSelection();
  selected = selection.isCollapsed ? null : linesIn(selection.getRangeAt(0));
  offer();
}

function linesIn(range) {
  const first = placeOf(range.startContainer);
  const last = placeOf(range.endContainer);
  if (!first || !last) return null;
  const isBefore = last > first && isAtStart(range); // it has nothing of the line at whose beginning it ends
  return { first: numberOf(lines()[first - 1]), last: numberOf(lines()[isBefore ? last - 2 : last - 1]) };
}

function isAtStart({ endContainer, endOffset }) {
  const code = lines()[placeOf(endContainer) - 1].querySelector(".src");
  const before = document.createRange();
  before.setStart(code, 0);
  before.setEnd(endContainer, endOffset);
  return before.toString() === "";
}

// Its place among the lines of the page, from 1; 0 where it is in none.
function placeOf(node) {
  const element = node instanceof Element ? node : node.parentElement;
  return lines().indexOf(element?.closest("#pane-code .line")) + 1;
}

function name(written) {
  return `${written.includes("-") ? "lines" : "line"} ${written}`;
}

function mark(written) {
  const here = field();
  here.value = written;
  here.dispatchEvent(new Event("input", { bubbles: true }));
  say(written ? `Marked as the reason: ${name(written)}. Saved with your label.` : "No lines are marked.", "info");
}

function show() {
  const marked = read(field()?.value ?? "");
  for (const line of lines()) {
    const isMarked = marked !== null && numberOf(line) >= marked.first && numberOf(line) <= marked.last;
    line.classList.toggle("is-reason", isMarked);
  }
  offer();
}

// One button: it marks what is selected, or unmarks what is marked.
function offer() {
  const button = document.querySelector("[data-marks]");
  if (!button) return;
  const marked = field()?.value.trim() ?? "";
  const wanted = selected && write(selected) !== marked ? write(selected) : "";
  button.hidden = !wanted && !marked;
  button.value = wanted;
  button.textContent = wanted ? `Mark ${name(wanted)}` : `Unmark ${name(marked)}`;
}
