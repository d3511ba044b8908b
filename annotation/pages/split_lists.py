"""Lists of pairs on which raters split, and what a value of a scale is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User
from django.http import QueryDict

from annotation.access import Role, has_role
from annotation.models import Study, StudyPair
from annotation.pages.paging import window
from annotation.pages.words import MATCH, NO_MATCH, UNSURE, Sign
from annotation.studies.adjudicating import Split, may_adjudicate, places, splits
from annotation.studies.enrolling import rates_in
from annotation.studies.figures import open_to
from annotation.studies.unsettled import one_more_asked

SIGNS: Final[Mapping[str, Mapping[int, Sign]]] = MappingProxyType(
    {
        Study.Scale.BINARY: {1: MATCH, 0: NO_MATCH},
        Study.Scale.STEPS: {
            2: Sign("●", "all of it", "good"),
            1: Sign("◐", "at least half", "warn"),
            0: Sign("○", "less", "bad"),
        },
        Study.Scale.GRADED: {
            3: Sign("3", "exact", "good"),
            2: Sign("2", "strong", "good"),
            1: Sign("1", "weak", "warn"),
            0: Sign("0", "irrelevant", "bad"),
        },
        Study.Scale.PREFERENCE: {
            1: Sign("1", "the first snippet is better", "info"),
            0: Sign("=", "equally good"),
            -1: Sign("2", "the second snippet is better", "info"),
        },
    }
)
PAGE_SIZE: Final = 20
UNDECIDED: Final = Sign("–", "can't be decided")


@dataclass(frozen=True, slots=True)
class StudyLine:
    """A study with how much waits in it; `closed` says why it is closed to the person."""

    pk: int
    name: str
    waiting: int
    decided: int
    closed: str


@dataclass(frozen=True, slots=True)
class StudiesPage:
    """Some of the studies; `previous` and `next` are query strings, empty at an end."""

    rows: tuple[StudyLine, ...]
    previous: str
    next: str


@dataclass(frozen=True, slots=True)
class SplitLine:
    """A pair in the queue. `agreement` is in percent; `decision` is None while it waits."""

    number: int
    condition: int
    condition_name: str
    query: str
    votes: tuple[Sign, ...]
    agreement: int
    decision: Sign | None


@dataclass(frozen=True, slots=True)
class QueuePage:
    """The queue of one study: what waits, the lowest agreement first, then what is decided.

    `one_more`: of how many pairs another rater is asked first; `open_study`, `figures`: whether the person
    may look at the study's own page and its figures.
    """

    study: Study
    waiting: tuple[SplitLine, ...]
    decided: tuple[SplitLine, ...]
    one_more: int
    open_study: bool
    figures: bool


def value_sign(scale: str, value: int | None, none: Sign = UNSURE) -> Sign:
    """A value of a scale; `none` where there is no value."""
    return none if value is None else SIGNS[scale].get(value, Sign("?", str(value)))


def studies_page(user: User, params: QueryDict) -> StudiesPage:
    """The studies that were begun, the newest first; only what the page shows is counted."""
    begun = Study.objects.exclude(state=Study.State.DRAFT).exclude(kind=Study.Kind.IMPORTED)
    page = window(begun, ("-id",), params, PAGE_SIZE)
    return StudiesPage(tuple(study_line(user, study) for study in page.rows), page.previous, page.next)


def study_line(user: User, study: Study) -> StudyLine:
    closed = may_adjudicate(user, study)
    found = {} if closed else places(study)
    decided = sum(one is not None for one in found.values())
    return StudyLine(study.pk, study.name, len(found) - decided, decided, closed)


def queue_page(study: Study, user: User) -> QueuePage:
    """A few queries and one for the texts."""
    found = splits(study)
    names = {condition.pk: condition.get_kind_display() for condition in study.conditions.all()}
    heads = dict(
        StudyPair.objects.filter(pk__in=[one.study_pair for one in found]).values_list(
            "pk", "pair__query__head"
        )
    )
    lines = [(one, split_line(study, one, names[one.condition], heads[one.study_pair])) for one in found]
    return QueuePage(
        study=study,
        waiting=tuple(line for one, line in lines if one.decision is None),
        decided=tuple(line for one, line in lines if one.decision is not None),
        one_more=len(one_more_asked(study)),
        open_study=has_role(user, Role.ADMIN) and not rates_in(user, study),
        figures=open_to(user, study),
    )


def split_line(study: Study, split: Split, condition: str, query: str) -> SplitLine:
    decision = split.decision
    return SplitLine(
        number=split.number,
        condition=split.condition,
        condition_name=condition,
        query=query,
        votes=tuple(value_sign(study.scale, vote) for vote in split.votes),
        agreement=round(100 * split.agreement),
        decision=value_sign(study.scale, decision.value, UNDECIDED) if decision else None,
    )
