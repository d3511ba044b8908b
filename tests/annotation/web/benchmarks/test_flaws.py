"""Benchmarks that were published before a fault was mended say so, and how to have a whole one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.builds.results.publication import Wish, publish_benchmark
from annotation.models import Build, Extension
from annotation.web.benchmarks.flaws import flaws_of
from retrieval.filters.queries import QueryRule
from retrieval.models import Benchmark, Candidate, Mining
from tests import factories

pytestmark = pytest.mark.django_db
RULED = "Labels are missing: a rule chose the queries"
EXTENDED = "shares of judged functions are too high"


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened(), (1, 0, None, 1, 0, 0, 1, 1, 0))


def published(build: Build) -> Benchmark:
    return publish_benchmark(Wish("first", build.mining, build), factories.ada())


def extended(build: Build) -> Mining:
    """An extension whose mining found the last candidate of the build's."""
    more = factories.mining(finished_at=timezone.now() - timedelta(hours=1))
    Extension.objects.create(
        build=build, number=1, mining=more, state=Extension.State.OPENED, description="more"
    )
    Candidate.objects.filter(pk=factories.cases(build)[-1].candidate_id).update(mining=more)
    return more


def page(client: Client, benchmark: Benchmark) -> str:
    return client.get(reverse("benchmark", args=[benchmark.pk])).content.decode()


def test_a_whole_benchmark_says_nothing(build: Build, ada: Client) -> None:
    extended(build)
    made = published(build)
    assert flaws_of(made) == [] and "Publish again" not in page(ada, made)


def test_queries_that_a_rule_chose_beyond_the_end(build: Build, ada: Client, erin: Client) -> None:
    made = published(build)
    Mining.objects.filter(pk=build.own_mining.pk).update(query_rule=int(QueryRule.ENGLISH), limit=2)
    Benchmark.objects.filter(pk=made.pk).update(queries_until=2)  # as it was counted before
    made.refresh_from_db()
    [flaw] = flaws_of(made)
    assert RULED in flaw[0] and flaw[1] == build
    told = page(ada, made)
    assert RULED in told and reverse("build-publish", args=[build.pk]) in told
    assert RULED in page(erin, made) and "Publish again" not in page(erin, made)


def test_extensions_of_which_it_knows_nothing(build: Build) -> None:
    more = extended(build)
    made = published(build)
    made.extension_minings.clear()
    assert [EXTENDED in words for words, _ in flaws_of(made)] == [True]
    Mining.objects.filter(pk=more.pk).update(finished_at=timezone.now() + timedelta(hours=1))
    assert flaws_of(made) == []  # it was extended later
