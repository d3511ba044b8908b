// The line that says what has just happened.

// A new element each time, so that the same words are announced again.
export function say(words, tone = "warn") {
  const line = document.createElement("p");
  line.className = `status-text is-${tone}`;
  line.textContent = words;
  document.getElementById("review-status")?.replaceChildren(line);
}
