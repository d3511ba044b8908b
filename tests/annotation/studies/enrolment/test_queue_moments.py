"""What a rater's other window does in the moment in which this one asks for the next pair."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.models import Assignment, Enrolment, Quota
from annotation.studies.enrolment import next_pair, queue
from annotation.studies.enrolment.queue import QueueClosed, next_assignment
from tests import studies
from tests.annotation.studies.enrolment.test_queue import given

pytestmark = pytest.mark.django_db
State = Assignment.State


def meanwhile(monkeypatch: pytest.MonkeyPatch, does: Callable[[], object], *, before: bool) -> None:
    """Another window of the rater's does something before, or after, this one looks for what comes next."""
    look = next_pair.choose_next_pair

    def look_in_that_moment(enrolment: Enrolment, **how: bool) -> next_pair.NextPairChoice | None:
        monkeypatch.setattr(next_pair, "choose_next_pair", look)
        found = None if before else look(enrolment, **how)
        does()
        return look(enrolment, **how) if before else found

    monkeypatch.setattr(next_pair, "choose_next_pair", look_in_that_moment)


def test_a_rater_is_not_finished_whose_other_window_was_given_the_last_pair(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rita = studies.rater("rita", studies.study(pairs=studies.three_pairs()[:1]))
    meanwhile(monkeypatch, lambda: given(Enrolment.objects.get(pk=rita.pk)), before=True)
    assert given(rita).state == State.RESERVED
    rita.refresh_from_db()
    assert rita.finished_at is None, "who has a pair open is kept blind"


def test_nothing_is_handed_out_to_who_leaves_in_another_window(monkeypatch: pytest.MonkeyPatch) -> None:
    rita = studies.rater("rita", studies.study())
    meanwhile(monkeypatch, lambda: queue.leave_study(Enrolment.objects.get(pk=rita.pk)), before=False)
    with pytest.raises(QueueClosed, match="You have left this study"):
        next_assignment(rita)
    assert not Assignment.objects.filter(state=State.RESERVED).exists()
    assert not Quota.objects.filter(reserved__gt=0).exists()
