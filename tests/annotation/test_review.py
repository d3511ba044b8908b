"""Labels, changes and undo: every action is a revision, and nothing anybody typed is lost."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import review
from annotation.accounts.roles import Role
from annotation.builds.pipeline.labels import annotator_of_person
from annotation.models import Case, Draft, Review
from annotation.review import drafts, labels
from retrieval.models import Label
from tests import factories

EVIDENCE = "e" * 64

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    """A case that the agents settled as a match."""
    return factories.settled(factories.cases(factories.opened())[0], 1)


def submit(user: User, case: Case, label: int | None, reason: str = "", seen: int = 0) -> Review:
    return review.store_label(user, case, label, reason, EVIDENCE, seen)


def current(user: User, case: Case) -> Review | None:
    return Review.objects.current().filter(rater=user, pair=case.pair_id).first()


def published(user: User, case: Case) -> list[int | None]:
    rows = Label.objects.filter(annotator=annotator_of_person(user), pair=case.pair_id).order_by("round")
    return [row.value for row in rows]


def test_a_label_is_stored_with_its_evidence_and_published_as_assisted(erin: User, case: Case) -> None:
    made = submit(erin, case, 1)

    assert (made.revision, made.label, made.agent_label, made.evidence) == (1, 1, 1, EVIDENCE)
    assert made.phase == Review.Phase.ASSISTED
    label = Label.objects.get(annotator=annotator_of_person(erin))
    assert (label.value, label.assisted, label.round, label.basis) == (1, True, 1, "person")


def test_a_change_is_a_new_revision_and_the_old_one_stays(erin: User, case: Case) -> None:
    first = submit(erin, case, 1)
    second = submit(erin, case, 0, "it copies, the query wants in place", seen=1)

    assert (second.revision, second.supersedes) == (2, first)
    assert Review.objects.count() == 2
    assert current(erin, case) == second
    assert published(erin, case) == [1, 0]


def test_an_override_needs_a_reason(erin: User, case: Case) -> None:
    with pytest.raises(review.OverrideNeedsReason, match="agents said match"):
        submit(erin, case, 0, "   ")

    assert not Review.objects.exists()


@pytest.mark.parametrize("label", [1, None])
def test_agreeing_or_being_unsure_needs_none(erin: User, case: Case, label: int | None) -> None:
    assert submit(erin, case, label).label == label


def test_cases_that_are_open_or_abandoned_can_be_labelled_without_a_reason(erin: User) -> None:
    waiting, given_up, *_ = factories.cases(factories.opened())
    given_up = factories.abandoned(given_up)

    assert submit(erin, waiting, 0).agent_label is None
    assert submit(erin, given_up, 1).agent_label is None


def test_a_stale_form_stores_nothing_and_carries_both_texts(erin: User, case: Case) -> None:
    stored = submit(erin, case, 1, "does it")

    with pytest.raises(review.Conflict) as conflict:
        submit(erin, case, 0, "wrong edge case", seen=0)

    assert conflict.value.stored == stored
    assert conflict.value.mine == review.Submission(0, "wrong edge case")
    assert Review.objects.count() == 1


def test_losing_the_race_at_the_unique_key_is_the_same_conflict(
    erin: User, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, rests_on = submit(erin, case, 1, "does it"), labels.rests_on

    def meanwhile(user: User, pair_id: int) -> tuple[list[int], list[int]]:
        monkeypatch.setattr(labels, "rests_on", rests_on)
        submit(user, case, None, "unclear", seen=first.revision)
        return rests_on(user, pair_id)

    monkeypatch.setattr(labels, "rests_on", meanwhile)
    with pytest.raises(review.Conflict) as conflict:
        submit(erin, case, 0, "wrong edge case", seen=first.revision)
    assert conflict.value.stored is not None
    assert (conflict.value.stored.label, conflict.value.stored.revision) == (None, 2)


def test_sending_the_same_twice_stores_it_once(erin: User, case: Case) -> None:
    assert submit(erin, case, 1, "does it") == submit(erin, case, 1, "does it")
    assert Review.objects.count() == 1


def test_what_is_sent_again_after_its_answer_got_lost_leaves_no_draft(erin: User, case: Case) -> None:
    made = review.store_label(erin, case, None, "unclear", EVIDENCE, 0, review.Beside(("partial",)))
    drafts.save_draft(erin, case.pair_id, "reason", "unclear")
    drafts.save_draft(erin, case.pair_id, "tags", "partial")
    assert review.store_label(erin, case, None, "unclear", EVIDENCE, 0, review.Beside(("partial",))) == made
    assert drafts.load_drafts(erin, case.pair_id) == {}


def test_two_experts_on_one_pair_both_stand(erin: User, case: Case) -> None:
    eve = factories.person("eve", Role.EXPERT)
    submit(erin, case, 1)
    submit(eve, case, 0, "wrong edge case")

    assert [found.label for found in review.reviews_of(case.pair_id)] == [1, 0]
    assert published(erin, case) == [1]
    assert published(eve, case) == [0]


@pytest.mark.parametrize(
    ("label", "reason", "evidence", "complaint"),
    [
        (2, "", EVIDENCE, "A label is"),
        (1, "x" * 10_001, EVIDENCE, "at most 10,000"),
        (1, "", "", "reload the page"),
        (1, "", "<script>", "reload the page"),
    ],
)
def test_what_can_be_no_review_is_refused(
    erin: User, case: Case, label: int, reason: str, evidence: str, complaint: str
) -> None:
    with pytest.raises(review.BadReview, match=complaint):
        review.store_label(erin, case, label, reason, evidence, 0)


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(reason=st.text(st.characters(exclude_categories=())).filter(str.strip))
def test_any_reason_can_be_stored(erin: User, case: Case, reason: str) -> None:
    seen = Review.objects.filter(rater=erin).count()
    made = submit(erin, case, 0, reason, seen)

    made.refresh_from_db()
    assert made.reason
    assert "\x00" not in made.reason


def test_undo_withdraws_the_first_label_and_keeps_what_was_typed(erin: User, case: Case) -> None:
    submit(erin, case, 0, "wrong edge case")
    review.undo_latest_label(erin, case, 1)

    assert current(erin, case) is None
    assert published(erin, case) == [0, None]
    assert drafts.load_drafts(erin, case.pair_id)[Draft.Field.REASON].text == "wrong edge case"


def test_undo_restores_what_stood_before_and_a_second_undo_goes_further_back(erin: User, case: Case) -> None:
    submit(erin, case, 1, "does it")
    submit(erin, case, 0, "no, it copies", seen=1)

    restored = review.undo_latest_label(erin, case, 2)
    assert (restored.label, restored.reason, restored.revision) == (1, "does it", 3)
    withdrawn = review.undo_latest_label(erin, case, 3)
    assert (withdrawn.withdrawn, withdrawn.revision) == (True, 4)
    with pytest.raises(review.NothingToUndo):
        review.undo_latest_label(erin, case, 4)
    assert published(erin, case) == [1, 0, 1, None]


def test_after_an_undo_the_label_can_be_given_again(erin: User, case: Case) -> None:
    submit(erin, case, 1)
    review.undo_latest_label(erin, case, 1)

    assert submit(erin, case, 1, seen=2).revision == 3
    standing = current(erin, case)
    assert standing is not None
    assert standing.label == 1


def test_an_undo_leaves_newer_typing_alone(erin: User, case: Case) -> None:
    submit(erin, case, 0, "wrong edge case")
    drafts.save_draft(erin, case.pair_id, Draft.Field.REASON, "typed since")
    review.undo_latest_label(erin, case, 1)

    assert drafts.load_drafts(erin, case.pair_id)[Draft.Field.REASON].text == "typed since"


def test_undo_refuses_what_another_window_changed(erin: User, case: Case) -> None:
    submit(erin, case, 1)
    submit(erin, case, 0, "wrong edge case", seen=1)

    with pytest.raises(review.Conflict):
        review.undo_latest_label(erin, case, 1)
    assert Review.objects.count() == 2


def test_undo_never_touches_another_persons_label(erin: User, case: Case) -> None:
    eve = factories.person("eve", Role.EXPERT)
    submit(eve, case, 1)

    with pytest.raises(review.NothingToUndo):
        review.undo_latest_label(erin, case, 1)


def test_the_last_action_goes_back_label_by_label_across_cases(erin: User) -> None:
    one, other, *_ = (factories.settled(found, 1) for found in factories.cases(factories.opened()))
    submit(erin, one, 1)
    submit(erin, other, 1)
    submit(erin, one, 0, "wrong edge case", seen=1)
    taken: list[tuple[int, int | None]] = []
    while (last := review.last_action(erin, one.build)) is not None:
        taken.append((last.pair_id, last.label))
        review.undo_latest_label(erin, last.case, last.revision)

    assert taken == [(one.pair_id, 0), (other.pair_id, 1), (one.pair_id, 1)]


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(actions=st.lists(st.sampled_from([1, 0, None, "undo"]), max_size=8))
def test_as_many_undos_as_labels_leave_nothing(
    erin: User, case: Case, actions: list[int | str | None]
) -> None:
    Label.objects.filter(annotator__kind="person").delete()
    for found in Review.objects.order_by("-id"):
        found.delete()
    for action in actions:
        seen = labels.revision_seen(review.reviews_of(case.pair_id, erin).last())
        if isinstance(action, str):
            if current(erin, case):
                review.undo_latest_label(erin, case, seen)
        else:
            submit(erin, case, action, "because", seen)
    undos = 0
    while current(erin, case):
        seen = labels.revision_seen(review.reviews_of(case.pair_id, erin).last())
        review.undo_latest_label(erin, case, seen)
        undos += 1

    assert undos <= len(actions)
    rows = review.reviews_of(case.pair_id, erin)
    assert [row.revision for row in rows] == list(range(1, len(rows) + 1))
    assert all(row.supersedes_id == (rows[n - 1].pk if n else None) for n, row in enumerate(rows))


@pytest.mark.django_db(transaction=True)
def test_of_two_windows_at_the_same_moment_one_stores_and_the_other_is_told() -> None:
    erin = factories.erin()
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    start = threading.Barrier(2)

    def label(value: int) -> str:
        start.wait(timeout=60)
        try:
            submit(erin, case, value, "because")
        except review.Conflict as conflict:
            return "told" if conflict.stored else "told nothing"
        finally:
            connection.close()
        return "stored"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(label, (0, 1))) == ["stored", "told"]
    assert Review.objects.count() == 1
    assert Label.objects.filter(annotator=annotator_of_person(erin)).count() == 1


@pytest.mark.django_db(transaction=True)
def test_both_clicks_of_a_double_click_are_one_label() -> None:
    user, case = factories.erin(), factories.settled(factories.cases(factories.opened())[0], 1)
    start, ended = threading.Barrier(4), list[Review | Exception]()

    def click() -> None:
        start.wait()
        try:
            ended.append(labels.store_label(user, case, 1, "", "e" * 64, 0))
        except labels.Conflict as conflict:
            ended.append(conflict)
        connection.close()

    threads = [threading.Thread(target=click) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(ended) == {Review.objects.get()}


def test_the_last_twenty_decisions_can_be_undone_one_after_the_other() -> None:
    erin, build = factories.erin(), factories.opened(k=4)
    cases = [factories.settled(case, 1) for case in factories.cases(build)][: labels.UNDOABLE // 2]
    for case in cases:
        submit(erin, case, None)
        submit(erin, case, 1, seen=1)

    undone = []
    for _ in range(labels.UNDOABLE):
        last = review.last_action(erin, build)
        assert last is not None
        undone.append(last.case)
        review.undo_latest_label(erin, last.case, last.revision)
    assert undone == [case for case in reversed(cases) for _ in range(2)]
    assert review.last_action(erin, build) is None


def test_decisions_come_with_the_latest_first_each_pair_once(erin: User) -> None:
    build = factories.opened()
    one, two, three = [factories.settled(case, 1) for case in factories.cases(build)][:3]
    for case in (one, two, three):
        submit(erin, case, 1)
    submit(erin, one, None, seen=1)
    review.undo_latest_label(erin, two, 1)

    assert [last.case for last in review.recent_reviews_of_user(erin, build)] == [one, three]
