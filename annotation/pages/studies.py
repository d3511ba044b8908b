"""Studies as admins see them: the list, one study's plan and progress, and what it will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Any, Final

from django.db.models import Count, F, Q, Sum
from django.http import QueryDict

from annotation.models import Amendment, Assignment, AuditEvent, Enrolment, Quota, Rating, Study, StudyPair
from annotation.pages.paging import window
from annotation.studies import adjudicating, controlling, enrolling, exporting, routing, unfilled, verifying
from annotation.studies.controlling import Action
from annotation.studies.creating import Order
from annotation.studies.creating import drawn as drawn_for
from annotation.studies.estimating import (
    Load,
    Outlook,
    Rater,
    Room,
    crowded,
    outlook,
    outlook_of,
    owners,
    seen_by,
    smaller,
)
from annotation.studies.splits import Splitting

PAGE_SIZE: Final = 20
COUNTED: Final = ("given", "done", "skipped", "lapsed", "left_out", "halves", "waits_since")
MOST_REASONS: Final = 20
MOST_EVENTS: Final = 30
MOST_TIMED: Final = 20_000


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One study of the list; ratings are of sampled pairs."""

    study: Study
    pairs: int
    done: int
    wanted: int


@dataclass(frozen=True, slots=True)
class StudiesPage:
    rows: tuple[StudyRow, ...]
    previous: str
    next: str


@dataclass(frozen=True, slots=True)
class ConditionProgress:
    """How far a condition is: ratings of sampled pairs, pairs with all that is planned, seconds a rating.

    `raters`: who has not left, whether or not their part is done.
    """

    word: str
    raters: int
    wanted: int
    done: int
    open: int
    complete: int
    pairs: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """A rater by name and pseudonym, with what they were given and how they did on planted pairs.

    `halves`: pairs whose first label is locked and whose second one is missing since `waits_since`.
    """

    enrolment: Enrolment
    given: int
    done: int
    skipped: int
    lapsed: int
    left_out: int
    hours: float
    right: int
    planted: int
    halves: int
    waits_since: datetime | None


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """What changes while a study runs."""

    study: Study
    conditions: tuple[ConditionProgress, ...]
    raters: tuple[RaterProgress, ...]
    skips: tuple[tuple[str, int], ...]

    @property
    def is_live(self) -> bool:
        return self.study.state == Study.State.RUNNING


@dataclass(frozen=True, slots=True)
class StudyPage:
    """One study: progress where it was started, else what it will take; plan, history, what can be done."""

    study: Study
    progress: ProgressPage
    outlook: Outlook | None
    actions: tuple[Action, ...]
    plan_hash: str
    sample: dict[str, Any]
    planted: tuple[tuple[str, int], ...]
    amendments: tuple[AmendmentRow, ...]
    events: tuple[AuditEvent, ...]
    may_publish: bool
    published: str
    undecided: int
    one_more: int
    waiting: int
    decided: int
    unfilled: tuple[Unfilled, ...] = ()
    given_up: int = 0

    @property
    def excluded(self) -> tuple[Enrolment, ...]:
        """The raters whom an amendment leaves out."""
        return tuple(one.enrolment for one in self.progress.raters if one.enrolment.excluded)


@dataclass(frozen=True, slots=True)
class Unfilled:
    """Of a condition: pairs with places that nobody can take, and how many such places they have."""

    word: str
    pairs: int
    places: int


@dataclass(frozen=True, slots=True)
class AmendmentRow:
    """An amendment and where the plans part."""

    amendment: Amendment
    differences: tuple[tuple[str, str, str], ...]


def studies_page(params: QueryDict) -> StudiesPage:
    """The newest first. Two queries beside the page's rows, however large the studies are."""
    page = window(Study.objects.select_related("created_by"), ("-id",), params, PAGE_SIZE)
    counts = quotas_of([study.pk for study in page.rows])
    rows = tuple(StudyRow(study, study.planned_pairs, *counts.get(study.pk, (0, 0))) for study in page.rows)
    return StudiesPage(rows, page.previous, page.next)


