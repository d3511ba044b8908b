// Before the page is painted, so that it does not flash.
document.body.dataset.theme = localStorage.getItem("theme") || "auto";
