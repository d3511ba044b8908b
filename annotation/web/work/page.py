"""What waits for a person: studies to rate, pairs to review, splits to decide, functions to accept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Avg, QuerySet
from django.http import QueryDict
from django.urls import reverse

from annotation.models import Build, Filling, Review, Study
from annotation.studies.enrolment import rater_studies
from annotation.web.missing_functions.proposals import job_lines
from annotation.web.rating.study_list import StudyLine
from annotation.web.rating.study_list import study_line as rated_study
from annotation.web.review.worklists import build_lines
from annotation.web.studies.split_pairs import studies_page
from retrieval.texts.plurals import count_noun

TIMED: Final = 50
"""So many of a person's latest labels tell how long the next ones take."""


@dataclass(frozen=True, slots=True)
class WorkCard:
    """One thing that waits. `seconds`: about how long it takes, where that is known."""

    title: str
    name: str
    waits: str
    button: str
    url: str
    seconds: float | None = None


def list_work_cards(user: User, builds: QuerySet[Build], fillings: QuerySet[Filling]) -> list[WorkCard]:
    """All that waits for the person, what others wait for first; `builds` and `fillings` are visible ones."""
    return [
        *rating_cards(user),
        *deciding_cards(user),
        *review_cards(user, builds),
        *function_cards(fillings),
    ]


def rating_cards(user: User) -> Iterator[WorkCard]:
    """A card for each study in which the person has something to read, or pairs to rate."""
    for line in map(rated_study, rater_studies.enrolments_of(user)):
        if line.wanted or line.can_go_on:
            yield rating_card(line)


def rating_card(line: StudyLine) -> WorkCard:
    if line.can_go_on:
        button, url = "Continue" if line.work.done else "Start", reverse("rate-next", args=[line.pk])
    else:
        button, url = "Read and start", reverse("rate-study", args=[line.pk])
    waits = f"{count_noun(line.work.left, 'pair')} to rate" if line.work.left else "guidelines to read"
    return WorkCard("Rate", line.name, waits, button, url, line.seconds_left or None)


def deciding_cards(user: User) -> Iterator[WorkCard]:
    """A card for each of the newest studies with pairs on which raters disagree."""
    for study, closed, waiting, _ in studies_page(user, QueryDict())["rows"]:
        if waiting and not closed:
            yield deciding_card(study, waiting)


def deciding_card(study: Study, waiting: int) -> WorkCard:
    url = reverse("adjudication-queue", args=[study.pk])
    return WorkCard("Decide", study.name, f"{count_noun(waiting, 'disagreement')} to decide", "Decide", url)


def review_cards(user: User, builds: QuerySet[Build]) -> Iterator[WorkCard]:
    """A card for each build with pairs that the person has not labelled yet."""
    pace = seconds_a_label(user)
    for line in build_lines(user, builds):
        if line["left"]:
            url = reverse("review-next", args=[line["pk"]])
            yield WorkCard(
                "Review",
                line["name"],
                f"{count_noun(line['left'], 'pair')} to check",
                "Continue" if line["reviewed"] else "Start",
                f"{url}?show=unsettled" if line["for_experts"] else url,
                line["left"] * pace if pace else None,
            )


def seconds_a_label(user: User) -> float | None:
    """How long the person's latest labels took each; None where nobody measured it."""
    latest = Review.objects.filter(rater=user, seconds__gt=0).order_by("-id").values("pk")[:TIMED]
    found: float | None = Review.objects.filter(pk__in=list(latest.values_list("pk", flat=True))).aggregate(
        mean=Avg("seconds")
    )["mean"]
    return found


def function_cards(fillings: QuerySet[Filling]) -> Iterator[WorkCard]:
    """A card for each job of which written and tested functions wait for an expert."""
    for filling, counts in job_lines(fillings):
        if waiting := counts["waiting"]:
            url = reverse("proposals-next", args=[filling.pk])
            name = filling.of.name
            yield WorkCard("Generated functions", name, f"{waiting:,} to accept or reject", "Review", url)
