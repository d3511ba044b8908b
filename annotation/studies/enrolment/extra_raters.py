"""A disagreement goes to somebody who has not seen the pair: one more place, once a round.

Only where the plan says so (`Study.one_more`). A place is opened where somebody can take it, and taken back
where nobody can any more, so that no study waits for a rating that never comes.
"""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.models import Assignment, Enrolment, Quota, Rating, Study, StudyPair
from annotation.studies.adjudication.quorum import settle_votes
from annotation.studies.enrolment import places
from annotation.studies.exposure import has_seen

Key = tuple[int, int, int]


def hold_part(assignment: Assignment) -> None:
    """Hold the rater's part, and where a rating may let others go on, theirs too: see `places`."""
    if assignment.enrolment.study.one_more:
        places.hold_parts(assignment.enrolment.study_id)
    else:
        places.hold_part(assignment.enrolment_id)


def lock_pair_quotas(assignment: Assignment) -> None:
    """Lock the pair's quotas before a rating is stored: of two who end a pair one sees both."""
    if assignment.enrolment.study.one_more:
        rows = Quota.objects.filter(study_pair=assignment.study_pair_id).order_by("pk")
        list(rows.select_for_update().values_list("pk"))


def request_extra_ratings(study: Study, study_pair: StudyPair | None = None) -> int:
    """Want one more rating of each pair whose planned quorum splits, where somebody can give it.

    Returns of how many pairs. Raters who were finished and can be given such a pair go on; planted pairs are
    never routed. To be called after what may end a quorum, and after what may leave nobody for a place.
    """
    if not study.one_more or not study.is_live:
        return 0
    rows = Quota.objects.filter(condition__study=study, study_pair__planted="").select_related("study_pair")
    if study_pair is not None:
        rows = rows.filter(study_pair=study_pair)
    withdraw_extra_places(rows)
    return sum(open_extra_place(quota) for quota in find_split_quotas(rows, study.scale))


def find_split_quotas(rows: QuerySet[Quota], scale: str) -> list[Quota]:
    """Those with all ratings that were planned, none beyond, and no strict majority."""
    ended = list(rows.filter(done=F("wanted"), wanted=F("condition__raters")))
    said = said_of(ended)
    return [
        quota
        for quota in ended
        if settle_votes(said[quota.study_pair_id, quota.condition_id, quota.round], scale, quota.wanted)
        is None
    ]


def open_extra_place(quota: Quota) -> bool:
    """Open one more place, on the condition that the quota is still as it was read: two at once open one."""
    able = find_eligible_raters(quota)
    if not able.exists():
        return False
    same = Quota.objects.filter(pk=quota.pk, wanted=quota.wanted, done=quota.done, round=quota.round)
    if not same.update(wanted=F("wanted") + 1):
        return False
    places.resume_finished_raters([rater.pk for rater in able])
    return True


def withdraw_extra_places(rows: QuerySet[Quota]) -> None:
    """Take back the places that were opened and that nobody holds or can take any more."""
    opened = rows.filter(wanted__gt=F("condition__raters"), reserved__lt=F("wanted"))
    for quota in opened:
        if not find_eligible_raters(quota).exists():
            as_read = Quota.objects.filter(pk=quota.pk, wanted=quota.wanted, reserved__lt=F("wanted"))
            as_read.update(wanted=F("wanted") - 1)


def count_extra_rating_pairs(study: Study) -> int:
    """Of how many pairs one more rating is wanted or was given, in their last round."""
    rows = Quota.objects.filter(condition__study=study, study_pair__planted="")
    return rows.filter(wanted__gt=F("condition__raters")).count()


def find_eligible_raters(quota: Quota) -> QuerySet[Enrolment]:
    """Raters of the condition who could be given the pair in this round: new to them, and they have room.

    Whose reservation of it lapsed may have it back, also without room.
    """
    pair, lapsed = quota.study_pair, Assignment.State.LAPSED
    given = Assignment.objects.filter(rater=OuterRef("user"), study_pair=pair, round=quota.round)
    before = Assignment.objects.filter(enrolment=OuterRef("pk"), study_pair=pair)
    shown = [one for one in (pair.pair_id, pair.other_id) if one is not None]
    new = [~has_seen(OuterRef("user"), one) for one in shown]
    rows = Enrolment.objects.filter(condition=quota.condition_id, left_at=None, excluded=False)
    if pair.language:
        rows = rows.filter(pk__in=takers_of_language(rows, pair.language))
    rows = rows.filter(~Exists(given.exclude(state=lapsed)), *new)
    rows = rows.annotate(used=Count("assignments__study_pair", distinct=True))
    return rows.filter(Q(used__lt=F("capacity")) | Exists(before))


def takers_of_language(raters: QuerySet[Enrolment], language: str) -> list[int]:
    """The ids of those who take pairs of the language; who chose no language takes all."""
    chosen = raters.order_by().values_list("pk", "code_languages")
    return [rater for rater, names in chosen if not names or language in names]


def said_of(quotas: list[Quota]) -> dict[Key, list[int | None]]:
    """The standing blind values by (pair, condition, round); those of excluded raters don't count."""
    rows = (
        Rating.objects.current()
        .counted()
        .filter(
            assignment__study_pair__in=[quota.study_pair_id for quota in quotas],
            assignment__state=Assignment.State.DONE,
            phase=Rating.Phase.BLIND,
        )
    )
    said: dict[Key, list[int | None]] = defaultdict(list)
    columns = "assignment__study_pair_id", "assignment__condition_id", "assignment__round", "value"
    for pair, condition, number, value in rows.values_list(*columns):
        said[pair, condition, number].append(value)
    return said
