// What the review page has beyond keys, drafts and runs: the next pair fetched ahead, tabs, parts that are
// folded until they are used, lines that are wrapped or not, the number of tags that are set, and lines of the function that
// are marked.

import * as ahead from "./ahead.js";
import * as marks from "./marks.js";
import * as tabs from "./tabs.js";

const UNWRAPPED = "desk-unwrapped";
const root = document.documentElement;

ahead.listen();
marks.listen();
tabs.listen();
document.addEventListener("opens", ({ target }) => {
  const fold = target.closest("details");
  if (!fold) return;
  fold.open = true;
  fold.parentElement.closest("[data-pane]")?.dispatchEvent(new Event("opens", { bubbles: true }));
});
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-wraps]")) wrap(root.hasAttribute("data-unwrapped"));
});
for (const happening of ["change", "input", "restored"]) document.addEventListener(happening, countTags);
document.addEventListener("htmx:load", prepare);
prepare();

function prepare() {
  marks.prepare();
  tellWrap();
  countTags();
}

function wrap(on) {
  root.toggleAttribute("data-unwrapped", !on);
  try {
    if (on) localStorage.removeItem(UNWRAPPED);
    else localStorage.setItem(UNWRAPPED, "");
  } catch {
    // storage is switched off: it lasts until the page is left
  }
  tellWrap();
}

function tellWrap() {
  document.querySelector("[data-wraps]")?.setAttribute("aria-pressed", String(!root.hasAttribute("data-unwrapped")));
}

function countTags() {
  const count = document.querySelector("[data-counts-tags]");
  const set = document.querySelectorAll('#label-form input[name="tags"]:checked').length;
  const lines = document.querySelector('#label-form input[name="lines"]')?.value.trim();
  if (count) count.textContent = [set || "", lines && `lines ${lines}`].filter(Boolean).join(", ");
}