def quotas_of(studies: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Ratings done and wanted of sampled pairs, by study."""
    rows = Quota.objects.filter(study_pair__study__in=studies, study_pair__planted="")
    told = rows.values("study_pair__study").annotate(done=Sum("done"), wanted=Sum("wanted")).order_by()
    return {row["study_pair__study"]: (row["done"], row["wanted"]) for row in told}


def study_page(study: Study) -> StudyPage:
    draft = study.state == Study.State.DRAFT
    split = {} if draft else adjudicating.places(study)
    annotator = None if draft else verifying.published(study)
    closed = study.state == Study.State.CLOSED and bool(study.frozen_at) and study.scale in verifying.SCALES
    events = AuditEvent.objects.filter(study=study).select_related("user")[:MOST_EVENTS]
    planted = (
        study.pairs.exclude(planted="").values("planted").annotate(number=Count("pk")).order_by("planted")
    )
    return StudyPage(
        study=study,
        progress=progress_page(study),
        outlook=outlook_of(study) if draft else None,
        actions=tuple(controlling.allowed(study)),
        plan_hash=exporting.study_hash(study),
        sample=study.sample,
        planted=tuple((row["planted"], row["number"]) for row in planted),
        amendments=tuple(amendment_rows(study.amendments.select_related("by"))),
        events=tuple(events),
        may_publish=closed and annotator is None,
        published=str(annotator) if annotator else "",
        undecided=verifying.undecided(study) if closed else 0,
        one_more=routing.asked(study),
        waiting=sum(one is None for one in split.values()),
        decided=sum(one is not None for one in split.values()),
        unfilled=tuple(unfilled_rows(study)),
        given_up=0 if draft else unfilled.given_up(study),
    )


def unfilled_rows(study: Study) -> Iterable[Unfilled]:
    """By condition, what nobody can rate as things are."""
    places: dict[str, list[int]] = defaultdict(list)
    for one in unfilled.beyond(study):
        places[one.quota.condition.get_kind_display()].append(one.places)
    for word, counts in places.items():
        yield Unfilled(word, len(counts), sum(counts))


def amendment_rows(amendments: Iterable[Amendment]) -> Iterable[AmendmentRow]:
    for one in amendments:
        yield AmendmentRow(one, tuple(exporting.differences(one.before, one.after)))


def progress_page(study: Study) -> ProgressPage:
    seconds = seconds_of(study)
    return ProgressPage(
        study=study,
        conditions=tuple(condition_rows(study, seconds)),
        raters=tuple(rater_rows(study, seconds)),
        skips=skips_of(study),
    )


def condition_rows(study: Study, seconds: dict[tuple[int, int], list[float]]) -> Iterable[ConditionProgress]:
    counts = {
        row["condition"]: row
        for row in Quota.objects.filter(study_pair__study=study, study_pair__planted="")
        .values("condition")
        .annotate(
            planned=Sum("wanted"),
            handed=Sum("reserved"),
            got=Sum("done"),
            complete=Count("pk", filter=Q(done__gte=F("wanted"))),
            pairs=Count("pk"),
        )
        .order_by()
    }
    for one in study.conditions.annotate(enrolled=Count("enrolments", filter=Q(enrolments__left_at=None))):
        row = counts.get(one.pk, dict.fromkeys(("planned", "handed", "got", "complete", "pairs"), 0))
        times = [time for (condition, _), some in seconds.items() if condition == one.pk for time in some]
        yield ConditionProgress(
            word=one.get_kind_display(),
            raters=one.enrolled,
            wanted=row["planned"],
            done=row["got"],
            open=row["handed"] - row["got"],
            complete=row["complete"],
            pairs=row["pairs"],
            seconds=median(times) if times else None,
        )


def rater_rows(study: Study, seconds: dict[tuple[int, int], list[float]]) -> Iterable[RaterProgress]:
    planted = planted_of(study)
    for row in enrolling.progress(study):
        times = seconds.get((row.condition_id, row.pk), [])
        right, asked = planted.get(row.pk, (0, 0))
        counts = {name: getattr(row, name) for name in COUNTED}
        yield RaterProgress(enrolment=row, hours=sum(times) / 3600, right=right, planted=asked, **counts)


def seconds_of(study: Study) -> dict[tuple[int, int], list[float]]:
    """Active seconds of each standing rating, by (condition, enrolment); of the latest 20,000 labels.

    A second label holds the time up to it, that of the first one included.
    """
    rows = Rating.objects.current().filter(assignment__enrolment__study=study)
    columns = "assignment_id", "assignment__condition_id", "assignment__enrolment_id", "seconds"
    longest: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    for pair, condition, enrolment, seconds in rows.order_by("-pk").values_list(*columns)[:MOST_TIMED]:
        times = longest[condition, enrolment]
        times[pair] = max(seconds, times.get(pair, 0.0))
    return {key: list(times.values()) for key, times in longest.items()}


def planted_of(study: Study) -> dict[int, tuple[int, int]]:
    """Of the planted pairs that each rater (enrolment) has rated blind: right ones, all."""
    rows = Rating.objects.current().filter(assignment__study_pair__study=study, phase=Rating.Phase.BLIND)
    told = (
        rows.exclude(assignment__study_pair__planted="")
        .values("assignment__enrolment")
        .annotate(asked=Count("pk"), right=Count("pk", filter=Q(value=F("assignment__study_pair__answer"))))
        .order_by()
    )
    return {row["assignment__enrolment"]: (row["right"], row["asked"]) for row in told}


def skips_of(study: Study) -> tuple[tuple[str, int], ...]:
    """Why pairs were skipped, the most frequent reason first."""
    rows = (
        Assignment.objects.filter(enrolment__study=study, state=Assignment.State.SKIPPED)
        .values("skip_reason")
        .annotate(number=Count("pk"))
        .order_by("-number", "skip_reason")
    )
    return tuple((row["skip_reason"], row["number"]) for row in rows[:MOST_REASONS])


def preview(order: Order) -> Outlook:
    """What an order will take; draws its sample and stores nothing. Raises SampleRefused, StudyRefused."""
    sample, lines = drawn_for(order)
    pairs = {one.unit.pair for one in sample.drawn}
    shown = owners((one.unit.pair, one.unit.other) for one in sample.drawn)
    seen = seen_by([one.user.pk for one in order.raters], shown)
    raters = [
        Rater(str(one.user), one.condition, one.capacity, seen.get(one.user.pk, frozenset()))
        for one in order.raters
    ]
    loads = [Load(one.kind, one.raters, one.seconds) for one in order.conditions]
    found = outlook(
        pairs,
        len(lines),
        sample.queries,
        sample.strata,
        loads,
        raters,
        order.hourly_rate,
        one_more=Splitting.of(order.rates.typed()) if order.one_more else None,
    )
    room = Room(sample.room, order.wish.per_query, sample.population, sample.population_queries)
    sizes = list(Counter(one.unit.query for one in sample.drawn).values())
    return replace(
        found,
        drawn=tuple((one.unit.stratum, one.probability) for one in sample.drawn),
        room=room,
        warnings=(
            *smaller(order.wish.size, len(pairs), room),
            *crowded(order.order, sizes),
            *found.warnings,
        ),
    )


def strata_names(study: Study) -> list[str]:
    """The names of the sample's strata, for choosing a slice."""
    rows = StudyPair.objects.filter(study=study, planted="").exclude(stratum="")
    return list(rows.order_by("stratum").values_list("stratum", flat=True).distinct())
