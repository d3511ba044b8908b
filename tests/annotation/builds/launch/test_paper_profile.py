"""As in the paper: what the preset sets, what it refuses, and where its name stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotation import prompts
from annotation.builds.launch.from_build import order_of
from annotation.builds.launch.launcher import configure_annotator, launch_build
from annotation.builds.launch.order import Judge, LaunchRefused, Order
from annotation.builds.launch.paper_profile import (
    ENCODERS,
    NAMES,
    as_in_the_paper,
    describe_other_mining,
    in_profile,
    is_codebert_untuned,
)
from annotation.web.builds.annotator_switches import (
    Switch,
    list_annotator_switches,
    list_mining_switches,
)
from retrieval.filters import NO_RULE, USUAL_RULE, Rule
from retrieval.fusion import Fusion
from retrieval.mining import known_encoders
from retrieval.models import PairList
from tests import factories

pytestmark = pytest.mark.django_db
PAPERS = {
    "screener": "pair",
    "rewrites": 0,
    "second_test": False,
    "fix_rounds": 2,
    "reader": False,
    "neighbour": False,
    "withhold_report": False,
    "prompt_set": "paper",
    "profile": "paper",
}


@pytest.fixture(autouse=True)
def has_all_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every encoder counts as ready: nothing is mined here."""
    monkeypatch.setattr(known_encoders, "why_missing", lambda name: "")


def order(encoders: tuple[str, ...] = ENCODERS, **changes: Any) -> Order:
    return Order("autumn", factories.queries(), factories.snippets(), encoders, **changes)


def test_every_switch_is_the_papers_and_the_name_is_kept() -> None:
    build = launch_build(as_in_the_paper(order(sampling={"temperature": 0})))
    assert {name: build.annotator.config[name] for name in PAPERS} == PAPERS
    assert configure_annotator(replace(order_of(build), name="again"))[2]["profile"] == "paper"


def test_a_profile_searches_by_the_papers_rule_and_refuses_another() -> None:
    for profile in NAMES:
        for made in in_profile(order(), profile):
            assert made.rule is Rule.TESTABLE
        with pytest.raises(LaunchRefused, match="means rule testable"):
            in_profile(order(rule=NO_RULE), profile)
    assert in_profile(order(), "")[0].rule is USUAL_RULE


def test_switches_set_by_hand_to_the_papers_values_are_the_same_annotator() -> None:
    by_hand = configure_annotator(
        order(rewrites=0, reader=False, neighbour=False, withhold_report=False, prompt_set="paper")
    )
    assert by_hand == configure_annotator(as_in_the_paper(order()))


@pytest.mark.parametrize(
    "change", [{}, {"rewrites": 0, "second_test": True}, {"rewrites": 0, "fix_rounds": 1}]
)
def test_who_goes_another_way_does_not_carry_the_name(change: dict[str, Any]) -> None:
    assert "profile" not in configure_annotator(order(**change))[2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rewrites": 2}, "rewrites 0"),
        ({"second_test": True}, "no second_test"),
        ({"screen_by_query": True}, "no screen_by_query"),
        ({"fix_rounds": 0}, "fix_rounds 2"),
        ({"annotator": Judge.SINGLE_HALF}, "annotator agents"),
        ({"encoders": ("bm25", "bow")}, "encoders codebert, unixcoder, codet5p"),
        ({"encoders": (*ENCODERS, "bm25")}, "encoders codebert, unixcoder, codet5p"),
        ({"k": 5}, "k 20"),
        ({"fusion": Fusion.MAXABS}, "fusion mean"),
        ({"text_option": "without docstring"}, "text whole"),
        ({"approximate": "hnsw"}, "exact search"),
        ({"k": 10, "fusion": Fusion.MAXABS}, "k 20, fusion mean"),
    ],
)
def test_a_switch_set_against_it_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LaunchRefused, match=f"As in the paper means {said}: leave that out"):
        as_in_the_paper(order(**change))


def test_given_pairs_are_judged_as_in_the_paper_whatever_mined_them() -> None:
    queries, snippets = factories.queries(), factories.snippets()
    given = PairList.objects.create(name="pairs", queries=queries, snippets=snippets, size=1)
    made = as_in_the_paper(replace(order((), k=7), given=given))
    assert (made.prompt_set, made.k, made.encoders) == ("paper", 7, ())


