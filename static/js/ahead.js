// The next pair of a list is fetched ahead into this page's memory, so that it is painted at once after a label or
// "next". A label is sent first and confirmed while the next pair is read; where it can't be stored, its pair comes
// back as it was left. Plain review alone loads this; studies never do. Why so: docs/decisions/0063.

import * as active from "./active.js";
import { isLogIn } from "./drafts.js";
import * as marks from "./marks.js";
import * as status from "./status.js";

const REST_MS = 150; // a pair is painted, and its answers have come, before the next one is asked for
const FRESH_MS = 300_000; // agents or another window may have gone on since
const SLOW_MS = 1000; // then the wait is said in words, too
const LIVE = "[hx-trigger], [hx-swap-oob], [autofocus]"; // what htmx sees to only in the page

let ready = null; // what was fetched: {after, url, html, title, made, pair, at}, `made` being its elements
let asked = null; // the request for it
let resting = 0;
let sent = null; // the label that is on its way: {form, pair, url, title, next, shown, warning, timer, request}
let held = null; // what was pressed meanwhile: {form, button}
let isDelayed = false; // the label that is being pressed is sent later

export function listen() {
  document.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.target?.id === "case") rest();
  });
  document.addEventListener("visibilitychange", rest);
  document.addEventListener("submit", hold, { capture: true });
  document.addEventListener("click", goOn, { capture: true });
  document.addEventListener("htmx:configRequest", announce);
  document.addEventListener("htmx:beforeSend", leave);
  rest();
}

// fetching

function rest() {
  clearTimeout(resting);
  resting = setTimeout(fetchAhead, REST_MS);
}

function nextLink() {
  return document.querySelector("#case a[data-ahead]");
}

function isReady() {
  return ready !== null && ready.after === nextLink()?.href && performance.now() - ready.at < FRESH_MS;
}

async function fetchAhead() {
  const after = nextLink()?.href;
  if (!after || sent || document.hidden || isReady()) return;
  asked?.abort();
  asked = new AbortController();
  const headers = { "HX-Request": "true", "Fetched-Ahead": "yes" };
  try {
    const answer = await fetch(after, { headers, signal: asked.signal });
    const html = await answer.text();
    const { pathname, search } = new URL(answer.url);
    const { title, made } = make(html);
    const pair = made?.dataset.case;
    if (answer.ok && pair) ready = { after, url: pathname + search, html, title, made, pair, at: performance.now() };
  } catch {
    // it is asked for again when it is wanted
  }
}

// Reading a pair's page and binding its forms takes as long as showing it, so that is done before it is wanted.
function make(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const made = page.getElementById("case");
  if (!made || made.querySelector(LIVE)) return { title: page.title, made };
  document.adoptNode(made);
  window.htmx.process(made);
  return { title: page.title, made };
}

function paint({ html, title, made }, place) {
  ready = null;
  const detail = { target: place, requestConfig: {} };
  if (made.ownerDocument !== document || place.querySelector("[data-editor]")) {
    const swapOptions = { contextElement: place, eventInfo: detail };
    return window.htmx.swap(place, html, { swapStyle: "outerHTML", settleDelay: 0 }, swapOptions);
  }
  place.replaceWith(made);
  document.title = title;
  for (const happening of ["htmx:load", "htmx:afterSwap", "htmx:afterSettle"]) window.htmx.trigger(made, happening, detail);
}

// As htmx does it, which so gets the page again when the back button asks for it.
function push(url) {
  if (location.pathname + location.search === url) return;
  history.replaceState({ htmx: true }, "", location.href);
  history.pushState({ htmx: true }, "", url);
}

// "next"

