"""Statements with few values are planned once for each connection; with many they are sent as they are."""

from __future__ import annotations

import pytest
from django.db import connection

from cosqa_site.postgres import MOST_VALUES
from retrieval.models import Text

pytestmark = pytest.mark.django_db


def prepared() -> int:
    """How many statements the server keeps for this connection."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        return int(cursor.fetchone()[0])


def asked(values: int) -> int:
    """How many more are kept after one question with so many values was asked often."""
    before = prepared()
    for _ in range(8):
        assert not Text.objects.filter(pk__in=range(10**9, 10**9 + values), head="100 % of it").exists()
    return prepared() - before


def test_what_is_asked_often_is_planned_once_on_postgresql() -> None:
    Text.objects.keep_all(["some text"])
    assert asked(2) == (1 if connection.vendor == "postgresql" else 0)


def test_statements_with_many_values_are_not_kept() -> None:
    assert asked(MOST_VALUES + 1) == 0


def test_more_values_than_the_protocol_takes_can_be_asked_for() -> None:
    texts = Text.objects.keep_all(["one % of it", "another"])
    wanted = Text.objects.filter(pk__in=[*range(10**9, 10**9 + 70_000), *(text.pk for text in texts)])
    assert sorted(wanted.values_list("head", flat=True)) == ["another", "one % of it"]
