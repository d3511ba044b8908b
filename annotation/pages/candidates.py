"""One query's ranked candidates: scores, labels and who gave them, code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import QueryDict

from annotation import rounds
from annotation.models import Build, Case, Review
from annotation.pages.browse import Counts, counts_of
from annotation.pages.code import LIST_BOUNDS, Code, code_of
from annotation.pages.paging import window
from annotation.pages.rounds import RoundLink, links
from annotation.pages.words import OUTCOMES, STAGES, UNSURE, Sign, case_sign, label_sign
from annotation.review.tags import known, tag_name
from annotation.stages import Stage
from retrieval.models import Annotator, Candidate, Label, Text

PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class Score:
    """One encoder's score of a pair: what entered the mean, and as the encoder gave it."""

    encoder: str
    entering: float | None
    raw: float | None


@dataclass(frozen=True, slots=True)
class Said:
    """One label of a pair. `assisted`: an agent's verdict was on screen. `differs`: from the agents'."""

    who: str
    sign: Sign
    assisted: bool = False
    differs: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate of a query; `labels` begins with the agents' own, if they have settled it.

    `outcome` is that of its test program, None if it was decided without one. All is of the first round;
    `rounds` leads to the others, where there are any.
    """

    case: int
    pair: int
    rank: int
    score: float | None
    scores: tuple[Score, ...]
    sign: Sign
    stage: Sign
    reason: str
    outcome: Sign | None
    labels: tuple[Said, ...]
    title: str
    code: Code
    rounds: tuple[RoundLink, ...] = ()

    @property
    def disputed(self) -> bool:
        return any(said.differs for said in self.labels)


@dataclass(frozen=True, slots=True)
class QueryPage:
    build: Build
    query: Text
    counts: Counts
    candidates: tuple[CandidateRow, ...]
    previous: str
    next: str

    @property
    def pairs(self) -> list[int]:
        return [row.pair for row in self.candidates]


def query_page(build: Build, visible: QuerySet[Build], query: Text, params: QueryDict) -> QueryPage:
    """One page of the query's candidates by rank."""
    rows = Case.objects.filter(build=build, query=query, round=1)
    related = "candidate", "annotator", "execution", "pair__snippet__body"
    page = window(rows.select_related(*related), ("rank", "id"), params, PAGE_SIZE)
    others = others_said(page.rows, visible)
    beside = rounds.beside(page.rows) if build.rounds > 1 else {}
    return QueryPage(
        build=build,
        query=query,
        counts=counts_of(build, [query.pk])[query.pk],
        candidates=tuple(
            candidate_row(case, others[case.pair_id], links(beside.get(case.candidate_id, ())))
            for case in page.rows
        ),
        previous=page.previous,
        next=page.next,
    )


def candidate_row(case: Case, others: Iterable[Said], beside: tuple[RoundLink, ...] = ()) -> CandidateRow:
    return CandidateRow(
        case=case.pk,
        pair=case.pair_id,
        rank=case.rank,
        score=None if case.candidate.mining_id is None else case.candidate.score,
        scores=scores_of(case.candidate),
        sign=case_sign(case.stage, case.label),
        stage=STAGES[case.stage],
        reason=case.reason,
        outcome=OUTCOMES[case.execution.outcome] if case.execution else None,
        labels=(*agents_said(case), *others),
        title=first_line(case.pair.snippet.head),
        code=code_of(case.pair.snippet.text, f"Candidate {case.rank}", f"c{case.rank}", bounds=LIST_BOUNDS),
        rounds=beside,
    )


def scores_of(candidate: Candidate) -> tuple[Score, ...]:
    """By encoder's name: databases keep no order of keys."""
    return tuple(
        Score(encoder, score.get("entering"), score.get("raw"))
        for encoder, score in sorted(candidate.scores.items())
    )


def first_line(code: str) -> str:
    """The line that says most about a snippet: the first that is no decorator, comment or blank."""
    lines = [line.strip() for line in code.splitlines()]
    return next((line for line in lines if line and not line.startswith(("@", "#"))), "(no code)")


def agents_said(case: Case) -> tuple[Said, ...]:
    return (Said(case.annotator.name, label_sign(case.label)),) if case.stage == Stage.SETTLED else ()


def others_said(cases: Sequence[Case], visible: QuerySet[Build]) -> dict[int, list[Said]]:
    """By pair: the original data's labels, then the experts' assisted ones; two queries."""
    agents = {case.pair_id: case.label for case in cases}
    said: dict[int, list[Said]] = defaultdict(list)
    for label in original_labels(agents):
        said[label.pair_id].append(original_said(label, agents[label.pair_id]))
    reviews = Review.objects.current().filter(pair__in=agents, case__build__in=visible)
    for review in reviews.select_related("rater").order_by("id"):
        said[review.pair_id].append(review_said(review, agents[review.pair_id]))
    return said


def original_labels(pairs: Iterable[int]) -> QuerySet[Label]:
    kind = Annotator.Kind.ORIGINAL
    rows = Label.objects.filter(pair__in=pairs, annotator__kind=kind, value__isnull=False)
    return rows.select_related("annotator").order_by("id")


def original_said(label: Label, agents: int | None) -> Said:
    if label.scale != Label.Scale.BINARY:
        return Said(label.annotator.name, Sign("·", f"{label.value} ({label.get_scale_display()})"))
    differs = agents is not None and label.value != agents
    return Said(label.annotator.name, label_sign(label.value), differs=differs)


def review_said(review: Review, agents: int | None) -> Said:
    """An expert's label; null is unsure, which disagrees with nothing."""
    unsure = review.label is None
    return Said(
        who=review.rater.get_username(),
        sign=UNSURE if unsure else label_sign(review.label),
        assisted=True,
        differs=not unsure and agents is not None and review.label != agents,
        note=review.reason,
        tags=tuple(tag_name(tag) for tag in known(review.tags)),
    )
