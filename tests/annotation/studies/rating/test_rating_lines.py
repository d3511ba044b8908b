"""Lines that a rater marks as the reason: stored with the rating, kept as a draft, undone with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Assignment, Enrolment, Rating
from annotation.studies.enrolment.queue import next_assignment
from annotation.studies.plan.form_checks import BadRating, RaterStatement
from annotation.studies.rating import drafts
from annotation.studies.rating.earlier_revisions import restore_earlier_revision
from annotation.studies.rating.ratings import submit_rating
from annotation.studies.rating.undo import undo_decision
from tests import studies

pytestmark = pytest.mark.django_db
PLAIN = RaterStatement(1, "", "", (), 12.0, (), (), "a" * 64)


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study())


def given(enrolment: Enrolment) -> Assignment:
    found = next_assignment(enrolment)
    assert found is not None
    return found


def rate(held: Assignment, lines: str, seen: int = 0, **changes: Any) -> Rating:
    return submit_rating(held, held.token, replace(PLAIN, marked_lines=lines, **changes), seen)


def test_the_lines_are_stored_with_the_hash_of_the_whole_function(rita: Enrolment) -> None:
    held = given(rita)
    made = Rating.objects.get(pk=rate(held, " 1 – 2 ").pk)

    assert (made.marked_first, made.marked_last, made.marked_lines) == (1, 2, "1-2")
    assert made.marked_code == held.study_pair.pair.snippet.digest


@pytest.mark.parametrize(
    ("lines", "complaint"), [("0", "the lines 1 to"), ("1-99", "the lines 1 to"), ("a", "4-7")]
)
def test_lines_that_are_none_are_refused_and_kept_as_a_draft(
    rita: Enrolment, lines: str, complaint: str
) -> None:
    held = given(rita)
    with pytest.raises(BadRating, match=complaint):
        rate(held, lines)

    assert not Rating.objects.exists()
    assert drafts.load_draft_texts(held)["lines"] == lines


def test_the_same_label_with_other_lines_is_another_revision(rita: Enrolment) -> None:
    held = given(rita)
    first = rate(held, "1")

    assert rate(held, "1") == first, "sent twice"
    assert (rate(held, "2", seen=1).revision, rate(held, "", seen=2).marked_lines) == (2, "")


def test_a_rating_takes_the_draft_along_and_an_undo_gives_it_back(rita: Enrolment) -> None:
    held = given(rita)
    drafts.save_draft(held, "lines", "1-2")
    rate(held, "1-2")
    assert "lines" not in drafts.load_draft_texts(held)
    assert drafts.save_draft(held, "lines", "1-2") == "", "a late save of what is stored is no draft"
    assert undo_decision(rita) == held

    assert drafts.load_draft_texts(held)["lines"] == "1-2"
    assert not Rating.objects.current().exists()


def test_an_undo_of_a_change_and_a_restored_revision_have_their_lines(rita: Enrolment) -> None:
    held = given(rita)
    first = rate(held, "1-2")
    rate(held, "", seen=1)
    undo_decision(rita)
    assert Rating.objects.current().get().marked_lines == "1-2"
    rate(held, "2", seen=3)
    made = restore_earlier_revision(first)

    assert (made.marked_lines, made.marked_code) == ("1-2", first.marked_code)


def test_of_two_snippets_none_has_marked_lines() -> None:
    first, second, _ = studies.three_pairs()
    both = studies.study(pairs=[first], kind="pairwise", scale="preference")
    both.pairs.update(other=second)
    held = given(studies.rater("rita", both))
    with pytest.raises(BadRating, match="two functions"):
        rate(held, "1")


def test_the_database_keeps_no_half_of_a_mark(rita: Enrolment) -> None:
    made = rate(given(rita), "1")
    for wrong in ({"marked_last": None}, {"marked_first": 2, "marked_last": 1}, {"marked_code": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Rating.objects.filter(pk=made.pk).update(**wrong)
