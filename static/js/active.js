// Counts how long somebody works on a case: while the page is seen and something is done on it. A pause of
// more than a minute is no work. The form takes the seconds along; a reload goes on counting.

const LONGEST_PAUSE_MS = 60_000;
const SIGNS = ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchmove", "focusin"];

let of = "";
let active = 0;
let last = performance.now();

export function listen() {
  for (const sign of SIGNS) document.addEventListener(sign, count, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") count();
    else last = performance.now();
  });
  document.addEventListener("submit", fill, { capture: true });
  window.addEventListener("pagehide", remember);
}

export function prepare() {
  const shown = document.querySelector("#case")?.dataset.case ?? "";
  if (shown === of) return;
  of = shown;
  active = remembered();
  last = performance.now();
}

// The form's pair is shown again, as what was sent was not stored: it goes on from what was sent.
export function resume(form) {
  active = 1000 * Number(form.querySelector("[data-active-seconds]").value);
}

function count() {
  const now = performance.now();
  if (now - last <= LONGEST_PAUSE_MS) active += now - last;
  last = now;
}

function fill(event) {
  const field = event.target.querySelector?.("[data-active-seconds]");
  if (!field) return;
  count();
  field.value = Math.round(active / 1000);
}

function remember() {
  if ("left" in document.documentElement.dataset) return; // logged out: see leaving.js
  count();
  try {
    sessionStorage.setItem("active", JSON.stringify({ of, active }));
  } catch {
    // switched off: a reload counts anew
  }
}

function remembered() {
  try {
    const kept = JSON.parse(sessionStorage.getItem("active"));
    sessionStorage.removeItem("active");
    return kept?.of === of && of !== "" ? kept.active : 0;
  } catch {
    return 0;
  }
}
