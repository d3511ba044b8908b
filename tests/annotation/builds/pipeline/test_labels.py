"""What is decided becomes one label; what two builds decide differently becomes two, in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotation.builds.pipeline import labels as published_labels
from annotation.builds.pipeline.labels import publish_case
from annotation.models import Basis, Case
from annotation.stages import Event, Stage
from retrieval.models import Label
from tests import factories

pytestmark = pytest.mark.django_db
BASES = (Basis.CLEAR, Basis.SINGLE, Basis.TESTED, Basis.AGREED, Basis.DISPUTED)


def said() -> list[tuple[int, int | None]]:
    return list(Label.objects.order_by("round").values_list("round", "value"))


def test_publishing_twice_is_publishing_once() -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    publish_case(case)
    assert said() == [(1, 1)]


@pytest.mark.parametrize("basis", BASES)
def test_a_label_says_how_its_case_was_decided(basis: Basis) -> None:
    case = factories.cases(factories.opened())[0]
    published_labels.settle_case_label(case, Event.MATCH, 1, "as the query asks", None, basis=basis)
    assert Label.objects.get().basis == basis == Case.objects.get(pk=case.pk).basis


@pytest.mark.parametrize(("second", "labels"), [(1, [(1, 1)]), (0, [(1, 1), (2, 0)])])
def test_another_build_that_asks_the_same_annotator(second: int, labels: list[tuple[int, int]]) -> None:
    factories.settled(factories.cases(factories.opened("first"))[0], 1)
    factories.settled(factories.cases(factories.opened("second"))[0], second)
    assert said() == labels


@pytest.mark.parametrize(("second", "labels"), [(1, [(1, 1)]), (0, [(1, 1), (2, 0)])])
def test_a_build_that_settles_the_pair_at_the_same_moment(
    second: int, labels: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = factories.cases(factories.opened("second"))[0]
    factories.settled(factories.cases(factories.opened("first"))[0], 1)
    looks: Iterator[dict[int, int | None]] = iter([{}])
    real = published_labels.said_before
    monkeypatch.setattr(published_labels, "said_before", lambda of: next(looks, real(of)))
    assert factories.settled(case, second).stage == Stage.SETTLED
    assert said() == labels
