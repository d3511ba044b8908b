"""The index of trigrams: there on PostgreSQL, and made again by the migration's own step."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

from retrieval.models import QueryText, Text
from retrieval.models.trigrams import INDEX, drop_index, make_index


def indexes() -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, QueryText._meta.db_table))


@pytest.mark.django_db
def test_postgresql_alone_has_the_index() -> None:
    assert (INDEX in indexes()) == (connection.vendor == "postgresql")


@pytest.mark.django_db(transaction=True)
def test_searches_are_the_same_without_it() -> None:
    QueryText.objects.keep_all(Text.objects.keep_all(["Sort a list", "sort rows", "lists of 50 %"]))
    parts = ("LIST", "sort", "%", "st", "zz")
    with_index = {part: sorted(QueryText.objects.containing(part).values_list("folded")) for part in parts}
    with connection.schema_editor() as editor:
        drop_index(apps, editor)
    assert INDEX not in indexes()
    assert with_index == {
        part: sorted(QueryText.objects.containing(part).values_list("folded")) for part in parts
    }
    with connection.schema_editor() as editor:
        make_index(apps, editor)
    assert (INDEX in indexes()) == (connection.vendor == "postgresql")
    assert [len(with_index[part]) for part in parts] == [2, 2, 1, 2, 0]
