"""What could be handed to a rater now, read in a fixed number of queries, and which of it comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.db import connection
from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet

from annotation.models import Assignment, Enrolment, Quota, Study, StudyPair
from annotation.studies.enrolment import pair_order
from annotation.studies.enrolment.pair_order import GAP, Offer
from annotation.studies.enrolment.places import State
from annotation.studies.exposure import has_seen
from retrieval.models.prepared_query import PreparedQuery

Row = TypeVar("Row", bound=Model)
MOST_OFFERS: Final = 3_000
"""Pairs that are looked at for one choice, those with the fewest ratings first: a bound of its cost."""

OFFER: Final = ("study_pair", "study_pair__number", "study_pair__pair__query", "reserved", "round")
"""The columns of an Offer."""


@dataclass(frozen=True)
class NextPairChoice:
    """A pair to be handed out, as another one of the rater's order or as the one that lapsed."""

    study_pair: StudyPair
    position: int
    round: int = 1
    planted: bool = False
    swapped: bool = False
    lapsed: Assignment | None = None


@dataclass(frozen=True)
class Past:
    """A rater's order up to now: the queries of the last pairs, the last one first, and what was given."""

    queries: tuple[int, ...]
    last_sampled: int | None
    position: int
    given: int
    sampled: int
    attention: int


def choose_next_pair(enrolment: Enrolment, *, lapsed: bool = True) -> NextPairChoice | None:
    """What comes next for a rater who has nothing open; None where nothing can be handed out now.

    `lapsed`: whether anything of this rater's may have lapsed.

    What lapsed comes first, then what is planted for the beginning, then the sampled pairs with planted
    ones among them.
    """
    back = lapsed_of(enrolment) if lapsed else None
    if back is not None:
        return NextPairChoice(back.study_pair, back.position, lapsed=back)
    past, planted = past_of(enrolment), planted_for(enrolment)
    left = enrolment.capacity - past.given
    first = [offer for offer, kind in planted if kind == StudyPair.Planted.ONBOARDING]
    attention = [offer for offer, kind in planted if kind == StudyPair.Planted.ATTENTION]
    if first and left > 0:
        return build_offer_choice(
            enrolment, pair_order.fewest_given(first, enrolment.seed), past, planted=True
        )
    offers = sampled_for(enrolment, again_only=left <= 0)
    if not offers:
        return None
    total = past.sampled + min(left, len(offers))
    due = pair_order.is_planted_due(past.sampled, total, past.attention, len(attention), enrolment.seed)
    if due and left > 0:
        planted_next = pair_order.choose_spaced_offer(attention, past.queries, enrolment.seed, 0)
        return build_offer_choice(enrolment, planted_next, past, planted=True)
    return build_offer_choice(enrolment, in_order(enrolment, offers, past, left), past)


def in_order(enrolment: Enrolment, offers: list[Offer], past: Past, left: int) -> Offer | None:
    if enrolment.study.order == Study.Order.BY_QUERY:
        return pair_order.by_query(offers, past.last_sampled, enrolment.seed)
    return pair_order.choose_spaced_offer(offers, past.queries, enrolment.seed, left)


def build_offer_choice(
    enrolment: Enrolment, offer: Offer | None, past: Past, *, planted: bool = False
) -> NextPairChoice | None:
    if offer is None:
        return None
    pairwise = enrolment.study.kind == Study.Kind.PAIRWISE
    side = pair_order.place_in_shuffle(enrolment.seed, offer.number, "side") % 2 == 1
    position = past.position + 1
    return NextPairChoice(
        pair_of(enrolment, offer), position, offer.round, planted, swapped=pairwise and side
    )


def pair_of(enrolment: Enrolment, offer: Offer) -> StudyPair:
    """The pair, of which no more is read than is known already; the rest is where it is asked for."""
    names = "id", "study_id", "number"
    return StudyPair.from_db(connection.alias, names, (offer.key, enrolment.study_id, offer.number))


def lapsed_of(enrolment: Enrolment) -> Assignment | None:
    """The first of the rater's pairs that lapsed, or is asked again, and whose place is free."""
    same = {name: OuterRef(name) for name in ("study_pair", "condition", "round")}
    free = Quota.objects.filter(**same, reserved__lt=F("wanted"))
    mine = enrolment.assignments.filter(Exists(free) | ~Q(study_pair__planted=""), state=State.LAPSED)
    related = "study_pair__pair", "condition", "enrolment__study"
    return (
        exclude_served_pairs(mine, enrolment, "study_pair__")
        .select_related(*related)
        .order_by("position")
        .first()
    )


def past_of(enrolment: Enrolment) -> Past:
    """The rater's order up to now. Two queries."""
    rows = enrolment.assignments.order_by("-position").values_list(
        "position", "study_pair__pair__query", "study_pair__planted"
    )
    last = list(rows[: GAP - 1])
    kinds = StudyPair.Planted
    counts = handed_out(enrolment).aggregate(
        given=Count("study_pair", distinct=True),
        sampled=Count("study_pair", distinct=True, filter=Q(study_pair__planted=kinds.NO)),
        attention=Count("study_pair", distinct=True, filter=Q(study_pair__planted=kinds.ATTENTION)),
    )
    return Past(
        queries=tuple(query for _, query, _ in last),
        last_sampled=next((query for _, query, planted in last if not planted), None),
        position=last[0][0] if last else 0,
        **counts,
    )


