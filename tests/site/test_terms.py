"""On the first two screens of each role a word of the glossary is one of the eight nouns, or explained."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Tally
from annotation.stages import Event
from annotation.web.shared.glossary import MORE
from tests import factories, studies
from tests.retrieval.exporting.conftest import benchmark
from tests.site.test_nouns import find_unknown_words, names_of_template

pytestmark = pytest.mark.django_db
EMPTY = {
    "area",
    "br",
    "circle",
    "hr",
    "img",
    "input",
    "line",
    "link",
    "meta",
    "path",
    "rect",
    "source",
    "use",
    "wbr",
}
NOT_SAID = {"code", "dialog", "kbd", "option", "pre", "progress", "script", "style", "svg"}
OTHER_SENSES = re.compile(
    r"(?<!\w)(opens?|edge cases?|hard cases?|special cases?|test cases?|a case ended|by reading|reading only"
    r"|fixing rounds?|read and open|--encoder)\b"
)
"""A glossary word in its everyday sense: to open, an edge case, by reading."""
OF_PAIR = re.compile(r'<h1 id="case-title".*?</h1>|<select data-follows.*?</select>', re.DOTALL)
"""What the pair itself says: its query, and names of variables."""


class Words(HTMLParser):
    """The text of a page's main part; apart from it the words that are explained on hover."""

    def __init__(self) -> None:
        super().__init__()
        self.within: list[str] = []
        self.text: list[str] = []
        self.explained: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in EMPTY:
            self.within.append(tag)
        if tag == "abbr":
            named, _, _ = (dict(attrs)["title"] or "").partition(": ")
            self.explained.extend(term.word for term in MORE if term.word == named)

    def handle_endtag(self, tag: str) -> None:
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if NOT_SAID.isdisjoint(self.within):
            (self.explained if "abbr" in self.within else self.text).append(data.lower())


def read(html: str) -> Words:
    words = Words()
    words.feed(html.partition("<main")[2].partition("</main>")[0])
    return words


def find_unexplained(html: str) -> set[str]:
    """The words of the glossary, the eight nouns left out, that the page says and nowhere explains."""
    words = read(html)
    text = OTHER_SENSES.sub(" ", " ".join(" ".join(words.text).split()))
    explained = " ".join(words.explained)
    return {term.word for term in MORE if says(text, term.word) and not says(explained, term.word)}


def says(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}s?\b", text) is not None


def screen(client: Client, address: str) -> set[str]:
    """Words of the glossary that the page does not explain, and words of its names that nobody explains."""
    answer = client.get(address, follow=True)
    assert answer.status_code == 200, address
    html = answer.content.decode()
    names = names_of_template(OF_PAIR.sub("", html.partition("<main")[2].partition("</main>")[0]))
    unknown: set[str] = set().union(*map(find_unknown_words, names))
    return find_unexplained(html) | {
        word for word in unknown if not says(" ".join(read(html).explained), word)
    }


@pytest.fixture
def disputed() -> Case:
    """A tested match on which reader and arbiter differ, beside one that was abandoned."""
    cases = factories.cases(factories.opened("first job"))
    made = factories.examined(cases[0], 1)
    factories.settled(cases[1], 0)
    factories.abandoned(cases[2])
    steps = list(made.steps.order_by("number"))
    steps[0].event, steps[1].event = Event.READ, Event.DISPUTED
    for step in steps[:2]:
        step.save()
    return made


def test_a_page_is_asked_for_its_words() -> None:
    page = "<main>{}</main>"
    assert find_unexplained(page.format("<p>The arbiter opens a pair.</p>")) == {"arbiter"}
    assert find_unexplained(page.format("<p>Arbiters <abbr title='x'>arbiter</abbr></p>")) == set()
    stage = "<p>reader, <abbr title='reader: The agent'>reading</abbr></p>"
    assert find_unexplained(page.format(stage)) == set()
    assert find_unexplained(page.format("<p>An edge case. <code>round</code></p>")) == set()


def test_an_expert_meets_no_word_that_is_not_explained(erin: Client, disputed: Case) -> None:
    assert screen(erin, reverse("work")) == set()
    assert screen(erin, reverse("review-case", args=[disputed.pk])) == set()


def test_a_rater_meets_no_word_that_is_not_explained(client: Client) -> None:
    running = studies.study()
    client.force_login(studies.rater("rita", running).user)
    assert screen(client, reverse("work")) == set()
    assert screen(client, reverse("rate-next", args=[running.pk])) == set()


def test_a_reader_meets_no_word_that_is_not_explained(ray: Client, disputed: Case) -> None:
    assert screen(ray, reverse("home")) == set()
    assert screen(ray, reverse("benchmarks")) == set()
    published = benchmark(candidates=[(0, 0), (0, 1), (0, 2), (1, 1)])
    assert screen(ray, reverse("benchmark", args=[published.pk])) == set()


def test_an_admin_meets_no_word_that_is_not_explained(ada: Client, disputed: Case) -> None:
    assert Tally.objects.get(build=disputed.build_id).abandoned == 1
    assert screen(ada, reverse("dashboard")) == set()
    assert screen(ada, reverse("build", args=[disputed.build_id])) == set()
