"""A build's own figures as a pin: counted again from rows, and blind to what came later."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Case, LLMCall, Step, Tally
from annotation.pins import NothingToPin, pin_build, reproduce_pin
from annotation.stages import Event
from retrieval.models import Pin
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Nine pairs: three settled at once, two after a test of which one ran, one abandoned, three left."""
    made = factories.opened("<b>first")
    cases = factories.cases(made)
    for case, label in zip(cases[:3], (1, 0, 0), strict=True):
        factories.settled(case, label)
    factories.examined(cases[3], 1)
    failed = factories.a_report(Outcome.ERRORED, assertions=(), missing_module="six")
    factories.examined(cases[4], 0, failed, "def main():\n    nothing\n")
    factories.abandoned(cases[5])
    LLMCall.objects.update(cost=700)
    made.tally.change(spent=700 * LLMCall.objects.count())
    return over(made)


def over(build: Build, state: str = Build.State.DONE) -> Build:
    Build.objects.filter(pk=build.pk).update(state=state)
    return Build.objects.select_related("tally", "annotator").get(pk=build.pk)


def test_what_the_page_tells_is_pinned_and_counted_again(build: Build) -> None:
    pin = pin_build(build)
    counts = pin.value["counts"]
    assert {name: counts[name] for name in ("cases", "screened", "cleared", "unclear", "written")} == {
        "cases": 9,
        "screened": 5,
        "cleared": 3,
        "unclear": 2,
        "written": 2,
    }
    assert (counts["programs"], counts["ran"], counts["settled"], counts["abandoned"]) == (2, 1, 5, 1)
    # Nine calls: three of the clear cases, three each of the two others.
    assert pin.value["figures"] == {
        "executable rate": 1 / 2,
        "share of label 1": 2 / 5,
        "unclear share": 2 / 5,
        "cost of a pair": 9 * 700 / 5,
    }
    found = reproduce_pin(pin)
    assert (found.changes, found.grounds) == ((), ())
    assert pin_build(build) == pin


def test_totals_are_not_read_again(build: Build) -> None:
    pin = pin_build(build)
    Tally.objects.update(settled=0, matches=0, ran=0, spent=0, unclear=0)
    assert reproduce_pin(pin).equal


def test_totals_that_were_wrong_are_found(build: Build) -> None:
    build.tally.change(ran=1)
    pin = pin_build(over(build))
    assert [(one.where, one.before, one.now) for one in reproduce_pin(pin).changes] == [
        ("counts/ran", 2, 1),
        ("figures/executable rate", 1.0, 0.5),
    ]


def test_what_came_later_makes_no_difference_and_is_told(build: Build) -> None:
    pin = pin_build(build)
    cases = factories.cases(build)
    cases[5].move(Event.RETRIED, note="retried", reason="", left_stage="")
    factories.settled(Case.objects.select_related("build__tally").get(pk=cases[5].pk), 1)
    factories.settled(cases[6], 1)
    more = factories.candidate(build.own_mining, cases[0].pair.query, cases[0].pair.query, 9)
    factories.open_case(build, more)
    found = reproduce_pin(pin)
    assert found.equal
    assert [one.where for one in found.grounds] == ["cases"]
    assert pin_build(over(build)) != pin


@pytest.mark.parametrize("spoil", ["label", "step", "call"])
def test_a_row_that_somebody_changed_is_found(build: Build, spoil: str) -> None:
    pin = pin_build(build)
    if spoil == "label":
        Case.objects.filter(label=1).update(label=0)
    elif spoil == "step":
        Step.objects.filter(event=Event.UNCLEAR).update(event=Event.MATCH)
    else:
        LLMCall.objects.filter(agent="arbiter").update(cost=1)
    where = {"label": "matches", "step": "unclear", "call": "spent"}[spoil]
    assert f"counts/{where}" in {one.where for one in reproduce_pin(pin).changes}


def test_a_build_that_is_gone_or_another_one_has_no_figures(build: Build) -> None:
    pin = pin_build(build)
    Build.objects.update(name="another")
    found = reproduce_pin(pin)
    assert not found.equal
    assert [(one.where, one.now) for one in found.grounds] == [("cases", None)]


def test_shares_of_nothing_are_none_and_an_unknown_cost_is_no_zero() -> None:
    made = factories.opened()
    factories.abandoned(factories.cases(made)[0])
    pin = pin_build(over(made, Build.State.CANCELLED))
    assert set(pin.value["figures"].values()) == {None}
    assert reproduce_pin(pin).equal


def test_only_a_build_that_is_over_and_has_cases_is_pinned() -> None:
    with pytest.raises(NothingToPin, match="is running: its figures are pinned once it is over"):
        pin_build(factories.opened())
    with pytest.raises(NothingToPin, match="has no cases"):
        pin_build(over(factories.launched("second")))


def test_the_command_pins_a_build(build: Build) -> None:
    out = StringIO()
    call_command("pin", "--build", build.name, stdout=out, stderr=StringIO())
    call_command("reproduce", out.getvalue().strip(), stdout=out)
    assert "\nequal\n" in out.getvalue()
    with pytest.raises(CommandError, match="no build called 'none'; there are: <b>first"):
        call_command("pin", "--build", "none")


def test_admins_pin_it_from_its_page_and_read_it_alone(ada: Client, erin: Client, build: Build) -> None:
    place = reverse("build-pin", args=[build.pk])
    assert place in ada.get(reverse("build", args=[build.pk])).content.decode()
    assert erin.post(place).status_code == 403
    text = ada.post(place, follow=True).content.decode()
    pin = Pin.objects.get()
    for words in ("executable rate", "0.500", "cost of a pair", f"cosqa admin reproduce {pin.name}"):
        assert words in text
    assert "<b>first" not in text
    assert pin.name in ada.get(reverse("reports")).content.decode()
    assert pin.name not in erin.get(reverse("reports")).content.decode()
    assert erin.get(reverse("pin", args=[pin.pk])).status_code == 404
    over(build, Build.State.RUNNING)
    assert place not in ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "is running" in ada.post(place, follow=True).content.decode()
