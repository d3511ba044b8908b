// The two columns share the width of the page as the divider between them is moved: with a pointer, or with arrow
// keys, Home and End; Enter or a double click gives back the usual sizes. What was chosen is applied at once and kept
// on the server for the next page.

const STEP = 3; // percent
const LEAST = 8; // percent that the smaller neighbour keeps
const WAIT_MS = 400;

const sizes = new Map();
let saving;

export function listen() {
  const stored = document.querySelector('meta[name="review-layout"]');
  if (!stored) return;
  for (const [, name, size] of stored.content.matchAll(/([a-z]+)=(\d+)/g)) sizes.set(name, Number(size));
  document.addEventListener("keydown", moveByKey);
  document.addEventListener("pointerdown", drag);
  document.addEventListener("dblclick", ({ target }) => target.matches?.(".divider") && restore(target));
}

// What a divider says of its place follows what is on the screen, whoever changed it: another divider, the
// window, a size that was taken away.
const resized = new ResizeObserver(() => {
  for (const divider of document.querySelectorAll(".divider")) tell(divider);
});

export function prepare(root) {
  for (const column of root.querySelectorAll("[data-column]")) resized.observe(column);
}

// A part that is behind a tab or folded hears of it and shows itself: desk.js.
export function open(pane) {
  pane?.dispatchEvent(new Event("opens", { bubbles: true }));
}

// The two columns of a divider, with their shares of the room.
function around(divider) {
  const { above, below } = divider.dataset;
  const columns = [...divider.parentElement.querySelectorAll("[data-column]")];
  const all = columns.reduce((sum, column) => sum + column.offsetWidth, 0) || 1;
  const shares = new Map(columns.map((column) => [column.dataset.column, (100 * column.offsetWidth) / all]));
  return { above, below, shares, all };
}

function moveBy(divider, percent) {
  const { above, below, shares } = around(divider);
  if (!shares.has(above) || !shares.has(below)) return;
  const both = shares.get(above) + shares.get(below);
  const first = Math.min(both - LEAST, Math.max(LEAST, shares.get(above) + percent));
  shares.set(above, first);
  shares.set(below, both - first);
  for (const [name, share] of shares) give(name, Math.min(90, Math.max(5, Math.round(share))));
  tell(divider, shares);
  keep();
}

function give(name, share) {
  sizes.set(name, share);
  document.documentElement.style.setProperty(`--share-${name}`, `${share}fr`);
}

function tell(divider, shares = around(divider).shares) {
  const { above, below } = divider.dataset;
  const both = (shares.get(above) ?? 50) + (shares.get(below) ?? 50);
  divider.setAttribute("aria-valuenow", Math.round((100 * (shares.get(above) ?? 50)) / both));
}

function restore(divider) {
  for (const name of around(divider).shares.keys()) {
    sizes.delete(name);
    document.documentElement.style.removeProperty(`--share-${name}`);
  }
  keep();
}

function moveByKey(event) {
  const divider = event.target.closest?.(".divider");
  if (!divider || event.ctrlKey || event.altKey || event.metaKey) return;
  const moves = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -100, End: 100 };
  if (event.key === "Enter") restore(divider);
  else if (event.key in moves) moveBy(divider, moves[event.key]);
  else return;
  event.preventDefault();
}

function drag(event) {
  const divider = event.target.closest?.(".divider");
  if (!divider || event.button !== 0) return;
  divider.setPointerCapture(event.pointerId);
  const { all } = around(divider);
  let last = event.clientX;
  const move = (now) => {
    const percent = (100 * (now.clientX - last)) / all;
    if (Math.abs(percent) < 1) return;
    last = now.clientX;
    moveBy(divider, percent);
  };
  divider.addEventListener("pointermove", move);
  divider.addEventListener("lostpointercapture", () => divider.removeEventListener("pointermove", move), { once: true });
}

function keep() {
  clearTimeout(saving);
  saving = setTimeout(send, WAIT_MS);
}

// Not worth a word where it fails: the page stays as it is, and the next change is sent with all of it.
function send() {
  const place = document.querySelector("[data-layout-url]");
  const body = new URLSearchParams([...sizes].map(([name, size]) => [`size-${name}`, size]));
  body.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
  fetch(place.dataset.layoutUrl, { method: "POST", body, keepalive: true, redirect: "error" }).catch(() => {});
}
