"""Two windows of each rater, raters whom an admin removes, and undo that names what it takes back.

Beside `test_queue_machine`, which has one window a rater: here a window knows only what it was served, its
drafts among it, and an admin may end a rater's part between any two steps.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from annotation import draft_rules
from annotation.models import Assignment, Condition, Enrolment, Quota, Rating, RatingDraft
from annotation.studies.enrolment import queue
from annotation.studies.enrolment import raters as enrolling
from annotation.studies.enrolment.queue import BadSkip, Lapsed, QueueClosed
from annotation.studies.exposure import mark_seen
from annotation.studies.plan.form_checks import BadRating, RaterStatement
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.rating import drafts, ratings
from annotation.studies.rating import undo as undoing
from annotation.studies.rating.ratings import (
    RatedMeanwhile,
)
from annotation.studies.rating.undo import NothingToTakeBack
from tests import factories, studies
from tests.annotation.studies.enrolment.test_queue import grid

State, Kind, Field = Assignment.State, Condition.Kind, RatingDraft.Field
KINDS = (Kind.READING, Kind.REVEAL, Kind.READING)
LAST = {Kind.READING: Rating.Phase.BLIND, Kind.REVEAL: Rating.Phase.REVISED}
"""With which phase a pair is done."""
OWNERS = (0, 0, 1, 1, 2)
"""Whose each window is: the first two raters have two, and are those that may be removed."""
WINDOWS = st.integers(0, len(OWNERS) - 1)
MAY_GO = st.integers(0, 1)
EXAMPLES = int(os.environ.get("RATERS_EXAMPLES", "20"))
Key = tuple[int, str]


@dataclass
class Window:
    """A page as it was served: what it has on screen, and what of the drafts it knows."""

    name: str
    page: Assignment | None = None
    enrolment: Enrolment | None = None
    seen: int = 0
    undo: str = ""
    revisions: dict[str, str] = field(default_factory=dict)
    shown: dict[Key, str] = field(default_factory=dict)

    @property
    def known(self) -> draft_rules.Window:
        return draft_rules.Window(self.name, dict(self.revisions))

    def learn(self, page: Assignment) -> None:
        """All drafts of the pair are on its screen."""
        for name, draft in drafts.by_field(page).items():
            self.revisions[name] = draft.revision
            self.shown[page.pk, name] = draft.text


class Windows(RuleBasedStateMachine):
    """What raters do in their windows, and an admin to them, in whatever order; each run is rolled back."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = transaction.atomic()
        self.scratch.__enter__()
        self.raters: list[Enrolment] = []
        self.windows = [Window(f"window {number}") for number in range(len(OWNERS))]
        self.accepted: set[int] = set()
        self.said_until_then: dict[int, set[int]] = {}

    @initialize(raters=st.integers(1, 2), more=st.booleans())
    def begin(self, raters: int, more: bool) -> None:
        kinds = (Kind.READING, Kind.REVEAL)
        self.study = studies.study(conditions=kinds, pairs=grid(3, 1), raters=raters, one_more=more)
        self.raters = [
            studies.rater(f"rater {number}", self.study, kind) for number, kind in enumerate(KINDS)
        ]

    def fresh(self, who: int) -> Enrolment:
        related = "study__guideline", "condition", "user"
        return Enrolment.objects.select_related(*related).get(pk=self.raters[who].pk)

    def serve(self, number: int, page: Assignment) -> None:
        window, last = self.windows[number], undoing.last_decision(self.fresh(OWNERS[number]))
        phase = ratings.phase_of(page, page.token)
        window.page, window.seen = page, ratings.revision_seen(ratings.last_of(page, phase))
        window.undo = last.name if last else ""
        window.revisions = {}
        window.learn(page)

    @contextmanager
    def keeping(self, number: int) -> Iterator[None]:
        """What this window does loses no text that it has not shown: each is a draft still, or was rated."""
        shown, before = self.windows[number].shown, self.texts(OWNERS[number])
        unseen = {key: text for key, text in before.items() if shown.get(key) != text}
        try:
            yield
        finally:
            now = self.texts(OWNERS[number])
            for (of, name), text in unseen.items():
                rated = Rating.objects.filter(assignment=of, notes=text)
                assert now.get((of, name)) == text or (name == Field.NOTES and rated.exists())

    def texts(self, who: int) -> dict[Key, str]:
        rows = RatingDraft.objects.filter(
            assignment__enrolment=self.raters[who], field__in=[Field.NOTES, Field.TEST]
        )
        return {(of, name): text for of, name, text in rows.values_list("assignment", "field", "text")}

    @rule(number=WINDOWS)
    def go_on(self, number: int) -> None:
        enrolment = self.windows[number].enrolment = self.fresh(OWNERS[number])
        if enrolment.removed:
            with pytest.raises(QueueClosed, match="ended your part"):
                queue.next_assignment(enrolment)
            return
        found = queue.next_assignment(enrolment)
        if found is not None:
            self.serve(number, found)

    @rule(number=WINDOWS)
    def load_again(self, number: int) -> None:
        page = self.windows[number].page
        if page is not None:
            user = self.raters[OWNERS[number]].user
            self.serve(number, queue.open_assignment(user, self.study.pk, page.study_pair.number))

    @rule(
        number=WINDOWS,
        name=st.sampled_from([Field.NOTES, Field.TEST]),
        text=st.sampled_from(["so", "so so", "not so"]),
        insists=st.booleans(),
    )
    def write(self, number: int, name: str, text: str, insists: bool) -> None:
        """What a removed rater types is kept as well; a text of the other window is shown before it goes."""
        window = self.windows[number]
        if (page := window.page) is None:
            return
        try:
            with self.keeping(number):
                revision = drafts.save_draft(page, name, text, window.known)
        except draft_rules.DraftChanged:
            window.learn(page)
            if not insists:
                return
            revision = drafts.save_draft(page, name, text, window.known)
        window.revisions[name], window.shown[page.pk, name] = revision, text
        assert drafts.load_draft_texts(page)[name] == text

    @rule(number=WINDOWS, value=st.sampled_from([0, 1, None]))
    def submit(self, number: int, value: int | None) -> None:
        window, stored = self.windows[number], Rating.objects.count()
        if (page := window.page) is None:
            return
        over, notes = self.fresh(OWNERS[number]).removed, window.shown.get((page.pk, Field.NOTES), "")
        said = RaterStatement(value, "because", notes, (), 3.0, (), (), "a" * 64)
        try:
            with self.keeping(number):
                made = ratings.submit_rating(page, page.token, said, window.seen, window.known)
        except (BadRating, RatedMeanwhile, Lapsed, QueueClosed):
            assert Rating.objects.count() == stored
            assert not notes or drafts.load_draft_texts(page)[Field.NOTES], (
                "what was sent, or what the other one typed"
            )
            window.learn(page)
            return
        assert (made.value, made.notes) == (value, notes)
        assert not over or Rating.objects.count() == stored, "at most what is stored is told again"
        self.accepted.add(made.pk)
        if Rating.objects.count() > stored and page.condition.kind == Kind.REVEAL:
            mark_seen(self.raters[OWNERS[number]].user, [page.study_pair.pair_id])

    @rule(number=WINDOWS)
    def beat(self, number: int) -> None:
        """From the page as it was served, which does not know that its rater was removed since."""
        if (page := self.windows[number].page) is None:
            return
        over = self.fresh(OWNERS[number]).removed
        try:
            queue.record_heartbeat(page, page.token)
        except Lapsed:
            return
        assert not over and Assignment.objects.get(pk=page.pk).is_open

    @rule(number=WINDOWS)
    def skip(self, number: int) -> None:
        if (page := self.windows[number].page) is None:
            return
        over, before = self.fresh(OWNERS[number]).removed, Assignment.objects.get(pk=page.pk).state
        try:
            queue.skip_assignment(page, page.token, "can't say")
        except (BadSkip, Lapsed):
            return
        assert not over or before == State.SKIPPED

    @rule(number=WINDOWS)
    def undo(self, number: int) -> None:
        """Takes back what the window shows as its button, or nothing."""
        window, who = self.windows[number], OWNERS[number]
        over, before = self.fresh(who).removed, self.standing(who)
        try:
            with self.keeping(number):
                found = undoing.undo_decision(self.fresh(who), window.undo)
        except NothingToTakeBack:
            assert self.standing(who) == before
            return
        assert not over
        assert (
            {of for of, *_ in self.standing(who) ^ before} == {found.pk} == {int(window.undo.split(".")[0])}
        )
        self.serve(number, Assignment.objects.select_related(*queue.RELATED).get(pk=found.pk))

    def standing(self, who: int) -> set[tuple[object, ...]]:
        """The states of a rater's pairs, and what stands of each."""
        said = Rating.objects.current().filter(assignment__enrolment=self.raters[who])
        rows = self.raters[who].assignments.values_list("pk", "state")
        return {*rows, *said.values_list("assignment", "phase", "pk")}

    @rule(who=st.integers(0, len(KINDS) - 1))
    def run_out(self, who: int) -> None:
        past = timezone.now() - timedelta(seconds=1)
        self.raters[who].assignments.filter(state__in=queue.OPEN).update(reserved_until=past)
        queue.expire_reservations()

    @precondition(lambda self: any(window.page for window in self.windows[:4]))
    @rule(who=MAY_GO, exclude=st.booleans())
    def remove(self, who: int, exclude: bool) -> None:
        enrolling.remove_rater(self.fresh(who), "slept", factories.ada(), exclude=exclude)
        said = Rating.objects.filter(assignment__enrolment=self.raters[who])
        self.said_until_then.setdefault(who, set(said.values_list("pk", flat=True)))
        for window in (one for one, owner in zip(self.windows, OWNERS, strict=True) if owner == who):
            self.goes_on_as_if_nothing_were(window)

    def goes_on_as_if_nothing_were(self, window: Window) -> None:
        """With all that it read before its rater was removed."""
        if window.page is not None:
            with pytest.raises(Lapsed):
                queue.record_heartbeat(window.page, window.page.token)
        if window.enrolment is not None:
            with suppress(QueueClosed):
                assert queue.next_assignment(window.enrolment) is None

    @precondition(lambda self: self.said_until_then)
    @rule(who=MAY_GO)
    def include(self, who: int) -> None:
        excluded = self.fresh(who).excluded
        try:
            enrolling.include_excluded_rater(self.fresh(who), "it was a mistake", factories.ada())
        except StudyRefused:
            assert not excluded

    @invariant()
    def whoever_was_removed_changes_nothing_and_holds_no_pair_open(self) -> None:
        for who, said in self.said_until_then.items():
            enrolment = self.fresh(who)
            assert enrolment.removed and enrolment.finished_at and enrolment.left_at
            rows = Rating.objects.filter(assignment__enrolment=enrolment)
            assert set(rows.values_list("pk", flat=True)) == said
            held = enrolment.assignments.filter(state__in=queue.OPEN)
            assert not held.exclude(state=State.RESERVED, reserved_until__lte=timezone.now())

    @invariant()
    def quotas_are_exact_over_ratings_that_count(self) -> None:
        place = "assignment__study_pair", "assignment__condition", "assignment__condition__kind"
        rows = Rating.objects.current().counted().values_list(*place, "phase")
        counted = Counter((pair, where) for pair, where, kind, phase in rows if phase == LAST[Kind(kind)])
        is_open = Assignment.objects.filter(state__in=queue.OPEN)
        held = Counter(is_open.values_list("study_pair", "condition"))
        for quota in Quota.objects.all():
            key = quota.study_pair_id, quota.condition_id
            assert quota.done == counted[key]
            assert quota.done + held[key] == quota.reserved <= quota.wanted

    @invariant()
    def what_is_done_has_a_rating_and_nothing_else_has(self) -> None:
        rows = Rating.objects.current().values_list("assignment", "phase", "assignment__condition__kind")
        ended = {of for of, phase, kind in rows if phase == LAST[Kind(kind)]}
        done = Assignment.objects.filter(state__in=[State.DONE, State.LEFT_OUT])
        assert ended == set(done.values_list("pk", flat=True))

    @invariant()
    def no_pair_comes_twice_and_nothing_accepted_is_lost(self) -> None:
        given = Counter(Assignment.objects.values_list("rater", "study_pair"))
        assert set(given.values()) <= {1}
        assert self.accepted <= set(Rating.objects.values_list("pk", flat=True))
        histories: dict[tuple[int, str], list[int]] = defaultdict(list)
        for of, phase, revision in Rating.objects.order_by("pk").values_list(
            "assignment", "phase", "revision"
        ):
            histories[of, phase].append(revision)
        for revisions in histories.values():
            assert revisions == list(range(1, len(revisions) + 1))

    def teardown(self) -> None:
        """Whoever is still there goes on to the end: then no place is free that anybody could take."""
        try:
            if sys.exc_info()[0] is None and self.raters:
                self.finish_all()
        finally:
            transaction.set_rollback(True)
            self.scratch.__exit__(None, None, None)

    def finish_all(self) -> None:
        for who in range(len(KINDS)):
            self.run_out(who)
        for who in [*range(len(KINDS))] * 2:
            self.finish(who)
        for who in range(len(KINDS)):
            enrolment = self.fresh(who)
            assert enrolment.removed or not self.free_for(enrolment), "no pair is stuck"
        self.quotas_are_exact_over_ratings_that_count()

    def finish(self, who: int) -> None:
        while not self.fresh(who).removed and (found := queue.next_assignment(self.fresh(who))) is not None:
            phase = ratings.phase_of(found, found.token)
            said = RaterStatement(1, "because", "", (), 3.0, (), (), "a" * 64)
            ratings.submit_rating(
                found, found.token, said, ratings.revision_seen(ratings.last_of(found, phase))
            )

    def free_for(self, enrolment: Enrolment) -> list[Quota]:
        """The places that the rater could take, worked out the slow way."""
        given = {row.study_pair_id: row.state for row in enrolment.assignments.all()}
        free = Quota.objects.filter(condition=enrolment.condition, reserved__lt=F("wanted"))
        return [
            quota
            for quota in free.select_related("study_pair")
            if given.get(quota.study_pair_id, State.LAPSED) == State.LAPSED
            and not enrolment.user.seen.filter(pair=quota.study_pair.pair_id).exists()
        ]


def test_whatever_two_windows_and_an_admin_do(db: None) -> None:
    run_state_machine_as_test(
        Windows,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
