// A part of the page that is replaced, most often because it is asked for again and again until it is complete, keeps
// the focus, and what was opened or scrolled in it. htmx finds by its id what had the focus; most of what such a part
// shows has none. No such part has a field to type into.

const TELLING = ["id", "href", "action", "name", "value", "aria-label", "aria-labelledby"];
let sender = null; // what had the focus when the last form was sent
let before = null; // of the part that is about to be replaced

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt.contains(document.activeElement)) sender = document.activeElement;
});

// The page of a pair or case says itself where the focus goes.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  before = detail.shouldSwap && detail.target.id !== "case" ? seen(detail.target) : null;
});

document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
  if (!before || before.part !== detail.target || before.part.isConnected) return;
  const { part, focused, opened, scrolled } = before;
  before = null;
  if (polls(part)) putBack(target, opened, scrolled);
  if (focused && document.activeElement === document.body) focus(find(target, focused) ?? target);
});

function polls(part) {
  return part.matches('[hx-trigger^="every"], [hx-trigger^="load delay"]');
}

function seen(part) {
  const focused = focusedIn(part);
  const every = [...part.querySelectorAll("*")];
  return {
    part,
    focused: focused && placeOf(part, focused),
    opened: every.filter((one) => one.matches("details")).map((one) => [placeOf(part, one), one.open]),
    scrolled: every
      .filter((one) => one.scrollLeft || one.scrollTop)
      .map((one) => [placeOf(part, one), one.scrollLeft, one.scrollTop]),
  };
}

// A button that is switched off while its form is under way has lost the focus.
function focusedIn(part) {
  const now = document.activeElement;
  if (part.contains(now)) return now;
  return now === document.body && sender?.disabled && part.contains(sender) ? sender : null;
}

function putBack(part, opened, scrolled) {
  for (const [place, open] of opened) {
    const one = find(part, place);
    if (one) one.open = open;
  }
  for (const [place, left, top] of scrolled) find(part, place)?.scrollTo({ left, top, behavior: "instant" });
}

// Where what had the focus is gone, its reader stays with the part that told of it.
function focus(one) {
  one.focus({ preventScroll: true });
  if (document.activeElement === one) return;
  one.tabIndex = -1;
  one.addEventListener("blur", () => one.removeAttribute("tabindex"), { once: true });
  one.focus({ preventScroll: true });
}

function placeOf(part, one) {
  const sign = signOf(one);
  return { tag: one.tagName, sign, number: alike(part, one.tagName, sign).indexOf(one) };
}

function find(part, { tag, sign, number }) {
  return alike(part, tag, sign)[number];
}

function alike(part, tag, sign) {
  return [...part.querySelectorAll(tag)].filter((one) => signOf(one) === sign);
}

function signOf(one) {
  return TELLING.map((name) => one.getAttribute(name) ?? "").join("\n");
}
