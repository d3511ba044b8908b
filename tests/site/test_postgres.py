"""Statements with few values are planned once for each connection; with many they are sent as they are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import Count, QuerySet

from cosqa_site.postgres import MOST_VALUES
from retrieval.models import Text

pytestmark = pytest.mark.django_db


def prepared() -> int:
    """How many statements the server keeps for this connection, but for this one."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement NOT LIKE '%prepared%'")
        return int(cursor.fetchone()[0])


def kept(rows: QuerySet[Text, Any]) -> int:
    """How many more statements are kept after one question was asked often."""
    before = prepared()
    for _ in range(8):
        assert not list(rows.all())  # a copy: what was read stays with its query set
    return prepared() - before


def asked(values: int) -> QuerySet[Text]:
    """A question with so many values, and one more."""
    return Text.objects.filter(pk__in=range(10**9, 10**9 + values), head="100 % of it").order_by()


def test_what_is_asked_often_is_planned_once_on_postgresql() -> None:
    Text.objects.keep_all(["some text"])
    assert kept(asked(2)) == (1 if connection.vendor == "postgresql" else 0)


def test_statements_with_many_values_are_not_kept() -> None:
    assert kept(asked(MOST_VALUES)) == 0


def test_what_hangs_on_its_values_is_planned_for_them() -> None:
    rows = asked(2)
    assert kept(rows.order_by("-pk")[:5]) == 0
    assert kept(rows.filter(head__contains="of")) == 0
    assert kept(rows.values("head").annotate(many=Count("pk"))) == 0


def test_more_values_than_the_protocol_takes_can_be_asked_for() -> None:
    texts = Text.objects.keep_all(["one % of it", "another"])
    wanted = Text.objects.filter(pk__in=[*range(10**9, 10**9 + 70_000), *(text.pk for text in texts)])
    assert sorted(wanted.values_list("head", flat=True)) == ["another", "one % of it"]
