"""How many functions a rule lets a mining search, and what other rules would add."""

from __future__ import annotations

import pytest

from retrieval.filters import NO_RULE, USUAL_RULE, Rule
from retrieval.mining.search_scope import count_out_of_reach, count_search_scope
from retrieval.models import Collection
from tests import factories

pytestmark = pytest.mark.django_db

PLAIN = "def double(number):\n    return 2 * number\n"
GENERATORS = [f"def count_{number}(end):\n    yield from range(end)\n" for number in range(2)]
METHOD = "def total(self):\n    return sum(self.rows)\n"
OF_A_CLASS = "def total(self):\n    return super().total() + 1\n"
NO_INPUT = "def nothing():\n    return None\n"

STRICT = (
    "1 of 6 functions is searched (rule: testable; 2 more with generators; "
    "2 more with methods that take nothing but self; 5 more with no rule)"
)


@pytest.fixture
def snippets() -> Collection:
    """Six functions: one is testable, two generators and a method can be called, two can't be searched."""
    return factories.snippets([PLAIN, *GENERATORS, METHOD, OF_A_CLASS, NO_INPUT], "mixed")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule.TESTABLE, STRICT),
        (USUAL_RULE, "4 of 6 functions are searched (rule: testable by call; 2 more with no rule)"),
        (NO_RULE, "6 of 6 functions are searched (rule: none)"),
    ],
)
def test_scope_of_each_rule_says_what_is_left_out(snippets: Collection, rule: Rule, words: str) -> None:
    scope = count_search_scope(snippets, rule)
    assert str(scope) == words
    assert scope.left_out == 6 - scope.searched


def test_scope_before_a_position_counts_only_what_was_there(snippets: Collection) -> None:
    assert str(count_search_scope(snippets, USUAL_RULE, until=3)).startswith("3 of 3 functions are searched")


def test_out_of_reach_is_what_no_mining_could_propose(snippets: Collection) -> None:
    queries = factories.queries()
    strict = factories.mining(queries, snippets, rule=int(Rule.TESTABLE), until=6)
    early = factories.mining(queries, snippets, rule=int(NO_RULE), until=2)
    wide = factories.mining(queries, snippets, rule=int(USUAL_RULE), until=6)
    assert count_out_of_reach([strict], 6) == 5
    assert count_out_of_reach([strict, early], 6) == 4  # position 0 by both, 1 by the early one
    assert count_out_of_reach([strict, early, wide], 6) == 2
    assert count_out_of_reach([strict], 1) == 0
    assert count_out_of_reach([]) == 0
