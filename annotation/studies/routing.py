"""A disagreement goes to somebody who has not seen the pair: one more place, once a pair and condition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from django.db.models import F

from annotation.models import Quota, Rating, Study
from annotation.studies import queueing


def route_disagreements(study: Study) -> int:
    """Want one more rating of each pair whose planned quorum splits; returns of how many.

    To be called where the plan says so. Raters who were finished and can be given such a pair go on. Planted
    pairs are never routed, and a pair that was routed once is not routed again.
    """
    said = said_of(study)
    split = [quota for quota in complete(study) if not has_majority(said[key_of(quota)])]
    routed = sum(
        # On the condition that it is still as it was read: so two who route at once route once.
        Quota.objects.filter(pk=quota.pk, wanted=quota.wanted, round=quota.round).update(
            wanted=quota.wanted + 1
        )
        for quota in split
    )
    if routed:
        queueing.reopen(study)
    return routed


def complete(study: Study) -> Iterable[Quota]:
    """The quotas with all ratings that were planned, and none beyond."""
    rows = Quota.objects.filter(condition__study=study, study_pair__planted="")
    return rows.filter(done=F("wanted"), wanted=F("condition__raters"))


def said_of(study: Study) -> dict[tuple[int, int, int], list[int | None]]:
    """The standing blind values by (pair, condition, round)."""
    rows = Rating.objects.current().filter(
        assignment__study_pair__study=study, phase=Rating.Phase.BLIND, assignment__state="done"
    )
    said: dict[tuple[int, int, int], list[int | None]] = defaultdict(list)
    columns = "assignment__study_pair_id", "assignment__condition_id", "assignment__round", "value"
    for pair, condition, number, value in rows.values_list(*columns):
        said[pair, condition, number].append(value)
    return said


def key_of(quota: Quota) -> tuple[int, int, int]:
    return quota.study_pair_id, quota.condition_id, quota.round


def has_majority(values: list[int | None]) -> bool:
    """Whether more than half of the raters said the same; who was unsure has said nothing that could win."""
    counts = Counter(value for value in values if value is not None)
    return bool(counts) and 2 * max(counts.values()) > len(values)
