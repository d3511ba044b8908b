// Panes are closed and opened by the button in their head, and share their room as the dividers between them
// are moved: with a pointer, or with arrow keys, Home and End; Enter or a double click gives back the usual
// sizes. What was chosen is applied at once and kept on the server for the next page.

const COLUMNS = ["left", "middle", "right"];
const STEP = 3; // percent
const LEAST = 8; // percent that the smaller neighbour keeps
const WAIT_MS = 400;

const closed = new Set();
const sizes = new Map();
let saving;

export function listen() {
  const stored = document.querySelector('meta[name="review-layout"]');
  if (!stored) return;
  for (const [, name, size] of stored.content.matchAll(/([a-z]+)=(\d+)/g)) sizes.set(name, Number(size));
  for (const name of stored.dataset.closed.split(" ").filter(Boolean)) closed.add(name);
  document.addEventListener("htmx:afterSwap", arrange);
  document.addEventListener("click", toggle);
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
  for (const one of root.querySelectorAll("[data-column], [data-pane]")) resized.observe(one);
  if (root.dataset?.pane) resized.observe(root);
}

// A pane that is closed otherwise, behind a tab or folded, hears of it and shows itself: desk.js.
export function open(pane) {
  pane?.dispatchEvent(new Event("opens", { bubbles: true }));
  if (!pane || !closed.delete(pane.dataset.pane)) return;
  show(pane);
  keep();
}

// What came may have been rendered before the last click was kept, so it is shown as the page stands.
function arrange() {
  for (const pane of document.querySelectorAll("[data-pane]")) show(pane);
}

function toggle(event) {
  const button = event.target.closest?.("[data-closes-pane]");
  if (!button) return;
  const name = button.dataset.closesPane;
  if (!closed.delete(name)) closed.add(name);
  show(button.closest("[data-pane]"));
  keep();
}

function show(pane) {
  const isClosed = closed.has(pane.dataset.pane);
  pane.classList.toggle("is-closed", isClosed);
  pane.querySelector("[data-closes-pane]")?.setAttribute("aria-expanded", String(!isClosed));
}

// What a divider stands between, and all that share the same room with the two.
function around(divider) {
  const { above, below } = divider.dataset;
  const upright = COLUMNS.includes(above);
  const scope = upright ? divider.parentElement.querySelectorAll("[data-column]") : divider.parentElement.querySelectorAll("[data-pane]:not(.is-closed)");
  const members = [...scope].map((element) => ({
    name: upright ? element.dataset.column : element.dataset.pane,
    size: upright ? element.offsetWidth : element.offsetHeight,
  }));
  const all = members.reduce((sum, one) => sum + one.size, 0) || 1;
  const shares = new Map(members.map((one) => [one.name, (100 * one.size) / all]));
  return { above, below, upright, shares, all };
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
  document.documentElement.style.setProperty(`--share-${name}`, COLUMNS.includes(name) ? `${share}fr` : share);
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
  const upright = divider.classList.contains("is-upright");
  const [less, more] = upright ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const moves = { [less]: -STEP, [more]: STEP, Home: -100, End: 100 };
  if (event.key === "Enter") restore(divider);
  else if (event.key in moves) moveBy(divider, moves[event.key]);
  else return;
  event.preventDefault();
}

function drag(event) {
  const divider = event.target.closest?.(".divider");
  if (!divider || event.button !== 0) return;
  divider.setPointerCapture(event.pointerId);
  const { upright, all } = around(divider);
  let last = upright ? event.clientX : event.clientY;
  const move = (now) => {
    const at = upright ? now.clientX : now.clientY;
    const percent = (100 * (at - last)) / all;
    if (Math.abs(percent) < 1) return;
    last = at;
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
  for (const name of closed) body.append("closed", name);
  body.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
  fetch(place.dataset.layoutUrl, { method: "POST", body, keepalive: true, redirect: "error" }).catch(() => {});
}
