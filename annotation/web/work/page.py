"""What waits for a person, and all that they review, rate and decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse

from annotation.models import Build, Comment, Filling, Study
from annotation.review.comments import find_unread_mentions
from annotation.review.label_pace import seconds_a_label
from annotation.review.worklists.order import Show, count_assigned
from annotation.studies.enrolment import rater_studies
from annotation.web.missing_functions.proposals import job_lines
from annotation.web.rating.study_list import StudyLine
from annotation.web.rating.study_list import study_line as rated_study
from annotation.web.review.worklists import build_lines
from annotation.web.studies.split_pairs import studies_page
from retrieval.texts.plurals import count_noun

MOST_MENTIONS: Final = 99
"""More unread comments are not counted."""


@dataclass(frozen=True, slots=True)
class WorkCard:
    """One thing that waits. `seconds`: about how long it takes, where that is known.

    `guide`: the address of the rules for labels, of a review.
    """

    title: str
    name: str
    waits: str
    button: str
    url: str
    seconds: float | None = None
    guide: str = ""


@dataclass(frozen=True, slots=True)
class WorkPage:
    """Your work: a card for each thing that waits, then all builds, studies, decisions and jobs."""

    cards: list[WorkCard]
    builds: list[dict[str, Any]]
    studies: list[StudyLine]
    decisions: dict[str, Any]
    jobs: list[tuple[Filling, Mapping[str, int]]]


def work_page(
    user: User, builds: QuerySet[Build], fillings: QuerySet[Filling], params: QueryDict
) -> WorkPage:
    """`builds` and `fillings` are those that the person may see; `params` turns the pages of decisions.

    The cards begin with what others wait for.
    """
    lines = build_lines(user, builds)
    studies = [rated_study(enrolment) for enrolment in rater_studies.enrolments_of(user)]
    decisions = studies_page(user, params)
    jobs = job_lines(fillings)
    mentions = find_mentions_card(user, builds)
    cards = [
        *([mentions] if mentions else ()),
        *rating_cards(studies),
        *deciding_cards(decisions["rows"]),
        *assigned_cards(user, builds),
        *review_cards(user, lines),
        *function_cards(jobs),
    ]
    return WorkPage(cards, lines, studies, decisions, jobs)


def find_mentions_card(user: User, builds: QuerySet[Build]) -> WorkCard | None:
    """Comments that are meant for the person and not read yet; the button leads to the oldest. One query."""
    unread = find_unread_mentions(user, builds).select_related("comment__pair__query")
    rows = [mention.comment for mention in unread[:MOST_MENTIONS]]
    if not rows:
        return None
    answers = sum(comment.kind == Comment.Kind.ANSWER for comment in rows)
    named = len(rows) - answers
    waits = [f"{count_noun(named, 'comment')} {'mention' if named > 1 else 'mentions'} you"] if named else []
    waits += [f"{count_noun(answers, 'answer')} to your flags"] if answers else []
    url = reverse("review-case", args=[rows[0].case_id])
    return WorkCard("Comments", rows[0].pair.query.head, " and ".join(waits), "Read", url)


def rating_cards(studies: Iterable[StudyLine]) -> Iterator[WorkCard]:
    """A card for each study in which the person has something to read, or pairs to rate."""
    for line in studies:
        if line.wanted or line.can_go_on:
            yield rating_card(line)


def rating_card(line: StudyLine) -> WorkCard:
    if line.can_go_on:
        button, url = "Continue" if line.work.done else "Start", reverse("rate-next", args=[line.pk])
    else:
        button, url = "Read and start", reverse("rate-study", args=[line.pk])
    waits = f"{count_noun(line.work.left, 'pair')} to rate" if line.work.left else "guidelines to read"
    return WorkCard("Rate", line.name, waits, button, url, line.seconds_left or None)


def deciding_cards(rows: Iterable[tuple[Study, str, int, int]]) -> Iterator[WorkCard]:
    """A card for each of the newest studies with pairs on which raters disagree."""
    for study, closed, waiting, _ in rows:
        if waiting and not closed:
            yield deciding_card(study, waiting)


def deciding_card(study: Study, waiting: int) -> WorkCard:
    url = reverse("adjudication-queue", args=[study.pk], query={"next": "yes"})
    return WorkCard("Decide", study.name, f"{count_noun(waiting, 'disagreement')} to decide", "Decide", url)


def assigned_cards(user: User, builds: QuerySet[Build]) -> Iterator[WorkCard]:
    """A card for each build with pairs that were assigned to the person and wait for their label."""
    pace = None
    for build, name, waiting in count_assigned(user, builds):
        pace = pace or seconds_a_label(user)
        url = f"{reverse('review-next', args=[build])}?show={Show.ASSIGNED}"
        seconds = waiting * pace if pace else None
        yield WorkCard(
            "Assigned to you", name, f"{count_noun(waiting, 'pair')} to check", "Review", url, seconds
        )


def review_cards(user: User, builds: Iterable[Mapping[str, Any]]) -> Iterator[WorkCard]:
    """A card for each build with pairs that the person has not labelled yet."""
    pace = seconds_a_label(user)
    for line in builds:
        if line["left"]:
            url = reverse("review-next", args=[line["pk"]])
            yield WorkCard(
                "Review",
                line["name"],
                f"{count_noun(line['left'], 'pair')} to check",
                "Continue" if line["reviewed"] else "Start",
                f"{url}?show=unsettled" if line["for_experts"] else url,
                line["left"] * pace if pace else None,
                reverse("review-guidelines", args=[line["pk"]]),
            )


def function_cards(jobs: Iterable[tuple[Filling, Mapping[str, int]]]) -> Iterator[WorkCard]:
    """A card for each job of which written and tested functions wait for an expert."""
    for filling, counts in jobs:
        if waiting := counts["waiting"]:
            url = reverse("proposals-next", args=[filling.pk])
            name = filling.of.name
            yield WorkCard("Generated functions", name, f"{waiting:,} to accept or reject", "Review", url)
