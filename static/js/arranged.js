// Gives the columns the sizes that their owner chose, before the first paint (loaded without defer for
// that). The sizes come with the page: `left=40,right=30`, in percent. panes.js changes them. The tab that was
// chosen last and whether long lines are wrapped are kept in this browser: tabs.js and desk.js.

(() => {
  "use strict";

  const chosen = document.querySelector('meta[name="review-layout"]').content;

  for (const [, name, size] of chosen.matchAll(/([a-z]+)=(\d+)/g)) {
    document.documentElement.style.setProperty(`--share-${name}`, `${size}fr`);
  }

  try {
    document.documentElement.dataset.tab = localStorage.getItem("desk-tab") ?? "test";
    document.documentElement.toggleAttribute("data-unwrapped", localStorage.getItem("desk-unwrapped") !== null);
  } catch {
    document.documentElement.dataset.tab = "test"; // storage is switched off
  }
})();
