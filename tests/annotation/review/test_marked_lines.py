"""Lines that are marked as the reason: what can be typed, and that they stay with the label."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation import review
from annotation.models import Case, Draft, Review
from annotation.review import drafts
from annotation.review.earlier_revisions import restore_revision
from annotation.review.marked_lines import BadLines, MarkedLines, count_lines, read_marked_lines
from retrieval.models import Text
from tests import factories

EVIDENCE = "e" * 64
CODE = "def f(x):\n    y = x\n    return y\n"

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    """Settled as a match; its function has more than one line."""
    return factories.settled(factories.cases(factories.opened())[0], 1)


@pytest.fixture
def snippet() -> Text:
    return Text.objects.keep(CODE)


def submit(user: User, case: Case, label: int, lines: str, seen: int = 0) -> Review:
    return review.store_label(user, case, label, "", EVIDENCE, seen, review.Beside(lines=lines))


@pytest.mark.parametrize(
    ("written", "found"),
    [("2-3", (2, 3)), (" 2 – 3 ", (2, 3)), ("1", (1, 1)), ("1-1", (1, 1)), ("3", (3, 3))],
)
def test_lines_are_read_as_people_type_them(snippet: Text, written: str, found: tuple[int, int]) -> None:
    assert read_marked_lines(written, snippet) == MarkedLines(*found, snippet.digest)


def test_nothing_typed_marks_nothing(snippet: Text) -> None:
    assert read_marked_lines("  ", snippet) is None


@pytest.mark.parametrize("written", ["0", "0-2", "2-1", "4", "1-4", "999999"])
def test_lines_that_the_function_does_not_have_are_refused(snippet: Text, written: str) -> None:
    with pytest.raises(BadLines, match="The function has the lines 1 to 3"):
        read_marked_lines(written, snippet)


@pytest.mark.parametrize("written", ["a", "1-", "-1", "1,2", "1-2-3", "9" * 5000, "١", "1\n2", "<b>"])
def test_what_names_no_lines_is_refused(snippet: Text, written: str) -> None:
    with pytest.raises(BadLines, match="Lines are written as 4-7"):
        read_marked_lines(written, snippet)


@pytest.mark.parametrize(
    ("code", "lines"), [("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\r\nb\r\n", 2), ("a\rb", 2), ("", 1)]
)
def test_lines_are_counted_as_the_page_numbers_them(code: str, lines: int) -> None:
    assert count_lines(code) == lines


def test_lines_are_stored_with_the_label_and_the_hash_of_the_code(erin: User, case: Case) -> None:
    made = submit(erin, case, 1, "1-2")
    assert (made.marked_first, made.marked_last, made.marked_lines) == (1, 2, "1-2")
    assert made.marked_code == case.pair.snippet.digest


def test_lines_explain_an_override(erin: User, case: Case) -> None:
    assert submit(erin, case, 0, "2").marked_lines == "2"


def test_bad_lines_store_nothing(erin: User, case: Case) -> None:
    with pytest.raises(review.BadReview, match="Lines 1-99999 are not in it"):
        submit(erin, case, 1, "1-99999")
    assert not Review.objects.exists()


def test_other_lines_are_another_revision_and_the_same_are_not(erin: User, case: Case) -> None:
    first = submit(erin, case, 1, "1")
    assert submit(erin, case, 1, "1") == first
    assert submit(erin, case, 1, "2", seen=1).revision == 2


def test_undo_takes_lines_back_into_the_draft_and_restores_those_before(erin: User, case: Case) -> None:
    submit(erin, case, 1, "1")
    submit(erin, case, 1, "2", seen=1)
    undone = review.undo_latest_label(erin, case, 2)
    assert (undone.revision, undone.marked_lines) == (3, "1")
    assert undone.marked_code == case.pair.snippet.digest
    assert drafts.load_drafts(erin, case.pair_id)[Draft.Field.LINES].text == "2"
    gone = review.undo_latest_label(erin, case, 3)
    assert (gone.withdrawn, gone.marked_lines, gone.marked_code) == (True, "", "")


def test_an_earlier_label_is_restored_with_its_lines(erin: User, case: Case) -> None:
    first = submit(erin, case, 1, "1-2")
    submit(erin, case, 1, "2", seen=1)
    assert restore_revision(first, erin).marked_lines == "1-2"


def test_a_label_takes_the_draft_of_its_lines_along(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, Draft.Field.LINES, "1-2")
    submit(erin, case, 1, "1-2")
    assert not drafts.load_drafts(erin, case.pair_id)


@pytest.mark.parametrize(("first", "last", "code"), [(2, 1, "x"), (0, 1, "x"), (1, None, "x"), (1, 2, "")])
def test_half_a_mark_is_no_row(erin: User, case: Case, first: int, last: int | None, code: str) -> None:
    made = submit(erin, case, 1, "")
    with pytest.raises(IntegrityError), transaction.atomic():
        Review.objects.filter(pk=made.pk).update(marked_first=first, marked_last=last, marked_code=code)
