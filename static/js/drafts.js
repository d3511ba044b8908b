// Keeps what is being typed: at once in this browser, and a moment later on the server.
// The copy in the browser has a key for each window. It is removed once the server has the text, so a copy that is
// found is text that never arrived, or arrived too late for the page: it comes back into the field. Where the server
// has another text since, from another window, both are shown, and the person chooses.

import * as others from "./others.js";
import * as own from "./window.js";

const WAIT_MS = 600;
const AGAIN_MS = 5000; // until what did not reach the server is sent again
const PREFIX = "draft:";
const AT_WORK_MS = 3000; // a copy of another window that is so fresh is about to be kept by that window

const waiting = new Map(); // field → timer: typed and not yet sent to the server
const unkept = new WeakSet(); // fields whose text the server does not have, be it under way or refused
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
  document.addEventListener("htmx:configRequest", tellWindow);
  document.addEventListener("htmx:beforeRequest", beforeRequest);
  document.addEventListener("htmx:afterRequest", afterRequest);
}

export function prepare(root) {
  for (const field of root.querySelectorAll("[data-draft]")) {
    if ("prepared" in field.dataset) continue;
    if ("draftUnsaved" in field.dataset) changed(field);
    else restore(field);
    field.dataset.prepared = "";
  }
}

function restore(field) {
  let done = false;
  for (const copy of copies(field)) {
    if (copy.text === field.value) drop(copy.key);
    else if (copy.key !== keyOf(field) && isAtWork(copy)) continue;
    else if (!follows(copy, field)) setAside(field, copy);
    else if (!done) {
      done = true;
      putBack(field, copy);
    }
  }
}

function isAtWork(copy) {
  return !copy.isRefused && Date.now() - copy.at < AT_WORK_MS;
}

// Whether the copy was typed over what the field shows.
function follows(copy, field) {
  if (isTold(field)) return (copy.revision ?? "") === field.dataset.draftRevision;
  return copy.at > Date.parse(field.dataset.draftAt || 0);
}

// A field whose drafts have no revisions shows what was kept last, as ever.
function setAside(field, copy) {
  if (!isTold(field)) return drop(copy.key);
  others.show(field, copy.text, "This browser has another text for this field, which never arrived.", {
    "Take it": () => take(field, copy.text, field.dataset.draftRevision, copy.key),
    "Drop it": () => drop(copy.key),
  });
}

function putBack(field, copy) {
  field.value = copy.text;
  store(field);
  if (copy.key !== keyOf(field)) drop(copy.key);
  field.dispatchEvent(new Event("restored", { bubbles: true }));
  say(field, "Restored from this browser");
  schedule(field);
}

function take(field, text, revision, key) {
  field.dataset.draftRevision = revision;
  putBack(field, { text, key });
}

function changed(field) {
  store(field);
  say(field, "…");
  schedule(field);
}

function schedule(field, milliseconds = WAIT_MS) {
  unkept.add(field);
  clearTimeout(waiting.get(field));
  waiting.set(field, setTimeout(() => keep(field), milliseconds));
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
      body: new URLSearchParams({ field: field.dataset.draft, text, csrfmiddlewaretoken: csrf, ...known([field]) }),
      redirect: "manual", // a redirect is the log-in page
      ...options,
    });
    if (answer.status === 204) return kept(field, text, answer.headers.get("Draft-Revision"));
    if (answer.status === 409) return both(field, await answer.json());
    if (answer.status === 400) return say(field, await answer.text());
    if (answer.type === "opaqueredirect") return loggedOut(field);
    if (answer.status >= 500) again(field);
    say(field, "Not kept on the server; it is kept in this browser");
  } catch {
    again(field);
    say(field, "The server can't be reached; kept in this browser");
  }
}

function loggedOut(field) {
  again(field);
  say(field, "You are logged out; kept in this browser");
}

// By itself; sooner when the browser is online, or with the next key.
// Whatever window is opened meanwhile need not wait for this one.
function again(field) {
  mark(field);
  if (!waiting.has(field)) schedule(field, AGAIN_MS);
}

