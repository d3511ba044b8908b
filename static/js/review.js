// The review page: keys, drafts, line links, the test editor, and where the focus goes when a part is replaced.

import * as active from "./active.js";
import * as calls from "./calls.js";
import * as drafts from "./drafts.js";
import * as keys from "./keys.js";
import * as lines from "./lines.js";
import * as panes from "./panes.js";
import { say } from "./status.js";
import * as steps from "./steps.js";
import * as tags from "./tags.js";
import * as waiting from "./waiting.js";

active.listen();
calls.listen();
drafts.listen();
keys.listen();
lines.listen();
panes.listen();
steps.listen();
tags.listen();
waiting.listen();
prepare(document);

document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id === "case") showCase();
  if (event.detail.target?.id === "test-panel") closeEditor();
  if (event.detail.target?.id === "run" && event.detail.elt.dataset.state !== undefined) showRun(event.detail);
});

// A session that ended meanwhile answers with the log-in page: go there as a whole, and come back to this case.
// What was typed waits in this browser.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!drafts.isLogIn(event.detail.xhr)) return;
  event.detail.shouldSwap = false;
  location.reload();
});

document.addEventListener("htmx:sendError", () => say("The server can't be reached. Nothing is lost: try again."));
document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  say(status === 403 ? "You are not allowed to do this, or are logged out. Reload the page." : `The server answered ${status}.`);
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens]");
  if (opener && !event.ctrlKey && !event.metaKey) {
    const dialog = document.getElementById(opener.dataset.opens);
    if (!dialog) return; // the link leads to a page with the same
    event.preventDefault();
    dialog.showModal();
    if (dialog.hasAttribute("tabindex")) dialog.focus(); // at its top, and not on its first button
  }
  if (event.target.closest?.("[data-closes-run]") && document.getElementById("case")) {
    event.preventDefault();
    closeRun();
  }
});

document.addEventListener("keydown", (event) => {
  if (keys.isConverting(event)) return;
  if (event.target.matches?.('.call-form [name="expression"], [data-follows]') && event.key === "Escape") focusTitle();
  if (event.key === "Escape") closeMenu(event.target);
  if (!(event.target instanceof HTMLTextAreaElement)) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  if (event.key === "Escape") focusTitle();
});

// What became of a call goes into the editor, if that is open; else it waits in the draft, on the server.
document.addEventListener("asserted", (event) => {
  const field = document.querySelector("textarea[data-editor]");
  if (field && event.detail.revision) field.dataset.draftRevision = event.detail.revision;
  if (field) import("./editor.js").then(({ append }) => append(field, event.detail.lines, event.detail.before));
  say(`Added to your test: ${event.detail.lines}`, "success");
});

function prepare(root) {
  active.prepare();
  panes.prepare(root);
  tags.prepare(root);
  drafts.prepare(root);
  for (const field of root.querySelectorAll("textarea[data-editor]")) {
    import("./editor.js").then(({ upgrade }) => upgrade(field));
  }
}

function send(event) {
  const { form } = event.target;
  const primary = form.querySelector("[data-primary]") ?? form.querySelector("button.is-current");
  event.preventDefault();
  if (primary) return primary.click(); // a click, because htmx sends the value of the button that was clicked
  say("Choose a label for it.");
  form.querySelector("button[name=label]")?.focus();
}

function showCase() {
  if (document.querySelector("#case [autofocus]")) return;
  window.scrollTo({ top: 0 });
  focusTitle();
}

function focusTitle() {
  document.getElementById("case-title")?.focus({ preventScroll: true });
}

function closeMenu(target) {
  const menu = target.closest?.("details.decisions[open]");
  if (!menu) return;
  menu.open = false;
  focusTitle();
}

function closeEditor() {
  document.querySelector("#test-panel:not(:has([data-editor])) .panel-actions a")?.focus({ preventScroll: true });
}

// A run that somebody asked for comes into view; its polls leave the page as it is.
function showRun({ requestConfig }) {
  if (requestConfig.elt.id === "run") return;
  document.getElementById("run").scrollIntoView({ block: "nearest" });
}

function closeRun() {
  const empty = document.createElement("div");
  empty.id = "run";
  empty.className = "run-empty";
  document.getElementById("run").replaceWith(empty);
  focusTitle();
}
