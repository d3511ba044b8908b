// Links to lines of code light up the line where it stands and scroll its panel only. Without this script the
// same links work by :target.

export function listen() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    const line = link && lineOf(link);
    if (!line) return;
    event.preventDefault();
    history.replaceState(history.state, "", link.getAttribute("href"));
    show(line);
    line.closest(".code").scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("focusin", (event) => {
    const link = event.target.closest?.('.trace a[href^="#"]');
    const line = link && lineOf(link);
    if (line) show(line);
  });
  document.addEventListener("keydown", stepThroughTrace);
}

function lineOf(link) {
  const element = document.getElementById(link.getAttribute("href").slice(1));
  return element?.matches(".line") ? element : null;
}

function show(line) {
  for (const old of document.querySelectorAll(".line.is-hit")) old.classList.remove("is-hit");
  line.classList.add("is-hit");
  moveTarget(line);
  const details = line.closest("details");
  if (details) details.open = true;
  bring(line, line.closest(".code-scroll"));
}

// Into the middle of what scrolls it, and of nothing else.
export function bring(element, panel) {
  const middle = panel.getBoundingClientRect().top + panel.clientHeight / 2;
  panel.scrollBy({ top: element.getBoundingClientRect().top - middle });
}

// A page that was opened at a line keeps that line as :target, which only a navigation can move.
function moveTarget(line) {
  const target = document.querySelector(".line:target");
  if (!target || target === line) return;
  const { state } = history;
  location.replace(`#${line.id}`);
  history.replaceState(state, "");
}

function stepThroughTrace(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const link = step && event.target.closest?.(".trace a");
  if (!link || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const visible = (one) => one.offsetParent !== null;
  const links = [...link.closest(".trace").querySelectorAll("a")].filter(visible);
  const next = links[links.indexOf(link) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
