// Keys of the review page. A key presses the button or link, or enters the field, that carries it as data-key: so
// every action is a real form or link, and where the server puts no data-key, keys are off. A tool or tag carries
// two keys, "; i": the lead key and its own. When a key is obeyed: key-rules.js; what became of text: missed.js.

import * as ahead from "./ahead.js";
import { BURST_MS, isLetter, KeyRules, QUIET_MS } from "./key-rules.js";
import * as missed from "./missed.js";
import { open } from "./panes.js";
import { say } from "./status.js";

const TYPING = 'input:not([type="checkbox"], [type="radio"]), textarea, select, .cm-editor, [contenteditable=""], [contenteditable="true"]';
const WAITING = "[data-guard].htmx-request";

const rules = new KeyRules();
let held = null; // the command that is obeyed if no other key follows: {element, timer}, and {label} of one that is shown
let pause = 0; // timer: the text is over

export function listen() {
  missed.listen();
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", act, { capture: true });
  document.addEventListener("focusin", (event) => {
    if (isTyping(event.target)) act(event);
  });
  window.addEventListener("pagehide", leave);
  document.addEventListener("htmx:beforeRequest", sent);
  document.addEventListener("htmx:afterSettle", shown);
}

export function isTyping(target) {
  return target instanceof Element && target.closest(TYPING) !== null;
}

// A key that belongs to the conversion of an input method, such as the Escape that cancels it. Safari says so by
// the code alone.
export function isConverting(event) {
  return event.isComposing || event.keyCode === 229;
}

function pressed(event) {
  if (event.defaultPrevented || isConverting(event) || event.repeat) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return run(event);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Backspace") return takeBack(event);
  if (["Escape", "Tab", "Enter"].includes(event.key)) return leaveText(event);
  if ([...event.key].length === 1 && document.querySelector("[data-key]")) typed(event);
}

function typed(event) {
  const at = event.timeStamp;
  const { element, kind } = command(event, at);
  if (rules.isOver(at)) {
    finish();
    missed.begin(rules.isRightAfterLabel(at) || isBusy());
  }
  const verdict = rules.judge(event.key, at, kind, isBusy());
  if (verdict === "none") return;
  if (element || rules.isText) event.preventDefault();
  if (verdict === "early") return refuse(element, `This pair has just come: ${event.key} was not saved. Press it again.`);
  if (verdict === "again") return held?.label && say("Your last label is saved in a moment. Then press it again.", "info");
  drop();
  schedule();
  if (verdict === "act") obey(element);
  if (verdict === "wait") hold(element, event.key, kind, BURST_MS);
  if (verdict === "hold") hold(element, event.key, kind, QUIET_MS);
  if (verdict === "text") miss(element, event.key, kind);
}

// What the key would do. A letter with Shift begins a sentence.
function command(event, at) {
  if (event.shiftKey && isLetter(event.key)) return {};
  const key = event.key.toLowerCase();
  if (rules.isLed(at)) {
    const element = carrier((carried) => carried.endsWith(` ${key}`));
    return { element, kind: element && "led" };
  }
  const element = carrier((carried) => carried === key);
  if (element) return { element, kind: element.dataset.keyKind };
  return { kind: carrier((carried) => carried.startsWith(`${key} `)) && "lead" };
}

// A label's digit that is taken for text says so where no words follow it.
function miss(element, key, kind) {
  if (missed.show(rules.text)) return;
  if (kind === "label") refuse(element, `${key} followed another key, so nothing was saved. Wait a moment and press it again.`);
}

function hold(element, key, kind, milliseconds) {
  if (kind === "label" && ahead.canGoOn(element)) return goOn(element, key, milliseconds);
  const timer = setTimeout(() => {
    drop();
    if (!element.isConnected || isBusy()) return;
    rules.acted(key, kind);
    obey(element);
  }, milliseconds);
  held = { element, timer };
  if (kind !== "label") return;
  element.classList.add("is-held");
  say(`${key} waits a moment, as it followed another key.`, "info");
}

// A label that may still be text is shown as given, with the next pair, and sent once no text has followed.
function goOn(element, key, milliseconds) {
  const label = ahead.press(element);
  held = { element, label, timer: setTimeout(sendLabel, milliseconds) };
  say(`${element.value === "unsure" ? "Unsure" : `Label ${key}`} … saved in a moment. Esc takes it back.`, "info");
}

