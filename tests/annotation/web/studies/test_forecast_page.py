"""What the form of a study foresees before anything is saved: its rows, its precision, its size."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Study
from retrieval.models import Annotator, Label
from tests import factories, studies
from tests.annotation.studies.rated import agents, rated_study
from tests.studies import posted

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("zoo <b>"), (1, 0, 1, 0, 1, 0, 1, 0, 1))


def test_how_sure_it_will_be_is_simulated_on_request(ada: Client, build: Build) -> None:
    text = ada.post(reverse("study-new"), posted(build, step="simulate")).content.decode()
    assert "In simulated studies of this size" in text and "draw more pairs" in text
    assert not Study.objects.exists()


def test_the_rates_of_the_simulation_are_told(ada: Client, build: Build) -> None:
    text = ada.post(reverse("study-new"), posted(build, step="simulate")).content.decode()
    assert "Rates are those of the planner’s usual ones: 21.3 % matches" in text
    typed = posted(build, step="simulate", rater_accuracy="0.8")
    text = ada.post(reverse("study-new"), typed).content.decode()
    assert "assumed, as typed" in text and "a rater is right in 80 %" in text

    pilot = rated_study([[1, 0, 1, 0]] * 3)
    agents(pilot, [1, 0, 1, 0])
    text = ada.post(reverse("study-new"), posted(build, step="simulate", pilot=pilot.pk)).content.decode()
    assert "the pilot “first study”" in text and "50 % matches" in text
    ada.post(reverse("study-new"), posted(build, pilot=pilot.pk, skipped="0.1"))
    draft = Study.objects.get(state="draft")
    assert draft.sample["rates"]["pilot"] == pilot.pk and draft.sample["rates"]["skipped"] == 0.1
    assert (
        f'<option value="{pilot.pk}" selected>'
        in ada.get(reverse("study-edit", args=[draft.pk])).content.decode()
    )


def test_how_large_it_must_be_is_answered_on_request(ada: Client, build: Build) -> None:
    typed = posted(build, step="size", annotator_accuracy="0.99", hourly_rate="30")
    text = ada.post(reverse("study-new"), typed).content.decode()
    assert "80 % of such studies" in text and "ratings by" in text and "hours, $" in text
    told = (
        "At most 3 pairs can be drawn: there are 9 pairs of 3 queries to draw from, and at most 1 of a query"
    )
    assert f"{told} are taken. Add a build, or take more pairs of a query." in text
    assert not Study.objects.exists()


def test_figures_that_are_closed_are_no_pilot(ada: Client, build: Build) -> None:
    pilot = rated_study([[1, 0, 1, 0]] * 3, created_by=None)
    studies.rater("ada", pilot)
    Study.objects.filter(pk=pilot.pk).update(created_by=None)
    pilot.pairs.get(number=1).quotas.update(wanted=4)
    enrolled = pilot.enrolments.latest("pk")
    enrolled.user = factories.ada()
    enrolled.save()
    answer = ada.post(reverse("study-new"), posted(build, step="simulate", pilot=pilot.pk))
    assert answer.status_code == 422 and "You rate" in answer.content.decode()


@pytest.mark.parametrize("step", ["preview", "simulate", "size", "save"])
def test_a_comparison_of_no_row_is_refused_at_every_step(ada: Client, build: Build, step: str) -> None:
    answer = ada.post(reverse("study-new"), posted(build, step=step, comparisons="agents vs reading"))
    assert answer.status_code == 422 and "no row “reading”" in answer.content.decode()


@pytest.mark.parametrize(("step", "status"), [("preview", 200), ("simulate", 422), ("size", 422)])
def test_a_pairwise_study_is_looked_at_but_not_simulated(
    ada: Client, build: Build, step: str, status: int
) -> None:
    source = Annotator.objects.version(Annotator.Kind.ORIGINAL, "CoSQA", {})
    for case in factories.cases(build):
        Label.objects.create(pair=case.pair, annotator=source, value=1)
    wanted = posted(build, kind="pairwise", against=source.pk, comparisons="", step=step)
    answer = ada.post(reverse("study-new"), wanted)
    text = answer.content.decode()
    assert answer.status_code == status and "What it will take" in text
    assert ("decide on its number of pairs by hours and cost" in text) is (status == 422)
