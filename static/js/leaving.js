// Logging out: what was typed goes to the server first, then nothing of it stays in this browser, in no window.

const DRAFT = "draft:";
const channel = "BroadcastChannel" in window ? new BroadcastChannel("log-out") : null;

document.addEventListener("submit", (event) => {
  if (!isLogOut(event.target)) return;
  event.preventDefault();
  leave(event.target);
});

// The other windows show what the next person may not see.
channel?.addEventListener("message", again);

// A page that the back button brings from memory may be another person's.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) again();
});

function isLogOut(form) {
  return new URL(form.action).pathname.endsWith("/logout/");
}

function again() {
  document.documentElement.dataset.left = "";
  document.body.hidden = true;
  location.reload();
}

async function leave(form) {
  const lost = await sendDrafts(form.elements.csrfmiddlewaretoken.value);
  if (lost && !confirm(`${lost} of the texts that you typed can't be stored on the server. Log out and lose them?`)) {
    delete form.dataset.sent;
    return;
  }
  document.documentElement.dataset.left = ""; // nothing is kept any more, see drafts.js and rating.js
  try {
    await fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
  } catch {
    delete document.documentElement.dataset.left;
    return form.submit(); // the browser says what is wrong
  }
  clear();
  channel?.postMessage("left");
  location.replace(new URL("../login/", form.action));
}

// How many could not be stored: copies of this account alone, as another one's are not ours to send.
async function sendDrafts(csrf) {
  const account = document.querySelector("meta[name=account]")?.content;
  const keys = keysOf(`${DRAFT}${account}:`);
  const sent = await Promise.all(keys.map((key) => send(key, csrf)));
  return sent.filter((arrived) => !arrived).length;
}

async function send(key, csrf) {
  try {
    const { text, field, url, revision } = JSON.parse(localStorage.getItem(key));
    const own = { draft_window: key.split("#")[1] ?? "" };
    if (revision !== undefined) own[`draft_${field}`] = revision;
    const body = new URLSearchParams({ field, text, csrfmiddlewaretoken: csrf, ...own });
    const answer = await fetch(url, { method: "POST", body, redirect: "manual" });
    if (answer.status === 409) return (await answer.json()).text === text;
    return answer.status === 204;
  } catch {
    return false;
  }
}

function keysOf(beginning) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(beginning));
  } catch {
    return []; // storage is switched off
  }
}

// The answer says the same to the browser, which heeds it only where the connection is secure.
function clear() {
  try {
    localStorage.clear();
    sessionStorage.clear();
  } catch {
    // storage is switched off
  }
}
