"""Published benchmarks as training data: parts, what is left out, projects."""

from __future__ import annotations

import pytest

from retrieval.models import Benchmark, Member
from retrieval.training.benchmark_data import Choice, load_training_data
from retrieval.training.data import NothingToLearn
from tests.retrieval.exporting.conftest import annotator, benchmark

pytestmark = pytest.mark.django_db
TASKS = [
    f"{verb} a {thing}"
    for verb in ("read", "sort", "draw", "send")
    for thing in ("list", "file", "map", "mail", "key")
]
CODES = [
    f'def f{place}(x):\n    """Do {task}."""\n    return x + {place}' for place, task in enumerate(TASKS)
]


def make_benchmark(queries: list[str] = TASKS) -> Benchmark:
    """Each query has its own function as a match and the next one as a non-match."""
    labels = {(place, place): 1 for place in range(len(queries))}
    labels |= {(place, (place + 1) % len(CODES)): 0 for place in range(len(queries))}
    return benchmark(queries, CODES, {annotator(): labels})


def test_queries_are_split_eight_to_one_to_one_and_each_part_knows_its_matches() -> None:
    data = load_training_data(Choice(make_benchmark()))
    assert (len(data.train), len(data.dev.queries), len(data.test.queries)) == (16, 2, 2)
    asked = {*dict(data.train), *data.dev.queries, *data.test.queries}
    assert asked == set(range(20))
    assert all(data.matches[query] == {snippet} and query == snippet for query, snippet in data.train)
    assert data.non_matches == {query: [(query + 1) % 20] for query, _ in data.train}
    assert data.about["licences"] == {"MIT": 16}
    assert data.about["split"]["train"] == {"queries": 16, "pairs": 16}


def test_a_docstring_is_no_part_of_what_is_learned_if_so_wished() -> None:
    data = load_training_data(Choice(make_benchmark(), "without docstring"))
    assert data.snippets[0] == "def f0(x):\n    return x + 0"


def test_what_another_benchmark_judges_is_not_learned() -> None:
    learned, tested = make_benchmark(), make_benchmark(["list: read!"])
    data = load_training_data(Choice(learned, without=[tested]))
    queries = {*dict(data.train), *data.dev.queries, *data.test.queries}
    assert 0 not in queries, "its words are those of a query that is judged there"
    assert {0, 1}.isdisjoint(snippet for _, snippet in data.train), "both functions are judged there"
    assert {0, 1}.isdisjoint(snippet for judged in data.non_matches.values() for snippet in judged)
    assert data.about["left_out"] == {"queries": 1, "snippets": 2, "shared": 0}
    assert data.about["without"] == {str(tested): tested.digest}


def test_matches_of_one_project_stay_in_one_part() -> None:
    made = make_benchmark()
    for member in Member.objects.filter(collection=made.snippets_id):
        Member.objects.filter(pk=member.pk).update(origin=f"package-{member.position // 4}")
    data = load_training_data(Choice(made, by_project=True))
    parts = [
        {snippet // 4 for query in queries for snippet in matches[query]}
        for queries, matches in (
            (dict(data.train), data.matches),
            (data.dev.queries, data.dev.matches),
            (data.test.queries, data.test.matches),
        )
    ]
    assert sorted(place for part in parts for place in part) == list(range(5)), "no project is in two parts"


def test_a_query_of_most_projects_is_learned_and_not_asked() -> None:
    made = benchmark(
        [*TASKS, "return the name", "Return the name!"],
        CODES,
        {annotator(): {(place, place): 1 for place in range(20)} | {(20, 0): 1, (20, 7): 1, (21, 19): 1}},
    )
    for member in Member.objects.filter(collection=made.snippets_id):
        Member.objects.filter(pk=member.pk).update(origin=f"package-{member.position // 2}")
    data = load_training_data(Choice(made, by_project=True))
    asked = {*data.dev.queries, *data.test.queries}
    assert data.dev.queries and data.test.queries, "a query of all projects does not make them one"
    assert asked.isdisjoint({20, 21})
    projects = {snippet // 2 for _, snippet in data.train}
    tested = {snippet // 2 for part in (data.dev, data.test) for _, snippet in part.pairs()}
    assert projects.isdisjoint(tested)


def test_reading_says_how_far_it_is() -> None:
    told = list[str]()
    load_training_data(Choice(make_benchmark()), lambda stage, done, total: told.append(stage))
    assert told == ["reading labels", "splitting"]


def test_a_benchmark_of_nothing_but_foreign_queries_is_refused() -> None:
    made = make_benchmark()
    with pytest.raises(NothingToLearn, match="no match in its training part"):
        load_training_data(Choice(made, without=[made]))
