"""What a wish comes to, before anything is decided."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from annotation.builds.launch.estimates.confirmation import load_expected_estimate
from annotation.builds.launch.estimates.figures import Range
from annotation.derived.extension import chances, extension_plan
from annotation.derived.extension.reach import Reach, new_pairs
from annotation.models import Build, Canary, Extension, Tally
from annotation.models.builds.build import NANO
from annotation.schemas.derived.derived_builds import ExtensionWish
from annotation.stats.intervals import Share
from retrieval.models import Mining
from tests import factories
from tests.annotation.api.derived.test_derived_builds import settled_build
from tests.annotation.derived.extension.test_execution import add, price

pytestmark = pytest.mark.django_db


def reach(queries: int = 10, k: int = 5, passing: int = 100, pairs: int | None = None) -> Reach:
    return Reach(tuple(range(queries)), k, passing, passing, queries * k if pairs is None else pairs)


@pytest.mark.parametrize(
    ("drawn", "k", "passing", "said"),
    [
        (0, 5, 100, Range(0, 0, 0)),
        (3, 5, 100, Range(15, 15, 15)),
        (0, 8, 100, Range(30, 30, 30)),
        (3, 8, 100, Range(54, 54, 54)),
        # A hundred added to a hundred: half of the best five are expected to be new, at the most all.
        (0, 5, 200, Range(0, 25, 50)),
        # One added snippet can enter each list once.
        (0, 5, 101, Range(0, 10 * 5 / 101, 10)),
    ],
)
def test_how_many_pairs_will_be_new(drawn: int, k: int, passing: int, said: Range) -> None:
    found = new_pairs(reach(), drawn, k, passing)
    assert (found.low, found.expected, found.high) == pytest.approx((said.low, said.expected, said.high))


def test_a_list_can_not_be_longer_than_the_collection() -> None:
    assert new_pairs(reach(k=5, passing=6), 0, 20, 6).expected == 10


def test_what_a_limit_had_cut_is_filled_up() -> None:
    assert new_pairs(reach(pairs=47), 0, 6, 100).expected == 13


def test_queries_alone_are_mined_where_that_is_enough() -> None:
    build = settled_build()
    add(("sort words", "sort files"), build.queries)
    assert (
        extension_plan.plan_extension(build, ExtensionWish(queries=1)).searched
        == extension_plan.plan_extension(build, ExtensionWish(queries=1)).drawn
    )
    Mining.objects.filter(pk=build.own_mining.pk).update(until=4)
    build = Build.objects.get(pk=build.pk)
    add(("def longest(words):\n    return max(words, key=len)\n",), build.snippets)
    assert len(extension_plan.plan_extension(build, ExtensionWish(queries=1, newer=True)).searched) == 4


def test_the_price_is_that_of_so_many_pairs() -> None:
    price()
    build = settled_build()
    Build.objects.filter(pk=build.pk).update(model="any")
    add(tuple(f"sort word {n}" for n in range(8)), build.queries)
    build = Build.objects.get(pk=build.pk)
    costs = []
    for queries in (2, 4):
        found = extension_plan.plan_extension(build, ExtensionWish(queries=queries)).estimate()
        assert found.pairs == 3 * queries
        assert found.cost is not None
        costs.append(found.cost.expected)
    assert costs[1] == pytest.approx(2 * costs[0], rel=0.01)


def test_the_canary_comes_first() -> None:
    build = factories.opened()
    Canary.objects.create(build=build, seed=1)
    assert "canary" in extension_plan.why_not(Build.objects.get(pk=build.pk))
    Canary.objects.update(rest_opened=True)
    assert extension_plan.why_not(Build.objects.get(pk=build.pk)) == ""


def test_the_next_candidate_costs_what_pairs_cost_for_each_query() -> None:
    build = settled_build()
    Tally.objects.filter(build=build).update(spent=18 * NANO)
    found = chances.by_rank(build)
    assert [(one.rank, one.matches.part, one.matches.whole) for one in found] == [
        (1, 3, 3),
        (2, 0, 3),
        (3, 0, 3),
    ]
    further = chances.next_candidate(build, found)
    assert further is not None
    assert (further.rank, further.queries, further.a_pair, further.total) == (4, 3, 2 * NANO, 6 * NANO)
    assert further.a_match is None


def test_a_pair_that_is_judged_in_two_rounds_is_one_pair_and_costs_both() -> None:
    labels = [int(rank == 1) for _ in range(3) for rank in (1, 2, 3)]
    build = factories.said(factories.opened(rounds=2), labels, labels)
    Tally.objects.filter(build=build).update(spent=18 * NANO)
    found = chances.by_rank(build)
    assert [(one.matches.part, one.matches.whole) for one in found] == [(3, 3), (0, 3), (0, 3)]
    further = chances.next_candidate(build, found)
    assert further is not None
    assert (further.a_pair, further.total) == (2 * NANO, 6 * NANO)


def test_a_match_costs_the_more_the_rarer_it_is() -> None:
    found = chances.cost_of_a_match(100, Share(2, 10))
    assert found is not None
    assert found.value == 500
    assert found.low is not None
    assert found.high is not None
    assert found.low < 500 < found.high


def test_without_a_settled_pair_nothing_is_told() -> None:
    build = factories.opened()
    assert chances.by_rank(build) == ()
    assert chances.next_candidate(build, ()) is None


def test_the_command_says_what_it_takes_and_does_it(capsys: pytest.CaptureFixture[str]) -> None:
    build = settled_build()
    add(("sort words",), build.queries)
    call_command("extend", build.name, "--queries", "1", "--estimate")
    assert "1 more queries (seed 1): 3 pairs" in capsys.readouterr().out
    assert not Extension.objects.exists()
    with pytest.raises(CommandError, match="Say why"):
        call_command("extend", build.name, "--queries", "1")
    call_command("extend", build.name, "--queries", "1", "--reason", "one more")
    assert Extension.objects.get().reason == "one more"
    with pytest.raises(CommandError, match="--queries: Input should be greater than or equal to 0; --seed: "):
        call_command("extend", build.name, "--queries", "-1", "--seed", str(2**31))
    with pytest.raises(CommandError, match="no build called"):
        call_command("extend", "nowhere", "-k", "5")


def test_a_build_is_held_against_its_estimate_and_those_of_its_extensions() -> None:
    build = settled_build()
    add(("sort words",), build.queries)
    build = Build.objects.get(pk=build.pk)
    found = extension_plan.plan_extension(build, ExtensionWish(queries=1)).estimate()
    build.estimate = found.to_json()
    build.save()
    for number, state in enumerate((Extension.State.OPENED, Extension.State.CANCELLED), 1):
        mining = factories.mining(build.queries, build.snippets)
        Extension.objects.create(
            build=build, number=number, mining=mining, state=state, estimate=found.to_json()
        )
    told = load_expected_estimate(build)
    assert told is not None
    assert told.pairs == 2 * found.pairs
    assert told.calls.expected == pytest.approx(2 * found.calls.expected)
