from __future__ import annotations

from collections import Counter

import pytest

from annotation.web.corpus.distribution import MOST_BARS, build_spread_bars, distribution_page
from tests import factories

pytestmark = pytest.mark.django_db


def test_queries_and_snippets_are_spread_by_their_matches() -> None:
    build = factories.opened()
    cases = factories.cases(build)
    for case, label in zip(cases, (1, 1, 0, 1, 0, 0), strict=False):
        factories.settled(case, label)
    factories.abandoned(cases[6])

    page = distribution_page(build)

    # 3 queries: 2 + 1 + 0 matches; reverse answers two queries, parse_date one
    assert [(bar["number"], bar["count"]) for bar in page["query_bars"]] == [("0", 1), ("1", 1), ("2", 1)]
    assert [(bar["number"], bar["count"]) for bar in page["snippet_bars"]] == [("1", 1), ("2", 1)]
    assert (page["queries"], page["matched"], page["several"], page["matches"]) == (3, 2, 1, 3)
    assert (page["mean"], page["snippets"], page["unfinished"]) == (1.0, 2, 1)


def test_a_build_without_cases_has_an_empty_distribution() -> None:
    page = distribution_page(factories.launched())

    assert (page["queries"], page["query_bars"], page["snippet_bars"], page["mean"]) == (0, [], [], 0.0)


def test_bars_show_gaps_and_shares() -> None:
    made = list(build_spread_bars(Counter({0: 6, 2: 2}), 0))

    assert [(bar["number"], bar["count"], bar["share"], bar["width"]) for bar in made] == [
        ("0", 6, 75.0, 100.0),
        ("1", 0, 0.0, 0.0),
        ("2", 2, 25.0, 33.33),
    ]


def test_what_lies_beyond_the_last_bar_is_added_to_it() -> None:
    made = list(build_spread_bars(Counter({MOST_BARS: 1, MOST_BARS + 5: 2, 1: 4}), 1))

    assert (made[-1]["number"], made[-1]["count"]) == (f"{MOST_BARS}+", 3)
    assert sum(bar["count"] for bar in made) == 7
