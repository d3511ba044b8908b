"""The cases behind a number on a build's page: one list with filters, by page, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.causes import said
from annotation.launching import MOST_ROUNDS
from annotation.models import Build, Case
from annotation.pages.browse import LONGEST_SEARCH, chosen
from annotation.pages.case_lists import SORTS, Filters, found, listed, wanted
from annotation.pages.counting import Number, number_of
from annotation.pages.figures import AGENTS
from annotation.pages.paging import counted, whole_number
from annotation.pages.tagging import TAG_WORDS
from annotation.pages.words import OUTCOMES, Sign, case_sign
from annotation.stages import Stage
from sandbox.report import Outcome

PAGE_SIZE: Final = 50
LONGEST_CAUSE: Final = 130

STAGES: Final = tuple((stage.value, stage.replace("_", " ")) for stage in Stage)
LABELS: Final = (("1", "match"), ("0", "no match"), ("none", "no label"))
RAN: Final = (
    ("yes", "ran"),
    ("no", "did not run"),
    ("tested", "tested the candidate"),
    ("untested", "did not test the candidate"),
)
OUTCOME_WORDS: Final = tuple(
    (outcome.value, OUTCOMES[outcome].word) for outcome in Outcome if outcome is not Outcome.UNAVAILABLE
)
REACHED_WORDS: Final = (
    ("screened", "screened"),
    ("clear", "clear to the screener"),
    ("unclear", "unclear to the screener"),
    ("read", "judged by the reader"),
    ("written", "has its test program"),
    ("executed", "was executed"),
    ("second", "had a second test executed"),
    ("second_tested", "whose second test tested the candidate"),
    ("fixed", "lacked a module"),
    ("arbitrated", "arbitrated"),
    ("disputed", "reader and arbiter differ"),
)
CANARY_WORDS: Final = (
    ("drawn", "of the canary"),
    ("finished", "of the canary, finished"),
    ("refused", "of the canary, that the model declined"),
)
OTHER_BY: Final = (("test", "after a test"), ("screener", "by the screener"))
ROUNDS: Final = tuple((str(number), f"round {number}") for number in range(1, MOST_ROUNDS + 1))
DIFFERENCES: Final = (("experts", "expert ≠ agents"),)
"""Said by a person of the pair, or of its test."""
AGENT_WORDS: Final = tuple((agent, agent.replace("_", " ")) for agent in AGENTS.values())


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in the list; texts are the beginnings that lists show, `seconds` is None where not timed."""

    pk: int
    round: int
    rank: int
    score: float | None
    seconds: float | None
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
    beside: str
    canary: str
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
        round=chosen(params.get("round", ""), ROUNDS),
        against=str(against) if (against := whole_number(params.get("against", ""))) > 0 else "",
        other=chosen(params.get("other", ""), LABELS),
        other_by=chosen(params.get("other_by", ""), OTHER_BY),
        canary=(canary := chosen(params.get("canary", ""), CANARY_WORDS)),
        extension=str(number) if (number := whole_number(params.get("extension", ""))) > 0 and canary else "",
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
        cases=tuple(case_row(case, scored=build.given_id is None) for case in cases),
        pairs=tuple(case.pair_id for case in cases),
        number=number_of(page.count, wanted(build, visible, filters), params),
        previous=page.window.previous,
        next=page.window.next,
        cause=said(filters.cause)[0] if filters.cause else "",
        beside=beside_words(visible, filters),
        canary=canary_words(build, filters),
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


def beside_words(visible: QuerySet[Build], filters: Filters) -> str:
    """What another build said of these pairs: `that autumn called match after a test`; empty without one."""
    build = visible.filter(pk=int(filters.against)).first() if filters.against else None
    if build is None:
        return ""
    if not filters.other:
        return f"whose pair {build.name} has too"
    word = "gave no label" if filters.other == "none" else f"called {dict(LABELS)[filters.other]}"
    return f"that {build.name} {word} {dict(OTHER_BY).get(filters.other_by, '')}".rstrip()


def canary_words(build: Build, filters: Filters) -> str:
    """Which cases of the canary these are; empty where none are asked for."""
    words = dict(CANARY_WORDS).get(filters.canary, "")
    if filters.extension:
        words = words.replace("the canary", f"the canary of extension {filters.extension}")
    return f"{words}, round 1" if words and build.rounds > 1 else words


def case_row(case: Case, *, scored: bool) -> CaseRow:
    return CaseRow(
        pk=case.pk,
        round=case.round,
        rank=case.rank,
        score=case.score if scored else None,
        seconds=case.seconds or None,
        at=case.updated_at,
        query=case.pair.query.head,
        snippet=case.pair.snippet.head,
        stage=case.stage,
        sign=case_sign(case.stage, case.label),
        outcome=OUTCOMES[case.execution.outcome] if case.execution else None,
        reason=case.reason,
    )
