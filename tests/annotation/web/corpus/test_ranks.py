"""What one more candidate costs, of what builds paid; and in words why nobody knows it."""

from __future__ import annotations

import pytest

from annotation.builds.results import publication
from annotation.builds.results.publication import Wish
from annotation.models import Build, Tally
from annotation.web.corpus.ranks import Paid, build_rank_section, paid_by, paid_for
from retrieval.corpus.ranks import AtRank
from tests import factories

ROWS = [
    AtRank(1, 10, 10, 5, 5, 0.5, 0.5),
    AtRank(2, 10, 8, 1, 1, 0.125, 0.6),
    AtRank(3, 10, 0, 0, 0, None, 0.6),
]
PAID = Paid(("autumn",), 40_000_000, 20)
"""Four cents for twenty pairs: two tenths of a cent a pair."""


def test_each_rank_costs_a_candidate_for_each_query_and_each_new_query_its_part() -> None:
    rows = build_rank_section(ROWS, PAID).table.rows
    assert [row[-2:] for row in rows] == [("$0.020", "$0.0040"), ("$0.020", "$0.020"), ("$0.020", None)]


def test_the_note_says_what_was_paid_and_what_one_more_match_would_cost() -> None:
    note = build_rank_section(ROWS, PAID).table.note
    assert "in the build “autumn”: $0.040 ÷ 20 settled pairs = $0.0020." in note
    # one of eight matched at rank 2, the last that is judged: 8 × $0.0020, with Wilson's interval
    assert "At rank 2’s share of matches one more match would cost $0.016 ($0.0042 to $0.089, 95 %)" in note


def test_where_nothing_matched_nobody_can_say_what_a_match_costs() -> None:
    assert (
        "At rank 1 nothing matched" in build_rank_section([AtRank(1, 4, 4, 0, 0, 0.0, 0.0)], PAID).table.note
    )


def test_the_cost_is_drawn_on_a_scale_that_its_name_states() -> None:
    plot = build_rank_section(ROWS, PAID).plot
    assert plot is not None
    cost = plot.lines[-1]
    assert (cost.kind, cost.name) == ("cost", "cost a new query, where the top is $0.020")
    assert cost.points == "100.0,96.0 300.0,0.0", "a fifth of the top at rank 1, the top at rank 2"
    unpaid = build_rank_section(ROWS, Paid((), 0, 0)).plot
    assert unpaid is not None and len(unpaid.lines) == 2


@pytest.mark.parametrize(
    ("paid", "said"),
    [
        (Paid((), 0, 0), "not known: no build judged these functions here"),
        (Paid(("a", "b"), 0, 0), "not known: the builds “a”, “b” settled no pair yet"),
        (Paid(("a",), 0, 5), "not known: the build “a” paid nothing: replies were reused"),
        (Paid(tuple("abcde"), 5, 5), "in the builds “a”, “b”, “c” and 2 more: $0.0000000050"),
        (Paid(("a\u202e",), 5, 5), "“a⟨U+202E⟩”"),
    ],
)
def test_why_a_cost_is_not_known_is_said_in_words(paid: Paid, said: str) -> None:
    assert said in build_rank_section(ROWS, paid).table.note


def test_without_candidates_the_reason_stands_there() -> None:
    assert build_rank_section([], Paid((), 0, 0)).empty == (
        "There are no functions with ranks. What one more function costs is not known: the labels were not "
        "made here, of the functions of a mining."
    )


def finished(name: str, spent: int) -> Build:
    made = factories.said(factories.opened(name), (1, 0, 1))
    Tally.objects.filter(build=made).update(spent=spent)
    return Build.objects.select_related("tally").get(pk=made.pk)


@pytest.mark.django_db
def test_a_benchmark_costs_what_its_build_paid_and_no_other_of_the_mining() -> None:
    build = finished("autumn", 3_000_000)
    made = publication.publish_benchmark(Wish("ours", build.mining, build))
    other = factories.launched("other", mining=build.mining)
    Tally.objects.filter(build=other).update(spent=9_000_000, settled=3)
    assert paid_for(made) == Paid(("autumn",), 3_000_000, 3)


@pytest.mark.django_db
def test_a_benchmark_of_a_mining_costs_what_all_its_builds_paid_until_then() -> None:
    build = finished("autumn", 3_000_000)
    second = factories.launched("winter", mining=build.mining, state=Build.State.DONE)
    Tally.objects.filter(build=second).update(spent=1_000_000, settled=1)
    made = publication.publish_benchmark(Wish("ours", build.mining))
    later = factories.launched("later", mining=build.mining)
    Tally.objects.filter(build=later).update(spent=9_000_000, settled=3)
    assert paid_for(made) == Paid(("autumn", "winter"), 4_000_000, 4)
    assert publication.published_from(made) is None


@pytest.mark.django_db
def test_a_pair_that_was_judged_in_rounds_costs_all_of_them() -> None:
    build = factories.launched("twice", rounds=2)
    Tally.objects.filter(build=build).update(spent=8_000_000, settled=4)
    build.refresh_from_db()
    assert paid_by([Build.objects.select_related("tally").get(pk=build.pk)]).a_pair == 4_000_000
