"""The sample's study: a few pairs that a visitor rates blind, beside two raters who are made up.

What the made-up ones say is the hand-made truth with a few slips, under accounts that nobody can enter. They
are there so that a visit ends with agreement, figures and a split; the study's name and question say so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access import Role
from annotation.models import Build, Case, Condition, Enrolment, Guideline, Study, StudyPair
from annotation.studies import controlling, creating, guiding, queueing, rating, welcoming
from annotation.studies.checking import Said
from annotation.studies.controlling import Action
from annotation.studies.creating import ConditionWish, Order, RaterWish
from annotation.studies.guiding import Wording
from annotation.studies.sampling.wishing import Wish
from cosqa_site.accounts import RATER
from cosqa_site.sample import truth_of
from retrieval.models import Member

PAIRS: Final = 12
SEED: Final = 1
NOBODY: Final = welcoming.Profile("0", "made up for the demo", "none")
SLIPS: Final[Mapping[str, int]] = {"made-up-1": 5, "made-up-2": 9}
"""By made-up rater: every so many-th pair of the study gets the other label."""
QUESTION: Final = (
    "Do people who only read the code agree with the agents? Two of the three raters are made up."
)


def study_of(build: Build, folder: Path) -> Study | None:
    """The study of the sample's build: an earlier one, or made now. None without pairs or guidelines."""
    name = f"{build.name}: a study to try"[: creating.LONGEST_NAME]
    earlier = Study.objects.filter(name=name).first()
    queries = Case.objects.filter(build=build, label__isnull=False).values("query").distinct().count()
    if earlier is not None or not queries or not (folder / "guidelines.md").exists():
        return earlier
    with transaction.atomic():
        return made_of(build, folder, name, min(PAIRS, queries))


def made_of(build: Build, folder: Path, name: str, size: int) -> Study:
    """The study, started, with what the made-up raters say."""
    admin = User.objects.get(username=Role.ADMIN.value)
    made = creating.make(order(build, name, size, guidelines(folder, admin)), admin)
    controlling.control(made, Action.START, admin)
    for person, every in SLIPS.items():
        rate(made.enrolments.get(user__username=person), every, true_labels(made, build, folder))
    return made


def guidelines(folder: Path, admin: User) -> Guideline:
    found = guiding.latest(folder.name)
    text = (folder / "guidelines.md").read_text("utf-8")
    return found or guiding.write(Wording(folder.name, text), admin)


def order(build: Build, name: str, size: int, guideline: Guideline) -> Order:
    people = [User.objects.get(username=RATER), *(made_up(person) for person in SLIPS)]
    reading = Condition.Kind.READING.value
    return Order(
        name=name,
        builds=(build,),
        wish=Wish(size, SEED),
        conditions=(ConditionWish(reading),),
        raters=tuple(RaterWish(person, reading, size) for person in people),
        reference=reading,
        question=QUESTION,
        information="This study is part of the demo. What you say stays in this installation.",
        guideline=guideline,
    )


def made_up(name: str) -> User:
    """Somebody whom nobody can log in as, and whom no other study can enrol."""
    user, new = User.objects.get_or_create(username=name, defaults={"is_active": False})
    if new:
        user.set_unusable_password()
        user.save()
    return user


def true_labels(study: Study, build: Build, folder: Path) -> dict[int, int]:
    """The hand-made truth of each pair of the study, by its number; no match where there is none."""
    names = [
        dict(Member.objects.filter(collection=one).values_list("text_id", "source_id"))
        for one in (build.queries_id, build.snippets_id)
    ]
    truth = truth_of(folder)
    rows = StudyPair.objects.filter(study=study).values_list("number", "pair__query", "pair__snippet")
    return {number: truth.get((names[0][query], names[1][code]), 0) for number, query, code in rows}


def rate(enrolment: Enrolment, every: int, truth: Mapping[int, int]) -> None:
    """Rate all pairs as a person would, by the same calls, in no time: times of ratings are measured."""
    guiding.acknowledge(enrolment.study, enrolment.user)
    welcoming.accept(enrolment, NOBODY)
    while (given := queueing.next_assignment(enrolment)) is not None:
        number = given.study_pair.number
        label = truth[number] ^ int(number % every == 0)
        shown = hashlib.sha256(given.study_pair.pair.snippet.text.encode()).hexdigest()
        rating.submit(given, given.token, Said(label, "", "", (), 0.0, (), (), shown), 0)
