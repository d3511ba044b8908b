"""The flow of pairs: what was planned, handed out and said, and what became of the rest, so that it adds up.

Three sums hold whenever one looks. Of the places: planned + asked beside = given + open + free + given up. Of
what was handed out: all = given + open + of earlier rounds + skipped + lapsed + left out. Of the pairs
without a strict majority: all = split + short + not rated.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, F, OuterRef, Sum

from annotation.models import Assignment, Quota, Study
from annotation.studies.adjudication.undecided_pairs import Undecided

State = Assignment.State
OPEN = (State.RESERVED, State.LOCKED)


@dataclass(frozen=True, slots=True)
class Places:
    """The places of the sampled pairs, in the last round of each; planted pairs have none.

    `beside` were asked for where raters split, `given_up` are wanted no more, `free` has nobody yet.
    """

    planned: int
    beside: int
    rated: int
    open: int
    free: int
    given_up: int


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What became of everything that raters were handed, in all rounds; `earlier` is in no figure.

    `left_out` was given by raters whom an amendment excludes, and their places are others'.
    """

    all: int
    earlier: int
    skipped: int
    lapsed: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Flow:
    """What became of the pairs and of what was handed out; `undecided` is of the reference."""

    sampled: int
    planted: int
    places: Places
    handed_out: HandedOut
    undecided: Undecided

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:
        """What and how many, in the order of the sums."""
        places, out, left = self.places, self.handed_out, self.undecided
        return (
            ("pairs sampled", self.sampled),
            ("planted pairs, never counted", self.planted),
            ("ratings planned", places.planned),
            ("asked in addition, where raters split", places.beside),
            ("ratings given", places.rated),
            ("open, a rater has the pair", places.open),
            ("free, nobody has the pair yet", places.free),
            ("given up, nobody could take the place", places.given_up),
            ("pairs handed out", out.all),
            ("given in an earlier round, in no figure", out.earlier),
            ("skipped", out.skipped),
            ("lapsed, or given back when their rater left", out.lapsed),
            ("left out with their rater, in no figure", out.left_out),
            ("pairs without a strict majority in the reference", left.all),
            ("split: all planned ratings given", left.split),
            ("short: some planned ratings missing", left.short),
            ("not rated: no rating that counts", left.unrated),
            ("adjudicated, of all without a strict majority", left.adjudicated),
        )


SUMS: Final = (
    "Planned and asked in addition = given + open + free + given up. Handed out = given + open + earlier "
    "rounds + skipped + lapsed + left out; a place that was skipped, lapsed or left out is handed out again. "
    "Pairs without a strict majority = split + short + not rated."
)


def flow_of(study: Study, sampled: int, undecided: Undecided) -> Flow:
    """As it is now, in four queries."""
    counts = count_handed_pairs(study)
    rated, open_ones = counts[State.DONE, True], sum(counts[state, True] for state in OPEN)
    earlier = sum(counts[state, False] for state in (State.DONE, *OPEN))
    skipped, lapsed, left_out = (
        sum(counts[state, now] for now in (True, False))
        for state in (State.SKIPPED, State.LAPSED, State.LEFT_OUT)
    )
    return Flow(
        sampled=sampled,
        planted=study.pairs.exclude(planted="").count(),
        places=count_rating_places(study, rated, open_ones),
        handed_out=HandedOut(counts.total(), earlier, skipped, lapsed, left_out),
        undecided=undecided,
    )


def count_rating_places(study: Study, rated: int, open_ones: int) -> Places:
    rows = Quota.objects.filter(study_pair__study=study, study_pair__planted="")
    sums = rows.aggregate(planned=Sum("condition__raters"), wanted=Sum("wanted"))
    planned, wanted = sums["planned"] or 0, sums["wanted"] or 0
    changed = rows.exclude(wanted=F("condition__raters")).values_list("wanted", "condition__raters")
    moved = [now - then for now, then in changed]
    return Places(
        planned=planned,
        beside=sum(one for one in moved if one > 0),
        rated=rated,
        open=open_ones,
        free=wanted - rated - open_ones,
        given_up=-sum(one for one in moved if one < 0),
    )


def count_handed_pairs(study: Study) -> Counter[tuple[str, bool]]:
    """How many by (state, whether it is of the pair's last round)."""
    now = Quota.objects.filter(
        study_pair=OuterRef("study_pair"), condition=OuterRef("condition"), round=OuterRef("round")
    )
    rows = Assignment.objects.filter(enrolment__study=study, study_pair__planted="").order_by()
    found = rows.annotate(now=Exists(now)).values_list("state", "now").annotate(n=Count("id"))
    return Counter({(state, is_now): count for state, is_now, count in found})
