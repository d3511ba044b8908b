"""A rater's own studies: what each still wants, and what has to be read and said before the first pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Assignment, Enrolment, Quota, Rating, Study, StudyPair
from annotation.studies.enrolment import extra_raters, next_pair, queue
from annotation.studies.plan import guidelines
from annotation.studies.plan.effort import SECONDS
from retrieval.models.prepared_query import PreparedQuery
from retrieval.texts.hostile import mark_hostile_characters

MOST_YEARS: Final = 70
LONGEST_OCCUPATION: Final = 120
LONGEST_LANGUAGES: Final = 200


class Wanted(StrEnum):
    """What a rater has to do before the next pair."""

    ACCEPT = "accept"
    ACKNOWLEDGE = "acknowledge"


class GuidelineChanged(ValueError):
    """Other guidelines hold than those that the rater was shown; the message says so."""


class BadProfile(ValueError):
    """The profile can't be stored so; `problems` says by field what to change."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Profile:
    """What a rater says of themselves, as typed, and the programming languages whose pairs they take.

    `code_languages` None: as they are.
    """

    years: str = ""
    occupation: str = ""
    languages: str = ""
    code_languages: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """How far a rater is. `left` is what can still be handed out; `seconds` were active.

    `done` counts what an admin has left out of the figures, too.
    """

    done: int
    skipped: int
    left: int
    seconds: float

    @property
    def total(self) -> int:
        return self.done + self.left

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None before the first pair."""
        return self.left * self.seconds / self.done if self.done and self.seconds else None


def enrolments_of(user: User | int) -> QuerySet[Enrolment]:
    """The person's (or an id's) studies that have begun, the newest first."""
    own = Enrolment.objects.filter(user=user).exclude(study__state=Study.State.DRAFT)
    return own.select_related("study__guideline", "condition").order_by("-study_id")


OWN_PART: PreparedQuery[Enrolment] = PreparedQuery(
    lambda user, study: enrolments_of(user).filter(study=study), int, int
)


def find_enrolment(user: User, study: int) -> Enrolment | None:
    """The person's part in a study (its id) that has begun; None where there is none."""
    found = OWN_PART.first(user.pk, study)
    if found:
        found.user = user  # not read a second time
    return found


def may_leave(enrolment: Enrolment) -> bool:
    """Whether there is a part of the rater's that could end early."""
    return enrolment.study.is_live and enrolment.left_at is None and enrolment.finished_at is None


def find_pending_requirements(enrolment: Enrolment) -> tuple[Wanted, ...]:
    """What is still to be done before a pair can be handed out."""
    unread = not guidelines.has_acknowledged_guideline(enrolment.study, enrolment.user)
    return (
        *([Wanted.ACCEPT] if enrolment.accepted_at is None else []),
        *([Wanted.ACKNOWLEDGE] if unread else []),
    )


def join_study(enrolment: Enrolment, profile: Profile, guideline: int | None) -> None:
    """Store in one step that the information text was accepted, the profile, and which guidelines were read.

    `guideline` is the id of the version that was shown. Raises GuidelineChanged where another one holds by
    now, and BadProfile; then nothing is stored.
    """
    if enrolment.study.guideline_id != guideline:
        raise GuidelineChanged("The guidelines were changed while you read. Here is the new version.")
    before = enrolment.code_languages
    with transaction.atomic():
        store_profile(enrolment, profile)
        guidelines.acknowledge_guideline(enrolment.study, enrolment.user)
    if enrolment.code_languages != before:
        follow_chosen_languages(enrolment.study)


def join_without_information(enrolment: Enrolment) -> None:
    """Let a rater in who has nothing to read and nothing to say of themselves."""
    study = enrolment.study
    if enrolment.accepted_at is None and not (study.information.strip() or study.asks_profile):
        accept_study_information(enrolment, Profile())


def accept_study_information(enrolment: Enrolment, profile: Profile) -> None:
    """Store that the information text was accepted, and the profile. Raises BadProfile; then nothing is."""
    before = enrolment.code_languages
    store_profile(enrolment, profile)
    if enrolment.code_languages != before:
        follow_chosen_languages(enrolment.study)


def follow_chosen_languages(study: Study) -> None:
    """Let go on who may have pairs again, and ask for no rating that nobody would give any more."""
    queue.reopen_finished_raters(study)
    extra_raters.request_extra_ratings(study)


def store_profile(enrolment: Enrolment, profile: Profile) -> None:
    """The rows of `accept_study_information`. Raises BadProfile; then nothing is stored."""
    offered = list_code_languages(enrolment.study)
    problems = problems_of(profile, required=enrolment.study.asks_profile)
    problems |= find_language_problems(profile, offered)
    if problems:
        raise BadProfile(problems)
    enrolment.years_of_python = int(profile.years) if profile.years.strip() else None
    enrolment.occupation = clean_profile_text(profile.occupation)
    enrolment.languages = clean_profile_text(profile.languages)
    if profile.code_languages is not None:
        chosen = [name for name in offered if name in profile.code_languages]
        enrolment.code_languages = [] if len(chosen) == len(offered) else chosen
    enrolment.accepted_at = enrolment.accepted_at or timezone.now()
    columns = ["years_of_python", "occupation", "languages", "code_languages", "accepted_at"]
    enrolment.save(update_fields=columns)


