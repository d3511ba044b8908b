// Text that was typed into no field: it is shown, and offered as a note of the pair that it was meant for. What is
// offered outlives a reload: this window keeps it until it is added, dropped or the person logs out.

import { say } from "./status.js";

const FEWEST = 3; // characters that are a text and no slip of a finger
const KEPT = "missed-text";

let left = null; // the pair that was labelled last
let meant = null; // the pair that the text is for
let waiting = null; // {text, id}: to be put into the note of a pair that is on its way
const offers = new Map(); // pair's id → {pair, text}

export function listen() {
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.target?.id === "case") arrive();
  });
  for (const { pair, text } of kept()) ask(pair, text);
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
  keep({ pair: meant, text: whole(meant, text) });
  return true;
}

// Asks what is to become of the text; tells whether it is one.
export function offer(text) {
  if (!isWhole(text) || !meant) return false;
  hide();
  ask(meant, whole(meant, text));
  return true;
}

// A second text for the same pair follows the first.
function whole(pair, text) {
  const before = offers.get(pair.id)?.text;
  return before ? `${before} ${text}` : text;
}

function ask(pair, text) {
  [...box().querySelectorAll("[data-pair]")].find((one) => one.dataset.pair === pair.id)?.remove();
  offers.set(pair.id, { pair, text });
  keep();
  const asked = document.createElement("div");
  asked.dataset.pair = pair.id;
  asked.setAttribute("role", "alert");
  const which = pair.id === pairShown()?.id ? "this pair" : "the pair before";
  const line = document.createElement("p");
  line.append("You typed ", quoted(text), `. Add it as a note to ${which}?`);
  const buttons = document.createElement("div");
  buttons.className = "button-row";
  buttons.append(
    button(`Add to ${which}`, pair.title, () => {
      settle(asked);
      add(pair, text);
    }),
    button("Drop", "", () => settle(asked)),
  );
  asked.append(line, buttons);
  box().append(asked);
}

function settle(asked) {
  offers.delete(asked.dataset.pair);
  asked.remove();
  keep();
}

// With what is still being typed, which a reload cuts off.
function keep(typed) {
  if ("left" in document.documentElement.dataset) return; // logged out: see leaving.js
  const all = [...offers.values()].filter(({ pair }) => pair.id !== typed?.pair.id);
  if (typed) all.push(typed);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ account: account(), offers: all }));
  } catch {
    // switched off or full: the offer lasts as long as the page
  }
}

// Those of this account and of this kind of page: a rater's pairs are not an expert's.
function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT));
    const kind = kindOf(location.pathname);
    return found.account === account() ? found.offers.filter(({ pair }) => kindOf(pair.id) === kind) : [];
  } catch {
    return []; // nothing is kept, or storage is switched off
  }
}

// The path up to its first number: one for all pairs in review, one for all that are rated.
function kindOf(path) {
  return path.replace(/\d.*$/, "");
}

function account() {
  return document.querySelector("meta[name=account]")?.content;
}

// Whether the form has come back and asks for what is being typed: the reason of a label that waits.
export function isAsked(target) {
  return target.matches?.("#label-form textarea[autofocus]") && meant !== null && meant.id === pairShown()?.id;
}

export function fill(field, text) {
  hide();
  keep();
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
  const { case: number, url = location.pathname + location.search } = document.getElementById("case")?.dataset ?? {};
  if (!number) return null;
  const title = document.getElementById("case-title")?.textContent.trim().slice(0, 80) ?? "";
  return { id: new URL(url, location.href).pathname, title, url };
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
  made.addEventListener("click", does);
  return made;
}
