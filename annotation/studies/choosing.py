"""What could be handed to a rater now, read in a fixed number of queries, and which of it comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet

from annotation.models import Assignment, Enrolment, Quota, Seen, Study, StudyPair
from annotation.studies import ordering
from annotation.studies.ordering import GAP, Offer
from annotation.studies.places import State

Row = TypeVar("Row", bound=Model)
MOST_OFFERS: Final = 3_000
"""Pairs that are looked at for one choice, those with the fewest ratings first: a bound of its cost."""


@dataclass(frozen=True)
class Choice:
    """A pair to be handed out, as another one of the rater's order or as the one that lapsed."""

    study_pair: int
    number: int
    position: int
    planted: bool = False
    swapped: bool = False
    lapsed: Assignment | None = None


@dataclass(frozen=True)
class Past:
    """A rater's order up to now: the queries of the last pairs, the last one first, and what was given."""

    queries: tuple[int, ...]
    last_sampled: int | None
    position: int
    sampled: int
    attention: int


def choose(enrolment: Enrolment) -> Choice | None:
    """What comes next for a rater who has nothing open; None where nothing can be handed out now.

    What lapsed comes first, then what is planted for the beginning, then the sampled pairs with planted
    ones among them.
    """
    lapsed = lapsed_of(enrolment)
    if lapsed is not None:
        number = lapsed.study_pair.number
        return Choice(lapsed.study_pair_id, number, lapsed.position, lapsed=lapsed)
    past, planted = past_of(enrolment), planted_for(enrolment)
    first = [offer for offer, kind in planted if kind == StudyPair.Planted.ONBOARDING]
    attention = [offer for offer, kind in planted if kind == StudyPair.Planted.ATTENTION]
    if first:
        return chosen(enrolment, ordering.fewest_given(first, enrolment.seed), past, planted=True)
    left = enrolment.capacity - past.sampled
    offers = sampled_for(enrolment) if left > 0 else []
    if not offers:
        return None
    total = past.sampled + min(left, len(offers))
    if ordering.is_planted_due(past.sampled, total, past.attention, len(attention), enrolment.seed):
        return chosen(
            enrolment, ordering.spaced(attention, past.queries, enrolment.seed, 0), past, planted=True
        )
    return chosen(enrolment, in_order(enrolment, offers, past, left), past)


def in_order(enrolment: Enrolment, offers: list[Offer], past: Past, left: int) -> Offer | None:
    if enrolment.study.order == Study.Order.BY_QUERY:
        return ordering.by_query(offers, past.last_sampled, enrolment.seed)
    return ordering.spaced(offers, past.queries, enrolment.seed, left)


def chosen(enrolment: Enrolment, offer: Offer | None, past: Past, *, planted: bool = False) -> Choice | None:
    if offer is None:
        return None
    pairwise = enrolment.study.kind == Study.Kind.PAIRWISE
    side = ordering.place_in_shuffle(enrolment.seed, offer.number, "side") % 2 == 1
    return Choice(offer.key, offer.number, past.position + 1, planted=planted, swapped=pairwise and side)


def lapsed_of(enrolment: Enrolment) -> Assignment | None:
    """The first of the rater's pairs that lapsed, or is asked again, and whose place is free."""
    free = Quota.objects.filter(
        study_pair=OuterRef("study_pair"), condition=OuterRef("condition"), reserved__lt=F("wanted")
    )
    mine = enrolment.assignments.filter(Exists(free) | ~Q(study_pair__planted=""), state=State.LAPSED)
    related = "study_pair__pair", "condition__study", "enrolment"
    return unseen(mine, enrolment, "study_pair__").select_related(*related).order_by("position").first()


def past_of(enrolment: Enrolment) -> Past:
    """The rater's order up to now. Two queries."""
    rows = enrolment.assignments.order_by("-position").values_list(
        "position", "study_pair__pair__query", "study_pair__planted"
    )
    last = list(rows[: GAP - 1])
    counts = dict[str, int]()
    for planted in enrolment.assignments.filter(round=1).values_list("study_pair__planted", flat=True):
        counts[planted] = counts.get(planted, 0) + 1
    return Past(
        queries=tuple(query for _, query, _ in last),
        last_sampled=next((query for _, query, planted in last if not planted), None),
        position=last[0][0] if last else 0,
        sampled=counts.get(StudyPair.Planted.NO, 0),
        attention=counts.get(StudyPair.Planted.ATTENTION, 0),
    )


def sampled_for(enrolment: Enrolment) -> list[Offer]:
    """The sampled pairs with a place free that the rater was never given and has not seen."""
    rows = Quota.objects.filter(
        condition=enrolment.condition_id, reserved__lt=F("wanted"), study_pair__planted=""
    )
    fresh = unseen(not_given(rows, enrolment, "study_pair"), enrolment, "study_pair__")
    columns = "study_pair", "study_pair__number", "study_pair__pair__query", "reserved"
    few = fresh.order_by("reserved", "study_pair__number").values_list(*columns)[:MOST_OFFERS]
    return [Offer(*row) for row in few]


def planted_for(enrolment: Enrolment) -> list[tuple[Offer, str]]:
    """The planted pairs that the rater was not given yet; everybody gets them, whatever their quota."""
    rows = StudyPair.objects.filter(study=enrolment.study_id).exclude(planted="")
    fresh = unseen(not_given(rows, enrolment, "pk"), enrolment, "")
    found = fresh.values_list("pk", "number", "pair__query", "planted")
    return [(Offer(key, number, query, 0), kind) for key, number, query, kind in found]


def not_given(rows: QuerySet[Row], enrolment: Enrolment, name: str) -> QuerySet[Row]:
    """Without pairs that the person was given before, in whichever round."""
    given = Assignment.objects.filter(study_pair=OuterRef(name), rater=enrolment.user_id)
    return rows.filter(~Exists(given))


def unseen(rows: QuerySet[Row], enrolment: Enrolment, path: str) -> QuerySet[Row]:
    """Without pairs on which the person was served agent evidence."""
    seen = Seen.objects.filter(user=enrolment.user_id)
    fresh = rows.filter(~Exists(seen.filter(pair=OuterRef(f"{path}pair"))))
    if enrolment.study.kind != Study.Kind.PAIRWISE:
        return fresh
    return fresh.filter(~Exists(seen.filter(pair=OuterRef(f"{path}other"))))


def may_come_free(enrolment: Enrolment) -> bool:
    """Whether a pair that others hold could still fall to this rater, if one of them does not finish."""
    rows = Quota.objects.filter(
        condition=enrolment.condition_id, done__lt=F("wanted"), study_pair__planted=""
    )
    rows = unseen(rows, enrolment, "study_pair__")
    mine = Assignment.objects.filter(study_pair=OuterRef("study_pair"), rater=enrolment.user_id)
    lapsed = mine.filter(state=State.LAPSED)
    if handed_out(enrolment).count() >= enrolment.capacity:
        return rows.filter(Exists(lapsed)).exists()
    return rows.filter(~Exists(mine) | Exists(lapsed)).exists()


def handed_out(enrolment: Enrolment) -> QuerySet[Assignment]:
    """What counts against the rater's capacity: sampled pairs, each once, whatever became of them."""
    return enrolment.assignments.filter(round=1, study_pair__planted="")
