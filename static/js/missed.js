// Text that was typed into no field: it is shown, and offered as a note of the pair that it was meant for.

import { say } from "./status.js";

const FEWEST = 3; // characters that are a text and no slip of a finger

let left = null; // the pair that was labelled last
let meant = null; // the pair that the text is for
let waiting = null; // {text, id}: to be put into the note of a pair that is on its way

export function listen() {
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.target?.id === "case") arrive();
  });
}

// A label is being sent: what is typed from now on is for the pair that it is of.
export function leave() {
  left = pairShown();
}

// A text begins, of which nobody knows yet whether it is one.
export function begin(isAfterLabel) {
  meant = (isAfterLabel ? left : null) ?? pairShown();
}

// Shows what is being typed; tells whether that is enough to be a text.
export function show(text) {
  if (!isWhole(text) || !meant) return false;
  const line = box().querySelector("p.is-typed") ?? box().appendChild(document.createElement("p"));
  line.className = "is-typed";
  line.replaceChildren("You are typing outside a field: ", quoted(text));
  return true;
}

// Asks what is to become of the text; tells whether it is one.
export function offer(text) {
  if (!isWhole(text) || !meant) return false;
  const pair = meant;
  const old = [...box().querySelectorAll("[data-text]")].find((one) => one.dataset.pair === pair.id);
  const whole = old ? `${old.dataset.text} ${text}` : text;
  old?.remove();
  hide();
  const asked = document.createElement("div");
  Object.assign(asked.dataset, { pair: pair.id, text: whole });
  asked.setAttribute("role", "alert");
  const which = pair.id === pairShown()?.id ? "this pair" : "the pair before";
  const line = document.createElement("p");
  line.append("You typed ", quoted(whole), `. Add it as a note to ${which}?`);
  const buttons = document.createElement("div");
  buttons.className = "button-row";
  buttons.append(
    button(`Add to ${which}`, pair.title, () => add(pair, whole)),
    button("Drop", "", () => {}),
  );
  asked.append(line, buttons);
  box().append(asked);
  return true;
}

// Whether the form has come back and asks for what is being typed: the reason of a label that waits.
export function isAsked(target) {
  return target.matches?.("#label-form textarea[autofocus]") && meant !== null && meant.id === pairShown()?.id;
}

export function fill(field, text) {
  hide();
  field.value = field.value ? `${field.value.trimEnd()} ${text}` : text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

function add(pair, text) {
  if (pair.id === pairShown()?.id) return put(text);
  waiting = { text, id: pair.id };
  window.htmx.ajax("GET", pair.url, { target: "#case", swap: "outerHTML" });
}

function arrive() {
  if (!waiting || waiting.id !== pairShown()?.id) return;
  const { text } = waiting;
  waiting = null;
  queueMicrotask(() => put(text)); // after the page has put the focus on its title
}

function put(text) {
  const field = document.querySelector("#label-form textarea#notes, #label-form textarea#reason");
  if (!field) return say("This pair takes no note any more.");
  fill(field, text);
  say("The note is in its field. Ctrl+Enter saves it with your label.", "info");
}

function pairShown() {
  const { case: id, url } = document.getElementById("case")?.dataset ?? {};
  if (!id) return null;
  const title = document.getElementById("case-title")?.textContent.trim().slice(0, 80) ?? "";
  return { id, title, url: url ?? location.pathname + location.search };
}

function isWhole(text) {
  return text.trim().length >= FEWEST && /\p{L}/u.test(text);
}

// Where the texts stand: it lives outside the pair, which is replaced.
function box() {
  const old = document.getElementById("missed-text");
  if (old) return old;
  const made = document.createElement("div");
  made.id = "missed-text";
  made.className = "missed-text";
  document.getElementById("review-status")?.after(made);
  return made;
}

function hide() {
  document.querySelector("#missed-text > .is-typed")?.remove();
}

function quoted(text) {
  const quote = document.createElement("span");
  quote.className = "missed-words";
  quote.textContent = `“${text}”`;
  return quote;
}

function button(words, title, does) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button small";
  made.textContent = words;
  made.title = title;
  made.addEventListener("click", () => {
    made.closest("[data-text]").remove();
    does();
  });
  return made;
}
