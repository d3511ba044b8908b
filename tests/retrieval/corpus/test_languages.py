from __future__ import annotations

import pytest

from retrieval.corpus.languages import Functions, count_language_functions, count_relevance_labels
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Annotator, Collection, Label, Member, Pair
from tests import factories

pytestmark = pytest.mark.django_db
IDS = ("a/m.py::f", "a/M.java::M.g", "a/m.py::h", "17")


@pytest.fixture
def snippets() -> Collection:
    made = factories.collection("snippets", ["f", "g", "h", "i"])
    for place, source_id in enumerate(IDS):
        Member.objects.filter(collection=made, position=place).update(source_id=source_id)
    return made


@pytest.fixture
def queries() -> Collection:
    made = factories.collection("queries", ["what f does", "what seventeen does"])
    for place, source_id in enumerate(("a/m.py::f", "17")):
        Member.objects.filter(collection=made, position=place).update(source_id=source_id)
    return made


def test_functions_by_language_with_documentation(snippets: Collection, queries: Collection) -> None:
    # a plain number may name a query and a snippet that have nothing to do with each other
    assert count_language_functions(snippets) == [
        Functions("Python", 1, 2),
        Functions("Java", 0, 1),
        Functions("not stated", 0, 1),
    ]


def test_functions_without_a_name_have_the_language_of_their_file() -> None:
    """CodeSearchNet's anonymous functions of JavaScript: one file, three of them, one with documentation."""
    snippets = factories.collection("snippets", list("abcde"))
    queries = factories.collection("queries", ["what a does"])
    for place, source_id in enumerate(("o/r/m.js", "o/r/m.js", "o/r/m.js", "o/r/m.php::f", "o/r.js/README")):
        snippets.members.filter(position=place).update(source_id=source_id)
    queries.members.update(source_id="o/r/m.js")
    assert count_language_functions(snippets) == [
        Functions("JavaScript", 1, 3),
        Functions("PHP", 0, 1),
        Functions("not stated", 0, 1),
    ]


def test_of_functions_of_one_name_as_many_are_documented_as_brought_a_query() -> None:
    """As of two overloads in Java; another version of the queries has the same one."""
    snippets = factories.collection("snippets", list("ab"))
    for version in (1, 2):
        made = factories.collection("queries", ["what a does"], version=version)
        made.members.update(source_id="o/M.java::M.f")
    snippets.members.update(source_id="o/M.java::M.f")
    assert count_language_functions(snippets) == [Functions("Java", 1, 2)]


def test_a_query_elsewhere_documents_nothing(snippets: Collection, queries: Collection) -> None:
    Collection.objects.filter(pk=queries.pk).update(name="other")
    assert all(row.documented == 0 for row in count_language_functions(snippets))


def test_labels_by_language_and_relevance(snippets: Collection, queries: Collection) -> None:
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    texts = [of.members.order_by("position").values_list("text", flat=True) for of in (queries, snippets)]
    for query, snippet, value in ((0, 0, 3), (0, 1, 0), (1, 1, 2), (1, 3, 0)):
        pair = Pair.objects.keep_all([(texts[0][query], texts[1][snippet])])[0]
        Label.objects.create(pair=pair, annotator=by, value=value, scale=Label.Scale.GRADED)
    benchmark = publish_benchmark(Order("graded", queries, snippets, "by hand"), Label.objects.all())
    assert count_relevance_labels(benchmark) == {"Python": {3: 1}, "Java": {0: 1, 2: 1}, "not stated": {0: 1}}
