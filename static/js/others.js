// Another text for a field than the one in it: both are on the page until the person chooses.

const SHOWN = new WeakMap(); // field → what shows the other text

// `ways`: what a button says, and what it does.
export function show(field, text, words, ways) {
  hide(field);
  const box = document.createElement("div");
  box.className = "banner warn draft-other";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Another text for this field");
  const line = document.createElement("p");
  line.setAttribute("role", "alert");
  line.textContent = words;
  const other = document.createElement("pre");
  other.className = "draft-other-text";
  other.tabIndex = 0;
  other.textContent = text.trim() ? text : "(nothing)";
  box.append(line, other, buttons(field, ways));
  (field.closest(".reason") ?? field.form.querySelector("[data-draft-state]") ?? field).after(box);
  SHOWN.set(field, box);
}

export function hide(field) {
  SHOWN.get(field)?.remove();
  SHOWN.delete(field);
}

function buttons(field, ways) {
  const row = document.createElement("p");
  row.className = "button-row";
  for (const [words, act] of Object.entries(ways)) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = words;
    // A field that loses the focus may shrink, and the button would move away from under the finger.
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => {
      hide(field);
      act();
      if (field.hidden) field.dispatchEvent(new Event("enter"));
      else field.focus();
    });
    row.append(button, " ");
  }
  return row;
}
