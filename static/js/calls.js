// The boxes under the code: an earlier call comes back into its field by a click or by the arrow keys.

const FIELD = '.call-form [name="expression"]';

export function listen() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-call]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    put(link.closest(".call-box").querySelector(FIELD), link.dataset.call);
  });
  document.addEventListener("keydown", recall);
}

function recall(event) {
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (!step || !event.target.matches?.(FIELD) || event.ctrlKey || event.altKey || event.metaKey) return;
  const earlier = [...event.target.closest(".call-box").querySelectorAll("a[data-call]")].map((link) => link.dataset.call);
  const next = earlier.lastIndexOf(event.target.value) + step;
  if (!(next in earlier)) return;
  event.preventDefault();
  put(event.target, earlier[next]);
}

function put(field, text) {
  field.value = text;
  field.focus();
  field.setSelectionRange(text.length, text.length);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
