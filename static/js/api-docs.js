// Tells Swagger UI, which has a dark mode of its own, which theme is wanted (loaded before the first paint): that of
// the workbench's button, kept by theme.js, or else what the system prefers.

(() => {
  "use strict";

  const prefersDark = matchMedia("(prefers-color-scheme: dark)");

  function stored() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // storage is switched off
    }
  }

  function apply() {
    const theme = stored();
    const dark = theme === "dark" || (theme !== "light" && prefersDark.matches);
    document.documentElement.classList.toggle("dark-mode", dark);
  }

  apply();
  prefersDark.addEventListener("change", apply);
})();
