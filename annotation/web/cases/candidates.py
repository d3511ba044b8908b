"""One query's ranked candidates: scores, labels and who gave them, code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.builds.results import rounds
from annotation.models import Build, Case, Review
from annotation.review.hidden_labels import counted_label, find_hidden_pairs, hide_labels_in_force
from annotation.review.tags import filter_known_tags, tag_name
from annotation.stages import Stage
from annotation.web.browse.page import counts_of
from annotation.web.cases.code import LIST_BOUNDS, code_of
from annotation.web.cases.labels_in_force import ShownLabel, load_shown_labels
from annotation.web.review.words import describe_lines
from annotation.web.shared.pagination import load_page_window
from annotation.web.shared.words import UNSURE, Sign, label_sign
from retrieval.models import Annotator, Label, Text

PAGE_SIZE = 20


@dataclass(frozen=True, slots=True)
class CandidateLabel:
    """One label of a pair. `assisted`: an agent's verdict was on screen. `differs`: from the agents'."""

    who: str
    sign: Sign
    assisted: bool = False
    differs: bool = False
    note: str = ""
    lines: str = ""
    tags: tuple[str, ...] = ()


def query_page(
    build: Build, visible: QuerySet[Build], query: Text, params: QueryDict, user: Any = None
) -> dict[str, Any]:
    """One page of the query's candidates by rank, as `user` may see it; None: who sees all."""
    rows = Case.objects.filter(build=build, query=query, round=1)
    related = "candidate", "annotator", "execution", "pair__snippet__body"
    page = load_page_window(rows.select_related(*related), ("rank", "id"), params, PAGE_SIZE)
    hidden = find_hidden_pairs(user, build, [case.pair_id for case in page.rows])
    hide_labels_in_force(page.rows, hidden)
    others = others_said(page.rows, visible, hidden)
    in_force = load_shown_labels(page.rows, build.reviews_needed, hidden)
    beside = rounds.load_rounds_by_candidate(page.rows) if build.rounds > 1 else {}
    return {
        "build": build,
        "query": query,
        "counts": counts_of(build, [query.pk], counted_label(user, build))[query.pk],
        "candidates": [
            candidate_row(case, in_force[case.pk], others[case.pair_id], beside.get(case.candidate_id, ()))
            for case in page.rows
        ],
        "pairs": [case.pair_id for case in page.rows],
        "previous": page.previous,
        "next": page.next,
    }


def candidate_row(
    case: Case, in_force: ShownLabel, others: Iterable[CandidateLabel], beside: Sequence[Case]
) -> dict[str, Any]:
    """One candidate of a query; `labels` begins with the agents' own, if they have settled it.

    All is of the first round; `rounds` leads to the others, where there are any.
    """
    labels = [*agents_said(case), *others]
    return {
        "case": case,
        # By encoder's name, as databases keep no order of keys: what entered the mean, and the encoder's own.
        "scores": sorted(case.candidate.scores.items()),
        "in_force": in_force,
        "labels": labels,
        "disputed": any(said.differs for said in labels),
        "code": code_of(
            case.pair.snippet.text, f"Candidate {case.rank}", f"c{case.rank}", bounds=LIST_BOUNDS
        ),
        "rounds": beside,
    }


def agents_said(case: Case) -> tuple[CandidateLabel, ...]:
    return (
        (CandidateLabel(case.annotator.name, label_sign(case.label)),) if case.stage == Stage.SETTLED else ()
    )


def others_said(
    cases: Sequence[Case], visible: QuerySet[Build], hidden: Collection[int] = ()
) -> dict[int, list[CandidateLabel]]:
    """By pair: the original data's labels, then the experts' assisted ones. Two queries.

    Of `hidden` pairs (ids) no expert's label is there.
    """
    agents = {case.pair_id: case.label for case in cases}
    said: dict[int, list[CandidateLabel]] = defaultdict(list)
    known = Label.objects.filter(
        pair__in=agents, annotator__kind=Annotator.Kind.ORIGINAL, value__isnull=False
    )
    for label in known.select_related("annotator").order_by("id"):
        said[label.pair_id].append(original_said(label, agents[label.pair_id]))
    reviews = Review.objects.current().filter(
        pair__in=set(agents).difference(hidden), case__build__in=visible
    )
    for review in reviews.select_related("rater").order_by("id"):
        said[review.pair_id].append(review_said(review, agents[review.pair_id]))
    return said


def original_said(label: Label, agents: int | None) -> CandidateLabel:
    if label.scale != Label.Scale.BINARY:
        return CandidateLabel(label.annotator.name, Sign("·", f"{label.value} ({label.get_scale_display()})"))
    differs = agents is not None and label.value != agents
    return CandidateLabel(label.annotator.name, label_sign(label.value), differs=differs)


def review_said(review: Review, agents: int | None) -> CandidateLabel:
    """An expert's label; null is unsure, which disagrees with nothing."""
    unsure = review.label is None
    return CandidateLabel(
        who=review.rater.get_username(),
        sign=UNSURE if unsure else label_sign(review.label),
        assisted=True,
        differs=not unsure and agents is not None and review.label != agents,
        note=review.reason,
        lines=describe_lines(review),
        tags=tuple(tag_name(tag) for tag in filter_known_tags(review.tags)),
    )
