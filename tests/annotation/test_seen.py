from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from pytest_django import DjangoAssertNumQueries

from annotation.models import Seen
from annotation.seen import mark_seen
from tests import factories

pytestmark = pytest.mark.django_db


def test_pairs_are_remembered_once_for_each_person(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    ray, erin = factories.ray(), factories.erin()
    pairs = [case.pair_id for case in factories.cases(factories.opened())]

    mark_seen(ray, [pairs[0], pairs[1], pairs[0]])
    mark_seen(erin, [pairs[0]])
    with django_assert_num_queries(1):
        mark_seen(ray, [pairs[0], pairs[1]])

    assert set(Seen.objects.values_list("user__username", "pair")) == {
        ("ray", pairs[0]),
        ("ray", pairs[1]),
        ("erin", pairs[0]),
    }


def test_nothing_is_remembered_of_a_visitor_without_an_account() -> None:
    mark_seen(AnonymousUser(), [factories.cases(factories.opened())[0].pair_id])

    assert not Seen.objects.exists()
