"""The cases behind a number on a build's page: one list with filters, by page, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.http import QueryDict

from annotation.causes import said
from annotation.models import Build, Case
from annotation.pages.browse import chosen
from annotation.pages.figures import AGENTS, REACHED
from annotation.pages.paging import counted, window
from annotation.pages.words import OUTCOMES, Sign, case_sign
from annotation.reached import EXECUTED, REACHING
from annotation.review.order import tagged_pairs
from annotation.review.tags import Tag, tag_name
from annotation.stages import Stage
from sandbox.report import Outcome

PAGE_SIZE: Final = 50
LONGEST_CAUSE: Final = 130
ORDER: Final = ("pk",)

UNLABELLED: Final = Q(stage__in=[stage.value for stage in Stage if stage is not Stage.SETTLED])
"""Only settled cases have a label, and stages have an index."""
REACHED_BY: Final = {agent: REACHED[stage] for stage, agent in AGENTS.items()}
"""How far a case came that an agent worked on."""
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
TAG_WORDS: Final = tuple((tag.value, tag_name(tag)) for tag in Tag)
"""Said by a person of the pair, or of its test."""
AGENT_WORDS: Final = tuple((agent, agent.replace("_", " ")) for agent in AGENTS.values())


@dataclass(frozen=True, slots=True)
class Filters:
    """Which cases are wanted; empty means all."""

    stage: str = ""
    reached: str = ""
    label: str = ""
    outcome: str = ""
    ran: str = ""
    agent: str = ""
    tag: str = ""
    cause: str = ""
    left: str = ""

    @property
    def of_test(self) -> bool:
        """Whether the cases are those whose test a person found wrong."""
        return bool(self.tag) and Tag(self.tag).of_test

    @property
    def narrow(self) -> bool:
        return bool(self.query)

    @property
    def query(self) -> str:
        """The filters as a query string."""
        return urlencode({name: value for name in self.__slots__ if (value := getattr(self, name))})


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in the list; texts are the beginnings that lists show."""

    pk: int
    round: int
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
    count: str
    previous: str
    next: str
    cause: str
    options: Mapping[str, Sequence[tuple[str, str]]]


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
    )


def cases_page(build: Build, params: QueryDict) -> CasesPage:
    """One page of the build's cases that pass the filters, in the order in which they were made."""
    filters = filters_of(params)
    rows = wanted(build, filters)
    shown = rows.select_related("pair__query", "pair__snippet", "execution")
    page = window(shown, ORDER, params, PAGE_SIZE)
    return CasesPage(
        build=build,
        filters=filters,
        cases=tuple(case_row(case) for case in page.rows),
        pairs=tuple(case.pair_id for case in page.rows),
        count=counted(rows),
        previous=page.previous,
        next=page.next,
        cause=said(filters.cause)[0] if filters.cause else "",
        options={
            "stage": STAGES,
            "reached": REACHED_WORDS,
            "label": LABELS,
            "outcome": OUTCOME_WORDS,
            "ran": RAN,
            "agent": AGENT_WORDS,
            "tag": TAG_WORDS,
        },
    )


def wanted(build: Build, filters: Filters) -> QuerySet[Case]:
    """The build's cases that pass the filters."""
    rows = Case.objects.filter(build=build)
    if filters.stage:
        rows = rows.filter(stage=filters.stage)
    if filters.label:
        rows = rows.filter(UNLABELLED if filters.label == "none" else Q(label=int(filters.label)))
    if filters.outcome:
        rows = rows.filter(execution__isnull=False, execution__outcome=filters.outcome)
    if filters.ran:
        rows = rows.filter(EXECUTED, execution__isnull=False, execution__ran=filters.ran == "yes")
    if filters.tag:
        rows = rows.filter(pair__in=tagged_pairs(Tag(filters.tag)))
    if filters.cause or filters.left:
        rows = rows.filter(stage=Stage.ABANDONED)
    if filters.cause:
        rows = rows.filter(cause=filters.cause)
    if filters.left:
        rows = rows.filter(left=filters.left)
    for key in filter(None, (filters.reached, REACHED_BY.get(filters.agent))):
        rows = rows.filter(REACHING[key])
    return rows


def case_row(case: Case) -> CaseRow:
    return CaseRow(
        pk=case.pk,
        round=case.round,
        query=case.pair.query.head,
        snippet=case.pair.snippet.head,
        stage=case.stage,
        sign=case_sign(case.stage, case.label),
        outcome=OUTCOMES[case.execution.outcome] if case.execution else None,
        reason=case.reason,
    )
