// The boxes under the code: an earlier call comes back into its field by a click or by the arrow keys, and a call
// that runs says so at once.

import { isConverting } from "./keys.js";

const FIELD = '.call-form [name="expression"]';

export function listen() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-call]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    put(link.closest(".call-box").querySelector(FIELD), link.dataset.call);
  });
  document.addEventListener("keydown", recall);
  document.addEventListener("htmx:beforeRequest", started);
  document.addEventListener("htmx:afterRequest", ended);
}

// What was refused before is not said of the call that runs now.
function started(event) {
  if (event.defaultPrevented || !event.target.matches?.(".call-form")) return;
  const box = event.target.closest(".call-box");
  box.querySelector('[id^="call-problem"]')?.remove();
  const field = box.querySelector(FIELD);
  for (const name of ["aria-invalid", "aria-describedby"]) field.removeAttribute(name);
  box.querySelector(".call-runs").textContent = "Running …";
}

function ended(event) {
  if (event.target.matches?.(".call-form")) event.target.querySelector(".call-runs").textContent = "";
}

function recall(event) {
  if (isConverting(event)) return;
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (!step || !event.target.matches?.(FIELD) || event.ctrlKey || event.altKey || event.metaKey) return;
  const earlier = [...event.target.closest(".call-box").querySelectorAll("a[data-call]")].map((link) => link.dataset.call);
  const next = earlier.lastIndexOf(event.target.value) + step;
  if (!(next in earlier)) return;
  event.preventDefault();
  put(event.target, earlier[next]);
}

function put(field, text) {
  field.value = text;
  field.focus();
  field.setSelectionRange(text.length, text.length);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
