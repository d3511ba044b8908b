"""The study of the demo: it runs, one rater is a visitor, and it ends in figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.accounts.roles import Role, builds_visible_to
from annotation.models import Build, Study
from annotation.studies.adjudication import decisions
from annotation.studies.enrolment import queue, rater_studies
from annotation.studies.enrolment.raters import find_rater_candidates
from annotation.studies.plan import guidelines
from annotation.studies.plan.effort import usual_seconds
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.rating import ratings
from annotation.studies.report.figures import figures_of
from cosqa_site.demo import sample_study
from cosqa_site.demo.accounts import demo_accounts
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build(settings: Settings, tmp_path: Path) -> Build:
    settings.COSQA_HOME = tmp_path
    demo_accounts()
    return factories.said(factories.opened("sample"), (1, 0, 1, 0, 1, 0, 1, 0, 1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "guidelines.md").write_text("# Rules")
    (tmp_path / "truth.jsonl").write_text("")
    return tmp_path


@pytest.fixture
def study(build: Build, folder: Path) -> Study:
    made = sample_study.ensure_sample_study(build, folder)
    assert made is not None
    return made


def test_it_runs_with_one_visitor_and_two_made_up_raters(study: Study) -> None:
    assert study.state == Study.State.RUNNING and "made up" in study.question
    done = {one.user.username: one.finished_at is not None for one in study.enrolments.select_related("user")}
    assert done == {"rater": False, "made-up-1": True, "made-up-2": True}
    assert not User.objects.get(username="made-up-1").has_usable_password()
    assert usual_seconds()["reading"] == (60.0, 0)  # what is made up is no measure of people
    assert not {"made-up-1", "made-up-2"} & {
        user.username for user in find_rater_candidates(None, factories.ada())
    }


def test_it_is_made_once(build: Build, folder: Path, study: Study) -> None:
    assert sample_study.ensure_sample_studies(build, folder) == [study]  # three queries: no split
    assert Study.objects.count() == 1


def test_nobody_but_its_rater_is_kept_from_the_build(build: Build, study: Study) -> None:
    blind = {
        name: build not in builds_visible_to(User.objects.get(username=name)) for name in (*Role, "rater")
    }
    assert blind == {"reader": False, "expert": False, "admin": False, "rater": True}


def test_the_visitor_rates_and_then_there_are_figures(client: Client, study: Study) -> None:
    visitor = study.enrolments.get(user__username="rater")
    client.force_login(visitor.user)
    assert study.name in client.get(reverse("work")).content.decode()
    guidelines.acknowledge_guideline(study, visitor.user)
    rater_studies.accept_study_information(visitor, sample_study.NOBODY)
    while (given := queue.next_assignment(visitor)) is not None:
        ratings.submit_rating(given, given.token, RaterStatement(0, "", "", (), 9.0, (), (), "a" * 64), 0)
    assert not figures_of(study).interim
    assert decisions.load_split_pairs(study) == []  # three raters of two labels never tie
    assert client.get(reverse("study-figures", args=[study.pk])).status_code == 200


def test_without_labelled_pairs_or_guidelines_there_is_none(build: Build, folder: Path) -> None:
    (folder / "guidelines.md").unlink()
    assert sample_study.ensure_sample_study(build, folder) is None
    assert sample_study.ensure_sample_study(factories.launched("not yet"), folder) is None
    assert not Study.objects.exists()


def test_a_study_of_made_up_raters_leaves_one_split_to_decide(
    settings: Settings, tmp_path: Path, folder: Path
) -> None:
    settings.COSQA_HOME = tmp_path
    demo_accounts()
    factories.queries([f"sort list {number}" for number in range(8)])
    build = factories.said(factories.opened("sample", k=1), (1, 0) * 4)
    rated, decided = sample_study.ensure_sample_studies(build, folder)
    assert decided.name == "sample: a split to decide"
    [split] = decisions.load_split_pairs(decided)
    assert (split.number, sorted(map(str, split.votes))) == (5, ["0", "0", "1", "1"])
    assert decisions.load_split_pairs(rated) == []
    expert = User.objects.get(username="expert")
    decisions.refuse_adjudication(expert, decided)
