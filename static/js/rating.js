// The page of a rated pair: what the review page does, and active time, and the heartbeat that holds the
// reservation.

import * as drafts from "./drafts.js";
import "./review.js";

const TICK_MS = 1000;
const IDLE_MS = 60_000; // longer without a sign of life is no work on the pair
const BEAT_MS = 60_000;
const PREFIX = "active:";
const LOST = "The connection is lost. What you type is kept in this browser until it is back.";
const ALIVE = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "input"];

let lastSign = performance.now();
let lastTick = performance.now();
let beating = false;

for (const sign of ALIVE) {
  document.addEventListener(sign, () => (lastSign = performance.now()), { capture: true, passive: true });
}
document.addEventListener("visibilitychange", () => (lastTick = performance.now()));
document.addEventListener("toggle", openedSkip, { capture: true });
document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));
document.addEventListener("htmx:beforeRequest", tick);
window.addEventListener("pagehide", tick);
window.addEventListener("online", back);
window.addEventListener("offline", () => alarm(LOST));
// An earlier test was put into the editor: a reload must show what was written since, not that test again.
if (new URLSearchParams(location.search).has("start")) history.replaceState(history.state, "", location.pathname);
setInterval(tick, TICK_MS);
setInterval(beat, BEAT_MS);
prepare(document);

function prepare(root) {
  const page = root.id === "case" ? root : root.querySelector?.("#case");
  if (!page) return;
  lastTick = performance.now();
  write(page, Math.max(Number(page.dataset.active), Number(stored(page) ?? 0)));
}

function openedSkip(event) {
  if (event.target.matches?.(".rate-skip[open]")) event.target.querySelector("#skip-reason").focus();
}

// active time: idle minutes and a hidden window do not count

function tick() {
  const now = performance.now();
  const passed = now - lastTick;
  lastTick = now;
  const page = document.getElementById("case");
  if (!page?.dataset.activeKey || document.visibilityState === "hidden") return;
  if (now - lastSign > IDLE_MS || passed > 5 * TICK_MS) return; // idle, or the machine slept
  write(page, Number(page.dataset.active) + passed / 1000);
}

function write(page, seconds) {
  if ("left" in document.documentElement.dataset) return;
  page.dataset.active = String(seconds);
  const field = page.querySelector("[data-seconds]");
  if (field) field.value = seconds.toFixed(1);
  try {
    localStorage.setItem(PREFIX + page.dataset.activeKey, seconds.toFixed(1));
  } catch {
    // storage is switched off: a reload begins at what is stored with the rating
  }
}

function stored(page) {
  try {
    return localStorage.getItem(PREFIX + page.dataset.activeKey);
  } catch {
    return null;
  }
}

// the reservation

// A page that holds no reservation has no heartbeat that would say so.
function back() {
  if (document.getElementById("rate-alert").textContent === LOST) alarm("");
  beat();
}

async function beat() {
  const page = document.getElementById("case");
  if (!page?.dataset.heartbeat || beating) return;
  drafts.keepAll();
  beating = true;
  try {
    const csrf = page.querySelector("[name=csrfmiddlewaretoken]").value;
    const answer = await fetch(page.dataset.heartbeat, {
      method: "POST",
      body: new URLSearchParams({ token: page.dataset.token, csrfmiddlewaretoken: csrf }),
      redirect: "manual", // a redirect is the log-in page
    });
    told(page, answer, answer.ok ? "" : await answer.text().catch(() => ""));
  } catch {
    alarm("The server can't be reached. What you type is kept in this browser; go on, and send it when it is back.");
  } finally {
    beating = false;
  }
}

function told(page, answer, words) {
  if (answer.ok) return alarm("");
  if (answer.type === "opaqueredirect" || answer.status === 403) return loggedOut();
  if (answer.status === 409 || answer.status === 410) {
    if (!page.isConnected) return; // rated or skipped meanwhile: nothing is said of the pair that is shown now
    delete page.dataset.heartbeat;
    return alarm(words || "Your reservation of this pair ran out. What you typed is kept.");
  }
}

function loggedOut() {
  const link = document.createElement("a");
  link.href = `${document.body.dataset.login}?next=${encodeURIComponent(location.pathname)}`;
  link.textContent = "Log in again";
  alarm("You are logged out. What you type is kept in this browser. ", link);
}

function alarm(words, link) {
  const place = document.getElementById("rate-alert");
  if (place.textContent === words + (link?.textContent ?? "")) return;
  place.replaceChildren();
  if (!words) return;
  const line = document.createElement("p");
  line.className = "banner warn";
  line.append(words, ...(link ? [link] : []));
  place.append(line);
}
