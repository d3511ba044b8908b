"""Studies for benches: one that is finished, for its figures, and one whose raters are at work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User

from annotation.models import (
    Acknowledgement,
    Assignment,
    Case,
    Condition,
    Enrolment,
    Guideline,
    Quota,
    Rating,
    Study,
    StudyPair,
)
from bench.seed.tables import MOMENT

PAIRS: Final = 1_000
RATERS: Final = 5
RATED, OPEN = "rated", "at work"
CONDITION: Final = Condition.Kind.OWN_TESTS
SPLIT: Final = 11
"""One rating in so many is not the agents' label."""


def make_finished_study(build: int, admin: User, raters: Sequence[User]) -> Study:
    """A closed study of which every pair has a rating by each of the raters."""
    made = make_seed_study(RATED, build, admin, Study.State.CLOSED, len(raters), done=True)
    condition = made.conditions.get()
    enrolled = [enrol_seed_rater(made, condition, user, number) for number, user in enumerate(raters, 1)]
    pairs = list(made.pairs.select_related("case").order_by("number"))
    assigned = Assignment.objects.bulk_create(assign_all_pairs(pairs, condition, enrolled), batch_size=500)
    labels = {pair.pk: pair.case.label if pair.case else None for pair in pairs}
    Rating.objects.bulk_create(
        (make_seed_rating(one, number, labels[one.study_pair_id]) for number, one in enumerate(assigned)),
        batch_size=500,
    )
    return made


def at_work(build: int, admin: User, raters: Sequence[User]) -> Study:
    """A running study that wants as many ratings of each pair, from any of the raters; none is there yet."""
    made = make_seed_study(OPEN, build, admin, Study.State.RUNNING, RATERS)
    condition = made.conditions.get()
    for number, user in enumerate(raters, 1):
        enrol_seed_rater(made, condition, user, number)
    return made


def make_seed_study(
    name: str, build: int, admin: User, state: str, wanted: int, *, done: bool = False
) -> Study:
    """A study of pairs all over the build, with its only condition and its quotas."""
    rules, _ = Guideline.objects.get_or_create(
        name="bench", version=1, defaults={"text": "A match does all that the query asks."}
    )
    made = Study.objects.create(
        name=name, state=state, seed=1, reference=CONDITION, created_by=admin, guideline=rules
    )
    made.builds.add(build)
    condition = Condition.objects.create(study=made, kind=CONDITION, raters=wanted)
    pairs = StudyPair.objects.bulk_create(sample_study_pairs(made, build), batch_size=500)
    counts = {"reserved": wanted, "done": wanted} if done else {}
    Quota.objects.bulk_create(
        (Quota(study_pair=pair, condition=condition, wanted=wanted, **counts) for pair in pairs),
        batch_size=500,
    )
    Study.objects.filter(pk=made.pk).update(planned_pairs=len(pairs), started_at=MOMENT)
    return made


def sample_study_pairs(study: Study, build: int) -> Iterator[StudyPair]:
    """Cases at equal distances, the same number of a small build and of a large one."""
    keys = list(Case.objects.filter(build=build).order_by("pk").values_list("pk", "pair_id"))
    chosen = keys[:: max(1, len(keys) // PAIRS)][:PAIRS]
    for number, (case, pair) in enumerate(chosen, 1):
        yield StudyPair(
            study=study, number=number, pair_id=pair, case_id=case, probability=len(chosen) / len(keys)
        )


def enrol_seed_rater(study: Study, condition: Condition, user: User, number: int) -> Enrolment:
    """A rater who has accepted the information and read the guidelines."""
    assert study.guideline is not None, "it was made with one"
    Acknowledgement.objects.get_or_create(guideline=study.guideline, user=user)
    return Enrolment.objects.create(
        study=study,
        user=user,
        condition=condition,
        capacity=PAIRS,
        pseudonym=f"R{number:02}",
        seed=number,
        accepted_at=MOMENT,
    )


def assign_all_pairs(
    pairs: Sequence[StudyPair], condition: Condition, enrolled: Sequence[Enrolment]
) -> Iterator[Assignment]:
    """Every pair, done by everyone."""
    for enrolment in enrolled:
        for position, pair in enumerate(pairs, 1):
            yield Assignment(
                enrolment=enrolment,
                study_pair=pair,
                condition=condition,
                rater=enrolment.user,
                state=Assignment.State.DONE,
                position=position,
                token="t" * 32,
                reserved_until=MOMENT + timedelta(minutes=30),
                done_at=MOMENT,
            )


def make_seed_rating(one: Assignment, number: int, label: int | None) -> Rating:
    """What its rater said: mostly what the agents did."""
    value = label if label is None or number % SPLIT else 1 - label
    return Rating(assignment=one, revision=1, value=value, evidence="0" * 64, seconds=20.0 + number % 40)
