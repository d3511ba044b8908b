"""Identity of texts: stored once, whatever is inside them."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.models import Pair, Text, TextBody
from retrieval.models.texts import HEAD, canonicalize_text
from retrieval.texts.hostile import clean_json, mark_hostile_characters

SURROGATES_TOO = st.text(alphabet=st.characters(exclude_categories=()), max_size=400)
ON_ONE_DATABASE = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=60,
)


@pytest.mark.django_db
@ON_ONE_DATABASE
@given(text=SURROGATES_TOO)
def test_any_text_can_be_saved_and_read_again(text: str) -> None:
    row = Text.objects.keep(text)
    stored = Text.objects.with_bodies().get(pk=row.pk)
    assert stored.text == canonicalize_text(text)
    assert stored.head == canonicalize_text(text)[:HEAD]


@pytest.mark.django_db
def test_line_ends_and_blank_edges_make_no_other_text() -> None:
    rows = Text.objects.keep_all(["a\nb", "a\r\nb", "  a\nb\n"])
    assert len({row.pk for row in rows}) == 1
    assert (Text.objects.count(), TextBody.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_many_texts_come_back_in_their_order() -> None:
    texts = [f"text {number % 700}" for number in range(1500)]
    assert [row.head for row in Text.objects.keep_all(texts)] == texts


@pytest.mark.django_db
def test_new_texts_are_numbered_in_their_order() -> None:
    texts = [f"text {number}" for number in range(50)]
    ids = [row.pk for row in Text.objects.keep_all(texts)]
    assert ids == sorted(ids)


@pytest.mark.django_db
def test_a_pair_is_stored_once() -> None:
    query, snippet = Text.objects.keep_all(["query", "snippet"])
    first, again = Pair.objects.keep_all([(query.pk, snippet.pk)] * 2)
    assert first == again == Pair.objects.keep_all([(query.pk, snippet.pk)])[0]


@given(text=SURROGATES_TOO)
def test_cleaning_is_visible_idempotent_and_leaves_good_text_alone(text: str) -> None:
    cleaned = mark_hostile_characters(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert mark_hostile_characters(cleaned) == cleaned
    if "\x00" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert cleaned == text


def test_json_loses_nothing_that_a_database_refuses() -> None:
    assert clean_json({"a\x00": [float("nan"), 1.5, "\ud800"]}) == {"a␀": ["⟨nan⟩", 1.5, "⟨U+D800⟩"]}


@pytest.mark.django_db(transaction=True)
def test_two_writers_of_the_same_texts_do_not_wait_for_each_other() -> None:
    texts = [f"text {number}" for number in range(3000)]
    start, failures = threading.Barrier(2), list[BaseException]()

    def work(order: list[str]) -> None:
        start.wait()
        try:
            with transaction.atomic():
                Text.objects.keep_all(order)
        except OperationalError as failure:
            failures.append(failure)
        connection.close()

    threads = [threading.Thread(target=work, args=(order,)) for order in (texts, texts[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert Text.objects.count() == len(texts)
