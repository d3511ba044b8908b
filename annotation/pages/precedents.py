"""The list of precedents: decisions on hard cases that later ones are held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict

from annotation.models import Precedent, Study
from annotation.pages.code import Code
from annotation.pages.evidence import candidate_code
from annotation.pages.paging import window
from annotation.pages.split_lists import UNDECIDED, value_sign
from annotation.pages.words import Sign
from annotation.studies.precedents import precedents

PAGE_SIZE: Final = 30


@dataclass(frozen=True, slots=True)
class PrecedentView:
    """One precedent."""

    pk: int
    guidelines: str
    query: str
    code: Code
    sign: Sign
    why: str
    tags: tuple[str, ...]
    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PrecedentsPage:
    """A page of precedents. `asked` is whether anything was searched for."""

    rows: tuple[PrecedentView, ...]
    text: str
    guidelines: str
    all_guidelines: tuple[str, ...]
    previous: str
    next: str

    @property
    def asked(self) -> bool:
        return bool(self.text or self.guidelines)


def precedents_page(user: User, params: QueryDict) -> PrecedentsPage:
    """What is searched for, a page at a time."""
    text, guidelines = params.get("q", ""), params.get("guidelines", "")
    page = window(precedents(user, text, guidelines), ("-id",), params, PAGE_SIZE)
    return PrecedentsPage(
        rows=tuple(precedent_view(row) for row in page.rows),
        text=text,
        guidelines=guidelines,
        all_guidelines=tuple(names_of(precedents(user))),
        previous=page.previous,
        next=page.next,
    )


def names_of(rows: QuerySet[Precedent]) -> Iterable[str]:
    return rows.order_by("guideline_name").values_list("guideline_name", flat=True).distinct()[:PAGE_SIZE]


def precedent_view(row: Precedent) -> PrecedentView:
    decision = row.adjudication
    scale = decision.condition.study.scale if decision else Study.Scale.BINARY
    return PrecedentView(
        pk=row.pk,
        guidelines=row.guideline_name,
        query=row.query,
        code=candidate_code(row.code, prefix=f"p{row.pk}"),
        sign=value_sign(scale, row.value, UNDECIDED),
        why=row.why,
        tags=tuple(str(tag) for tag in row.tags),
        who=row.created_by.get_username(),
        at=row.created_at,
    )
