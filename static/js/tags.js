// What is ticked is kept like what is typed: a hidden field holds the tags, and drafts.js keeps that field. What
// else the field holds, such as the label that waits to be sent, stays in it.

export function listen() {
  document.addEventListener("change", (event) => {
    if (event.target.matches?.('.tag input[name="tags"]')) note(event.target.form);
  });
  document.addEventListener("restored", (event) => {
    if (event.target.matches?.("[data-tags]")) tick(event.target);
  });
}

// A browser that reloads a page may tick boxes as they were before.
export function prepare(root) {
  for (const field of root.querySelectorAll("[data-tags]")) tick(field);
}

function note(form) {
  const field = form.querySelector("[data-tags]");
  const tags = new Set(boxes(form).map((box) => box.value));
  const others = field.value.split(" ").filter((word) => word && !tags.has(word));
  field.value = [...others, ...boxes(form).filter((box) => box.checked).map((box) => box.value)].join(" ");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function tick(field) {
  const wanted = field.value.split(" ");
  for (const box of boxes(field.form)) box.checked = wanted.includes(box.value);
}

function boxes(form) {
  return [...form.querySelectorAll('input[name="tags"]')];
}
