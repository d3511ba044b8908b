"""Studies as admins see them: the list, one study's plan and progress, and what it will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, F, Q, Sum
from django.http import QueryDict

from annotation.models import Assignment, AuditEvent, Condition, Enrolment, Quota, Rating, Study, StudyPair
from annotation.studies.adjudication import decisions, verified_subset
from annotation.studies.enrolment import extra_raters
from annotation.studies.enrolment import unfilled_places as unfilled
from annotation.studies.enrolment.raters import load_rater_progress
from annotation.studies.plan import control
from annotation.studies.plan.creation import Order, draw_order_sample
from annotation.studies.plan.effort import (
    Load,
    Room,
    StudyOutlook,
    estimate_study_effort,
    outlook_of,
    owners_of_shown_pairs,
    raters_of_plan,
    warn_of_draw,
)
from annotation.studies.plan.split_rates import Splitting
from annotation.studies.report import rating_export
from annotation.studies.report.figures import open_to
from annotation.web.shared.pagination import load_page_window

PAGE_SIZE: Final = 20
MOST_REASONS: Final = 20
MOST_EVENTS: Final = 30
MOST_TIMED: Final = 20_000


Part = tuple[int, int]
"""(condition, enrolment), ids."""


def studies_page(params: QueryDict) -> dict[str, Any]:
    """The newest first, each with its ratings done and wanted. Two queries, however large the studies are."""
    page = load_page_window(Study.objects.select_related("created_by"), ("-id",), params, PAGE_SIZE)
    counts = quotas_of([study.pk for study in page.rows])
    rows = [(study, *counts.get(study.pk, (0, 0))) for study in page.rows]
    return {"rows": rows, "previous": page.previous, "next": page.next}


def begun_studies_page(user: User, params: QueryDict) -> dict[str, Any]:
    """Studies that were begun, the newest first, each with whether its figures are open to the person.

    Only a rater can be kept out, so for anybody else this asks nothing a row.
    """
    begun = Study.objects.exclude(state=Study.State.DRAFT)
    page = load_page_window(begun, ("-id",), params, PAGE_SIZE)
    rates = Enrolment.objects.filter(user=user).exists()
    rows = [(study, not rates or open_to(user, study)) for study in page.rows]
    return {"rows": rows, "previous": page.previous, "next": page.next}


def quotas_of(studies: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Ratings done and wanted of sampled pairs, by study."""
    rows = Quota.objects.filter(study_pair__study__in=studies, study_pair__planted="")
    told = rows.values_list("study_pair__study").annotate(Sum("done"), Sum("wanted")).order_by()
    return {study: (done, wanted) for study, done, wanted in told}


def study_page(study: Study) -> dict[str, Any]:
    """One study: progress where it was started, else what it will take; plan, history, what can be done."""
    draft = study.state == Study.State.DRAFT
    decisions_by_place = {} if draft else decisions.find_split_places(study)
    decided = sum(decision is not None for decision in decisions_by_place.values())
    annotator = None if draft else verified_subset.find_published_annotator(study)
    closed = (
        study.state == Study.State.CLOSED and bool(study.frozen_at) and study.scale in verified_subset.SCALES
    )
    planted = study.pairs.exclude(planted="").values_list("planted").annotate(Count("pk")).order_by("planted")
    progress = progress_page(study)
    return {
        "study": study,
        "progress": progress,
        "excluded": [rater for rater, *_ in progress["raters"] if rater.excluded],
        "outlook": outlook_of(study) if draft else None,
        "actions": control.find_allowed_actions(study),
        "plan_hash": rating_export.study_hash(study),
        "sample": study.sample,
        "planted": planted,
        "amendments": [
            (amendment, list(rating_export.diff_study_plans(amendment.before, amendment.after)))
            for amendment in study.amendments.select_related("by")
        ],
        "events": AuditEvent.objects.filter(study=study).select_related("user")[:MOST_EVENTS],
        "may_publish": closed and annotator is None,
        "published": annotator,
        "one_more": extra_raters.count_extra_rating_pairs(study),
        "own_tests": study.conditions.filter(kind=Condition.Kind.OWN_TESTS).exists(),
        "waiting": len(decisions_by_place) - decided,
        "decided": decided,
        "unfilled": list(unfilled_rows(study)),
        "given_up": 0 if draft else unfilled.given_up(study),
    }


def unfilled_rows(study: Study) -> Iterable[tuple[str, int, int]]:
    """By condition: pairs with places that nobody can take as things are, and how many such places."""
    places: dict[str, list[int]] = defaultdict(list)
    for beyond in unfilled.find_unfillable_quotas(study):
        places[beyond.quota.condition.get_kind_display()].append(beyond.places)
    for word, counts in places.items():
        yield word, len(counts), sum(counts)


