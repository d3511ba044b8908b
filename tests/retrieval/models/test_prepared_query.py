"""A query that is composed once finds what the ORM finds, each time with other values."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.models import Collection, Member, Text
from retrieval.models.prepared_query import PreparedQuery

pytestmark = pytest.mark.django_db


def make_members(name: str, *texts: str) -> Collection:
    made = Collection.objects.create(name=name, kind=Collection.Kind.QUERIES, source="here")
    kept = [Text.objects.keep(text) for text in texts]
    rows = [Member(collection=made, text=text, position=place) for place, text in enumerate(kept)]
    Member.objects.bulk_create(rows)
    return made


def test_load_finds_the_rows_of_each_value_with_what_is_joined() -> None:
    first, second = make_members("first", "sort a list", "flatten"), make_members("second", "reverse")
    members: PreparedQuery[Member] = PreparedQuery(
        lambda pk: Member.objects.filter(collection=pk).select_related("text__body").order_by("position"), int
    )
    with CaptureQueriesContext(connection) as asked:
        found = [[member.text.text for member in members.load(row.pk)] for row in (first, second, first)]
    assert found == [["sort a list", "flatten"], ["reverse"], ["sort a list", "flatten"]]
    assert len(asked) == 3
    assert members.load(second.pk)[0].collection == second  # what was not joined is read when it is asked for


def test_load_takes_several_values_texts_too_and_gives_columns() -> None:
    row = make_members("first", "sort a list")
    named: PreparedQuery[int] = PreparedQuery(
        lambda name, place: (
            Member.objects.filter(collection__name=name, position=place)
            .order_by()
            .values_list("text", flat=True)[:1]
        ),
        *(str, int),
    )
    assert named.load("first", 0) == [row.members.get().text_id]
    assert named.load("first", 1) == named.load("second", 0) == []
    assert named.first("second", 0) is None


def test_load_puts_a_value_wherever_the_condition_has_it() -> None:
    kept = Text.objects.keep("sort a list")
    around: PreparedQuery[Text] = PreparedQuery(lambda pk: Text.objects.filter(pk__gte=pk, pk__lte=pk), int)
    assert around.load(kept.pk) == [kept]


def test_load_without_a_use_for_its_value_or_with_a_prefetch_is_refused() -> None:
    unused: PreparedQuery[Text] = PreparedQuery(lambda pk: Text.objects.filter(size__gt=0), int)
    ahead: PreparedQuery[Collection] = PreparedQuery(
        lambda pk: Collection.objects.filter(pk=pk).prefetch_related("members"), int
    )
    for wrong in (unused, ahead):
        with pytest.raises(ValueError, match="uses each value"):
            wrong.load(1)


@pytest.mark.django_db(transaction=True)
def test_load_asks_on_the_connection_of_its_own_thread() -> None:
    row = make_members("first", "sort a list")
    heads: PreparedQuery[str] = PreparedQuery(
        lambda pk: Text.objects.filter(members__collection=pk).values_list("head", flat=True), int
    )
    found = [heads.load(row.pk)]

    def look() -> None:
        found.append(heads.load(row.pk))
        connection.close()

    other = Thread(target=look)
    other.start()
    other.join()
    assert found == [["sort a list"], ["sort a list"]]
