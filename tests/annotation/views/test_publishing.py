"""The page on which an admin publishes a build's pairs as a benchmark."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build
from retrieval.models import Benchmark
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("first <i>"), (1, 0, None, 1, 0, 0, 1, 1, 0))


def address(build: Build) -> str:
    return reverse("build-publish", args=[build.pk])


def test_it_counts_labels_by_source_before_anything_is_published(ada: Client, build: Build) -> None:
    text = ada.get(address(build)).content.decode()
    assert "first &lt;i&gt;" in text and "agents" in text and "unjudged" in text
    assert not Benchmark.objects.exists()


def test_the_build_leads_to_it_once_it_is_over(ada: Client, build: Build) -> None:
    assert address(build) in ada.get(reverse("build", args=[build.pk])).content.decode()
    running = factories.opened("second")
    assert address(running) not in ada.get(reverse("build", args=[running.pk])).content.decode()
    assert "it is published once it is over" in ada.get(address(running)).content.decode()


def test_publishing_leads_to_the_benchmark(ada: Client, build: Build) -> None:
    answer = ada.post(address(build), {"name": "plus", "pool": "candidates"}, follow=True)
    made = Benchmark.objects.get()
    assert answer.redirect_chain == [(reverse("benchmark", args=[made.pk]), 302)]
    assert (made.name, made.pool, made.size) == ("plus", "candidates", 8)
    assert "Published as plus@1" in answer.content.decode()


def test_what_is_missing_is_told(ada: Client, build: Build) -> None:
    answer = ada.post(address(build), {"name": " ", "pool": "elsewhere"})
    assert answer.status_code == 422 and not Benchmark.objects.exists()
    nothing = factories.said(factories.opened("empty"), [None] * 9)
    answer = ada.post(address(nothing), {"name": "empty", "pool": "collection"})
    assert answer.status_code == 422 and "nothing to publish" in answer.content.decode()


def test_others_may_not(erin: Client, build: Build) -> None:
    assert erin.get(address(build)).status_code == 403
