"""Which pairs have no strict majority so far, told by the database: only counts leave it.

`quorum.settle_votes` says the same of votes that were read; a test holds both together.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Exists, F, IntegerField, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest

from annotation.models import Quota, Rating, Study, StudyPair
from annotation.studies.adjudication.quorum import vote_sides_of_scale
from annotation.studies.enrolment.unfilled_places import find_stuck_places

Place = tuple[int, int]
"""(study pair, condition), ids."""


def blind_ratings(study: Study) -> QuerySet[Rating]:
    """The standing first ratings of the study's sampled pairs that count, without those of planted ones."""
    return (
        Rating.objects.current()
        .counted()
        .filter(
            phase=Rating.Phase.BLIND, assignment__study_pair__study=study, assignment__study_pair__planted=""
        )
    )


def count_unsettled_ratings(study: Study, study_pair: StudyPair | None = None) -> dict[Place, int]:
    """Of the rated places without a strict majority in their last round, how many ratings each has.

    More than half of the planned quorum, or of more values, on one side would be a majority.
    """
    rows = of_last_round(blind_ratings(study))
    if study_pair is not None:
        rows = rows.filter(assignment__study_pair=study_pair)
    place = "assignment__study_pair", "assignment__condition"
    counts = {
        f"side_{name}": Count("pk", filter=Q(value__in=some))
        for name, some in vote_sides_of_scale(study.scale).items()
    }
    raters = Max("assignment__condition__raters")
    most = Greatest(Count("value"), raters, output_field=IntegerField())
    found = rows.order_by().values(*place).annotate(ratings=Count("pk"), most=most, **counts)
    for side in counts:
        found = found.filter(most__gte=2 * F(side))
    return {(pair, condition): ratings for pair, condition, ratings in found.values_list(*place, "ratings")}


def of_last_round(rows: QuerySet[Rating]) -> QuerySet[Rating]:
    """Without what was said before a pair was asked again."""
    place = {name: OuterRef(f"assignment__{name}") for name in ("study_pair", "condition")}
    others = Quota.objects.filter(**place).exclude(round=OuterRef("assignment__round"))
    return rows.filter(~Exists(others))


def ended_early(study: Study, places: Sequence[Place]) -> set[Place]:
    """Of these (study pair, condition), with too few ratings, those that get no more: the study is closed,
    missing ratings were given up, or nobody is left who could give one.
    """
    if not study.is_live or not places:
        return set(places)
    rows = Quota.objects.filter(study_pair__study=study, study_pair__planted="", done__gte=F("wanted"))
    over = set(rows.values_list("study_pair_id", "condition_id")) & set(places)
    return over | find_stuck_places(study, set(places) - over)


def one_more_asked(study: Study) -> set[Place]:
    """The (study pair, condition) for which one more rating is still to come; none after the study's end."""
    if not study.is_live:
        return set()
    rows = Quota.objects.filter(condition__study=study, wanted__gt=F("condition__raters"))
    open_ones = rows.filter(done__lt=F("wanted"), study_pair__planted="")
    return set(open_ones.values_list("study_pair_id", "condition_id"))
