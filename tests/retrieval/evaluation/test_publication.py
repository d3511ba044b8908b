"""Labels become a benchmark that says what it holds and never changes."""

from __future__ import annotations

import pytest
from django.db.models import ProtectedError

from retrieval.evaluation.publication import NothingToPublish, Order, publish_benchmark, publish_import
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Label, Published
from tests import factories
from tests.annotation.derived.extension.test_execution import add
from tests.retrieval.evaluation.conftest import LABELS, pair, say

pytestmark = pytest.mark.django_db


def relevances(of: Benchmark) -> dict[str, float]:
    return {str(row.pair): row.relevance for row in of.labels.all()}


def test_it_holds_labels_and_counts_of_matches(benchmark_: Benchmark) -> None:
    assert (benchmark_.version, benchmark_.size, benchmark_.positives) == (1, len(LABELS), 3)
    assert benchmark_.match_counts.tolist() == [2, 1, 0]
    assert benchmark_.has_judged_non_matches
    assert (benchmark_.queries_until, benchmark_.snippets_until, benchmark_.pool) == (3, 4, "collection")


def test_a_label_a_query_leaves_nothing_to_condense(labelled: Order, annotator: Annotator) -> None:
    """As CoSQA's pairs: what is no match is that of queries without one, whose lists are skipped."""
    Label.objects.all().delete()
    for query, value in ((0, 1), (1, 0), (2, 0)):
        say(annotator, pair(labelled.queries, labelled.snippets, query, query), value)
    made = publish_benchmark(labelled, Label.objects.all())
    assert (made.size, made.positives, made.has_judged_non_matches) == (3, 1, False)
    say(annotator, pair(labelled.queries, labelled.snippets, 0, 1), 0)
    assert publish_benchmark(labelled, Label.objects.all()).has_judged_non_matches


def test_every_label_names_its_source(benchmark_: Benchmark, annotator: Annotator) -> None:
    sources = benchmark_.labels.values_list("label__annotator", flat=True).distinct()
    assert list(sources) == [annotator.pk]


def test_the_same_again_is_the_same_version(benchmark_: Benchmark, labelled: Order) -> None:
    assert publish_benchmark(labelled, Label.objects.all()) == benchmark_
    assert Benchmark.objects.count() == 1


def test_another_label_makes_another_version(
    benchmark_: Benchmark, labelled: Order, annotator: Annotator
) -> None:
    before = relevances(benchmark_)
    say(annotator, pair(labelled.queries, labelled.snippets, 0, 0), 0)
    second = publish_benchmark(labelled, Label.objects.all())
    assert (second.version, second.positives) == (2, 2)
    assert second.digest != benchmark_.digest
    assert relevances(benchmark_) == before
    assert Benchmark.objects.newest("small") == second


def test_a_label_that_was_taken_back_is_none(labelled: Order, annotator: Annotator) -> None:
    say(annotator, pair(labelled.queries, labelled.snippets, 1, 1), None)
    made = publish_benchmark(labelled, Label.objects.all())
    assert (made.size, made.match_counts.tolist()) == (len(LABELS) - 1, [2, 0, 0])


def test_members_that_came_later_are_no_part_of_it(benchmark_: Benchmark, labelled: Order) -> None:
    add(("def later(rows):\n    return rows\n",), labelled.snippets)
    second = publish_benchmark(labelled, Label.objects.all())
    assert (benchmark_.snippets_until, second.snippets_until) == (4, 5)
    assert second.version == 2


def test_the_hash_covers_the_order_of_members(labelled: Order) -> None:
    first = publish_benchmark(labelled, Label.objects.all())
    turned = factories.collection("queries", factories.QUERIES[::-1], "turned")
    other = publish_benchmark(Order("turned", turned, labelled.snippets, "by hand"), Label.objects.all())
    assert other.digest != first.digest
    assert other.match_counts.tolist() == [0, 1, 2]


def test_a_published_benchmark_cannot_be_saved_again(benchmark_: Benchmark) -> None:
    benchmark_.name = "other"
    with pytest.raises(Published, match="publish another version"):
        benchmark_.save()


def test_labels_of_other_texts_are_left_out(labelled: Order) -> None:
    others = factories.collection("queries", ["something else"], "others")
    with pytest.raises(NothingToPublish, match="No label is about a query and a function of others"):
        publish_benchmark(Order("others", others, labelled.snippets, "by hand"), Label.objects.all())


def test_candidates_are_part_of_the_hash(labelled: Order) -> None:
    plain = publish_benchmark(labelled, Label.objects.all())
    mining = factories.opened().mining
    pooled = publish_benchmark(
        Order("small", labelled.queries, labelled.snippets, "by hand", mining), Label.objects.all()
    )
    assert (pooled.pool, pooled.version) == ("candidates", 2)
    assert pooled.digest != plain.digest


def test_an_import_without_a_code_base_or_labels_publishes_nothing() -> None:
    factories.queries()
    assert publish_import("small") is None
    factories.snippets()
    assert publish_import("small") is None


def test_nothing_that_it_refers_to_can_be_deleted(benchmark_: Benchmark) -> None:
    row = benchmark_.labels.select_related("pair", "label").first()
    assert row is not None
    assert row.label is not None
    for kept in (row.pair, row.label):
        with pytest.raises(ProtectedError):
            kept.delete()


def test_with_a_benchmark_its_labels_go(benchmark_: Benchmark) -> None:
    benchmark_.delete()
    assert not BenchmarkLabel.objects.exists()
