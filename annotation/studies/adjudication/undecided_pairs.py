"""The pairs to which the reference gives no label, told apart: raters split, ratings are missing, or nobody's
rating counts. A pair nobody has rated is no split.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from annotation.models import Condition, Rating, Study
from annotation.stats.agreement.figures import Flags
from annotation.stats.agreement.labels import majority_labels
from annotation.studies.adjudication import quorum
from annotation.studies.report.figure_data import Gathered, blind_labels_of_raters


@dataclass(frozen=True, slots=True)
class Undecided:
    """Pairs without a strict majority in the reference, in their last round: `split` have all planned
    ratings, `short` some of them, `unrated` none. `adjudicated` is how many of all these are decided on.
    """

    split: int
    short: int
    unrated: int
    adjudicated: int

    @property
    def all(self) -> int:
        """Every pair that the reference leaves open."""
        return self.split + self.short + self.unrated


def count_undecided_pairs(found: Gathered) -> Undecided:
    """Counted of the ratings that every figure counts: blind ones, those of excluded raters left out."""
    given = count_reference_ratings(found)
    planned = condition_of(found).raters
    flags = flag_pairs_without_majority(found)
    open_ones = [pair.pk for pair, is_open in zip(found.pairs, flags, strict=True) if is_open]
    short = sum(0 < given[pair] < planned for pair in open_ones)
    unrated = sum(not given[pair] for pair in open_ones)
    decided = sum(pair in found.adjudicated for pair in open_ones)
    return Undecided(len(open_ones) - short - unrated, short, unrated, decided)


def count_reference_ratings(found: Gathered) -> Counter[int]:
    """How many blind ratings each study pair (id) has in the reference; unsure is one, a skip is none."""
    raters = raters_of_reference(found)
    return Counter(
        one.pair for one in found.said if one.phase == Rating.Phase.BLIND and one.enrolment in raters
    )


def raters_of_reference(found: Gathered) -> set[int]:
    """The enrolments (ids) whose ratings make the reference."""
    condition = condition_of(found).pk
    return {enrolment.pk for enrolment in found.enrolments if enrolment.condition_id == condition}


def condition_of(found: Gathered) -> Condition:
    """The condition that counts as true."""
    return next(
        condition for condition in found.conditions if condition.get_kind_display() == found.reference
    )


def flag_pairs_without_majority(found: Gathered) -> Flags:
    """By pair: whether it has no strict majority, of match or not; of choices where they are compared."""
    condition = condition_of(found)
    if found.study.kind != Study.Kind.PAIRWISE:
        return np.isnan(majority_labels(blind_labels_of_raters(found, condition).matches(found.match_at)))
    raters = raters_of_reference(found)
    votes: dict[int, list[int | None]] = defaultdict(list)
    for one in found.said:
        if one.phase == Rating.Phase.BLIND and one.enrolment in raters:
            votes[one.pair].append(one.value)
    return np.array([quorum.majority_vote(votes[pair.pk], condition.raters) is None for pair in found.pairs])