def progress_page(study: Study) -> dict[str, Any]:
    """What changes while a study runs."""
    seconds = rating_seconds_of_study(study)
    return {
        "study": study,
        "conditions": list(condition_rows(study, seconds)),
        "raters": list(rater_rows(study, seconds)),
        "skips": skips_of(study),
    }


def condition_rows(study: Study, seconds: Mapping[Part, list[float]]) -> Iterable[dict[str, Any]]:
    """How far each condition is: ratings of sampled pairs, pairs with all that is planned, seconds a rating.

    `raters`: who has not left, whether or not their part is done.
    """
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
    nothing = dict.fromkeys(("planned", "handed", "got", "complete", "pairs"), 0)
    enrolled = Count("enrolments", filter=Q(enrolments__left_at=None))
    for condition in study.conditions.annotate(enrolled=enrolled):
        row = counts.get(condition.pk, nothing)
        times = [time for (of, _), some in seconds.items() if of == condition.pk for time in some]
        yield {
            "word": condition.get_kind_display(),
            "raters": condition.enrolled,
            "wanted": row["planned"],
            "done": row["got"],
            "open": row["handed"] - row["got"],
            "complete": row["complete"],
            "pairs": row["pairs"],
            "seconds": median(times) if times else None,
        }


def rater_rows(
    study: Study, seconds: Mapping[Part, list[float]]
) -> Iterable[tuple[Enrolment, float, int, int]]:
    """Each of `load_rater_progress` with active hours, planted pairs that were right, and all of these."""
    planted = planted_of(study)
    for rater in load_rater_progress(study):
        hours = sum(seconds.get((rater.condition_id, rater.pk), [])) / 3600
        yield rater, hours, *planted.get(rater.pk, (0, 0))


def rating_seconds_of_study(study: Study) -> dict[Part, list[float]]:
    """Active seconds of each standing rating, by (condition, enrolment); of the latest 20,000 labels.

    A second label holds the time up to it, that of the first one included.
    """
    rows = Rating.objects.current().filter(assignment__enrolment__study=study)
    columns = "assignment_id", "assignment__condition_id", "assignment__enrolment_id", "seconds"
    longest: dict[Part, dict[int, float]] = defaultdict(dict)
    for pair, condition, enrolment, seconds in rows.order_by("-pk").values_list(*columns)[:MOST_TIMED]:
        times = longest[condition, enrolment]
        times[pair] = max(seconds, times.get(pair, 0.0))
    return {key: list(times.values()) for key, times in longest.items()}


def planted_of(study: Study) -> dict[int, tuple[int, int]]:
    """Of the planted pairs that each rater (enrolment) has rated blind: right ones, all."""
    rows = Rating.objects.current().filter(assignment__study_pair__study=study, phase=Rating.Phase.BLIND)
    is_right = Q(value=F("assignment__study_pair__answer"))
    told = rows.exclude(assignment__study_pair__planted="").values_list("assignment__enrolment").order_by()
    counted = told.annotate(right=Count("pk", filter=is_right), asked=Count("pk"))
    return {rater: (right, asked) for rater, right, asked in counted}


def skips_of(study: Study) -> list[tuple[str, int]]:
    """Why pairs were skipped, the most frequent reason first."""
    skipped = Assignment.objects.filter(enrolment__study=study, state=Assignment.State.SKIPPED)
    counted = skipped.values_list("skip_reason").annotate(number=Count("pk"))
    return list(counted.order_by("-number", "skip_reason")[:MOST_REASONS])


def preview_study_order(order: Order) -> StudyOutlook:
    """What an order will take; draws its sample and stores nothing. Raises SampleRefused, StudyRefused."""
    sample, lines = draw_order_sample(order)
    pairs = {row.unit.pair for row in sample.drawn}
    shown = owners_of_shown_pairs((row.unit.pair, row.unit.other) for row in sample.drawn)
    raters = raters_of_plan([(rater.user, rater.condition, rater.capacity) for rater in order.raters], shown)
    loads = [Load(condition.kind, condition.raters, condition.seconds) for condition in order.conditions]
    found = estimate_study_effort(
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
    sizes = list(Counter(row.unit.query for row in sample.drawn).values())
    drawn = tuple((row.unit.stratum, row.probability) for row in sample.drawn)
    return warn_of_draw(found, room, order.wish.size, order.order, sizes, drawn)


def strata_names(study: Study) -> list[str]:
    """The names of the sample's strata, for choosing a slice."""
    rows = StudyPair.objects.filter(study=study, planted="").exclude(stratum="")
    return list(rows.order_by("stratum").values_list("stratum", flat=True).distinct())
