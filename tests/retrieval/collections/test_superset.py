"""A collection of another one's snippets and some more."""

from __future__ import annotations

import pytest

from retrieval.collections.superset import LONGEST_NAME, MemberRow, end_name, keep_superset
from retrieval.models import Alias, Collection, Text
from tests import factories

pytestmark = pytest.mark.django_db


def superset(part: Collection, *new: str) -> Collection:
    texts = map(Text.objects.keep, new)
    added: list[MemberRow] = [(text.pk, f"new-{text.pk}", "a test", "MIT", 0, "") for text in texts]
    columns = "text_id", "source_id", "origin", "licence", "rules", "partition"
    rows = [*part.members.values_list(*columns), *added]
    return keep_superset(part, "more", "of a test", [row[0] for row in rows], rows)


def test_superset_has_the_part_at_its_places_then_what_is_new() -> None:
    part = factories.snippets(("def f(x): return x", "def g(x): return x"))
    Alias.objects.create(collection=part, number=1, text=part.members.all()[1].text, source_id="twin")
    made = superset(part, "def h(x): return x")
    kept = made.members.filter(position__lt=2).values_list("position", "text", "source_id", "rules")
    assert list(kept) == list(part.members.values_list("position", "text", "source_id", "rules"))
    last = made.members.get(position=2)
    assert (last.text.text, last.licence, made.size) == ("def h(x): return x", "MIT", 3)
    assert made.aliases.get().source_id == "twin"


def test_superset_is_stored_once_and_grows_as_the_next_version() -> None:
    part = factories.snippets(("def f(x): return x",))
    first = superset(part, "def g(x): return x")
    assert superset(part, "def g(x): return x") == first
    assert superset(part, "def h(x): return x").version == 2


def test_ending_of_a_long_name_is_kept() -> None:
    assert end_name("short", "-more") == "short-more"
    assert end_name("x" * 300, "-more") == "x" * (LONGEST_NAME - 5) + "-more"
