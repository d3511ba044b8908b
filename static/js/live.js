// Keeps the live part of a build's page up to date: by websocket, and by polling while that is not to be had.
// A small word says which way it is: live, polling, or offline since when.

const POLL = 2000;
const OPEN_WITHIN = 3000;
const LONGEST_WAIT = 30000;
const REFUSED = 4400; // close codes from here on are the server's last word

const place = document.querySelector("[data-live]");
const word = document.querySelector("[data-live-word]");
let version = place?.firstElementChild?.dataset.version ?? "";
let state = place?.firstElementChild?.dataset.state ?? "";
let failures = 0;
let ended = false;
let polling = null;

function say(mark, text, tone) {
  if (word.dataset.said === text) return; // a status that is written again is read out again
  word.dataset.said = text;
  word.className = `live-word needs-js ${tone}`;
  word.replaceChildren();
  const sign = document.createElement("span");
  sign.className = "mark";
  sign.ariaHidden = "true";
  sign.textContent = mark;
  word.append(sign, ` ${text}`);
}

function show(html, newVersion) {
  if (newVersion === version) return;
  version = newVersion;
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  const opened = [...place.querySelectorAll("details[open]")].map((one) => one.id);
  place.innerHTML = html;
  for (const id of opened.filter(Boolean)) document.getElementById(id)?.setAttribute("open", "");
  // A button that is gone (the build ended) leaves its reader at the state, not at the top of the page.
  if (focused) (document.getElementById(focused) ?? place.querySelector("h2"))?.focus();
  announce(place.firstElementChild?.dataset.state ?? "");
}

// Only a change of state is worth interrupting somebody who listens; the numbers can be read at any time.
function announce(newState) {
  if (newState === state) return;
  state = newState;
  const said = word.dataset.said;
  say("i", `now ${state}`, "is-info");
  setTimeout(() => said && say(said === "live" ? "●" : "↻", said, said === "live" ? "is-good" : "is-warn"), 2500);
}

async function poll() {
  try {
    const headers = version ? { "If-None-Match": `"${version}"` } : {};
    const answer = await fetch(place.dataset.poll, { headers, cache: "no-store", credentials: "same-origin" });
    if (answer.status === 403 || answer.status === 404 || answer.redirected) return over();
    if (answer.status !== 200 && answer.status !== 304) throw new Error(`status ${answer.status}`);
    say("↻", "polling", "is-warn");
    if (answer.status === 200) {
      const tag = answer.headers.get("ETag") ?? "";
      show(await answer.text(), tag.replace(/^W\//, "").replaceAll('"', ""));
    }
  } catch {
    if (!word.dataset.said?.startsWith("offline")) {
      say("!", `offline since ${new Date().toLocaleTimeString()}`, "is-bad");
    }
  }
}

function startPolling() {
  if (ended || polling !== null) return;
  poll();
  polling = setInterval(poll, POLL);
}

function stopPolling() {
  clearInterval(polling);
  polling = null;
}

function over() {
  stopPolling();
  ended = true;
  say("!", "log in again to see more", "is-bad");
}

function connect() {
  if (ended) return;
  const address = new URL(place.dataset.socket, location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  let socket;
  try {
    socket = new WebSocket(address);
  } catch {
    startPolling();
    return;
  }
  const late = setTimeout(startPolling, OPEN_WITHIN);
  socket.onmessage = (event) => {
    clearTimeout(late);
    stopPolling();
    failures = 0;
    say("●", "live", "is-good");
    const { html, version: newVersion } = JSON.parse(event.data);
    show(html, newVersion);
  };
  socket.onclose = (event) => {
    clearTimeout(late);
    if (event.code >= REFUSED) return over();
    startPolling();
    failures += 1;
    const wait = Math.min(LONGEST_WAIT, 1000 * 2 ** failures);
    setTimeout(connect, wait * (0.5 + Math.random() / 2));
  };
}

if (place) connect();
