// A double click sends a form once: the second answer would be "there is one already" instead of what was made.

const UNBLOCKED_AFTER_MS = 5000; // a request that was stopped can be sent again

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return; // htmx looks after its own
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, UNBLOCKED_AFTER_MS);
});

// A page that the back button brings from memory has its forms as they were left.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
});
