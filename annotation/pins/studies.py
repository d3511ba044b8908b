"""A study's figures as a pin: every table that is made of its history, at one moment of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Adjudication, Rating, Study
from annotation.pins.pin_record import (
    NothingToPin,
    collect_code_versions,
    last_row_id,
    serialize_tables,
    store_pin,
)
from annotation.studies.report import figure_data
from annotation.studies.report.figure_data import Until
from annotation.studies.report.figures import Figures, NoFigures, compute_study_figures
from annotation.studies.report.tables import build_study_tables
from retrieval.metrics.resampling import AGREEMENT_SEED, RESAMPLES
from retrieval.models import Label, Pin

STATES: Final = ("flow", "reported")
"""Tables that are no figures of the study: the flow of pairs goes on, the papers' figures are theirs."""


def pin_study(study: Study, by: User | None = None) -> Pin:
    """Pin all figures of a study as they are now. Raises NothingToPin."""
    until = now_of(study)
    try:
        value = serialize_study_figures(compute_study_figures(study, until))
    except NoFigures as why:
        raise NothingToPin(str(why)) from why
    ground = {
        "plan": study.plan_hash,
        "last": {**asdict(until), "at": until.at.isoformat()},
        "code": collect_code_versions(),
    }
    subject = {"study": study.name, "id": study.pk, "seed": AGREEMENT_SEED, "resamples": RESAMPLES}
    title = f"{study.name}: {'all' if until.complete else 'interim'} figures"
    return store_pin(Pin.Kind.STUDY, title, subject, value, ground, by)


def study_now(pin: Pin, tick: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A study's figures at the moment of the pin, computed now, and its plan as it is now."""
    study = Study.objects.filter(pk=pin.subject["id"]).first()
    if study is None:
        return {}, {**pin.ground, "plan": None}
    last = pin.ground["last"]
    until = Until(**{**last, "at": datetime.fromisoformat(last["at"])})
    try:
        value = serialize_study_figures(compute_study_figures(study, until))
    except NoFigures:
        value = {}
    tick()
    return value, {**pin.ground, "plan": study.plan_hash}


def now_of(study: Study) -> Until:
    """Where the history of a study ends now."""
    return Until(
        at=timezone.now(),
        rating=last_row_id(Rating.objects.filter(assignment__enrolment__study=study)),
        label=last_row_id(Label.objects.filter(pair__in=study.pairs.values("pair"))),
        adjudication=last_row_id(Adjudication.objects.filter(study_pair__study=study)),
        scoring=last_row_id(study.scorings.all()),
        complete=figure_data.is_complete(study),
    )


def serialize_study_figures(found: Figures) -> dict[str, Any]:
    """Every table of a study's page that is made of its history."""
    return serialize_tables(table for table in build_study_tables(found) if table.key not in STATES)
