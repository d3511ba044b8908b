"""Two builds over their common pairs as a pin: counted anew, and what changed since is told."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Case
from annotation.pins import NothingToPin, pin_two_builds, reproduce_pin
from tests import factories

pytestmark = pytest.mark.django_db


def judged(name: str, labels: tuple[int, ...], state: str = Build.State.DONE) -> Build:
    """A build of nine pairs of which the first so many have these labels."""
    build = factories.opened(name)
    for case, label in zip(factories.cases(build), labels, strict=False):
        factories.settled(case, label)
    Build.objects.filter(pk=build.pk).update(state=state)
    return Build.objects.select_related("tally", "annotator").get(pk=build.pk)


@pytest.fixture
def builds() -> tuple[Build, Build]:
    return judged("first", (1, 0, 0, 1)), judged("second", (1, 1, 0))


def test_what_the_page_shows_is_pinned_and_comes_out_again(builds: tuple[Build, Build]) -> None:
    pin = pin_two_builds(*builds)
    assert (pin.value["pairs"], pin.value["judged"], pin.value["flips"]) == (9, 3, 1)
    assert pin.value["agreement"]["value"] == pytest.approx(2 / 3)
    assert pin.value["groups"]["0 clear → 1 clear"] == 1
    assert pin.value["groups"]["1 clear → unjudged clear"] == 1
    assert reproduce_pin(pin).equal


def test_a_label_that_was_changed_behind_its_back_is_told(builds: tuple[Build, Build]) -> None:
    pin = pin_two_builds(*builds)
    case = factories.cases(builds[1])[2]
    Case.objects.filter(pk=case.pk).update(label=1)
    found = reproduce_pin(pin)
    assert "flips" in {one.where for one in found.changes}
    Build.objects.filter(pk=builds[0].pk).update(name="another")
    assert not reproduce_pin(pin).equal


def test_what_can_not_be_compared_is_not_pinned(builds: tuple[Build, Build]) -> None:
    running = judged("third", (1,), Build.State.RUNNING)
    with pytest.raises(NothingToPin, match="'third' is running"):
        pin_two_builds(builds[0], running)
    with pytest.raises(NothingToPin, match="two different"):
        pin_two_builds(builds[0], builds[0])


def test_the_command_pins_and_who_sees_both_reads_it(builds: tuple[Build, Build], erin: Client) -> None:
    out = StringIO()
    call_command("pin", "--builds", "first", "second", stdout=out, stderr=StringIO())
    told = StringIO()
    call_command("reproduce", out.getvalue().strip(), stdout=told)
    assert "equal" in told.getvalue()
    pin = pin_two_builds(*builds)
    assert out.getvalue().strip() == pin.name
    page = erin.get(reverse("pin", args=[pin.pk])).content.decode()
    assert "0 clear → 1 clear" in page and reverse("compare") in page
