// Single keys of the review page. A key presses the button or link, or enters the field, that carries it as
// data-key: so every action is a real form or link, and where the server puts no data-key, keys are off.

import { open } from "./panes.js";

const TYPING = 'input:not([type="checkbox"]), textarea, select, .cm-editor, [contenteditable=""], [contenteditable="true"]';
// A second press must not label the next case before anybody can have seen it.
const PAUSE_MS = 300;

let shownAt = -PAUSE_MS;

export function listen() {
  document.addEventListener("keydown", pressed);
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id === "case") shownAt = performance.now();
  });
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
  const element = carrier(event.key.toLowerCase());
  if (!element) return;
  event.preventDefault();
  if (isGuarded(element) && tooSoon()) return;
  if (!element.closest(".panel-head")) open(element.closest("[data-pane]"));
  if (element.matches("input[type=checkbox]")) element.click();
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

// Behind what is there already: a note is gone on with more often than begun anew.
function enter(field) {
  if (field.hidden) return field.dispatchEvent(new Event("enter")); // an editor stands in its place
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

function carrier(key) {
  return [...document.querySelectorAll("[data-key]")].find(
    (element) => element.dataset.key === key && !element.matches(":disabled"),
  );
}

function isGuarded(element) {
  return element.closest("[data-guard]") !== null && !element.matches("textarea");
}

function tooSoon() {
  return performance.now() - shownAt < PAUSE_MS || document.querySelector("[data-guard].htmx-request") !== null;
}
