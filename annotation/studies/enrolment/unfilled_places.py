"""Places that nobody can take: raters have seen what the agents said, have had the pair, left, or are full.

While a study has such places it is interim for ever, so an admin can give them up, with a reason. The plan
keeps how many ratings were planned: a pair still needs a strict majority of those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F

from annotation.models import Assignment, Enrolment, Quota, Study
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.exposure import seen_among
from annotation.studies.plan.plan import LONGEST_WHY, StudyRefused
from retrieval.texts.hostile import mark_hostile_characters

State = Assignment.State


@dataclass(frozen=True)
class Able:
    """Who could be given which pair: raters by condition as (enrolment, user, has room), what users have seen
    (user, pair), what they were given (user, study pair, round), whose place it was before, and the
    programming languages that raters (enrolment) chose.
    """

    raters: dict[int, list[tuple[int, int, bool]]]
    seen: frozenset[tuple[int, int]]
    given: frozenset[tuple[int, int, int]]
    before: frozenset[tuple[int, int]]
    languages: dict[int, frozenset[str]]

    def takers(self, quota: Quota, number: int) -> int:
        """How many raters of the condition could rate the pair in that round."""
        return sum(
            (has_room or (enrolment, quota.study_pair_id) in self.before)
            and (user, quota.study_pair_id, number) not in self.given
            and self.takes(enrolment, quota.study_pair.language)
            and not any((user, pair) in self.seen for pair in shown_pairs_of_quota(quota))
            for enrolment, user, has_room in self.raters[quota.condition_id]
        )

    def takes(self, enrolment: int, language: str) -> bool:
        """Whether the rater is given pairs of the language; who chose none is given all."""
        chosen = self.languages[enrolment]
        return not chosen or not language or language in chosen


def shown_pairs_of_quota(quota: Quota) -> list[int]:
    """The pairs that a rater is shown: two of them where snippets are compared."""
    ids = quota.study_pair.pair_id, quota.study_pair.other_id
    return [pair for pair in ids if pair is not None]


def find_able_raters(study: Study, quotas: Iterable[Quota]) -> Able:
    """Three queries, whatever their number."""
    enrolled = Enrolment.objects.filter(study=study, left_at=None, excluded=False)
    enrolled = enrolled.annotate(used=Count("assignments__study_pair", distinct=True)).order_by("pk")
    raters: dict[int, list[tuple[int, int, bool]]] = defaultdict(list)
    for one in enrolled:
        raters[one.condition_id].append((one.pk, one.user_id, one.used < one.capacity))
    users = [user for some in raters.values() for _, user, _ in some]
    pairs = {pair for quota in quotas for pair in shown_pairs_of_quota(quota)}
    given = Assignment.objects.filter(enrolment__study=study).values_list(
        "enrolment_id", "rater_id", "study_pair_id", "round", "state"
    )
    rows = list(given)
    return Able(
        raters,
        frozenset(seen_among(users, pairs)),
        frozenset((user, pair, number) for _, user, pair, number, state in rows if state != State.LAPSED),
        frozenset((enrolment, pair) for enrolment, _, pair, _, _ in rows),
        {one.pk: frozenset(one.code_languages) for one in enrolled},
    )


@dataclass(frozen=True, slots=True)
class Beyond:
    """A pair's quota, and how many of its free places nobody can take: `takers` could have the others."""

    quota: Quota
    takers: int

    @property
    def places(self) -> int:
        return self.quota.wanted - self.quota.reserved - self.takers


def find_unfillable_quotas(study: Study) -> list[Beyond]:
    """The sampled pairs' quotas with more free places than raters who could take one."""
    return filter_unfillable_quotas(study, with_room(study)) if study.is_live else []


def with_room(study: Study) -> list[Quota]:
    """The sampled pairs' quotas with a free place."""
    rows = Quota.objects.filter(study_pair__study=study, study_pair__planted="", reserved__lt=F("wanted"))
    return list(rows.select_related("study_pair", "condition").order_by("study_pair__number", "condition"))


def filter_unfillable_quotas(study: Study, quotas: list[Quota]) -> list[Beyond]:
    """Those of these quotas with more free places than raters who could take one."""
    if not quotas:
        return []
    found = find_able_raters(study, quotas)
    able_of = [Beyond(quota, found.takers(quota, quota.round)) for quota in quotas]
    return [beyond for beyond in able_of if beyond.places > 0]


def find_stuck_places(study: Study, places: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Of these (study pair, condition) those of which no rating can come any more, though planned ones are
    missing: nobody rates them now or could.
    """
    if not study.is_live:
        return set()
    asked = [quota for quota in with_room(study) if (quota.study_pair_id, quota.condition_id) in places]
    idle = filter_unfillable_quotas(study, [one for one in asked if one.reserved == one.done])
    return {(beyond.quota.study_pair_id, beyond.quota.condition_id) for beyond in idle if not beyond.takers}


def give_up(study: Study, why: str, by: User) -> int:
    """Want no more ratings of pairs than somebody can give; says how many. Raises StudyRefused.

    What somebody holds is waited for. The reason is kept in the audit log and told beside the figures.
    """
    reason = mark_hostile_characters(why).strip()[:LONGEST_WHY]
    if not reason:
        raise StudyRefused("Say why the missing ratings are given up.")
    with transaction.atomic():
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # raters' entries in the log don't wait
        quotas = find_unfillable_quotas(study)
        missing = sum(map(withdraw_unfillable_places, quotas))
        if not missing:
            raise StudyRefused("Somebody can take every place that is free: nothing has to be given up.")
        pairs = len({beyond.quota.study_pair_id for beyond in quotas})
        detail = {"ratings": missing, "pairs": pairs, "why": reason}
        append_audit_event(by, Verb.RATINGS_GIVEN_UP, study.name, study, detail)
    return missing


def withdraw_unfillable_places(one: Beyond) -> int:
    """Take back the places that nobody can fill, unless the quota has changed; says how many."""
    quota = one.quota
    as_read = Quota.objects.filter(
        pk=quota.pk, wanted=quota.wanted, reserved=quota.reserved, round=quota.round
    )
    return one.places * as_read.update(wanted=F("wanted") - one.places)


def given_up(study: Study) -> int:
    """How many planned ratings of the last rounds are waited for no more."""
    rows = Quota.objects.filter(study_pair__study=study, study_pair__planted="")
    short = rows.filter(wanted__lt=F("condition__raters")).values_list("wanted", "condition__raters")
    return sum(planned - wanted for wanted, planned in short)
