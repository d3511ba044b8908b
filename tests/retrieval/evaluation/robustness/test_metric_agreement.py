"""Alpha, variance and means by number of matches of a leaderboard, and the coverage of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.evaluation.content import content_of
from retrieval.evaluation.leaderboard import Queries, build_leaderboard
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.robustness.metric_agreement import (
    PAPER,
    Group,
    measure_groups,
    narrow_groups,
    reliability_of,
)
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, Label, Pool
from tests import factories
from tests.retrieval.evaluation.conftest import pair, say

MATCHES = (1, 1, 2, 2)
"""Number of matches of each query; the first of them are snippets 0, and 0 and 1."""


@pytest.fixture
def made(annotator: Annotator) -> Benchmark:
    queries = factories.queries([f"query {number}" for number in range(4)], "groups")
    snippets = factories.snippets()
    for query, matches in enumerate(MATCHES):
        for snippet in range(3):
            say(annotator, pair(queries, snippets, query, snippet), int(snippet < matches))
    return publish_benchmark(Order("groups", queries, snippets, "by hand"), Label.objects.all())


def run(made: Benchmark, folder: Path, name: str, first: tuple[int, ...]) -> None:
    """A list of each query: the snippet `first`, then snippet 0."""
    path = folder / name
    rows = [
        f"queries-{query} Q0 snippets-{snippet} {rank} {-rank} x\n"
        for query, one in enumerate(first)
        for rank, snippet in enumerate(dict.fromkeys([one, 0]), 1)
    ]
    path.write_text("".join(rows))
    evaluate_file(path, name, content_of(made), Pool.COLLECTION, parse_measures(["mrr"]))


def test_systems_by_groups_of_queries(made: Benchmark, tmp_path: Path) -> None:
    """Means over one match, over two: (1 + ½)/2 and 1; ½ and (1 + ½)/2.

    Variances (¾, 1) 1/32 and (½, ¾) 1/32; totals 1¼ and 1¾ have 1/8: 2 · (1 − (1/16)/(1/8)) = 1.
    """
    run(made, tmp_path, "better", (0, 3, 0, 1))
    run(made, tmp_path, "worse", (3, 3, 0, 3))
    found = reliability_of(build_leaderboard(made, Pool.COLLECTION, "mrr"), Queries())
    assert found is not None
    assert [(one.matches, one.queries, list(one.means)) for one in found.groups] == [
        (1, 2, [0.75, 0.5]),
        (2, 2, [1.0, 0.75]),
    ]
    assert found.alpha == pytest.approx(1)
    assert found.variance == pytest.approx(1 / 32)


def test_the_papers_groups_leave_queries_with_one_match_or_more_than_five_out() -> None:
    """Of 2 and 5: variances (¼, ½) 1/32 each; totals ½ and 1 have 1/8: 2 · (1 − (1/16)/(1/8)) = 1."""
    rows = {1: (1.0, 0.0), 2: (0.25, 0.25), 5: (0.5, 0.5), 6: (0.0, 1.0)}
    whole = measure_groups("mrr", [Group(matches, 9, means) for matches, means in rows.items()])
    found = narrow_groups(whole, *PAPER)
    assert [group.matches for group in found.groups] == [2, 5]
    assert found.alpha == pytest.approx(1) and whole.alpha != pytest.approx(1)
    assert narrow_groups(whole, 7, 9).alpha is None and narrow_groups(whole, 7, 9).variance is None


def test_one_group_or_system_says_nothing(made: Benchmark, tmp_path: Path) -> None:
    assert reliability_of(build_leaderboard(made, Pool.COLLECTION), Queries()) is None
    run(made, tmp_path, "alone", (0, 3, 0, 1))
    alone = reliability_of(build_leaderboard(made, Pool.COLLECTION, "mrr"), Queries())
    assert alone is not None and alone.alpha is None and alone.variance is not None
    ones = Queries(1, 1)
    found = reliability_of(build_leaderboard(made, Pool.COLLECTION, "mrr", 1, 1), ones)
    assert found is not None and (len(found.groups), found.variance) == (1, None)


def test_a_run_keeps_its_coverage(made: Benchmark, tmp_path: Path) -> None:
    run(made, tmp_path, "mine", (0, 1, 2, 1))  # lists 0; 1, 0; 2, 0; 1, 0: seven of twelve judged ones
    (kept,) = made.runs.all()
    assert kept.options["coverage"] == {"judged": 7 / 12, "matches": 5 / 6}
