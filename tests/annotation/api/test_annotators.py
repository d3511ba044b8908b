"""Two annotators side by side over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Build
from retrieval.models import Annotator, Label
from tests import factories
from tests.calls import get

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    made = factories.opened()
    for case, label in zip(factories.cases(made), (1, 1, 0), strict=False):
        factories.settled(case, label)
    return made


@pytest.fixture
def original(build: Build) -> Annotator:
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "original", {})
    for case, value in zip(factories.cases(build), (0, 1), strict=False):
        Label.objects.create(pair=case.pair, annotator=by, value=value)
    return by


def test_everybody_with_a_label_is_listed(ray: Client, build: Build, original: Annotator) -> None:
    Annotator.objects.version(Annotator.Kind.ORIGINAL, "silent", {})
    found = get(ray, "annotators")

    assert [one["id"] for one in found["items"]] == sorted([build.annotator_id, original.pk])
    assert get(ray, "annotators", limit=1)["next"] == found["items"][0]["id"]


def test_figures_of_both_sides(ray: Client, build: Build, original: Annotator) -> None:
    found = get(ray, f"annotators/{build.annotator_id}/comparison/{original.pk}")

    names = ("pairs", "queries", "both_match", "both_no_match", "to_match", "to_no_match")
    assert [found[name] for name in names] == [2, 1, 1, 0, 0, 1]
    assert found["figures"]["agreement"]["value"] == 0.5
    assert (found["first"]["alone_match"], found["first"]["alone_no_match"]) == (0, 1)
    assert (found["first"]["took"]["calls"], found["second"]["took"]) == (2, None)
    assert found["worst"][0]["query"]["head"] == factories.QUERIES[0]


def test_a_round_is_asked_for(ray: Client, build: Build, original: Annotator) -> None:
    said = Label.objects.filter(annotator=original).earliest("pk")
    Label.objects.create(pair=said.pair, annotator=original, round=2, value=1)
    path = f"annotators/{build.annotator_id}/comparison/{original.pk}"

    assert [get(ray, path, against_round=number)["to_no_match"] for number in (0, 1, 2)] == [0, 1, 0]
    assert get(ray, path, against_round=2)["second"]["round"] == 2


def test_one_that_is_not_there_is_not_found(ray: Client, build: Build) -> None:
    assert ray.get(f"/api/annotators/{build.annotator_id}/comparison/999999").status_code == 404