def test_the_first_paper_takes_five_candidates_and_no_other_number() -> None:
    assert [made.k for made in in_profile(order(k=5), "first-paper")] == [5, 5]
    with pytest.raises(LaunchRefused, match="As in the paper means k 5: leave that out"):
        in_profile(order(k=10), "first-paper")


@pytest.mark.parametrize("name", ["codebert", "codebert:/tuned", "codebert-csn:/tuned"])
def test_codebert_may_come_from_a_folder_and_the_untuned_one_is_known(name: str) -> None:
    encoders = (name, "unixcoder", "codet5p")
    assert as_in_the_paper(order(encoders)).encoders == encoders
    assert is_codebert_untuned(encoders) == (name == "codebert")


def test_the_card_names_version_switches_and_sampling() -> None:
    build = launch_build(order(second_test=True, screen_by_query=True, seed=7, sampling={"temperature": 0.5}))
    assert list_annotator_switches(build.annotator) == (
        Switch("Version", build.annotator.version[:12]),
        Switch("Profile", "none"),
        Switch("Screening", "by query, shuffled by seed 7", "one request a pair"),
        Switch("Reader", "with the arbiter", "none"),
        Switch("Neighbour of the task", "tests each test", "none"),
        Switch("Report of the run", "for people alone", "for the arbiter too"),
        Switch("Rewrites", "1", "0"),
        Switch("Second test", "yes", "no"),
        Switch("Fixing rounds", "2"),
        Switch("Sampling", "temperature 0.5"),
        Switch("Earlier replies", "used again"),
    )


def test_a_model_alone_has_no_switches_of_the_agents() -> None:
    build = launch_build(order(annotator=Judge.SINGLE_EXACT, fresh=True))
    names = {one.name: one.value for one in list_annotator_switches(build.annotator)}
    assert names == {
        "Version": build.annotator.version[:12],
        "Sampling": "the provider's own",
        "Earlier replies": "asked again",
    }


def test_the_first_paper_is_one_model_by_both_criteria_on_five_candidates_in_three_rounds() -> None:
    exact, half = in_profile(order(), "first-paper")
    assert (exact.annotator, half.annotator) == (Judge.SINGLE_EXACT, Judge.SINGLE_HALF)
    assert [(one.k, one.rounds) for one in (exact, half)] == [(5, 3), (5, 3)]
    assert (exact.name, half.name) == ("autumn exact", "autumn half")


def test_the_papers_profile_asks_by_the_papers_prompts() -> None:
    (one,) = in_profile(order(), "paper")
    assert set(configure_annotator(one)[2]["agents"]) == {*prompts.PAPER, "repair"}
    assert in_profile(order(), "") == [order()]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"encoders": ["codebert:/tuned", "unixcoder", "codet5p"]}, ""),
        ({"encoders": ["codebert", "unixcoder", "codet5p"]}, "codebert that was not tuned on CodeSearchNet"),
        ({"encoders": ["bm25", "bow"], "k": 5}, "encoders bm25, bow; 5 candidates a query"),
        ({"fusion": "maxabs", "rule": NO_RULE}, "fusion maxabs; another rule than testable"),
    ],
)
def test_a_mining_that_is_not_the_papers_is_told(change: dict[str, Any], said: str) -> None:
    paper = {"encoders": ["codebert-csn:/own", "unixcoder", "codet5p"], "k": 20, "fusion": "mean"}
    assert describe_other_mining(**{**paper, "rule": Rule.TESTABLE, **change}) == said


def test_a_build_says_how_its_mining_differs_where_it_is_as_in_the_paper() -> None:
    as_paper = as_in_the_paper(order())
    build = launch_build(replace(as_paper, encoders=("bm25",)))  # an order file says its own mining
    [told] = list_mining_switches(build)
    assert (told.name, told.value) == ("Mining", "encoders bm25")
    assert told.paper.startswith("encoders codebert, unixcoder, codet5p; 20 candidates a query")
    assert list_mining_switches(launch_build(replace(order(), name="another"))) == ()
