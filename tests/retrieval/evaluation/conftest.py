"""A benchmark of three queries and four snippets: one query with two matches, one with one, one with none."""

from __future__ import annotations

import pytest

from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Annotator, Benchmark, Collection, Label, Pair
from tests import factories

LABELS = {(0, 0): 1, (0, 1): 0, (0, 2): 1, (1, 1): 1, (2, 3): 0}
"""(query, snippet), by their places, and what was said."""


@pytest.fixture
def annotator(db: None) -> Annotator:
    return Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {"source": "by hand"})


@pytest.fixture
def labelled(annotator: Annotator) -> Order:
    """The labels, and the order to publish them."""
    queries, snippets = factories.queries(), factories.snippets()
    for (query, snippet), value in LABELS.items():
        say(annotator, pair(queries, snippets, query, snippet), value)
    return Order("small", queries, snippets, "by hand")


@pytest.fixture
def benchmark_(labelled: Order) -> Benchmark:
    return publish_benchmark(labelled, Label.objects.all())


def pair(queries: Collection, snippets: Collection, query: int, snippet: int) -> Pair:
    ids = [of.members.get(position=place).text_id for of, place in ((queries, query), (snippets, snippet))]
    return Pair.objects.keep_all([(ids[0], ids[1])])[0]


def say(annotator: Annotator, about: Pair, value: int | None) -> None:
    number = Label.objects.filter(pair=about, annotator=annotator).count() + 1
    Label.objects.create(pair=about, annotator=annotator, round=number, value=value)
