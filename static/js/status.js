// The line that says what has just happened.

// A new element each time, so that the same words are announced again.
export function say(words, tone = "warn") {
  const line = document.createElement("p");
  line.className = `status-text is-${tone}`;
  line.textContent = words;
  document.getElementById("review-status")?.replaceChildren(line);
}

// The warning that is shown, if one is.
export function warning() {
  return document.querySelector("#review-status > .status-text.is-warn");
}

// An answer has brought a line of its own: the warning that was given meanwhile still holds.
export function restore(line) {
  if (line && !line.isConnected) document.getElementById("review-status")?.append(line);
}
