"""The sample's studies: one in which a visitor rates blind, and one with a split that waits for a decision.

The other raters are made up: they say the hand-made truth with a few slips, under accounts that nobody can
enter. They are there so that a visit ends with agreement, figures and a decision; the studies' names and
questions say so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.accounts.roles import Role
from annotation.models import Build, Case, Condition, Enrolment, Guideline, Study, StudyPair
from annotation.schemas.studies.studies import SampleWish
from annotation.studies.enrolment import queue, rater_studies
from annotation.studies.plan import control, creation, guidelines
from annotation.studies.plan.control import Action
from annotation.studies.plan.creation import ConditionWish, Order, RaterWish
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.plan.guidelines import Wording
from annotation.studies.rating import ratings
from cosqa_site.demo.accounts import RATER
from cosqa_site.demo.sample import truth_of
from retrieval.models import Member

SEED: Final = 1
NOBODY: Final = rater_studies.Profile("0", "made up for the demo", "none")


@dataclass(frozen=True)
class StudyWish:
    """A study of `pairs` pairs with `visitors` and made-up raters.

    `slips`: by made-up rater, every so many-th pair of the study gets the other label.
    """

    name: str
    question: str
    pairs: int
    visitors: tuple[str, ...]
    slips: Mapping[str, int]


TO_RATE: Final = StudyWish(
    "a study to try",
    "Do people who only read the code agree with the agents? Two of the three raters are made up.",
    12,
    (RATER,),
    {"made-up-1": 5, "made-up-2": 9},
)
TO_DECIDE: Final = StudyWish(
    "a split to decide",
    "Which label is right where raters split? All four raters are made up.",
    8,
    (),
    {"made-up-3": 5, "made-up-4": 5, "made-up-5": 9, "made-up-6": 9},  # two against two on the fifth pair
)


def ensure_sample_studies(build: Build, folder: Path) -> list[Study]:
    """The studies of the sample's build: earlier ones, or made now. None without pairs or guidelines."""
    found = (ensure_sample_study(build, folder, wish) for wish in (TO_RATE, TO_DECIDE))
    return [study for study in found if study is not None]


def ensure_sample_study(build: Build, folder: Path, wish: StudyWish = TO_RATE) -> Study | None:
    """One of them; a study without a visitor needs pairs enough for a split."""
    name = f"{build.name}: {wish.name}"[: creation.LONGEST_NAME]
    earlier = Study.objects.filter(name=name).first()
    queries = Case.objects.filter(build=build, label__isnull=False).values("query").distinct().count()
    is_too_small = not queries or (not wish.visitors and queries < wish.pairs)
    if earlier is not None or is_too_small or not (folder / "guidelines.md").exists():
        return earlier
    with transaction.atomic():
        return made_of(build, folder, replace(wish, name=name, pairs=min(wish.pairs, queries)))


def made_of(build: Build, folder: Path, wish: StudyWish) -> Study:
    """The study, started, with what the made-up raters say."""
    admin = User.objects.get(username=Role.ADMIN.value)
    made = creation.create_draft_study(
        order_sample_study(build, wish, ensure_sample_guideline(folder, admin)), admin
    )
    control.perform_study_action(made, Action.START, admin)
    for person, every in wish.slips.items():
        rate_sample_pairs(made.enrolments.get(user__username=person), every, true_labels(made, build, folder))
    return made


def ensure_sample_guideline(folder: Path, admin: User) -> Guideline:
    found = guidelines.find_latest_guideline(folder.name)
    text = (folder / "guidelines.md").read_text("utf-8")
    return found or guidelines.write_guideline_version(Wording(folder.name, text), admin)


def order_sample_study(build: Build, wish: StudyWish, guideline: Guideline) -> Order:
    visitors = [User.objects.get(username=name) for name in wish.visitors]
    people = [*visitors, *(made_up(person) for person in wish.slips)]
    reading = Condition.Kind.READING.value
    return Order(
        name=wish.name,
        builds=(build,),
        wish=SampleWish(size=wish.pairs, seed=SEED),
        conditions=(ConditionWish(reading, raters=len(people)),),
        raters=tuple(RaterWish(person, reading, wish.pairs) for person in people),
        reference=reading,
        question=wish.question,
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


def rate_sample_pairs(enrolment: Enrolment, every: int, truth: Mapping[int, int]) -> None:
    """Rate all pairs as a person would, by the same calls, in no time: times of ratings are measured."""
    guidelines.acknowledge_guideline(enrolment.study, enrolment.user)
    rater_studies.accept_study_information(enrolment, NOBODY)
    while (given := queue.next_assignment(enrolment)) is not None:
        number = given.study_pair.number
        label = truth[number] ^ int(number % every == 0)
        shown = hashlib.sha256(given.study_pair.pair.snippet.text.encode()).hexdigest()
        ratings.submit_rating(given, given.token, RaterStatement(label, "", "", (), 0.0, (), (), shown), 0)
