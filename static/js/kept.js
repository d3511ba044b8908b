// What is typed into a form that keeps no drafts (`data-kept`) stays in this window until it has arrived. A login that
// ended while somebody typed answers a form with the log-in page, and the form that comes back after it is empty.

const PREFIX = "kept:";
const PASSED_OVER = ["csrfmiddlewaretoken"];
const UNNAMED = ["password", "file", "submit", "button", "image", "reset"];

function fieldsOf(form) {
  return [...form.elements].filter((one) => one.name && !PASSED_OVER.includes(one.name) && !UNNAMED.includes(one.type));
}

function stateOf(form) {
  return fieldsOf(form).map((one) => [one.name, one.value, Boolean(one.checked)]);
}

function keyOf(form) {
  return `${PREFIX}${form.dataset.kept}:${location.pathname}`;
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null; // storage is switched off, or holds something else
  }
}

function write(key, entry) {
  try {
    if (entry) sessionStorage.setItem(key, JSON.stringify(entry));
    else sessionStorage.removeItem(key);
  } catch {
    // full or switched off: the form works without
  }
}

function keys() {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
  } catch {
    return [];
  }
}

// A page that came after a form was sent says whether it arrived: the log-in page and errors say that it did not.
function settle() {
  const status = performance.getEntriesByType("navigation")[0]?.responseStatus ?? 200;
  const refused = location.pathname.endsWith("/login/") || status >= 400;
  for (const key of keys()) {
    const entry = read(key);
    if (entry?.sent) write(key, refused ? { ...entry, sent: false } : null);
  }
}

// Hidden fields come back, too: they say beside what it was typed, so that nothing newer is written over.
function putBack(form, entry) {
  const fields = fieldsOf(form);
  if (fields.length !== entry.state.length || fields.some((one, place) => one.name !== entry.state[place][0])) return;
  if (JSON.stringify(stateOf(form)) === JSON.stringify(entry.state)) return;
  const hidden = fields.map((one) => (one.type === "hidden" ? one.value : null));
  fields.forEach((one, place) => set(one, entry.state[place]));
  tell(form, () => {
    form.reset();
    fields.forEach((one, place) => hidden[place] !== null && (one.value = hidden[place]));
    write(keyOf(form), null);
  });
}

function set(field, [, value, checked]) {
  if (["radio", "checkbox"].includes(field.type)) field.checked = checked;
  else field.value = value;
}

function tell(form, drop) {
  const note = document.createElement("div");
  note.className = "banner warn kept-back";
  note.setAttribute("role", "status");
  const words = document.createElement("p");
  words.textContent = "What you had typed here is back. It was not stored.";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = "Drop it";
  button.addEventListener("click", () => {
    drop();
    note.remove();
  });
  note.append(words, button);
  form.prepend(note);
}

function keep(form, sent) {
  write(keyOf(form), { state: stateOf(form), sent });
}

settle();
for (const form of document.querySelectorAll("form[data-kept]")) {
  const entry = read(keyOf(form));
  if (entry?.state) putBack(form, entry);
}
for (const [happening, sent] of [["input", false], ["submit", true]]) {
  document.addEventListener(happening, ({ target }) => {
    const form = target.closest?.("form[data-kept]");
    if (form) keep(form, sent);
  });
}
