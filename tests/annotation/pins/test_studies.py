"""Pinned figures of a study: the same at the moment of the pin, whatever was said after it."""

from __future__ import annotations

import pytest

from annotation.models import Rating, Study
from annotation.pins import NothingToPin, pin_study, reproduce_pin
from retrieval.models import Pin
from tests import studies
from tests.annotation.studies.rated import agents, rated_study

pytestmark = pytest.mark.django_db

SAID = ((1, 1, 0, 0, 1, 0, 1, 1), (1, 1, 0, 0, 1, 0, 0, 1), (1, 0, 0, 0, 1, 0, 1, 1))


@pytest.fixture
def study() -> Study:
    made = rated_study(SAID)
    agents(made, (1, 1, 0, 1, 1, 0, 1, 0))
    return made


def test_figures_are_equal_when_nothing_was_said_since(study: Study) -> None:
    pin = pin_study(study)
    found = reproduce_pin(pin)
    assert (found.changes, found.grounds) == ((), ())
    assert {"main", "confusion", "reliability"} <= set(pin.value)
    assert pin_study(study) == pin


def test_what_is_said_later_is_left_out(study: Study) -> None:
    pin = pin_study(study)
    agents(study, (0, 0, 0, 0, 0, 0, 0, 0), model="later-model")
    first = Rating.objects.order_by("pk")[0]
    Rating.objects.create(
        assignment=first.assignment, value=0, revision=2, supersedes=first, evidence="0" * 64, seconds=1.0
    )
    assert reproduce_pin(pin).equal
    assert pin_study(study).value != pin.value


def test_a_rating_that_somebody_changed_is_found(study: Study) -> None:
    pin = pin_study(study)
    last = Pin.objects.get().ground["last"]["rating"]
    Rating.objects.filter(pk=last).update(value=0)
    found = reproduce_pin(pin)
    assert not found.equal
    assert any(one.where.startswith("main/rows/") for one in found.changes)


def test_nothing_is_pinned_before_the_first_rating() -> None:
    with pytest.raises(NothingToPin, match="first rating"):
        pin_study(studies.study())
