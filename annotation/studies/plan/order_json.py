"""A study as JSON has it, in the domain's terms: for the API and for `manage.py study new`."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotation.models import Build, Guideline
from annotation.schemas.studies.studies import AssumedRates, ConditionIn, RaterIn, StudyIn
from annotation.studies.enrolment import raters
from annotation.studies.plan.creation import CHOICES, TEXTS, ConditionWish, Order, RaterWish
from annotation.studies.plan.effort import usual_seconds
from annotation.studies.plan.forecast import find_pilot_studies
from annotation.studies.plan.plan import StudyRefused
from retrieval.models import Annotator
from retrieval.models.versions import find_version


def order_of(told: StudyIn, visible: QuerySet[Build]) -> Order:
    """The order; builds are looked up among those that are visible. Raises StudyRefused."""
    plain = {name: getattr(told, name) for name in ("name", "planted", "hourly_rate", *CHOICES, *TEXTS)}
    return Order(
        **plain | {"guideline": guideline_of(told.guideline)},
        builds=builds_of(told.builds, visible),
        wish=told.sample,
        conditions=conditions_of(told.conditions),
        raters=raters_of(told.raters),
        against=against_of(told.against),
        comparisons=tuple(told.comparisons),
        rates=rates_of(told.rates),
    )


def builds_of(wanted: Iterable[int | str], visible: QuerySet[Build]) -> tuple[Build, ...]:
    """The builds with these ids or names, each once. Raises StudyRefused."""
    keys = list(dict.fromkeys(wanted))
    rows = visible.filter(Q(pk__in=ids_in(keys)) | Q(name__in=names_in(keys)), opened=True)
    found = {key: build for build in rows for key in (build.pk, build.name)}
    missing = [key for key in keys if key not in found]
    if missing:
        raise StudyRefused(f"There is no build {missing[0]} with cases.")
    return tuple(dict.fromkeys(found[key] for key in keys))


def ids_in(keys: Iterable[int | str]) -> list[int]:
    return [key for key in keys if isinstance(key, int)]


def names_in(keys: Iterable[int | str]) -> list[str]:
    return [key for key in keys if isinstance(key, str)]


def conditions_of(told: Iterable[ConditionIn]) -> tuple[ConditionWish, ...]:
    usual = usual_seconds()
    return tuple(
        ConditionWish(condition.kind, condition.raters, condition.seconds or usual[condition.kind][0])
        for condition in told
    )


def raters_of(told: Iterable[RaterIn]) -> tuple[RaterWish, ...]:
    wanted = list(told)
    users = {user.username: user for user in User.objects.filter(username__in=[one.user for one in wanted])}
    able = set(raters.find_active_experts().filter(username__in=users).values_list("username", flat=True))
    for one in wanted:
        if one.user not in users:
            raise StudyRefused(f"There is no account {one.user!r}.")
        if one.user not in able:
            raise StudyRefused(raters.NO_EXPERT.format(one.user))
    return tuple(RaterWish(users[one.user], one.condition, one.capacity) for one in wanted)


def guideline_of(wanted: int | str | None) -> Guideline | None:
    """The version with this id, or this name. Raises StudyRefused."""
    if wanted is None:
        return None
    found: Guideline | None = find_version(Guideline.objects.all(), wanted)
    if found is None:
        raise StudyRefused(f"There are no guidelines {wanted}.")
    return found


def against_of(pk: int | None) -> Annotator | None:
    if pk is None:
        return None
    found = Annotator.objects.filter(pk=pk, kind=Annotator.Kind.ORIGINAL).first()
    if found is None:
        raise StudyRefused(f"There are no imported labels of an annotator {pk}.")
    return found


def rates_of(told: AssumedRates | None) -> AssumedRates:
    rates = told or AssumedRates()
    if rates.pilot is not None and not find_pilot_studies().filter(pk=rates.pilot).exists():
        why = "that is a study with ratings that somebody has started"
        raise StudyRefused(f"Study {rates.pilot} is no pilot: {why}.")
    return rates
