"""Which versions are scored on a sealed study, once and for ever."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import AuditEvent, Scoring, Study
from annotation.studies.adjudication.sealed_scores import find_unscored_versions, score_sealed_versions
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.report.figures import (
    compute_study_figures,
)
from annotation.studies.report.tables import build_scoring_table
from tests import factories, studies
from tests.annotation.studies.rated import agents, rated_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return rated_study([[1, 0, 1, 0]] * 3, purpose=Study.Purpose.SEALED)


def test_a_version_is_scored_once_and_kept_in_the_audit_log(study: Study) -> None:
    made = agents(study, [1, 0, 1, 0])
    (first,) = score_sealed_versions(study, [made], factories.ada())
    assert score_sealed_versions(study, [made], factories.erin()) == ()
    assert Scoring.objects.get() == first and first.by == factories.ada()
    assert "1 annotator version was scored on it" in build_scoring_table(compute_study_figures(study)).note
    event = AuditEvent.objects.get(verb="version scored")
    assert event.study == study and event.detail["version"] == made.version


def test_what_is_no_version_of_a_sealed_study_is_refused(study: Study) -> None:
    made = agents(study, [1, 0, 1, 0])
    with pytest.raises(StudyRefused, match="has judged"):
        score_sealed_versions(study, [factories.annotator(salt="other")], factories.ada())
    Study.objects.update(purpose=Study.Purpose.DEVELOPMENT)
    study.refresh_from_db()
    with pytest.raises(StudyRefused, match="sealed"):
        score_sealed_versions(study, [made], factories.ada())
    with pytest.raises(StudyRefused, match="Nobody has rated"):
        score_sealed_versions(studies.study("empty", purpose=Study.Purpose.SEALED), [], factories.ada())
    assert not Scoring.objects.exists()


def test_versions_are_named_by_name_or_beginning(study: Study) -> None:
    one, two = agents(study, [1, 0, 1, 0], "one"), agents(study, [1, 0, 1, 1], "two")
    assert find_unscored_versions(study, []) == [one, two]
    assert find_unscored_versions(study, [two.version[:10]]) == [two]
    with pytest.raises(StudyRefused, match="called 'nobody'"):
        find_unscored_versions(study, ["nobody"])
    score_sealed_versions(study, [one], factories.ada())
    assert find_unscored_versions(study, []) == [two]


def test_the_command_scores_those_that_wait(study: Study) -> None:
    made = agents(study, [1, 0, 1, 0])
    out = StringIO()
    call_command("study", "score", study.name, "--as", factories.ada().username, stdout=out)
    assert f"scored {made}" in out.getvalue() and "1 version was scored" in out.getvalue()
    with pytest.raises(CommandError, match="no admin"):
        call_command("study", "score", study.name, "--as", factories.erin().username)


def test_an_admin_scores_what_is_ticked_on_the_page(client: Client, study: Study) -> None:
    one, two = agents(study, [1, 0, 1, 0], "one"), agents(study, [1, 0, 1, 1], "two")
    page, form = (reverse(name, args=[study.pk]) for name in ("study-figures", "study-figures-score"))
    client.force_login(factories.ray())
    assert "an admin has to say" in client.get(page).content.decode()
    assert client.post(form, {"version": one.pk}).status_code == 403
    client.force_login(factories.ada())
    assert "Score the ticked ones" in client.get(page).content.decode()
    assert not Scoring.objects.exists()

    assert client.post(form, {"version": [one.pk, "x"]}).headers["Location"] == page
    assert [row.annotator for row in Scoring.objects.all()] == [one]
    shown = client.get(page).content.decode()
    assert format_annotator_name(two) in shown and "not scored yet" in shown
    assert "No version was ticked" in client.post(form, follow=True).content.decode()