function kept(field, text, revision) {
  if (isTold(field) && revision !== null) field.dataset.draftRevision = revision;
  if (field.value !== text) return store(field); // typed on meanwhile: the next save is on its way
  unkept.delete(field);
  if (!leaving) drop(keyOf(field));
  others.hide(field);
  if (!isUnkept(field.form)) say(field, text.trim() && revision !== "" ? "Draft kept" : "");
}

// The line is of the whole form: it says "kept" when each of its fields is.
function isUnkept(form) {
  return [...form.querySelectorAll("[data-draft]")].some((field) => unkept.has(field));
}

// What is typed here stays in the field and in this browser; the server has what was typed in another window.
function both(field, { message, text, revision }) {
  say(field, "Kept in this browser");
  others.show(field, text, message, {
    "Take the other": () => take(field, text, revision, keyOf(field)),
    "Keep this one": () => {
      field.dataset.draftRevision = revision;
      keep(field);
    },
  });
}

function isTold(field) {
  return "draftRevision" in field.dataset;
}

// Which window asks, and which drafts it knows.
function known(fields) {
  const told = { draft_window: own.name() };
  for (const field of fields) if (isTold(field)) told[`draft_${field.dataset.draft}`] = field.dataset.draftRevision;
  return told;
}

function tellWindow({ detail }) {
  if (detail.verb !== "post") return;
  const fields = detail.elt instanceof HTMLFormElement ? detail.elt.querySelectorAll("[data-draft]") : [];
  for (const [key, value] of Object.entries(known(fields))) detail.parameters[key] = value;
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
    const arrived = detail.successful && !isLogIn(detail.xhr);
    if (arrived && typedSince(field, detail.requestConfig)) schedule(field);
    else if (arrived) {
      clearTimeout(waiting.get(field));
      waiting.delete(field);
      forget(field);
      if (!isUnkept(form)) say(field, ""); // it was sent, so nothing is a draft
    } else if (waiting.has(field)) keep(field);
  }
}

// What is typed while a call or a test is under way was not sent with it.
function typedSince(field, request) {
  const sent = field.name && request?.formData?.get(field.name);
  return typeof sent === "string" && sent.replaceAll("\r\n", "\n") !== field.value;
}

function say(field, words) {
  const place = field.form.querySelector("[data-draft-state]");
  if (place && place.textContent !== words) place.textContent = words; // what is said again is not read out again
}

// what this browser keeps

function keyOf(field) {
  return `${PREFIX}${field.dataset.draftKey}#${own.name()}`;
}

// Those of all windows for the field, the newest first.
function copies(field) {
  const base = PREFIX + field.dataset.draftKey;
  try {
    const keys = Object.keys(localStorage).filter((key) => key === base || key.startsWith(`${base}#`));
    const found = keys.map((key) => ({ ...JSON.parse(localStorage.getItem(key)), key }));
    return found.filter((copy) => typeof copy.text === "string").sort((one, other) => other.at - one.at);
  } catch {
    return []; // storage is switched off, or holds something else
  }
}

// With where it goes: a log-out sends what has not arrived, from whatever page.
function store(field) {
  if ("left" in document.documentElement.dataset) return;
  const { draft, draftUrl, draftRevision } = field.dataset;
  write(keyOf(field), { text: field.value, at: Date.now(), revision: draftRevision, field: draft, url: draftUrl });
}

// The text did not arrive. When it was typed stays as it was.
function mark(field) {
  const copy = copies(field).find(({ key }) => key === keyOf(field));
  if (copy) write(copy.key, { ...copy, isRefused: true });
}

function write(key, copy) {
  try {
    localStorage.setItem(key, JSON.stringify(copy));
  } catch {
    // full or switched off: the server still gets the text
  }
}

function forget(field) {
  unkept.delete(field);
  drop(keyOf(field));
}

function drop(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // see store()
  }
}
