"""A label as before: offered for the same code under other names, and marked where it is taken."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation import review
from annotation.accounts.roles import Role
from annotation.derived.rerun import sent_back
from annotation.draft_rules import Window
from annotation.models import CarriedOver, Case, Draft, NormalForm, Review
from annotation.review import Beside, drafts
from annotation.review.carried_labels import NothingBefore, carry_label_over, find_earlier_label
from retrieval.models import Label
from tests import factories

pytestmark = pytest.mark.django_db
SNIPPETS = (
    "def reverse(items):\n    items.reverse()\n    return items\n",
    'def turn(rows):\n    """Turns them round."""\n    rows.reverse()  # in place\n    return rows\n',
    "def reverse(items):\n    items.sort()\n    return items\n",
    "print 1\n",
)
EVIDENCE = "0" * 64


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def cases() -> list[Case]:
    """The four candidates of one query; the first two are the same code."""
    factories.snippets(SNIPPETS)
    build = factories.opened(k=4)
    found = factories.cases(build)
    return [factories.settled(case, 1) for case in found[:4]] + found[4:]


def given(user: User, case: Case, label: int | None, reason: str = "", *tags: str) -> Review:
    seen = Review.objects.filter(rater=user, pair=case.pair_id).count()
    return review.store_label(user, case, label, reason, EVIDENCE, seen, Beside(tags))


def test_the_same_code_under_other_names_is_offered(erin: User, cases: list[Case]) -> None:
    assert find_earlier_label(erin, cases[1]) is None
    said = given(erin, cases[0], 1)

    assert find_earlier_label(erin, cases[1]) == said
    assert [find_earlier_label(erin, case) for case in (cases[0], *cases[2:])] == [None] * (len(cases) - 1)
    assert NormalForm.objects.count() > 1


def test_what_does_not_parse_equals_nothing(erin: User, cases: list[Case]) -> None:
    given(erin, cases[3], 0, "python 2")
    assert find_earlier_label(erin, cases[0]) is None


def test_unsure_withdrawn_and_other_peoples_labels_are_not_offered(erin: User, cases: list[Case]) -> None:
    given(factories.person("eve", Role.EXPERT), cases[0], 1)
    assert find_earlier_label(erin, cases[1]) is None
    given(erin, cases[0], None)
    assert find_earlier_label(erin, cases[1]) is None
    given(erin, cases[0], 1)
    review.undo_latest_label(erin, cases[0], 2)
    assert find_earlier_label(erin, cases[1]) is None


def test_the_label_that_stands_is_offered(erin: User, cases: list[Case]) -> None:
    given(erin, cases[0], 1)
    changed = given(erin, cases[0], 0, "it changes its argument")

    assert find_earlier_label(erin, cases[1]) == changed


def test_a_carried_label_says_where_it_came_from(erin: User, cases: list[Case]) -> None:
    before = given(erin, cases[0], 0, "it changes its argument")
    made = carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0)

    assert (made.label, made.reason, made.revision, made.case) == (0, "it changes its argument", 1, cases[1])
    assert CarriedOver.objects.get(review=made).source == before
    assert Label.objects.filter(pair=cases[1].pair_id, assisted=True).get().value == 0
    assert carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0) == made, "sent twice, stored once"
    assert CarriedOver.objects.count() == 1


def test_tags_of_the_pair_are_carried_and_those_of_its_test_stay_there(erin: User, cases: list[Case]) -> None:
    before = given(erin, cases[0], 0, "", "partial", "unsafe", "test_wrong_reading")
    Review.objects.filter(pk=before.pk).update(tags=[*before.tags, "of_another_version"])
    made = carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0)

    assert (made.tags, made.rater) == (["partial", "unsafe"], erin)
    assert CarriedOver.objects.get(review=made).source.created_at == before.created_at
    assert carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0) == made, "sent twice, stored once"
    assert not sent_back.is_awaiting_test(cases[1])


def test_without_a_reason_it_says_that_the_code_is_the_same(erin: User, cases: list[Case]) -> None:
    before = given(erin, cases[0], 1)

    assert carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0).reason == (
        f"As before: the same code as pair {cases[0].pk}, match."
    )


@pytest.mark.parametrize("what", ["gone", "changed", "another"])
def test_what_does_not_stand_any_more_is_not_carried(erin: User, cases: list[Case], what: str) -> None:
    before = given(erin, cases[0], 1)
    if what == "gone":
        review.undo_latest_label(erin, cases[0], 1)
    elif what == "changed":
        given(erin, cases[0], 0, "no")
    with pytest.raises(NothingBefore):
        carry_label_over(erin, cases[2 if what == "another" else 1], before.pk, EVIDENCE, 0)
    assert not CarriedOver.objects.exists()


def test_a_label_of_another_window_goes_before(erin: User, cases: list[Case]) -> None:
    before = given(erin, cases[0], 1)
    given(erin, cases[1], 0, "no")
    with pytest.raises(review.Conflict):
        carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0)


def test_forms_are_computed_once(erin: User, cases: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    given(erin, cases[0], 1)
    find_earlier_label(erin, cases[1])
    monkeypatch.setattr("annotation.review.carried_labels.normal_form", lambda text: pytest.fail("again"))

    assert find_earlier_label(erin, cases[1]) is not None


def test_a_form_of_an_older_version_is_computed_anew(erin: User, cases: list[Case]) -> None:
    given(erin, cases[0], 1)
    find_earlier_label(erin, cases[1])
    NormalForm.objects.update(version=0, digest="")

    assert find_earlier_label(erin, cases[1]) is not None
    assert set(NormalForm.objects.values_list("version", flat=True)) == {1}


def test_a_reason_that_was_typed_and_not_sent_stays_a_draft(erin: User, cases: list[Case]) -> None:
    before = given(erin, cases[0], 0, "it changes its argument")
    drafts.save_draft(erin, cases[1].pair_id, Draft.Field.REASON, "typed, and then as before", Window("one"))
    carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0)
    assert drafts.load_drafts(erin, cases[1].pair_id)[Draft.Field.REASON].text == "typed, and then as before"


def test_what_an_undo_brought_back_is_no_draft_once_it_is_carried_again(
    erin: User, cases: list[Case]
) -> None:
    before = given(erin, cases[0], 0, "it changes its argument", "partial")
    carry_label_over(erin, cases[1], before.pk, EVIDENCE, 0)
    review.undo_latest_label(erin, cases[1], 1)
    assert set(drafts.load_drafts(erin, cases[1].pair_id)) == {Draft.Field.REASON, Draft.Field.TAGS}
    carry_label_over(erin, cases[1], before.pk, EVIDENCE, 2)
    assert drafts.load_drafts(erin, cases[1].pair_id) == {}
