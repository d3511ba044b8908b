"""Names on pages use words that people know: those of the glossary, or everyday ones of a list.

Names are headings, heads of tables, buttons, links that look like buttons, labels and options, in templates
and in forms.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from annotation.web.shared.glossary import MEANINGS
from tests.site.test_plain_words import NOT_SHOWN, TAGS, modules, templates

EVERYDAY: Final = frozenset(
    (Path(__file__).parent / "everyday_words.txt").read_text(encoding="utf-8").split("\n\n", 1)[1].split()
)
NAMES: Final = frozenset(
    {"button", "caption", "dt", "h1", "h2", "h3", "h4", "label", "legend", "option", "summary", "th"}
)
LINKS: Final = frozenset({"button", "menu-item"})
"""Classes of links that are names, too."""
NOT_READ: Final = frozenset({"abbr", "code", "kbd", "pre"})
"""An abbreviation is a word that is explained on hover."""
EXPLAINED: Final = re.compile(r'{{ *"([^"]+)"\|(?:term|explain)[^}]*}}')
WORD: Final = re.compile(r"(?<!\w)[a-z][a-z’'-]*(?!\w)")
SHOWN_BY_FORMS: Final = frozenset({"label", "verbose_name"})


class Names(HTMLParser):
    """The texts of a template that are names."""

    def __init__(self) -> None:
        super().__init__()
        self.within: list[str] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = set((dict(attrs).get("class") or "").split())
        if tag in NAMES or tag in NOT_READ or (tag == "a" and classes & LINKS):
            self.within.append(tag)
            self.found.append("")
        elif self.within:
            self.found[-1] += " "

    def handle_endtag(self, tag: str) -> None:
        if self.within and self.within[-1] == tag:
            self.within.pop()

    def handle_data(self, data: str) -> None:
        if self.within and NOT_READ.isdisjoint(self.within):
            self.found[-1] += data


def names_of_template(source: str) -> Iterator[str]:
    names = Names()
    names.feed(TAGS.sub(" … ", EXPLAINED.sub(r"\1", NOT_SHOWN.sub("", source))))
    yield from names.found


def names_of_module(source: str) -> Iterator[str]:
    """The labels of form fields."""
    for node in ast.walk(ast.parse(source)):
        said = node.value if isinstance(node, ast.keyword) and node.arg in SHOWN_BY_FORMS else None
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            yield said.value


def names_of_pages() -> Iterator[tuple[Path, str]]:
    """Each name with the file that has it."""
    for paths, names_of in ((templates(), names_of_template), (modules(), names_of_module)):
        for path in paths:
            yield from ((path, name) for name in names_of(path.read_text(encoding="utf-8")))


def find_unknown_words(name: str) -> set[str]:
    """The words of a name that are neither in the glossary nor in the list."""
    text = name.lower()
    for known in sorted(MEANINGS, key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(known)}s?\b", " ", text)
    return {word for word in WORD.findall(text) if not forms_of(word) & (EVERYDAY | MEANINGS.keys())}


def forms_of(word: str) -> set[str]:
    """The word itself, of a genitive or a plural also the singular."""
    plain = re.sub(r"[’'](s|re|t)?$", "", word) or word
    singular = plain.removesuffix("s")
    return {word, plain, singular, plain.removesuffix("es"), f"{plain.removesuffix('ies')}y"}


@pytest.mark.parametrize(
    ("source", "unknown"),
    [
        ("<h2>Widgets of a query</h2>", {"widgets"}),
        ("<p>A widget</p><code>widget</code>", set()),
        ('<a class="button small" href="x">Widget {{ name }}</a><a href="y">gadget</a>', {"widget"}),
        ('<th>{{ "Verdicts"|term }}</th><button><kbd>Ctrl</kbd>Merge rules</button>', set()),
        ("<label>Label in force</label><option>Studies</option>", set()),
    ],
)
def test_a_template_is_asked_for_its_names(source: str, unknown: set[str]) -> None:
    assert set().union(*map(find_unknown_words, names_of_template(source)), set()) == unknown


def test_a_form_is_asked_for_its_labels() -> None:
    (name,) = names_of_module("field = forms.CharField(label='Widget', help_text='gadget')")
    assert find_unknown_words(name) == {"widget"}


def test_names_have_words_that_people_know() -> None:
    """An everyday word goes into the list, any other into the glossary; or the name gets a plainer word."""
    found: dict[str, set[str]] = {}
    for path, name in names_of_pages():
        for word in find_unknown_words(name):
            found.setdefault(word, set()).add(path.name)
    assert found == {}


def test_no_word_is_in_the_list_and_in_the_glossary() -> None:
    assert sorted(EVERYDAY & MEANINGS.keys()) == []