def list_code_languages(study: Study) -> tuple[str, ...]:
    """The programming languages that raters can choose from; none where the pairs have one at most."""
    names = study.pairs.exclude(language="").order_by("language").values_list("language", flat=True)
    found = tuple(names.distinct())
    return found if len(found) > 1 else ()


def find_language_problems(profile: Profile, offered: Sequence[str]) -> dict[str, str]:
    """What is wrong with the programming languages that were chosen of those `offered`, by field."""
    unknown = sorted(set(profile.code_languages or ()) - set(offered))
    if unknown:
        return {"code_languages": f"There is no choice of {', '.join(unknown)[:200]} in this study."}
    if offered and profile.code_languages == ():
        return {"code_languages": "Choose at least one language."}
    return {}


def problems_of(profile: Profile, *, required: bool) -> dict[str, str]:
    """By field what is wrong, empty where nothing is. Without `required` a field may be left empty."""
    problems: dict[str, str] = {}
    years = profile.years.strip()
    if (required or years) and not (
        years.isascii() and years.isdigit() and len(years) < 4 and int(years) <= MOST_YEARS
    ):
        problems["years"] = f"Give the years as a whole number from 0 to {MOST_YEARS}."
    for name, text, most in (
        ("occupation", profile.occupation, LONGEST_OCCUPATION),
        ("languages", profile.languages, LONGEST_LANGUAGES),
    ):
        if required and not clean_profile_text(text):
            problems[name] = "This is empty: the study reports it of all its raters together."
        elif len(clean_profile_text(text)) > most:
            problems[name] = f"At most {most} characters; these are {len(clean_profile_text(text)):,}."
    return problems


def clean_profile_text(text: str) -> str:
    return " ".join(mark_hostile_characters(text).split())


def profile_of(enrolment: Enrolment) -> Profile:
    """What is stored, to be shown in the form; from an earlier study of the person where there is none."""
    known = enrolment
    if enrolment.years_of_python is None:
        earlier = Enrolment.objects.filter(user=enrolment.user_id, years_of_python__isnull=False)
        known = earlier.order_by("-accepted_at").first() or enrolment
    years = "" if known.years_of_python is None else str(known.years_of_python)
    return Profile(years, known.occupation, known.languages, tuple(enrolment.code_languages) or None)


def work_of(enrolment: Enrolment) -> Work:
    """Four queries at most, none of which reads a case. Pairs seen elsewhere by the rater count as left."""
    State = Assignment.State  # noqa: N806 (a class)
    states = enrolment.assignments.aggregate(
        done=Count("pk", filter=Q(state__in=[State.DONE, State.LEFT_OUT])),
        skipped=Count("pk", filter=Q(state=State.SKIPPED)),
        open=Count("pk", filter=Q(state__in=[State.RESERVED, State.LOCKED])),
        lapsed=Count("pk", filter=Q(state=State.LAPSED)),
        given=Count("study_pair", distinct=True),
    )
    if enrolment.finished_at is not None:
        return Work(states["done"], states["skipped"], states["open"], active_seconds_of_rater(enrolment))
    new, again = free_for(enrolment)
    new = min(max(0, enrolment.capacity - states["given"]), new)
    left = new + again + states["open"] + states["lapsed"]
    return Work(states["done"], states["skipped"], left, active_seconds_of_rater(enrolment))


def free_for(enrolment: Enrolment) -> tuple[int, int]:
    """What could be handed out, planted pairs with it: pairs that the rater never had, and those that are
    asked again, which need no room in the capacity.
    """
    had = enrolment.assignments.order_by().values("study_pair")
    in_its_round = next_pair.given_to(enrolment, "study_pair").filter(round=OuterRef("round"))
    places = Quota.objects.filter(condition=enrolment.condition_id, reserved__lt=F("wanted"))
    places = places.filter(next_pair.is_of_languages(enrolment.code_languages, "study_pair__"))
    found = places.filter(study_pair__planted="").aggregate(
        new=Count("pk", filter=~Q(study_pair__in=had)),
        again=Count("pk", filter=Q(round__gt=1, study_pair__in=had) & ~Q(Exists(in_its_round))),
    )
    if not next_pair.may_have_planted(enrolment.study):
        return found["new"], found["again"]
    planted = StudyPair.objects.filter(study=enrolment.study_id, planted__gt="").exclude(pk__in=had)
    planted = planted.filter(next_pair.is_of_languages(enrolment.code_languages, ""))
    return found["new"] + planted.count(), found["again"]


def estimate_seconds_left(enrolment: Enrolment, work: Work) -> float:
    """What is left at the rater's pace; before their first pair at the one that the plan assumes."""
    if work.seconds_left is not None:
        return work.seconds_left
    kind = enrolment.condition.kind
    assumed = (enrolment.study.sample or {}).get("seconds", {}).get(kind, SECONDS[kind])
    return float(assumed) * work.left


def active_seconds_of_rater(enrolment: Enrolment) -> float:
    """Active time on all pairs: a pair's last revision holds the sum up to it."""
    said = Rating.objects.filter(assignment__enrolment=enrolment).order_by().values("assignment")
    return float(said.annotate(longest=Max("seconds")).aggregate(sum=Sum("longest"))["sum"] or 0)
