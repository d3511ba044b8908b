"""Tags: a closed list, stored with the revision, a reason of its own, a list to go through."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation import review
from annotation.models import CallRequest, Case, Draft, ExecutionRequest, Review
from annotation.review import Beside, drafts
from annotation.review.labels import MOST_SECONDS
from annotation.review.shortcuts import DEFAULTS, tag_action
from annotation.review.tags import MEANINGS, Tag, filter_known_tags, tags_of
from annotation.review.worklists import order
from annotation.review.worklists.order import Tagged
from tests import factories

EVIDENCE = "e" * 64

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def cases() -> list[Case]:
    """Nine cases that the agents settled as a match."""
    return [factories.settled(case, 1) for case in factories.cases(factories.opened())]


def submit(user: User, case: Case, label: int | None, *tags: str, seen: int = 0, seconds: int = 0) -> Review:
    return review.store_label(user, case, label, "", EVIDENCE, seen, Beside(tags, seconds))


def test_every_tag_has_words_and_a_key_of_its_own() -> None:
    assert set(MEANINGS) == set(Tag)
    assert all(tag.word for tag in Tag)
    assert len({DEFAULTS[tag_action(tag)] for tag in Tag}) == len(Tag)


def test_tags_are_stored_once_each_in_the_order_of_the_list() -> None:
    assert tags_of(["unsafe", "inverse", "unsafe"]) == ["inverse", "unsafe"]
    assert filter_known_tags(["unsafe", "of another version"]) == [Tag.UNSAFE]


def test_a_tag_is_the_reason_of_an_override(erin: User, cases: list[Case]) -> None:
    made = submit(erin, cases[0], 0, "inverse")

    assert (made.tags, made.reason, made.is_override) == (["inverse"], "", True)


def test_what_is_no_tag_is_refused(erin: User, cases: list[Case]) -> None:
    with pytest.raises(review.BadReview, match="There is no tag 'bad'"):
        submit(erin, cases[0], 0, "bad")
    assert not Review.objects.exists()


def test_other_tags_are_another_revision_and_the_same_ones_a_double_click(
    erin: User, cases: list[Case]
) -> None:
    first = submit(erin, cases[0], 1, "partial")

    assert submit(erin, cases[0], 1, "partial") == first
    second = submit(erin, cases[0], 1, "partial", "unsafe", seen=1)
    assert (second.revision, first.tags) == (2, ["partial"])


def test_an_undo_brings_back_the_tags_before_and_keeps_those_taken_back(
    erin: User, cases: list[Case]
) -> None:
    submit(erin, cases[0], 0, "inverse", seconds=7)
    submit(erin, cases[0], 0, "unsafe", seen=1)
    undone = review.undo_latest_label(erin, cases[0], 2)

    assert (undone.tags, undone.seconds) == (["inverse"], 7)
    assert drafts.load_drafts(erin, cases[0].pair_id)[Draft.Field.TAGS].text == "unsafe"


def test_storing_a_label_clears_the_draft_of_the_tags(erin: User, cases: list[Case]) -> None:
    drafts.save_draft(erin, cases[0].pair_id, Draft.Field.TAGS, "unsafe")
    submit(erin, cases[0], 1, "unsafe")

    assert drafts.load_drafts(erin, cases[0].pair_id) == {}


def test_a_tag_is_a_list_to_go_through(erin: User, cases: list[Case]) -> None:
    submit(erin, cases[1], 1, "unsafe")
    submit(erin, cases[2], 1, "partial")
    submit(erin, cases[4], 1, "unsafe")
    submit(erin, cases[4], 1, seen=1)

    found = list(order.cases_of_worklist(erin, cases[0].build, Tagged(Tag.UNSAFE)))
    assert [case.pk for case in found] == [cases[1].pk]


@pytest.mark.parametrize(("sent", "stored"), [(0, 0), (61, 61), (-5, 0), (10**9, MOST_SECONDS)])
def test_active_seconds_are_stored_within_bounds(
    erin: User, cases: list[Case], sent: int, stored: int
) -> None:
    assert submit(erin, cases[0], 1, seconds=sent).seconds == stored


def test_ones_own_calls_and_runs_on_the_pair_are_noted(erin: User, cases: list[Case]) -> None:
    eve = factories.person("eve")
    pair, other = cases[0].pair, cases[1].pair
    calls = [CallRequest.objects.create(user=erin, pair=pair, expression="f()") for _ in range(2)]
    CallRequest.objects.create(user=eve, pair=pair, expression="f()")
    CallRequest.objects.create(user=erin, pair=other, expression="f()")
    program = factories.program_for(cases[0])
    run = ExecutionRequest.objects.create(user=erin, program=program)
    ExecutionRequest.objects.create(user=eve, program=program)

    made = submit(erin, cases[0], 1)
    assert made.calls == [call.pk for call in calls]
    assert made.runs == [run.pk]
