"""What raters are told of their own part once the study is closed: agreement, and later decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from annotation.accounts.roles import blind_beside
from annotation.models import Assignment, Enrolment, Rating, Study
from annotation.studies.adjudication.decisions import decisions_of
from annotation.studies.adjudication.latest_round import asked_again

MOST_DECIDED: Final = 50


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A pair of the rater's that somebody decided; values are of the study's scale, None for none."""

    number: int
    query: str
    said: int | None
    decided: int | None


@dataclass(frozen=True, slots=True)
class OwnPart:
    """`same` of `compared` times the rater and another one gave a pair the same label; unsure is left out.

    `more` decided pairs are not listed. `shown` are the study pairs (ids) on which this tells what others
    said.
    """

    compared: int
    same: int
    decided: tuple[DecidedPair, ...]
    more: int
    shown: frozenset[int]


def summarize_own_part(enrolment: Enrolment) -> OwnPart | None:
    """None unless the study is closed and the rater is kept blind in no other study with one of its pairs."""
    study = enrolment.study
    if study.state != Study.State.CLOSED or blind_beside(enrolment.user, study) is not None:
        return None
    rated = {row.study_pair_id: row for row in own_assignments(enrolment)}
    said = dict(blind_labels(study, rated, enrolment.condition_id, by=enrolment))
    others = blind_labels(study, rated, enrolment.condition_id, but=enrolment)
    known = [
        (said[pair], value) for pair, value in others if said.get(pair) is not None and value is not None
    ]
    decided = [
        DecidedPair(row.study_pair.number, row.study_pair.pair.query.head, said.get(pair), decision.value)
        for (pair, condition), decision in sorted(decisions_of(study).items())
        if condition == enrolment.condition_id and (row := rated.get(pair)) is not None
    ]
    return OwnPart(
        compared=len(known),
        same=sum(own == other for own, other in known),
        decided=tuple(decided[:MOST_DECIDED]),
        more=max(0, len(decided) - MOST_DECIDED),
        shown=frozenset(rated),
    )


def own_assignments(enrolment: Enrolment) -> list[Assignment]:
    """Those of sampled pairs that the rater has labelled."""
    rows = enrolment.assignments.filter(state=Assignment.State.DONE, study_pair__planted="")
    return list(rows.filter(~asked_again()).select_related("study_pair__pair__query"))


def blind_labels(
    study: Study,
    pairs: dict[int, Assignment],
    condition: int,
    by: Enrolment | None = None,
    but: Enrolment | None = None,
) -> list[tuple[int, int | None]]:
    """(study pair, value) of what stands of the blind phase and counts, of one rater or of all but one."""
    rows = Rating.objects.current().counted().filter(phase=Rating.Phase.BLIND)
    rows = rows.filter(
        ~asked_again("assignment__"),
        assignment__enrolment__study=study,
        assignment__condition=condition,
        assignment__study_pair__in=list(pairs),
    )
    rows = rows.filter(assignment__enrolment=by) if by else rows.exclude(assignment__enrolment=but)
    return list(rows.order_by("pk").values_list("assignment__study_pair", "value"))
