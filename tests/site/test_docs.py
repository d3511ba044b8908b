"""The documentation has no loose ends: everything is in an index, every link leads somewhere."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DECISIONS = sorted((DOCS / "decisions").glob("0*.md"))
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
        ROOT / "sandbox" / "README.md",
        *(ROOT / "bench").rglob("README.md"),
        *DOCS.rglob("*.md"),
    ]
)
STATUS = re.compile(r"^Status: (accepted|superseded by (\d{4})) \(\d{4}-\d{2}-\d{2}\)", re.MULTILINE)


def name_in_project(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read_prose(page: Path) -> str:
    """The page without its code, where brackets and `#` mean other things."""
    without_blocks = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", without_blocks)


def links_of(page: Path) -> list[str]:
    """Where the page's links and images lead inside the project."""
    targets = re.findall(r"\]\(([^)\s]+)\)", read_prose(page))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of the page's headings; the second of a name ends in -1."""
    without_blocks = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    seen = Counter[str]()
    anchors = set()
    for heading in re.findall(r"^#+ (.+)$", without_blocks, re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return anchors


def find_broken_links(page: Path) -> list[str]:
    broken = []
    for target in links_of(page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=name_in_project)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert find_broken_links(page) == []


def test_a_link_to_a_heading_that_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A's `title`\n\n[here](#as-title) [nowhere](#title) [gone](other.md) [web](https://example.org)\n"
    )
    assert find_broken_links(page) == ["#title", "other.md"]


@pytest.mark.parametrize("page", DECISIONS, ids=name_in_project)
def test_a_decision_names_modules_that_are_there(page: Path) -> None:
    named = re.findall(r"`((?:[a-z0-9_]+/)+[a-z0-9_]+\.py)`", page.read_text())
    assert [module for module in named if not (ROOT / module).is_file()] == []


def test_every_page_of_docs_is_in_the_index() -> None:
    folders = ("", "reference", "tutorials")
    found = [page for folder in folders for page in (DOCS / folder).glob("*.md")]
    pages = {str(page.relative_to(DOCS)) for page in found} - {"README.md"}
    assert pages - set(links_of(DOCS / "README.md")) == set()


def test_guides_for_users_leave_benches_to_the_developers_pages() -> None:
    """The bench of label quality is for users: it measures their labels."""
    users = (DOCS / "README.md").read_text().partition("## For developers")[0]
    guides = [DOCS / name for name in re.findall(r"\]\(([a-z-]+\.md)\)", users)]
    assert len(guides) > 15
    told = re.compile(
        r"bench (?:mining|release|pages|review|pipeline|seed|million|encoding)|make (?:faults|million|rivals)"
    )
    assert [page.name for page in guides if told.search(page.read_text())] == []


def test_every_decision_is_once_in_the_index_with_its_title() -> None:
    rows = re.findall(
        r"^\| (\d+) \| \[(.+)\]\((\S+)\) \|", (DOCS / "decisions" / "README.md").read_text(), re.MULTILINE
    )
    titles = [page.read_text().splitlines()[0].removeprefix("# ") for page in DECISIONS]
    expected = [
        (str(int(page.name[:4])), title, page.name) for page, title in zip(DECISIONS, titles, strict=True)
    ]
    assert sorted(rows, key=lambda row: int(row[0])) == expected


@pytest.mark.parametrize("page", DECISIONS, ids=name_in_project)
def test_a_decision_has_a_title_that_names_its_file_and_a_status(page: Path) -> None:
    text = page.read_text()
    title = text.splitlines()[0]
    assert title.startswith("# ")
    words = re.sub(r"[^a-z0-9]+", "-", title[2:].lower().replace("'", "")).strip("-")
    assert page.stem == f"{page.name[:4]}-{words}"
    status = STATUS.search(text)
    assert status, "the line that says whether it holds"
    assert status[2] is None or any(other.name.startswith(status[2]) for other in DECISIONS)
