"""Pins: taken from the page that shows the figures, read by whoever may see these, and by nobody else."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role, give_role
from annotation.models import Condition, Study
from annotation.pins import pin_leaderboard, pin_study, reproduce_pin
from retrieval.models import Benchmark, Pin
from tests import factories, studies
from tests.annotation.studies.rated import rated_study
from tests.annotation.web.benchmarks.test_views import benchmark_, scored

pytestmark = pytest.mark.django_db
__all__ = ["benchmark_", "scored"]
CLOSED = {403, 404}


@pytest.fixture
def study() -> Study:
    return rated_study(((1, 1, 0, 0, 1, 0, 1, 1), (1, 1, 0, 0, 1, 0, 0, 1), (1, 0, 0, 0, 1, 0, 1, 1)))


def at(client: Client, name: str, *keys: int) -> HttpResponse:
    answer = client.get(reverse(name, args=keys))
    assert isinstance(answer, HttpResponse)
    return answer


def test_what_a_leaderboard_shows_is_pinned_with_its_choices(erin: Client, scored: Benchmark) -> None:
    page = at(erin, "benchmark", scored.pk).content.decode()
    assert "Pin these figures" in page
    sent = {"metric": "mrr", "found": "1", "pool": "collection"}
    answer = erin.post(reverse("benchmark-pin", args=[scored.pk]), sent, follow=True)
    (pin,) = Pin.objects.all()
    assert answer.redirect_chain == [(reverse("pin", args=[pin.pk]), 302)]
    assert (pin.subject["metric"], pin.subject["fewest"], pin.subject["most"]) == ("mrr", 1, 1)
    assert pin.created_by == User.objects.get(username="erin")
    text = answer.content.decode()
    assert f"cosqa admin reproduce {pin.name}" in text
    assert "&lt;b&gt;bad" in text and "<b>bad" not in text
    assert reproduce_pin(pin).equal


def test_a_study_is_pinned_from_its_figures(erin: Client, study: Study) -> None:
    assert "Pin these figures" in at(erin, "study-figures", study.pk).content.decode()
    text = erin.post(reverse("study-figures-pin", args=[study.pk]), follow=True).content.decode()
    assert "Against the majority of" in text
    assert Pin.objects.get().subject["study"] == study.name


def test_readers_read_and_take_home_but_pin_nothing(ray: Client, scored: Benchmark, study: Study) -> None:
    pins = pin_leaderboard(scored), pin_study(study)
    assert "Pin these figures" not in at(ray, "benchmark", scored.pk).content.decode()
    listed = at(ray, "reports").content.decode()
    for pin in pins:
        assert pin.name in listed
        assert at(ray, "pin", pin.pk).status_code == 200
        home = json.loads(at(ray, "pin-download", pin.pk).content)
        assert (home["pin"], home["value"]) == (pin.digest, pin.value)
    assert ray.post(reverse("benchmark-pin", args=[scored.pk])).status_code == 403
    assert ray.post(reverse("study-figures-pin", args=[study.pk])).status_code == 403


def test_without_figures_nothing_is_pinned_and_it_is_told(erin: Client, benchmark_: Benchmark) -> None:
    empty = studies.study("empty")
    for name, key, said in (
        ("benchmark-pin", benchmark_.pk, "there is no figure"),
        ("study-figures-pin", empty.pk, "first rating"),
    ):
        assert said in erin.post(reverse(name, args=[key]), follow=True).content.decode()
    assert not Pin.objects.exists()
    assert "No pins yet" in at(erin, "reports").content.decode()


def test_whoever_rates_blind_sees_no_pin_of_it(scored: Benchmark) -> None:
    pin = pin_leaderboard(scored)
    blind = studies.study(conditions=(Condition.Kind.READING,), pairs=[scored.labels.all()[0].pair])
    rita = studies.rater("rita", blind, Condition.Kind.READING)
    give_role(rita.user, Role.EXPERT)
    studies.assignment(rita, blind.pairs.get())
    rater = Client()
    rater.force_login(rita.user)
    assert pin.name not in at(rater, "reports").content.decode()
    for name in ("pin", "pin-download"):
        answer = at(rater, name, pin.pk)
        assert answer.status_code in CLOSED
        assert b"mrr" not in answer.content
    assert rater.post(reverse("benchmark-pin", args=[scored.pk])).status_code in CLOSED


def test_a_rater_of_a_study_sees_no_pin_of_its_interim_figures(study: Study) -> None:
    first = study.pairs.order_by("number").last()
    assert first is not None
    study.state = Study.State.RUNNING
    study.save()
    study.conditions.get().quotas.filter(study_pair=first).update(wanted=9)
    pin = pin_study(study)
    enrolment = study.enrolments.order_by("pk").first()
    assert enrolment is not None
    client = Client()
    client.force_login(enrolment.user)
    assert at(client, "pin", pin.pk).status_code in CLOSED
    client.force_login(factories.ada())
    assert at(client, "pin", pin.pk).status_code == 200