function goOn(event) {
  const link = event.target.closest?.("a[data-ahead]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || sent || !isReady()) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const next = ready;
  paint(next, document.getElementById("case"));
  push(next.url);
}

// a label

// A label that needs a reason and has none is refused, so nothing is painted ahead of the answer.
function isSure(form, { label, reason }) {
  const button = form.querySelector(`.label-buttons [name="label"][value="${label}"]`);
  if (!button || form.querySelector(".clash") || !marks.isSound(form)) return false;
  const isExplained = reason.trim() || form.elements.lines.value.trim() || form.querySelector('[name="tags"]:checked');
  return !("overrides" in button.dataset) || Boolean(isExplained);
}

function announce({ detail }) {
  if (detail.elt.id !== "label-form" || sent || !isReady() || !isSure(detail.elt, detail.parameters)) return;
  detail.headers.Painted = ready.pair;
}

// Whether the pair behind this label can be painted now.
export function canGoOn(button) {
  const { form } = button;
  return form?.id === "label-form" && !sent && isReady() && isSure(form, { label: button.value, reason: form.elements.reason.value });
}

// Goes on ahead of a label that may turn out to be text. It is sent, or its pair comes back.
export function press(button) {
  isDelayed = true;
  button.click();
  isDelayed = false;
  const request = sent?.request;
  return {
    send: () => {
      if (sent) sayIfSlow();
      request?.send();
    },
    takeBack: () => request?.cancel(),
    leave: () => request?.leave(),
  };
}

// The window is being closed, so nobody hears the answer. A page that comes back by the back button is asked for again.
export function sendLeaving(form, body) {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  fetch(form.action, { method: "POST", body: String(new URLSearchParams(body)), headers, redirect: "manual", keepalive: true });
  window.addEventListener("pageshow", ({ persisted }) => persisted && location.reload(), { once: true });
}

// What was not sent is not heard of again, so htmx is told here that it was given up.
function delay(xhr) {
  const request = { send: () => {}, cancel: () => xhr.onabort(), leave: () => {} };
  const send = xhr.send.bind(xhr);
  xhr.send = (body) => {
    request.send = () => send(body);
    request.leave = () => sendLeaving(sent.form, body);
  };
  return request;
}

function leave({ detail }) {
  const form = detail.elt;
  if (!detail.requestConfig.headers.Painted) return;
  sent = {
    request: isDelayed ? delay(detail.xhr) : null,
    form,
    pair: document.getElementById("case"),
    url: location.pathname + location.search,
    title: document.title,
    next: ready,
    warning: status.warning(),
  };
  form.addEventListener("htmx:beforeOnLoad", answered, { once: true });
  form.addEventListener("htmx:afterRequest", ended, { once: true });
  queueMicrotask(go); // once the label is on its way
}

// The pair is taken out as it is, and htmx replaces an empty one: what it replaces it takes to pieces.
function go() {
  const place = document.createElement("div");
  place.id = "case";
  sent.pair.replaceWith(place);
  paint(sent.next, place);
  sent.shown = document.getElementById("case");
  document.documentElement.dataset.saving = "";
  if (!sent.request) sayIfSlow();
}

function sayIfSlow() {
  sent.timer = setTimeout(() => status.say("Your label is still being saved …", "info"), SLOW_MS);
}

function answered(event) {
  const { xhr } = event.detail;
  if (isLogIn(xhr) || xhr.status >= 400) return comeBack();
  event.preventDefault();
  event.detail.successful = true; // drafts.js asks
  const { next, shown, warning } = over();
  const since = status.warning();
  const whole = xhr.responseText.includes('<div id="case"'); // the painted pair is gone
  if (whole || shown.isConnected) push((whole && xhr.getResponseHeader("HX-Push-Url")) || next.url);
  const place = whole ? document.getElementById("case") : document.body;
  const style = whole ? "outerHTML" : "none";
  const swapOptions = { contextElement: document.body, eventInfo: { target: place, requestConfig: {} } };
  window.htmx.swap(place, xhr.responseText, { swapStyle: style, settleDelay: 0 }, swapOptions);
  if (since !== warning) status.restore(since); // a key that came too soon did nothing: "Saved" is not for it
  rest();
  letGo();
}

// Nobody hears what htmx tells a form that is not in the page. Without an answer there was no beforeOnLoad.
function ended(event) {
  if (event.composedPath().includes(document)) return;
  if (sent) comeBack();
  window.htmx.trigger(document.body, "htmx:afterRequest", event.detail);
}

function over() {
  const was = sent;
  sent = null;
  was.form.removeEventListener("htmx:beforeOnLoad", answered); // without an answer it has heard nothing
  clearTimeout(was.timer);
  delete document.documentElement.dataset.saving;
  return was;
}

// Nothing was stored. What was typed into the pair that was painted is kept by drafts.js.
function comeBack() {
  const { form, pair, url, title } = over();
  held = null;
  ready = null;
  document.getElementById("case").replaceWith(pair);
  document.title = title;
  push(url);
  for (const happening of ["htmx:load", "htmx:afterSwap", "htmx:afterSettle"]) {
    window.htmx.trigger(pair, happening, { target: pair, requestConfig: {} });
  }
  active.resume(form);
  status.say("Your label was not saved. This is its pair again.");
}

// what is pressed while a label is on its way

function hold(event) {
  const form = event.target;
  if (!sent || !form.matches("form[data-guard]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  held = { form, button: event.submitter };
  status.say("Your last label is still being saved. This follows at once.", "info");
}

// The answer has brought another undo.
function letGo() {
  if (!held) return;
  const { form, button } = held;
  held = null;
  if (form.isConnected) button.click();
  else if ("undo" in form.dataset) document.querySelector("form[data-undo] button")?.click();
}