function sendLabel() {
  if (!held?.label) return;
  const { label, timer } = held;
  clearTimeout(timer);
  held = null;
  rules.forget();
  label.send();
}

// No text follows any more, so a digit that waits is a label.
function leave() {
  const was = held;
  held = null;
  clearTimeout(was?.timer);
  if (was?.label) was.label.leave();
  else if (was?.element.isConnected && was.element.dataset.keyKind === "label" && !isBusy()) {
    ahead.sendLeaving(was.element.form, new FormData(was.element.form, was.element));
  }
}

// Other keys followed, so it was no command.
function drop() {
  const was = held;
  held = null;
  clearTimeout(was?.timer);
  was?.element.classList.remove("is-held");
  was?.label?.takeBack();
}

function refuse(element, words) {
  element.classList.remove("is-refused");
  element.offsetWidth; // so that the flash begins once more
  element.classList.add("is-refused");
  say(words);
}

function schedule() {
  clearTimeout(pause);
  pause = setTimeout(finish, QUIET_MS);
}

// The text is over: a whole one is offered, and keys that were not obeyed are explained.
function finish() {
  clearTimeout(pause);
  const { text, isText } = rules;
  rules.forget();
  if (!isText || missed.offer(text)) return;
  const isSoon = rules.isRightAfterLabel(performance.now()) && command({ key: text }, 0).kind;
  if (!isSoon) return say(`“${text}” was taken for text. Nothing was done.`);
  rules.act();
  say(`“${text}” came right after a label, so nothing was done. Press it again.`);
}

// Text does not end with a click, and so a label that was shown is one.
function act(event) {
  if (event.key !== "Escape") sendLabel();
  drop();
  if (rules.isText && missed.isAsked(event.target)) {
    clearTimeout(pause);
    missed.fill(event.target, rules.text);
  } else finish();
  rules.act();
}

// Enter at the end of a text must not press what has the focus.
function leaveText(event) {
  if (event.key === "Enter" && rules.isText) event.preventDefault();
  act(event);
}

function takeBack(event) {
  if (!rules.isText) return;
  event.preventDefault();
  rules.takeBack();
  missed.show(rules.text);
  schedule();
}

function sent({ detail }) {
  if (!detail.elt.matches?.("form[data-guard]") || !detail.elt.querySelector('[data-key-kind="label"]')) return;
  missed.leave();
  rules.sendLabel();
}

// What was held was meant for the pair before.
function shown({ detail }) {
  const id = detail.target?.id;
  if (id !== "case" && id !== "label-form") return;
  if (held?.element.isConnected === false && !held.label) {
    drop();
    say("This pair has just come: your last key did nothing. Press it again.");
  }
  rules.show(performance.now(), id === "case");
}

function isBusy() {
  return document.querySelector(WAITING) !== null;
}

function obey(element) {
  if (!element.closest(".panel-head")) open(element.closest("[data-pane]"));
  if (element.matches("input[type=checkbox], input[type=radio]")) tick(element);
  else if (element.matches("input, textarea")) enter(element);
  else if (element.matches('select, [role="region"]')) element.focus();
  else press(element);
}

// An open test, as from inside its editor: a call that has just become an assertion leaves the focus outside.
function run(event) {
  const button = document.querySelector("textarea[data-editor]")?.form.querySelector("[data-primary]");
  if (!button) return;
  event.preventDefault();
  button.click();
}

// What a menu holds is what its key is for: the first entry or field, not the words that open it. At once, since
// what is typed next is meant for it.
function press(element) {
  element.click();
  if (element.matches("summary")) element.parentElement.querySelector('a, input:not([type="hidden"])')?.focus();
}

// The page may be scrolled to where a choice is not seen.
function tick(box) {
  box.click();
  if (box.type === "radio") box.focus();
}

// Behind what is there already: a note is gone on with more often than begun anew.
function enter(field) {
  if (field.hidden) return field.dispatchEvent(new Event("enter")); // an editor stands in its place
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

function carrier(isIt) {
  const found = document.querySelectorAll("[data-key]");
  return [...found].find((element) => isIt(element.dataset.key) && !element.matches(":disabled"));
}
