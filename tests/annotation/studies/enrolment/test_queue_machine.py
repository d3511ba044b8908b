"""Any order of handing out, reporting, running out, rating, skipping, taking back and second looks.

Four raters share five pairs, and one that is planted, in two conditions; after every step the tables are held
against what has to hold always. The model knows only what was accepted.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

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

from annotation.models import Assignment, Condition, Enrolment, Quota, Rating, StudyPair
from annotation.studies.adjudication.undecided_pairs import Undecided
from annotation.studies.enrolment import extra_raters, next_pair, queue
from annotation.studies.enrolment import raters as enrolling
from annotation.studies.enrolment.pair_order import GAP
from annotation.studies.enrolment.queue import Lapsed, QueueClosed
from annotation.studies.exposure import mark_seen
from annotation.studies.plan.form_checks import BadRating, RaterStatement
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.rating import drafts, ratings
from annotation.studies.rating import undo as undoing
from annotation.studies.rating.ratings import (
    RatedMeanwhile,
)
from annotation.studies.rating.undo import NothingToTakeBack
from annotation.studies.report.pair_flow import flow_of
from tests import factories, studies
from tests.annotation.studies.enrolment.test_queue import grid
from tests.annotation.studies.report.test_pair_flow import adds_up

State, Kind = Assignment.State, Condition.Kind
RATERS = st.integers(0, 3)
EXAMPLES = int(os.environ.get("RATERS_EXAMPLES", "10"))
"""So many runs of 25 steps; `make raters` does more."""
VALUES = st.sampled_from([0, 1, None])


def said(value: int | None, notes: str = "", reason: str = "because") -> RaterStatement:
    return RaterStatement(value, reason, notes, (), 3.0, (), (), "a" * 64)


class Queue(RuleBasedStateMachine):
    """What raters, the clock and the worker can do, in whatever order; each run is rolled back."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = transaction.atomic()
        self.scratch.__enter__()

    @initialize(order=st.sampled_from(["spaced", "by_query"]), raters=st.integers(1, 2), more=st.booleans())
    def begin(self, order: str, raters: int, more: bool) -> None:
        self.study = studies.study(
            conditions=(Kind.READING, Kind.REVEAL),
            pairs=grid(3, 2)[:5],
            raters=raters,
            order=order,
            one_more=more,
        )
        planted = grid(4, 2)[-1]
        StudyPair.objects.create(study=self.study, number=6, pair=planted, planted="onboarding", answer=1)
        kinds = [Kind.READING, Kind.REVEAL, Kind.READING, Kind.REVEAL]
        self.raters = [
            studies.rater(f"rater {number}", self.study, kind, capacity=6 if number else 4)
            for number, kind in enumerate(kinds)
        ]
        self.pages: dict[int, tuple[Assignment, int]] = {}
        self.accepted: dict[int, list[int]] = defaultdict(list)

    def fresh(self, number: int) -> Enrolment:
        related = "study__guideline", "condition", "user"
        return Enrolment.objects.select_related(*related).get(pk=self.raters[number].pk)

    def served(self, number: int, found: Assignment) -> None:
        """The page that the rater has on screen: with the token and the revision of that moment."""
        phase = ratings.phase_of(found, found.token)
        self.pages[number] = found, ratings.revision_seen(ratings.last_of(found, phase))

    def free_for(self, enrolment: Enrolment) -> set[tuple[int, int]]:
        """(pair, query) of what could be handed to a rater, worked out the slow way."""
        given = {row.study_pair_id: row for row in enrolment.assignments.all()}
        quotas = Quota.objects.filter(condition=enrolment.condition, reserved__lt=F("wanted"))
        room = len(given) < enrolment.capacity
        return {
            (row.study_pair_id, row.study_pair.pair.query_id)
            for row in quotas.select_related("study_pair__pair")
            if (given[row.study_pair_id].state == State.LAPSED if row.study_pair_id in given else room)
            and not enrolment.user.seen.filter(pair=row.study_pair.pair_id).exists()
        }

    @rule(who=RATERS)
    def ask(self, who: int) -> None:
        enrolment = self.fresh(who)
        if enrolment.removed:
            self.refused(enrolment)
            return
        before = set(enrolment.assignments.values_list("pk", flat=True))
        queue.expire_reservations()
        free, over = self.free_for(enrolment), enrolment.finished_at is not None
        held = queue.open_of(enrolment)
        found = queue.next_assignment(enrolment)
        if held is not None:
            assert found == held and found is not None
            assert (found.state, found.token) == (held.state, held.token)
            assert found.reserved_until > timezone.now(), "also where a locked one ran out"
        elif found is None:
            assert over or not free, "no pair is stuck"
        else:
            assert found.study_pair.planted or found.study_pair_id in {pair for pair, _ in free}
            if found.pk not in before:
                self.check_order(enrolment, found, free)
        if found is not None:
            self.served(who, found)

    def refused(self, enrolment: Enrolment) -> None:
        with pytest.raises(QueueClosed, match="ended your part"):
            queue.next_assignment(enrolment)

    def check_order(self, enrolment: Enrolment, found: Assignment, free: set[tuple[int, int]]) -> None:
        """A pair whose query was there lately is handed out only where no other could be."""
        if found.study_pair.planted:
            assert found.position == 1
            return
        rows = enrolment.assignments.filter(position__lt=found.position).order_by("-position")
        last = list(rows.values_list("study_pair__pair__query", flat=True)[: GAP - 1])
        query = found.study_pair.pair.query_id
        others = {one for _, one in free}
        if self.study.order == "spaced":
            assert query not in last or others <= set(last)
        elif (here := rows.filter(study_pair__planted="").first()) is not None:
            before = here.study_pair.pair.query_id
            assert query == before or before not in others

    @rule(who=RATERS, value=VALUES, notes=st.sampled_from(["", "so so"]), old=st.booleans())
    def submit(self, who: int, value: int | None, notes: str, old: bool) -> None:
        """From the page as it was served, or again with another revision in mind."""
        if who not in self.pages:
            return
        page, seen = self.pages[who]
        stored = Rating.objects.count()
        try:
            made = ratings.submit_rating(page, page.token, said(value, notes), max(0, seen - old))
        except (BadRating, RatedMeanwhile, Lapsed, QueueClosed):
            assert Rating.objects.count() == stored
            assert drafts.load_draft_texts(page)["reason"] == "because"
            return
        assert (made.value, made.notes) == (value, notes)
        if made.pk not in self.accepted[page.pk]:
            self.accepted[page.pk].append(made.pk)
            if made.assignment.condition.kind == Kind.REVEAL:
                mark_seen(self.raters[who].user, [page.study_pair.pair_id])

    @rule(who=RATERS)
    def submit_twice(self, who: int) -> None:
        if who not in self.pages:
            return
        page, seen = self.pages[who]
        try:
            first = ratings.submit_rating(page, page.token, said(1, "twice"), seen)
        except (BadRating, RatedMeanwhile, Lapsed, QueueClosed):
            return
        assert ratings.submit_rating(page, page.token, said(1, "twice"), seen) == first
        if first.pk not in self.accepted[page.pk]:
            self.accepted[page.pk].append(first.pk)

    @rule(who=RATERS)
    def load_again(self, who: int) -> None:
        if who in self.pages:
            number = self.pages[who][0].study_pair.number
            self.served(who, queue.open_assignment(self.raters[who].user, self.study.pk, number))

    @rule(who=RATERS)
    def beat(self, who: int) -> None:
        if who not in self.pages:
            return
        page = self.pages[who][0]
        now = Assignment.objects.get(pk=page.pk)
        holds = now.is_open and now.token == page.token and not self.fresh(who).removed
        try:
            queue.record_heartbeat(page, page.token)
        except Lapsed:
            assert not holds
        else:
            assert holds

    @rule(who=RATERS)
    def skip(self, who: int) -> None:
        if who not in self.pages:
            return
        page = self.pages[who][0]
        try:
            queue.skip_assignment(page, page.token, "can't say")
        except (queue.BadSkip, Lapsed):
            return
        assert Assignment.objects.get(pk=page.pk).state == State.SKIPPED

    @rule(who=RATERS)
    def undo(self, who: int) -> None:
        """Appends; what was accepted stays in the history."""
        count = Rating.objects.count()
        try:
            found = undoing.undo_decision(self.fresh(who))
        except NothingToTakeBack:
            assert Rating.objects.count() == count
            return
        self.served(who, found)

    @rule(who=RATERS)
    def run_out(self, who: int) -> None:
        past = timezone.now() - timedelta(seconds=1)
        self.raters[who].assignments.filter(state__in=queue.OPEN).update(reserved_until=past)

    @rule()
    def expire(self) -> None:
        locked = set(Assignment.objects.filter(state=State.LOCKED).values_list("pk", "token"))
        queue.expire_reservations()
        assert not Assignment.objects.filter(state=State.RESERVED, reserved_until__lt=timezone.now())
        assert set(Assignment.objects.filter(state=State.LOCKED).values_list("pk", "token")) == locked

    @precondition(lambda self: len(self.pages) > 3)
    @rule(who=st.just(2))
    def leave(self, who: int) -> None:
        queue.leave_study(self.fresh(who))
        assert not self.raters[who].assignments.filter(state__in=queue.OPEN).exists()

    @precondition(lambda self: len(self.pages) > 2)
    @rule(who=st.sampled_from([1, 2]))
    def exclude(self, who: int) -> None:
        enrolling.remove_rater(self.fresh(who), "slept", factories.ada(), exclude=True)
        assert not self.raters[who].assignments.filter(
            state__in=[*queue.OPEN, State.DONE], study_pair__planted=""
        )

    @rule(who=st.sampled_from([1, 2]))
    def include(self, who: int) -> None:
        excluded = self.fresh(who).excluded
        try:
            enrolling.include_excluded_rater(self.fresh(who), "it was a mistake", factories.ada())
        except StudyRefused:
            assert not excluded

    @invariant()
    def quotas_are_exact(self) -> None:
        if not hasattr(self, "study"):
            return
        states: Counter[tuple[Any, ...]] = Counter()
        for pair, condition, state in Assignment.objects.values_list("study_pair", "condition", "state"):
            states[pair, condition, "reserved"] += state in {State.RESERVED, State.LOCKED, State.DONE}
            states[pair, condition, "done"] += state == State.DONE
        for quota in Quota.objects.all():
            key = quota.study_pair_id, quota.condition_id
            assert (quota.reserved, quota.done) == (states[*key, "reserved"], states[*key, "done"])
            assert quota.reserved <= quota.wanted

    @invariant()
    def no_disagreement_is_forgotten(self) -> None:
        """One more is wanted only where the plan says so, and of a split wherever somebody could give it."""
        if not hasattr(self, "study"):
            return
        for quota in Quota.objects.filter(study_pair__planted="").select_related("study_pair", "condition"):
            planned = quota.condition.raters
            assert quota.wanted in ({planned, planned + 1} if self.study.one_more else {planned})
            if self.study.one_more and quota.done == quota.wanted == planned and self.is_split(quota):
                assert not list(extra_raters.find_eligible_raters(quota))

    def is_split(self, quota: Quota) -> bool:
        """Worked out from the tables, without the code that routes."""
        blind = Rating.objects.current().filter(phase=Rating.Phase.BLIND)
        place = {"assignment__study_pair": quota.study_pair, "assignment__condition": quota.condition}
        values = list(blind.filter(**place, assignment__state=State.DONE).values_list("value", flat=True))
        return max(values.count(0), values.count(1)) * 2 <= len(values)

    @invariant()
    def the_flow_adds_up(self) -> None:
        """Every place is given, open, free or given up, and all that was handed out became something."""
        if hasattr(self, "study"):
            adds_up(flow_of(self.study, 5, Undecided(0, 0, 0, 0)))

    @invariant()
    def a_locked_label_keeps_its_place_for_its_rater(self) -> None:
        if not hasattr(self, "study"):
            return
        blind = Rating.objects.current().filter(phase=Rating.Phase.BLIND).values_list("assignment")
        for row in Assignment.objects.filter(state=State.LOCKED).exclude(pk__in=blind):
            raise AssertionError(f"{row} is locked without a label")

    @invariant()
    def nobody_has_a_pair_twice_or_two_open_or_more_than_they_can(self) -> None:
        if not hasattr(self, "study"):
            return
        for enrolment in Enrolment.objects.all():
            rows = list(enrolment.assignments.values_list("study_pair", "state", "position"))
            assert len({pair for pair, _, _ in rows}) == len(rows)
            assert sorted(place for _, _, place in rows) == list(range(1, len(rows) + 1))
            assert len(rows) <= enrolment.capacity

    @invariant()
    def nothing_accepted_is_lost(self) -> None:
        if not hasattr(self, "study"):
            return
        for assignment, keys in self.accepted.items():
            history = list(Rating.objects.filter(assignment=assignment).order_by("id"))
            assert set(keys) <= {row.pk for row in history}
            for phase in Rating.Phase:
                revisions = [row.revision for row in history if row.phase == phase]
                assert revisions == list(range(1, len(revisions) + 1))

    @invariant()
    def what_is_done_has_a_rating_and_nothing_else_has(self) -> None:
        if not hasattr(self, "study"):
            return
        second = {Kind.READING: Rating.Phase.BLIND, Kind.REVEAL: Rating.Phase.REVISED}
        current = set(Rating.objects.current().values_list("assignment", "phase"))
        for row in Assignment.objects.select_related("condition"):
            done = (row.pk, second[Kind(row.condition.kind)]) in current
            assert done == (row.state in {State.DONE, State.LEFT_OUT}), (row.state, current)

    def teardown(self) -> None:
        """Whoever is left goes on to the end: then no place is free that anybody could take."""
        try:
            if sys.exc_info()[0] is None and hasattr(self, "study"):
                self.finish_all()
        finally:
            transaction.set_rollback(True)
            self.scratch.__exit__(None, None, None)

    def finish_all(self) -> None:
        Assignment.objects.filter(state=State.RESERVED).update(
            reserved_until=timezone.now() - timedelta(seconds=1)
        )
        for number in [*range(len(self.raters))] * 2:
            self.finish(number)
        for number in range(len(self.raters)):
            enrolment = self.fresh(number)
            assert enrolment.finished_at is not None or not self.free_for(enrolment)
            assert next_pair.choose_next_pair(enrolment) is None or enrolment.finished_at is not None
        for quota in Quota.objects.filter(wanted__gt=F("condition__raters"), reserved__lt=F("wanted")):
            assert list(extra_raters.find_eligible_raters(quota)), (
                "no study waits for a rating that never comes"
            )

    def finish(self, number: int) -> None:
        if self.fresh(number).removed:
            return
        while (found := queue.next_assignment(self.fresh(number))) is not None:
            phase = ratings.phase_of(found, found.token)
            ratings.submit_rating(
                found, found.token, said(1), ratings.revision_seen(ratings.last_of(found, phase))
            )


def test_whatever_happens_in_whatever_order(db: None) -> None:
    run_state_machine_as_test(
        Queue,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
