"""Make the site of the documentation: `build_docs.py [FOLDER]` (default build/docs).

The pages are Markdown for GitHub and editors. They are copied, with links that fit the site, into a folder
from which Sphinx makes it; no page is written for Sphinx.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
BUILT: Final = ROOT / "build" / "docs"
ELSEWHERE: Final = {
    "docs/README.md": "index.md",
    "docs/decisions/README.md": "decisions/index.md",
    "README.md": "project/readme.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "sandbox/README.md": "project/sandbox.md",
    "bench/quality/README.md": "project/quality-pairs.md",
}
"""Pages with another place on the site than below docs/."""
FOR_DEVELOPERS: Final = (
    "decisions/",
    "desk",
    "hostile",
    "measurements",
    "renames",
    "rivals",
    "project/changelog",
)
"""Search finds these pages by their titles alone, so that users find what is written for them."""
COPIED: Final = (".md", ".png", ".ipynb")
LINK: Final = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE: Final = re.compile(r"^( *)(```+)(.*)$")
GROUP: Final = re.compile(r"^(?:## (For developers)|\*\*(.+)\*\*)$")
LEXERS: Final = {
    ".py": "python",
    ".json": "json",
    ".jsonl": "json",
    ".csv": "text",
    ".toml": "toml",
    ".sh": "bash",
}


def build(target: Path = BUILT, *, strict: bool = False) -> None:
    """Make the site anew in `target`. With `strict` a warning of Sphinx is an error. Raises SystemExit."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "source", Path(folder) / "made"
        stage(source)
        options = ["-q", "-b", "dirhtml", "-d", f"{folder}/trees", "-c", str(DOCS / "site")]
        options += ["-W", "--keep-going"] if strict else []
        made_by = [sys.executable, "-m", "sphinx", *options, str(source), str(made)]
        if subprocess.run(made_by, check=False).returncode:
            sys.exit("The site of the documentation was not built.")
        (made / ".buildinfo").unlink(missing_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, target)


def stage(source: Path) -> None:
    """Copy all pages, and the files that they show, with links between their new places."""
    places = find_places()
    for name, place in places.items():
        there = source / place
        there.parent.mkdir(parents=True, exist_ok=True)
        if there.suffix == ".md":
            there.write_text(convert_page(name, places), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, there)


def find_places() -> dict[str, str]:
    """The place on the site of each file that is part of it; both are relative."""
    files = [
        path
        for path in sorted(DOCS.rglob("*"))
        if path.suffix in COPIED and DOCS / "site" not in path.parents
    ]
    names = [str(path.relative_to(ROOT)) for path in files]
    return {name: ELSEWHERE.get(name, name.removeprefix("docs/")) for name in [*names, *ELSEWHERE]}


def convert_page(name: str, places: dict[str, str]) -> str:
    """The page as Sphinx takes it."""
    text = (ROOT / name).read_text(encoding="utf-8")
    lines, fence = [], ""
    for line in text.splitlines():
        found = FENCE.match(line)
        if found and not fence:
            fence = found[2]
            line = convert_fence(found)
        elif found and found[2] == fence and not found[3].strip():
            fence = ""
        elif not fence:
            line = convert_links(line, name, places)
        lines.append(line)
    head = ["---", "nosearch: true", "---", ""] if places[name].startswith(FOR_DEVELOPERS) else []
    return "\n".join([*head, *lines, "", *navigation(name, text, places)])


def convert_fence(found: re.Match[str]) -> str:
    """A block of a named file gets the name as its caption."""
    indent, ticks, info = found.groups()
    _, _, rest = info.strip().partition(" ")
    if not rest:
        return found[0]
    lexer = LEXERS.get(Path(rest.split()[0]).suffix, "text")
    return f"{indent}{ticks}{{code-block}} {lexer}\n{indent}:caption: {rest}\n"


def convert_links(line: str, name: str, places: dict[str, str]) -> str:
    """The line with links to places on the site; of a link to a file that is not on it the words are left."""

    def convert(found: re.Match[str]) -> str:
        words, target = convert_links(found[1], name, places), found[2]
        if re.match(r"[a-z]+:|#", target):
            return f"[{words}]({target})"
        path, hash_sign, anchor = target.partition("#")
        place = places.get(normal(Path(name).parent / path))
        if place is None:
            return words
        leads = os.path.relpath(place, Path(places[name]).parent)
        return f"[{words}]({leads}{hash_sign}{anchor})"

    return LINK.sub(convert, line)


def normal(path: Path) -> str:
    return os.path.normpath(path)


def navigation(name: str, text: str, places: dict[str, str]) -> list[str]:
    """The hidden lists of pages that make the site's menu: the index as it is grouped, all decisions."""
    if name == "docs/decisions/README.md":
        return toctree(
            "", [place for place in places.values() if re.match(r"decisions/\d", place)], "decisions"
        )
    if name != "docs/README.md":
        return []
    groups: dict[str, list[str]] = {}
    caption = ""
    for line in text.splitlines():
        if found := GROUP.match(line):
            caption = found[1] or found[2]
        elif caption and (link := re.match(r"- \[[^\]]*\]\(([^)#\s]+)\)", line)):
            place = places.get(normal(Path(name).parent / link[1]), "")
            if place.endswith(".md"):
                groups.setdefault(caption, []).append(place)
    return [line for caption, pages in groups.items() for line in toctree(caption, pages)]


def toctree(caption: str, pages: list[str], below: str = "") -> list[str]:
    names = [os.path.relpath(page, below or ".").removesuffix(".md") for page in pages]
    head = [":hidden:", *([f":caption: {caption}"] if caption else []), *([":titlesonly:"])]
    return ["```{toctree}", *head, "", *names, "```", ""]


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT, strict=True)
