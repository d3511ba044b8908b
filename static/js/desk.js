// What the review page has beyond keys, drafts and runs: the next pair fetched ahead, tabs, parts that are
// folded until they are used, lines that are wrapped or not, and the number of tags that are set.

import * as ahead from "./ahead.js";
import * as tabs from "./tabs.js";

const UNWRAPPED = "desk-unwrapped";
const root = document.documentElement;

ahead.listen();
tabs.listen();
document.addEventListener("opens", ({ target }) => {
  if (!target.matches("details")) return;
  target.open = true;
  target.parentElement.closest("[data-pane]")?.dispatchEvent(new Event("opens", { bubbles: true }));
});
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-wraps]")) wrap(root.hasAttribute("data-unwrapped"));
});
for (const happening of ["change", "restored"]) document.addEventListener(happening, countTags);
document.addEventListener("htmx:load", prepare);
prepare();

function prepare() {
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
  if (count) count.textContent = set ? String(set) : "";
}
