// What takes longer than a moment shows that it is under way: <html data-waiting> gives the window a line at its
// upper edge, which moves nothing. It appears after 150 ms: review.css.

const root = document.documentElement;
const under = new Set(); // requests

export function listen() {
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.elt.matches('[hx-trigger^="every"], [hx-trigger^="load delay"]')) return; // a poll
    under.add(detail.xhr);
    root.dataset.waiting = "";
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    under.delete(detail.xhr);
    if (!under.size) delete root.dataset.waiting;
  });
}
