// Keeps what is being typed: at once in this browser, and a moment later on the server.
// The copy in the browser is removed once the server has the text, so a copy that is found is text that never
// arrived, or arrived too late for the page: it comes back into the field.

const WAIT_MS = 600;
const PREFIX = "draft:";

const waiting = new Map(); // field → timer: typed and not yet kept on the server
let leaving = false; // the next page is on its way, and may have been rendered without what is kept from now on

export function listen() {
  document.addEventListener("input", (event) => {
    if (event.target.matches?.("[data-draft]")) changed(event.target);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leave();
  });
  window.addEventListener("pagehide", leave);
  window.addEventListener("beforeunload", () => (leaving = true));
  window.addEventListener("pageshow", () => (leaving = false));
  window.addEventListener("online", () => keepAll());
  document.addEventListener("htmx:beforeRequest", beforeRequest);
  document.addEventListener("htmx:afterRequest", afterRequest);
}

export function prepare(root) {
  for (const field of root.querySelectorAll("[data-draft]")) {
    if (!("prepared" in field.dataset)) restore(field);
    field.dataset.prepared = "";
  }
}

function restore(field) {
  const copy = stored(field);
  if (!copy) return;
  if (copy.text === field.value || copy.at <= Date.parse(field.dataset.draftAt || 0)) return forget(field);
  field.value = copy.text;
  field.dispatchEvent(new Event("restored", { bubbles: true }));
  say(field, "Restored from this browser");
  schedule(field);
}

function changed(field) {
  store(field);
  say(field, "…");
  schedule(field);
}

function schedule(field) {
  clearTimeout(waiting.get(field));
  waiting.set(field, setTimeout(() => keep(field), WAIT_MS));
}

function leave() {
  keepAll({ keepalive: true });
}

export function keepAll(options) {
  for (const field of waiting.keys()) keep(field, options);
}

async function keep(field, options = {}) {
  clearTimeout(waiting.get(field));
  waiting.delete(field);
  const text = field.value;
  const csrf = field.form.elements.csrfmiddlewaretoken.value;
  try {
    const answer = await fetch(field.dataset.draftUrl, {
      method: "POST",
      body: new URLSearchParams({ field: field.dataset.draft, text, csrfmiddlewaretoken: csrf }),
      redirect: "error", // a redirect is the log-in page
      ...options,
    });
    if (answer.status === 204) return kept(field, text);
    say(field, answer.status === 400 ? await answer.text() : "Not kept on the server; it is kept in this browser");
  } catch {
    waiting.set(field, 0); // tried again when the browser is online, or with the next key
    say(field, "The server can't be reached; kept in this browser");
  }
}

function kept(field, text) {
  if (field.value !== text) return; // typed on meanwhile: the next save is on its way
  if (!leaving) forget(field);
  say(field, text.trim() ? "Draft kept" : "");
}

// A form that is being sent needs no draft; everything else that is typed is kept before the page changes.
function beforeRequest({ detail }) {
  if (detail.elt.id === "run") return; // the poll of a run changes nothing that is typed
  for (const field of waiting.keys()) {
    if (!detail.elt.contains(field)) keep(field);
    else clearTimeout(waiting.get(field));
  }
}

// Whether the session ended meanwhile: then the answer to anything is the log-in page.
export function isLogIn(xhr) {
  return xhr.responseURL !== "" && new URL(xhr.responseURL).pathname.endsWith("/login/");
}

// A form that its own answer replaced is told of by an element that is still there: the request knows the form.
function afterRequest({ detail }) {
  const form = detail.requestConfig?.elt ?? detail.elt;
  if (!(form instanceof HTMLFormElement)) return;
  for (const field of form.querySelectorAll("[data-draft]")) {
    if (detail.successful && !isLogIn(detail.xhr)) {
      clearTimeout(waiting.get(field));
      waiting.delete(field);
      forget(field);
    } else if (waiting.has(field)) keep(field);
  }
}

function say(field, words) {
  const place = field.form.querySelector("[data-draft-state]");
  if (place) place.textContent = words;
}

function stored(field) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + field.dataset.draftKey));
  } catch {
    return null; // storage is switched off, or holds something else
  }
}

function store(field) {
  try {
    localStorage.setItem(PREFIX + field.dataset.draftKey, JSON.stringify({ text: field.value, at: Date.now() }));
  } catch {
    // full or switched off: the server still gets the text
  }
}

function forget(field) {
  try {
    localStorage.removeItem(PREFIX + field.dataset.draftKey);
  } catch {
    // see store()
  }
}
