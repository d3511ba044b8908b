"""Drafts outlive everything but their own submission."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation import draft_rules, review
from annotation.accounts.roles import Role
from annotation.draft_rules import DraftChanged, Window
from annotation.models import Case, Draft
from annotation.review import drafts
from annotation.review.own_runs import own_tests
from tests import factories

pytestmark = pytest.mark.django_db
REASON, TEST = Draft.Field.REASON, Draft.Field.TEST


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    return factories.settled(factories.cases(factories.opened())[0], 1)


def texts(user: User, case: Case) -> dict[str, str]:
    return {field: draft.text for field, draft in drafts.load_drafts(user, case.pair_id).items()}


def test_the_latest_text_of_each_field_is_kept(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "wro")
    drafts.save_draft(erin, case.pair_id, REASON, "wrong edge")
    drafts.save_draft(erin, case.pair_id, TEST, "assert f(1)\r\n")

    assert texts(erin, case) == {"reason": "wrong edge", "test": "assert f(1)\n"}


def test_an_emptied_field_has_no_draft(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "wro")
    assert drafts.save_draft(erin, case.pair_id, REASON, " \n") == ""

    assert texts(erin, case) == {}


def test_drafts_belong_to_one_person(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "mine")

    assert texts(factories.person("eve", Role.EXPERT), case) == {}


def test_a_label_clears_the_reason_and_nothing_else(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "wrong edge")
    drafts.save_draft(erin, case.pair_id, TEST, "assert f(1)")
    review.store_label(erin, case, 0, "wrong edge", "e" * 64, 0)

    assert texts(erin, case) == {"test": "assert f(1)"}


def test_a_save_that_arrives_after_its_label_is_no_draft(erin: User, case: Case) -> None:
    review.store_label(erin, case, 0, "wrong edge", "e" * 64, 0)

    assert drafts.save_draft(erin, case.pair_id, REASON, "wrong edge\n", Window("one", {REASON: ""})) == ""
    assert texts(erin, case) == {}
    drafts.save_draft(erin, case.pair_id, REASON, "wrong edge, and more", Window("one", {REASON: ""}))
    assert texts(erin, case) == {"reason": "wrong edge, and more"}


def test_after_a_label_was_taken_back_its_reason_can_be_a_draft(erin: User, case: Case) -> None:
    review.store_label(erin, case, 0, "wrong edge", "e" * 64, 0)
    review.undo_latest_label(erin, case, 1)
    drafts.clear_drafts(erin, case.pair_id, REASON)
    drafts.save_draft(erin, case.pair_id, REASON, "wrong edge")

    assert texts(erin, case) == {"reason": "wrong edge"}


def test_a_refused_label_keeps_the_draft(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "typed")
    with pytest.raises(review.OverrideNeedsReason):
        review.store_label(erin, case, 0, "", "e" * 64, 0)

    assert texts(erin, case) == {"reason": "typed"}


def test_a_text_without_end_is_refused(erin: User, case: Case) -> None:
    with pytest.raises(draft_rules.DraftRefused, match="at most 65,536"):
        drafts.save_draft(erin, case.pair_id, TEST, "x" * (draft_rules.MAX_CHARACTERS + 1))


def test_hostile_characters_are_kept_as_marks(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "a\x00b\ud800")

    assert texts(erin, case) == {"reason": "a␀b⟨U+D800⟩"}


@pytest.mark.parametrize("field", drafts.TEXTS)
def test_a_window_that_has_not_seen_the_others_text_is_told(erin: User, case: Case, field: str) -> None:
    first = drafts.save_draft(erin, case.pair_id, field, "an hour of thought", Window("one", {field: ""}))
    with pytest.raises(DraftChanged, match="Both texts are kept") as told:
        drafts.save_draft(erin, case.pair_id, field, "something else", Window("two", {field: ""}))
    assert told.value.stored.text == "an hour of thought"
    drafts.save_draft(erin, case.pair_id, field, "something else", Window("two", {field: first}))
    assert texts(erin, case) == {field: "something else"}


def test_of_tags_the_last_windows_are_kept(erin: User, case: Case) -> None:
    for name, tags in (("one", "unsafe"), ("two", "partial")):
        drafts.save_draft(erin, case.pair_id, Draft.Field.TAGS, tags, Window(name))
    assert texts(erin, case) == {"tags": "partial"}


def test_a_label_takes_along_only_what_its_window_knows(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, REASON, "thought elsewhere", Window("two"))
    beside = review.Beside(window=Window("one", {"reason": ""}))
    review.store_label(erin, case, 1, "short", "e" * 64, 0, beside)
    assert texts(erin, case) == {"reason": "thought elsewhere"}
    review.store_label(erin, case, 1, "shorter", "e" * 64, 1, review.Beside(window=Window("two")))
    assert texts(erin, case) == {}


def test_a_run_takes_along_only_the_test_that_its_window_knows(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, TEST, "assert written_elsewhere", Window("two"))
    own_tests.run_own_test(erin, case, "assert True", None, Window("one"))
    assert texts(erin, case) == {"test": "assert written_elsewhere"}