def sampled_for(enrolment: Enrolment, *, again_only: bool) -> list[Offer]:
    """The sampled pairs with a place free that the rater was not given in this round and has not seen.

    `again_only`: none that would be another pair for the rater, whose capacity is used.
    """
    if not again_only and not enrolment.code_languages:
        found = SAMPLED[enrolment.study.kind].load(enrolment.user_id, enrolment.condition_id)
        return [Offer(*row) for row in found]
    rows = select_sampled(enrolment)
    if again_only:
        rows = rows.filter(Exists(given_to(enrolment, "study_pair")), round__gt=1)
    return [Offer(*row) for row in rows.values_list(*OFFER)[:MOST_OFFERS]]


def select_sampled(enrolment: Enrolment) -> QuerySet[Quota]:
    """Their places, those with the fewest ratings first; reads no more of the part than its ids, the
    languages that were chosen and the study's kind.
    """
    rows = Quota.objects.filter(
        condition=enrolment.condition_id, reserved__lt=F("wanted"), study_pair__planted=""
    )
    fresh = rows.filter(not_given_in_its_round(enrolment))
    return exclude_served_pairs(fresh, enrolment, "study_pair__").order_by("reserved", "study_pair__number")


def prepare_sampled(kind: str) -> PreparedQuery[Any]:
    """What `sampled_for` asks in studies of one kind, by the rater and the condition, where no language was
    chosen.
    """

    def compose(user: int, condition: int) -> QuerySet[Any, Any]:
        part = Enrolment(user_id=user, condition_id=condition, study=Study(kind=kind))
        return select_sampled(part).values_list(*OFFER)[:MOST_OFFERS]

    return PreparedQuery(compose, int, int)


SAMPLED: Final = {kind: prepare_sampled(kind) for kind in Study.Kind.values}


def not_given_in_its_round(enrolment: Enrolment) -> Q:
    """Of quotas: the rater was not given the pair in that round.

    In the first round, which nearly all quotas are in, the database looks the pair up in one set of the
    rater's pairs, and not through all of these once more for each quota.
    """
    in_first = Assignment.objects.filter(rater=enrolment.user_id, round=1).order_by().values("study_pair")
    in_same = given_to(enrolment, "study_pair").filter(round=OuterRef("round"))
    return ~Q(round=1, study_pair__in=in_first) & (Q(round=1) | Q(~Exists(in_same)))


def planted_for(enrolment: Enrolment) -> list[tuple[Offer, str]]:
    """The planted pairs that the rater was not given yet; everybody gets them, whatever their quota."""
    if not may_have_planted(enrolment.study):
        return []
    rows = StudyPair.objects.filter(study=enrolment.study_id).exclude(planted="")
    fresh = exclude_served_pairs(rows.filter(~Exists(given_to(enrolment, "pk"))), enrolment, "")
    found = fresh.values_list("pk", "number", "pair__query", "planted")
    return [(Offer(key, number, query, 0), kind) for key, number, query, kind in found]


def may_have_planted(study: Study) -> bool:
    """Whether the plan has planted pairs, or is not frozen yet; pairs are never planted after that."""
    return study.plan is None or bool(study.plan["sample"]["planted"])


def given_to(enrolment: Enrolment, name: str) -> QuerySet[Assignment]:
    """The person's assignments of the pair that the outer row has as `name`."""
    return Assignment.objects.filter(study_pair=OuterRef(name), rater=enrolment.user_id)


def exclude_served_pairs(rows: QuerySet[Row], enrolment: Enrolment, path: str) -> QuerySet[Row]:
    """Without pairs on which the person was served agent evidence, and those of languages not chosen."""
    rows = rows.filter(is_of_languages(enrolment.code_languages, path))
    fresh = rows.filter(~has_seen(enrolment.user_id, OuterRef(f"{path}pair")))
    if enrolment.study.kind != Study.Kind.PAIRWISE:
        return fresh
    return fresh.filter(~has_seen(enrolment.user_id, OuterRef(f"{path}other")))


def is_of_languages(chosen: Sequence[str], path: str) -> Q:
    """Of study pairs at `path`: their language is one of these, or not known; without a choice all are."""
    return Q(**{f"{path}language__in": ["", *chosen]}) if chosen else Q()


def may_come_free(enrolment: Enrolment) -> bool:
    """Whether a pair that others hold could still fall to this rater, if one of them does not finish."""
    wanted = Q(done__lt=F("wanted"), study_pair__planted="")
    rows = exclude_served_pairs(
        Quota.objects.filter(wanted, condition=enrolment.condition_id), enrolment, "study_pair__"
    )
    given = given_to(enrolment, "study_pair")
    now = given.filter(round=OuterRef("round"))
    rows = rows.filter(~Exists(now) | Exists(now.filter(state=State.LAPSED)))
    if handed_out(enrolment).values("study_pair").distinct().count() >= enrolment.capacity:
        rows = rows.filter(Exists(given))
    return rows.exists()


def handed_out(enrolment: Enrolment) -> QuerySet[Assignment]:
    """What counts against the rater's capacity: every pair once, whatever became of it."""
    return enrolment.assignments.order_by()
