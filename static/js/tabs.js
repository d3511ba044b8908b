// The tabs of the review page: Test, Trace and History, and of which run the first two are, the recorded one or
// one's own. A rater's page has Test and Trace of the agents, and its own test. What is shown is said on <html>, so
// that it stays as it is on the next pair; desk-tabs.css and rating.css hide the rest. Without this script all of it
// is there, one part below the other.

const KEPT = "desk-tab";
const root = document.documentElement;

export function listen() {
  document.addEventListener("click", chosen);
  document.addEventListener("click", followed, { capture: true });
  document.addEventListener("keydown", moved);
  document.addEventListener("opens", ({ target }) => reveal(target));
  document.addEventListener("htmx:beforeSwap", arrives);
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target?.id === "case") root.dataset.shown = "recorded";
  });
  document.addEventListener("htmx:afterSettle", tell);
  tell();
}

function tabs() {
  return [...document.querySelectorAll('[role="tab"]')].filter((tab) => tab.checkVisibility());
}

function isOwnShown() {
  return root.dataset.shown === "mine" && document.querySelector(".desk-tabs > .run[data-state]") !== null;
}

function chosen(event) {
  const tab = event.target.closest?.("[data-chooses]");
  const run = event.target.closest?.("[data-shows]");
  if (tab) choose(tab.dataset.chooses);
  if (run) root.dataset.shown = run.dataset.shows;
  setTimeout(tell); // a run may just have been closed
}

export function choose(name) {
  root.dataset.tab = name;
  try {
    if (name !== "own") localStorage.setItem(KEPT, name); // the review page has no such tab
  } catch {
    // storage is switched off: the choice lasts until the page is left
  }
  tell();
}

// What is behind a tab comes forward: that a key is for, or that a link leads to.
function reveal(part) {
  const { pane = "" } = part.closest("[data-pane]")?.dataset ?? {};
  const [kind, name] = pane.split("-");
  if (kind !== "tab" && kind !== "run") return;
  if (kind === "run") root.dataset.shown = "mine";
  else if (name !== "history") root.dataset.shown = "recorded";
  choose(name);
}

function followed(event) {
  const link = event.target.closest?.('a[href^="#"]');
  const goal = link && document.getElementById(link.getAttribute("href").slice(1));
  if (goal && !goal.checkVisibility()) reveal(goal);
}

// A run that somebody asks for is shown at once, and so is the editor; its polls change nothing.
function arrives({ detail }) {
  const { target, requestConfig } = detail;
  if (target.id === "test-panel") choose("test");
  if (target.id !== "run" || requestConfig.elt.id === "run") return;
  if (target.closest("#panel-own")) return choose("own");
  root.dataset.shown = "mine";
  if (root.dataset.tab === "history") choose("test");
}

// As in every list of tabs: arrow keys, Home and End move along it.
function moved(event) {
  const all = tabs();
  const at = all.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key];
  if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const next = all.at(to % all.length);
  choose(next.dataset.chooses);
  next.focus();
}

// For those who listen; and of two runs only the one that is shown has keys to step through it.
function tell() {
  const all = tabs();
  const now = all.find((tab) => tab.dataset.chooses === root.dataset.tab) ?? all[0];
  const own = isOwnShown();
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const name = tab.dataset.chooses;
    const isOwn = own && document.getElementById(`run-${name}`) !== null;
    tab.setAttribute("aria-selected", String(tab === now));
    tab.tabIndex = tab === now ? 0 : -1;
    tab.setAttribute("aria-controls", isOwn ? `run-${name}` : `panel-${name}`);
  }
  for (const panel of document.querySelectorAll(".tab-panel, .run-part")) {
    if (all.length) panel.setAttribute("role", "tabpanel");
    else panel.setAttribute("role", panel.matches(".run-part") ? "group" : "region");
  }
  for (const button of document.querySelectorAll("[data-shows]")) {
    button.setAttribute("aria-pressed", String((button.dataset.shows === "mine") === own));
  }
  for (const stepping of document.querySelectorAll("#panel-trace [data-step-to], #panel-trace [data-follows]")) {
    stepping.disabled = own || (root.dataset.tab === "own" && document.getElementById("panel-own") !== null);
  }
}
