"""The list of precedents: decisions on hard cases that later ones are held against."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.models import User
from django.http import QueryDict

from annotation.models import Precedent, Study
from annotation.studies.adjudication.precedents import search_precedents
from annotation.web.cases.evidence import candidate_code
from annotation.web.rating.words import UNDECIDED, value_sign
from annotation.web.review.words import describe_lines
from annotation.web.shared.pagination import load_page_window
from annotation.web.shared.words import Sign

PAGE_SIZE: Final = 30


def precedents_page(user: User, params: QueryDict) -> dict[str, Any]:
    """What is searched for, a page at a time: each precedent with its code and its sign.

    `asked` is whether anything was searched for.
    """
    text, guidelines = params.get("q", ""), params.get("guidelines", "")
    page = load_page_window(search_precedents(user, text, guidelines), ("-id",), params, PAGE_SIZE)
    names = search_precedents(user).order_by("guideline_name").values_list("guideline_name", flat=True)
    return {
        "rows": [
            (row, candidate_code(row.code, prefix=f"p{row.pk}"), sign_of(row), describe_marked_lines(row))
            for row in page.rows
        ],
        "text": text,
        "guidelines": guidelines,
        "all_guidelines": names.distinct()[:PAGE_SIZE],
        "asked": text or guidelines,
        "previous": page.previous,
        "next": page.next,
    }


def sign_of(row: Precedent) -> Sign:
    """What was decided."""
    decision = row.adjudication
    scale = decision.condition.study.scale if decision else Study.Scale.BINARY
    return value_sign(scale, row.value, UNDECIDED)


def describe_marked_lines(row: Precedent) -> str:
    """The lines of the code that were the reason, in words; empty for none."""
    return describe_lines(row.adjudication) if row.adjudication else ""
