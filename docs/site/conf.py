"""How Sphinx makes the documentation's site; scripts/build_docs.py gives it the pages."""

from __future__ import annotations

from typing import Any

project = "CoSQA Workbench"
html_title = "CoSQA Workbench"
html_short_title = "Documentation"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns: list[str] = []
templates_path = ["templates"]

html_theme = "furo"
html_static_path = ["static"]
html_favicon = "static/icon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_use_index = False
html_permalinks_icon = "#"
html_theme_options: dict[str, Any] = {"top_of_page_buttons": []}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/app.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}

myst_heading_anchors = 6
pygments_style = "friendly"
pygments_dark_style = "github-dark"
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
