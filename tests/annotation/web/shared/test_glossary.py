"""The glossary: every word once, in order, and the same in the docs."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import reverse

from annotation.web.shared.glossary import MEANINGS, MORE, NOUNS, write_markdown
from tests.conftest import REPOSITORY


def test_the_docs_have_the_same_words() -> None:
    assert (REPOSITORY / "docs" / "glossary.md").read_text().splitlines() == list(write_markdown())


def test_a_word_stands_once_and_more_words_are_sorted() -> None:
    words = [term.word for term in (*NOUNS, *MORE)]
    assert len(set(words)) == len(words) == len(MEANINGS)
    more = [term.word for term in MORE]
    assert more == sorted(more)


def test_the_eight_nouns_are_those_of_the_style_guide() -> None:
    words = ["query", "function", "pair", "label", "verdict", "test", "run", "study"]
    assert [term.word for term in NOUNS] == words


@pytest.mark.django_db
def test_every_role_reads_the_glossary(ray: Client) -> None:
    page = ray.get(reverse("glossary")).content.decode()
    assert all(f"<dfn>{word}</dfn>" in page for word in MEANINGS)


def test_a_term_shows_its_meaning_on_hover() -> None:
    shown = Template("{% load workbench %}{{ 'Settled'|term }}").render(Context())
    assert shown == f'<abbr class="term" title="{MEANINGS["settled"]}">Settled</abbr>'


def test_a_word_without_a_meaning_is_refused() -> None:
    with pytest.raises(KeyError):
        Template("{% load workbench %}{{ 'candidate'|term }}").render(Context())
