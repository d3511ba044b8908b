"""The site that is made of docs/: whole, without a script in its pages, and served to everybody."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from django.test import Client

from scripts import build_docs

ROOT = Path(__file__).resolve().parents[2]
HOST = "http://site/docs/"
PAGES = (*build_docs.ELSEWHERE, *(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")))


@dataclass
class Found(HTMLParser):
    """What a page leads to and loads, its ids, and what a strict policy refuses."""

    leads: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        self.refused += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.refused.append(tag)
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        elif "src" in given or (tag == "link" and "href" in given):
            self.loads.append(given.get("src") or given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    build_docs.build(folder, strict=True)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Found]:
    """Each page by its address."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        page = found[HOST + str(path.relative_to(site)).removesuffix("index.html")] = Found()
        page.feed(path.read_text("utf-8"))
    return found


@pytest.fixture
def served(site: Path, settings: Any) -> Client:
    """A visitor of a server that has the site."""
    settings.BASE_DIR = site.parent / "application"
    place = settings.BASE_DIR / "build"
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "docs").exists():
        (place / "docs").symlink_to(site)
    return Client()


def test_every_page_is_on_the_site(pages: dict[str, Found]) -> None:
    places = build_docs.find_places()
    wanted = {f"/{places[page].removesuffix('.md')}/".removesuffix("/index/") for page in PAGES}
    assert wanted <= {f"/{page.removeprefix(HOST)}".removesuffix("/") for page in pages} | {
        f"/{page.removeprefix(HOST)}" for page in pages
    }
    assert len(pages) > 80


def test_every_link_leads_somewhere(site: Path, pages: dict[str, Found]) -> None:
    assert [f"{page} -> {target}" for page, target in broken_links(site, pages)] == []


def broken_links(site: Path, pages: dict[str, Found]) -> Iterator[tuple[str, str]]:
    for address, page in pages.items():
        for target in [*page.leads, *page.loads]:
            there = urlsplit(urljoin(address, target))
            if there.netloc != urlsplit(HOST).netloc or there.path == "/":
                continue  # another host, or the workbench
            path = site / unquote(there.path).removeprefix("/docs/")
            found = path / "index.html" if path.is_dir() else path
            known = pages.get(there._replace(query="", fragment="").geturl())
            if not found.is_file() or (there.fragment and known and there.fragment not in known.ids):
                yield address, target


def test_a_broken_link_is_found(site: Path) -> None:
    page = Found()
    page.feed('<h1 id="a">A</h1><a href="#a"></a><a href="#b"></a><a href="nowhere/"></a><img src="no.png">')
    assert [target for _, target in broken_links(site, {HOST: page})] == ["#b", "nowhere/", "no.png"]


def test_no_page_has_what_the_policy_refuses(pages: dict[str, Found]) -> None:
    assert {address: page.refused for address, page in pages.items() if page.refused} == {}


def test_no_page_loads_from_another_host(pages: dict[str, Found]) -> None:
    loaded = {target for page in pages.values() for target in page.loads}
    assert loaded
    assert [target for target in loaded if urlsplit(target).netloc] == []


def test_styles_and_scripts_load_nothing_from_another_host(site: Path) -> None:
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"""url\(["']?https?:|@import""", styles) == []


def test_the_words_of_users_pages_can_be_searched(site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    assert "leaderboard" in index
    assert "superseded" not in index  # a word of decisions


def test_the_site_is_served_to_everybody_under_the_policy(served: Client) -> None:
    answer = served.get("/docs/")
    assert answer.status_code == 200
    assert b"<h1>Documentation" in answer.content
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["running/", "_static/site.css", "search/", "searchindex.js"])
def test_a_file_of_the_site_is_served(served: Client, path: str) -> None:
    answer = served.get(f"/docs/{path}")
    assert answer.status_code == 200


def test_a_folder_without_its_slash_leads_to_its_page(served: Client) -> None:
    assert served.get("/docs/running").headers["Location"] == "/docs/running/"


@pytest.mark.parametrize(
    "path", ["nowhere/", "..%2f..%2fmanage.py", "../manage.py", "/etc/passwd", "a%00b", "%2e%2e/", "_static/"]
)
def test_nothing_else_is_served(served: Client, path: str) -> None:
    assert served.get(f"/docs/{path}").status_code in {400, 404}


def test_a_checkout_without_the_site_says_how_to_build_it(
    settings: Any, tmp_path: Path, client: Client
) -> None:
    settings.BASE_DIR = tmp_path
    answer = client.get("/docs/running/")
    assert answer.status_code == 404
    assert "make docs" in answer.content.decode()


def test_a_wheel_is_built_with_what_the_extra_names() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    backend = ast.parse((ROOT / "scripts" / "build_backend.py").read_text())
    given = {
        ast.unparse(node.target): ast.literal_eval(node.value)
        for node in backend.body
        if isinstance(node, ast.AnnAssign) and node.value
    }
    assert list(given["SITE"]) == extras["docs"]
    assert all((ROOT / name).exists() for name in given["INSIDE"] if name != "build/docs")


def test_a_named_file_becomes_a_caption() -> None:
    found = build_docs.FENCE.match("```file dev.json")
    assert found
    assert build_docs.convert_fence(found) == "```{code-block} json\n:caption: dev.json\n"


def test_a_link_to_a_file_that_is_not_on_the_site_is_left_as_words() -> None:
    places = build_docs.find_places()
    line = build_docs.convert_links(
        "[a](../LICENSE) [b](running.md#x) [c](https://e.org)", "docs/api.md", places
    )
    assert line == "a [b](running.md#x) [c](https://e.org)"


def test_a_file_that_a_browser_has_is_not_sent_again(served: Client) -> None:
    first = served.get("/docs/running/")
    again = served.get("/docs/running/", headers={"If-Modified-Since": first.headers["Last-Modified"]})
    assert (again.status_code, again.content) == (304, b"")
