// What is ticked is kept like what is typed: a hidden field holds the tags, and drafts.js keeps that field.

export function listen() {
  document.addEventListener("change", (event) => {
    if (event.target.matches?.('.tag input[name="tags"]')) note(event.target.form);
  });
  document.addEventListener("restored", (event) => {
    if (event.target.matches?.("[data-tags]")) tick(event.target);
  });
}

function note(form) {
  const field = form.querySelector("[data-tags]");
  field.value = boxes(form).filter((box) => box.checked).map((box) => box.value).join(" ");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function tick(field) {
  const wanted = field.value.split(" ");
  for (const box of boxes(field.form)) box.checked = wanted.includes(box.value);
}

function boxes(form) {
  return [...form.querySelectorAll('input[name="tags"]')];
}
