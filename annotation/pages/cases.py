"""The cases behind a number on a build's page: one list with filters, by page, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.causes import said
from annotation.models import Build, Case
from annotation.pages.browse import LONGEST_SEARCH, chosen
from annotation.pages.case_lists import SORTS, Filters, found, listed, wanted
from annotation.pages.counting import Number, number_of
from annotation.pages.figures import AGENTS
from annotation.pages.paging import counted
from annotation.pages.tagging import TAG_WORDS
from annotation.pages.words import OUTCOMES, Sign, case_sign
from annotation.stages import Stage
from sandbox.report import Outcome

PAGE_SIZE: Final = 50
LONGEST_CAUSE: Final = 130

STAGES: Final = tuple((stage.value, stage.replace("_", " ")) for stage in Stage)
LABELS: Final = (("1", "match"), ("0", "no match"), ("none", "no label"))
RAN: Final = (("yes", "ran"), ("no", "did not run"))
OUTCOME_WORDS: Final = tuple(
    (outcome.value, OUTCOMES[outcome].word) for outcome in Outcome if outcome is not Outcome.UNAVAILABLE
)
REACHED_WORDS: Final = (
    ("screened", "screened"),
    ("clear", "clear to the screener"),
    ("unclear", "unclear to the screener"),
    ("written", "has its test program"),
    ("executed", "was executed"),
    ("fixed", "lacked a module"),
    ("arbitrated", "arbitrated"),
)
DIFFERENCES: Final = (("experts", "expert ≠ agents"),)
"""Said by a person of the pair, or of its test."""
AGENT_WORDS: Final = tuple((agent, agent.replace("_", " ")) for agent in AGENTS.values())


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in the list; texts are the beginnings that lists show."""

    pk: int
    round: int
    rank: int
    score: float
    at: datetime
    query: str
    snippet: str
    stage: str
    sign: Sign
    outcome: Sign | None
    reason: str


@dataclass(frozen=True, slots=True)
class CasesPage:
    build: Build
    filters: Filters
    cases: tuple[CaseRow, ...]
    pairs: tuple[int, ...]
    number: Number
    previous: str
    next: str
    cause: str
    options: Mapping[str, Sequence[tuple[str, str]]]


def cases_number(build: Build, visible: QuerySet[Build], params: QueryDict) -> Number:
    """How many cases pass the filters, alone."""
    rows = wanted(build, visible, filters_of(params))
    return number_of(counted(rows), rows, params)


def filters_of(params: QueryDict) -> Filters:
    """The filters in a query string; what is not on the menu counts as not given."""
    return Filters(
        stage=chosen(params.get("stage", ""), STAGES),
        reached=chosen(params.get("reached", ""), REACHED_WORDS),
        label=chosen(params.get("label", ""), LABELS),
        outcome=chosen(params.get("outcome", ""), OUTCOME_WORDS),
        ran=chosen(params.get("ran", ""), RAN),
        agent=chosen(params.get("agent", ""), AGENT_WORDS),
        tag=chosen(params.get("tag", ""), TAG_WORDS),
        cause=params.get("cause", "").replace("\x00", "")[:LONGEST_CAUSE],
        left=chosen(params.get("left", ""), STAGES),
        q=params.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH],
        differs=chosen(params.get("differs", ""), DIFFERENCES),
        sort=params.get("sort", "") if params.get("sort") in SORTS else "made",
    )


def cases_page(build: Build, visible: QuerySet[Build], params: QueryDict) -> CasesPage:
    """One page of the build's cases that pass the filters; `visible` are the builds whose reviews count.

    What the page shows of its cases is read once it is known which they are.
    """
    filters = filters_of(params)
    page = found(build, visible, filters, params, PAGE_SIZE)
    cases = listed([case.pk for case in page.window.rows])
    return CasesPage(
        build=build,
        filters=filters,
        cases=tuple(case_row(case) for case in cases),
        pairs=tuple(case.pair_id for case in cases),
        number=number_of(page.count, wanted(build, visible, filters), params),
        previous=page.window.previous,
        next=page.window.next,
        cause=said(filters.cause)[0] if filters.cause else "",
        options={
            "stage": STAGES,
            "reached": REACHED_WORDS,
            "label": LABELS,
            "outcome": OUTCOME_WORDS,
            "ran": RAN,
            "agent": AGENT_WORDS,
            "differs": DIFFERENCES,
            "sort": tuple((name, sort.word) for name, sort in SORTS.items()),
            "tag": TAG_WORDS,
        },
    )


def case_row(case: Case) -> CaseRow:
    return CaseRow(
        pk=case.pk,
        round=case.round,
        rank=case.rank,
        score=case.score,
        at=case.updated_at,
        query=case.pair.query.head,
        snippet=case.pair.snippet.head,
        stage=case.stage,
        sign=case_sign(case.stage, case.label),
        outcome=OUTCOMES[case.execution.outcome] if case.execution else None,
        reason=case.reason,
    )
