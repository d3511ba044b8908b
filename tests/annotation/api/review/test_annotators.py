"""Two annotators side by side over the API."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build
from retrieval.models import Annotator, Label, Pair, Text
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


def test_the_builds_are_named_in_which_flips_can_be_reviewed(
    ray: Client, erin: Client, build: Build, original: Annotator
) -> None:
    path = f"annotators/{build.annotator_id}/comparison/{original.pk}"
    [row] = get(ray, path)["to_review"]["builds"]
    assert (row["build"], row["name"], row["flips"]) == (build.pk, build.name, 1)
    [(address, _)] = erin.get(row["review"], follow=True).redirect_chain
    assert address.startswith(reverse("review-case", args=[factories.cases(build)[0].pk]))
    assert get(ray, path)["to_review"]["without"] == 0
    assert get(ray, f"annotators/{original.pk}/comparison/{original.pk}")["to_review"] is None


def test_flips_without_a_case_are_told(ray: Client, build: Build, original: Annotator) -> None:
    other = Annotator.objects.version(Annotator.Kind.ORIGINAL, "other", {})
    pair = Pair.objects.keep_all(
        [(factories.cases(build)[0].query_id, Text.objects.keep("def other(): ...").pk)]
    )[0]
    for by, value in ((original, 0), (other, 1)):
        Label.objects.create(pair=pair, annotator=by, value=value)
    found = get(ray, f"annotators/{original.pk}/comparison/{other.pk}")
    assert found["to_review"] == {"builds": [], "without": 1}


def test_a_round_is_asked_for(ray: Client, build: Build, original: Annotator) -> None:
    said = Label.objects.filter(annotator=original).earliest("pk")
    Label.objects.create(pair=said.pair, annotator=original, round=2, value=1)
    path = f"annotators/{build.annotator_id}/comparison/{original.pk}"

    assert [get(ray, path, against_round=number)["to_no_match"] for number in (0, 1, 2)] == [0, 1, 0]
    assert get(ray, path, against_round=2)["second"]["round"] == 2


def test_one_that_is_not_there_is_not_found(ray: Client, build: Build) -> None:
    assert ray.get(f"/api/annotators/{build.annotator_id}/comparison/999999").status_code == 404
