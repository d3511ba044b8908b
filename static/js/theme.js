// Sets the theme before the first paint (loaded without defer for that) and lets a button change it.
// Order of the button: as the system prefers → light → dark. Kept in localStorage, on this browser only.

(() => {
  "use strict";

  const KEY = "theme";
  const ORDER = ["system", "light", "dark"];

  function stored() {
    try {
      return ORDER.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "system";
    } catch {
      return "system"; // storage is switched off: the choice lasts as long as the page
    }
  }

  function apply(theme) {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.querySelector("[data-theme-word]").textContent = theme;
      button.dataset.themeToggle = theme;
    }
  }

  function next(current) {
    return ORDER[(ORDER.indexOf(current) + 1) % ORDER.length];
  }

  document.documentElement.dataset.js = "";
  let theme = stored();
  apply(theme);

  document.addEventListener("DOMContentLoaded", () => apply(theme));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return closeMenus(event);
    theme = next(theme);
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // see stored()
    }
  });

  // A menu made of <details> stays open when one clicks elsewhere; people expect it to close.
  function closeMenus(event) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return; // it belongs to the conversion of an input method
    const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
