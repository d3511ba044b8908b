"""Functions are found by any part of their code, up to bounds that are said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotation.review.worklists import code_search
from annotation.review.worklists.code_search import find_code, search_collection_code
from retrieval.models import Collection, Text
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    search_collection_code.cache_clear()
    yield
    search_collection_code.cache_clear()


@pytest.fixture
def snippets() -> Collection:
    long = "def late(rows):\n" + "    rows.sort()\n" * 100 + "    return ÄPFEL\n"
    return factories.snippets([long, "def early():\n    return äpfel\n", "def other():\n    return 1\n"])


def test_code_is_found_behind_its_beginning_and_in_any_case(snippets: Collection) -> None:
    texts = list(Text.objects.order_by("pk").values_list("pk", flat=True))
    found = find_code(snippets, "Äpfel")
    assert set(found.texts) == set(texts[:2])
    assert found.is_whole


def test_what_is_left_out_at_a_bound_is_said(snippets: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_search, "MOST_FOUND", 1)
    found = find_code(snippets, "return")
    assert (len(found.texts), found.is_whole) == (1, False)
    search_collection_code.cache_clear()
    monkeypatch.setattr(code_search, "MOST_FOUND", 9)
    monkeypatch.setattr(code_search, "MOST_READ", 2)
    found = find_code(snippets, "return")
    assert (len(found.texts), found.is_whole) == (2, False)
