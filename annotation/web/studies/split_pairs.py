"""Lists of pairs on which raters split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict
from django.shortcuts import get_object_or_404

from annotation.accounts.roles import Role, has_role
from annotation.models import Rating, Study, StudyPair
from annotation.studies.adjudication.decisions import (
    Split,
    find_split_places,
    load_split_pairs,
    may_adjudicate,
    refuse_adjudication,
)
from annotation.studies.adjudication.unsettled_pairs import one_more_asked
from annotation.studies.enrolment.raters import rates_in
from annotation.studies.report.figures import open_to
from annotation.web.rating.words import UNDECIDED, value_sign
from annotation.web.shared.pagination import load_page_window

PAGE_SIZE: Final = 20


def begun_studies() -> QuerySet[Study]:
    """The studies that people of ours rate in, or have."""
    return Study.objects.exclude(state=Study.State.DRAFT).exclude(kind=Study.Kind.IMPORTED)


def open_study(user: User, pk: int) -> Study:
    """A study that was begun. Raises Http404, and MayNotAdjudicate to those who are kept blind in it."""
    study = get_object_or_404(begun_studies(), pk=pk)
    refuse_adjudication(user, study)
    return study


def studies_page(user: User, params: QueryDict) -> dict[str, Any]:
    """The studies that were begun, the newest first; only what the page shows is counted.

    `rows` are those with something to decide, or closed to the person; `decided` those where all is decided.
    """
    page = load_page_window(begun_studies(), ("-id",), params, PAGE_SIZE)
    rows = [study_line(user, study) for study in page.rows]
    return {
        "rows": [row for row in rows if row[1] or row[2]],
        "decided": [row for row in rows if not row[1] and not row[2] and row[3]],
        "previous": page.previous,
        "next": page.next,
    }


def study_line(user: User, study: Study) -> tuple[Study, str, int, int]:
    """The study, why it is closed to the person, how many pairs wait for a decision, how many have one."""
    closed = may_adjudicate(user, study)
    found = {} if closed else find_split_places(study)
    decided = sum(decision is not None for decision in found.values())
    return study, closed, len(found) - decided, decided


def first_waiting(study: Study, user: User) -> Split | None:
    """The pair to decide next: of those that the person did not rate, the one with the lowest agreement."""
    rated = Rating.objects.filter(assignment__rater=user).values("assignment__study_pair__pair")
    own = set(study.pairs.filter(pair__in=rated).values_list("pk", flat=True))
    waiting = (split for split in load_split_pairs(study) if split.decision is None)
    return next((split for split in waiting if split.study_pair not in own), None)


def queue_page(study: Study, user: User) -> dict[str, Any]:
    """The queue of one study: what waits, the lowest agreement first, then what is decided.

    `one_more`: of how many pairs another rater is asked first; `open_study`, `figures`: whether the person
    may look at the study's own page and its figures. A few queries and one for the texts.
    """
    found = load_split_pairs(study)
    names = {condition.pk: condition.get_kind_display() for condition in study.conditions.all()}
    shown = StudyPair.objects.filter(pk__in=[split.study_pair for split in found])
    heads = dict(shown.values_list("pk", "pair__query__head"))
    lines = [split_line(study, split, names, heads) for split in found]
    return {
        "study": study,
        "waiting": [line for line in lines if line["decision"] is None],
        "decided": [line for line in lines if line["decision"] is not None],
        "one_more": len(one_more_asked(study)),
        "open_study": has_role(user, Role.ADMIN) and not rates_in(user, study),
        "figures": open_to(user, study),
    }


def split_line(
    study: Study, split: Split, names: Mapping[int, str], heads: Mapping[int, str]
) -> dict[str, Any]:
    """A pair in the queue. `agreement` is in percent; `decision` is None while it waits."""
    decision = split.decision
    return {
        "number": split.number,
        "condition": split.condition,
        "condition_name": names[split.condition],
        "query": heads[split.study_pair],
        "votes": [value_sign(study.scale, vote) for vote in split.votes],
        "agreement": round(100 * split.agreement),
        "decision": value_sign(study.scale, decision.value, UNDECIDED) if decision else None,
    }
