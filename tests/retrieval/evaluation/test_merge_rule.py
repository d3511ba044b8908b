"""Which of several labels of a pair is published: laws of the rule, and its order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.merge_rule import (
    REVIEWS_TOLD,
    AnnotatorStatement,
    merge_rule_words,
    merge_statements,
)
from retrieval.models import Source, label_source_of
from retrieval.models.labels import ADJUDICATED, WRITTEN

said = st.builds(
    AnnotatorStatement,
    label=st.integers(1, 10**6),
    source=st.sampled_from(list(Source)),
    value=st.integers(0, 1),
)
several = st.lists(said, max_size=8, unique_by=lambda one: one.label)


def of(*given: tuple[Source, int]) -> list[AnnotatorStatement]:
    return [AnnotatorStatement(number, source, value) for number, (source, value) in enumerate(given, 1)]


@given(several)
def test_what_is_published_was_said(found: list[AnnotatorStatement]) -> None:
    assert merge_statements(found) in {None, *found}


@given(several, st.randoms())
def test_the_order_of_what_was_said_does_not_matter(found: list[AnnotatorStatement], random: object) -> None:
    assert merge_statements(found) == merge_statements(sorted(found, key=lambda one: -one.label))


@given(several)
def test_a_study_is_never_outvoted(found: list[AnnotatorStatement]) -> None:
    studies = [one for one in found if one.source in (Source.STUDY, Source.ADJUDICATED)]
    if studies:
        assert merge_statements(found) == max(studies, key=lambda one: one.label)


@given(several)
def test_turning_every_label_round_turns_the_published_one_round(found: list[AnnotatorStatement]) -> None:
    turned = [AnnotatorStatement(one.label, one.source, 1 - one.value) for one in found]
    first, second = merge_statements(found), merge_statements(turned)
    assert (first is None) == (second is None)
    if first and second:
        assert (first.source, first.value) == (second.source, 1 - second.value)


def test_one_review_alone_does_not_outvote_the_agents() -> None:
    found = merge_statements(of((Source.AGENT, 0), (Source.REVIEWS, 1)))
    assert found and (found.source, found.value) == (Source.AGENT, 0)


def test_one_review_alone_does_where_the_build_says_that_it_counts_at_once() -> None:
    found = merge_statements(of((Source.AGENT, 0), (Source.REVIEWS, 1)), 1)
    assert found and (found.source, found.value) == (Source.REVIEWS, 1)
    tied = merge_statements(of((Source.AGENT, 0), (Source.REVIEWS, 1), (Source.REVIEWS, 0)), 1)
    assert tied and tied.source is Source.AGENT


def test_two_agreeing_reviews_do_and_a_third_that_disagrees_changes_nothing() -> None:
    for more in ((), ((Source.REVIEWS, 0),)):
        found = merge_statements(of((Source.AGENT, 0), (Source.REVIEWS, 1), (Source.REVIEWS, 1), *more))
        assert found and (found.label, found.value) == (3, 1)


def test_tied_reviews_say_nothing() -> None:
    tied = [(Source.REVIEWS, value) for value in (1, 0, 1, 0)]
    found = merge_statements(of(*tied, (Source.AGENT, 1)))
    assert found and found.source is Source.AGENT
    assert merge_statements(of(*tied)) is None


def test_a_majority_of_raters_who_saw_the_agents_test_is_an_agreement_of_reviews() -> None:
    found = merge_statements(
        [AnnotatorStatement(1, Source.AGENT, 0), AnnotatorStatement(2, Source.REVIEWS, 1, counts=2)]
    )
    assert found and found.label == 2


def test_whose_labels_these_are() -> None:
    assert label_source_of("agents", {}, False) is Source.AGENT
    assert label_source_of("merge", {"rule": "majority"}, False) is Source.AGENT
    assert label_source_of("merge", {"study": "first"}, False) is Source.STUDY
    assert label_source_of("merge", {"study": "first"}, True) is Source.REVIEWS
    assert label_source_of("person", {"user": 1}, True) is Source.REVIEWS
    assert label_source_of("original", {"source": "pairs.json"}, False) is Source.ORIGINAL
    assert label_source_of("original", {"given_by": "study"}, False) is Source.STUDY
    assert label_source_of("original", {"given_by": "nobody"}, False) is Source.ORIGINAL
    assert label_source_of("original", {"given_by": "adjudicated"}, False) is Source.ADJUDICATED
    assert label_source_of("merge", {"study": "first"}, False, f"study 1{ADJUDICATED}") is Source.ADJUDICATED
    assert label_source_of("merge", {"study": "first"}, True, f"study 1{ADJUDICATED}") is Source.REVIEWS
    assert label_source_of("agents", {}, False, f"any{ADJUDICATED}") is Source.AGENT
    assert label_source_of("person", {"user": 1, "decides": WRITTEN}, True) is Source.ACCEPTED


def test_each_step_of_the_rule_gives_way_to_the_one_before_it() -> None:
    steps = [
        [(Source.ORIGINAL, 1)],
        [(Source.AGENT, 0)],
        [(Source.REVIEWS, 1), (Source.REVIEWS, 1)],
        [(Source.ACCEPTED, 0)],
        [(Source.ADJUDICATED, 1)],
    ]
    said: list[tuple[Source, int]] = []
    for step in steps:
        said = [*step, *said]  # the stronger one is the older label
        found = merge_statements(of(*said))
        assert found and (found.source, found.value) == step[0]


def test_of_two_studies_the_last_one_counts_adjudicated_or_not() -> None:
    for pair in ((Source.STUDY, Source.ADJUDICATED), (Source.ADJUDICATED, Source.STUDY)):
        found = merge_statements(of((pair[0], 0), (pair[1], 1)))
        assert found and (found.source, found.value) == (pair[1], 1)


def test_the_words_name_every_step_in_its_order() -> None:
    steps = ["blind study", "adjudication", "acceptance", "reviews", "agents", "imported", "unjudged"]
    for needed in REVIEWS_TOLD:
        places = [merge_rule_words(needed).index(step) for step in steps]
        assert places == sorted(places)
