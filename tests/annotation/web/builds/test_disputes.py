"""What the build's page says of pairs on which reader and arbiter differ."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Basis, Build, Case, Tally
from annotation.web.builds.disputes import Disputes, disputes_of
from tests import factories
from tests.annotation.review.worklists.test_order import label

pytestmark = pytest.mark.django_db


def disputed_build(count: int) -> Build:
    build = factories.opened()
    for case in factories.cases(build)[:count]:
        factories.settled(case, 1)
        Case.objects.filter(pk=case.pk).update(basis=Basis.DISPUTED)
    Tally.objects.filter(build=build).update(disputed=count, read=count)
    return Build.objects.get(pk=build.pk)


def test_a_build_without_disputes_has_no_block() -> None:
    assert disputes_of(factories.opened()) is None


def test_decisions_and_changes_are_counted_and_carried_on_to_the_next_hundred() -> None:
    found = Disputes(pairs=200, disputed=20, decided=10, changed=4)
    assert (found.left, found.kept) == (10, 6)
    expected, low, high = found.next_changes
    assert expected == 40  # 100 x 4 / 10
    assert low == pytest.approx(12.2, abs=0.1)  # Clopper and Pearson of 4 in 10
    assert high == pytest.approx(73.8, abs=0.1)


def test_people_who_keep_and_change_labels_are_told_apart(ada: Client) -> None:
    build = disputed_build(3)
    first, second, _ = Case.objects.filter(basis=Basis.DISPUTED).order_by("pk")
    label(factories.erin(), first, 1)
    label(factories.erin(), second, 0)
    found = disputes_of(build)
    assert found == Disputes(pairs=9, disputed=3, decided=2, changed=1)
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "Where the agents disagree" in page
    assert "they kept 1 label and changed 1" in page
