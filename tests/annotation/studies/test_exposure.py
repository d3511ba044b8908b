from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from pytest_django import DjangoAssertNumQueries

from annotation.models import Build, Case, Quota, Seen, SeenBenchmark, SeenBuild, Study
from annotation.studies import exposure
from annotation.studies.enrolment import extra_raters, queue, unfilled_places
from annotation.studies.exposure import (
    mark_benchmark_seen,
    mark_builds_seen,
    mark_list_seen,
    mark_seen,
    pairs_of_study_rows,
    seen_among,
)
from annotation.studies.plan.effort import owners_of_shown_pairs, seen_by
from retrieval.models import Benchmark, Pair, Text
from tests import factories, studies
from tests.retrieval.exporting.conftest import benchmark

pytestmark = pytest.mark.django_db


def test_pairs_are_remembered_once_for_each_person(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    ray, erin = factories.ray(), factories.erin()
    pairs = [case.pair_id for case in factories.cases(factories.opened())]

    mark_seen(ray, [pairs[0], pairs[1], pairs[0]])
    mark_seen(erin, [pairs[0]])
    with django_assert_num_queries(1):
        mark_seen(ray, [pairs[0], pairs[1]])

    assert set(Seen.objects.values_list("user__username", "pair")) == {
        ("ray", pairs[0]),
        ("ray", pairs[1]),
        ("erin", pairs[0]),
    }


def test_nothing_is_remembered_of_a_visitor_without_an_account() -> None:
    mark_seen(AnonymousUser(), [factories.cases(factories.opened())[0].pair_id])

    assert not Seen.objects.exists()


def test_of_two_snippets_that_are_compared_both_are_seen() -> None:
    one, other, alone = studies.three_pairs()
    study = studies.study(pairs=[one, alone])
    study.pairs.filter(pair=one).update(other=other)
    assert pairs_of_study_rows(study.pairs.all()) == {one.pk, other.pk, alone.pk}
    assert pairs_of_study_rows(study.pairs.filter(pair=alone)) == {alone.pk}


def labelled(made: Benchmark) -> Pair:
    """A pair of which the benchmark has a label."""
    return Pair.objects.filter(pk__in=made.labels.values("pair"))[0]


def unlabelled() -> Pair:
    query, snippet = Text.objects.keep_all(["another question", "def other():\n    pass\n"])
    return Pair.objects.create(query=query, snippet=snippet)


def test_a_file_of_labels_is_one_row_and_stands_for_each_pair(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    ray, erin, made = factories.ray(), factories.erin(), benchmark()
    pairs = set(made.labels.values_list("pair", flat=True))
    other = factories.cases(factories.opened())[0].pair_id
    mark_seen(ray, [other])
    with django_assert_num_queries(1):
        mark_benchmark_seen(ray, made)
    mark_benchmark_seen(ray, made)
    mark_benchmark_seen(AnonymousUser(), made)

    assert SeenBenchmark.objects.count() == 1 and Seen.objects.count() == 1
    with django_assert_num_queries(1):
        found = seen_among([ray.pk, erin.pk], [*pairs, other])
    assert found == {(ray.pk, pair) for pair in {*pairs, other}}


def test_whoever_has_the_labels_is_not_given_a_pair_of_them() -> None:
    made = benchmark()
    told, untold = labelled(made), unlabelled()
    study = studies.study(pairs=[told, untold])
    reader, other = studies.rater("rita", study), studies.rater("rob", study)
    mark_benchmark_seen(reader.user, made)

    numbers = dict(study.pairs.values_list("pair", "number"))
    first = queue.next_assignment(reader)
    assert first is not None and first.study_pair.number == numbers[untold.pk]
    quota = Quota.objects.select_related("study_pair").get(study_pair__pair=told)
    assert set(extra_raters.find_eligible_raters(quota)) == {other}
    shown = owners_of_shown_pairs([(told.pk, None), (untold.pk, None)])
    assert seen_by([reader.user_id, other.user_id], shown) == {reader.user_id: frozenset({told.pk})}
    assert unfilled_places.find_able_raters(study, [quota]).seen == frozenset({(reader.user_id, told.pk)})


def test_of_two_snippets_the_labels_of_either_are_too_much() -> None:
    made = benchmark()
    told = labelled(made)
    study = studies.study(pairs=[unlabelled()], kind="pairwise", scale="preference")
    study.pairs.update(other=told)
    rita = studies.rater("rita", study)
    mark_benchmark_seen(rita.user, made)
    assert queue.next_assignment(rita) is None


def judged_study(size: int) -> tuple[Build, Study]:
    build = factories.opened()
    return build, studies.study(pairs=[case.pair for case in factories.cases(build)[:size]])


def test_a_list_is_remembered_pair_by_pair_or_as_one_row_where_it_is_long(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    build, _ = judged_study(3)
    cases, ray, erin = Case.objects.filter(build=build), factories.ray(), factories.erin()
    query = cases[0].query_id
    mark_list_seen(ray, build.pk, cases.filter(query=query))
    assert set(Seen.objects.values_list("pair", flat=True)) == set(
        cases.filter(query=query).values_list("pair", flat=True)
    ), "a list of one query tells of its pairs alone"

    monkeypatch.setattr(exposure, "MOST_PAIRS", 2)
    mark_list_seen(erin, build.pk, cases)
    with django_assert_num_queries(1):
        mark_list_seen(erin, build.pk, cases)
    mark_list_seen(AnonymousUser(), build.pk, cases)
    assert list(SeenBuild.objects.values_list("user__username", "build")) == [("erin", build.pk)]
    with django_assert_num_queries(1):
        found = seen_among([erin.pk], cases.values_list("pair", flat=True))
    assert {pair for _, pair in found} == set(cases.values_list("pair", flat=True))


def test_whoever_saw_such_a_list_is_given_no_pair_of_the_build() -> None:
    build, study = judged_study(2)
    reader, other = studies.rater("rita", study), studies.rater("rob", study)
    mark_builds_seen(reader.user, [build.pk])
    assert queue.next_assignment(reader) is None
    assert queue.next_assignment(other) is not None
    quota = Quota.objects.select_related("study_pair")[0]
    assert set(extra_raters.find_eligible_raters(quota)) == {other}
    assert exposure.is_exposed_to_pairs(reader.user_id, [quota.study_pair.pair_id], beyond_test=True)
