"""A tag on a test asks for another one; it waits until the case was run again from the test writer on."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import review
from annotation.accounts.roles import Role
from annotation.derived.derivation import Decision
from annotation.derived.rerun import launch
from annotation.derived.rerun.launch import Again
from annotation.derived.rerun.sent_back import find_cases_awaiting_test, is_awaiting_test
from annotation.models import Build, Case, Rerun, Study
from annotation.review import Beside
from annotation.stages import Stage
from annotation.web.derived.rerun import picked_by_words
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Three cases, two of which a test decided."""
    build = factories.opened()
    first, second, third = factories.cases(build)[:3]
    factories.examined(first, 1)
    factories.examined(second, 0)
    factories.settled(third, 0)
    return build


def tag(case: Case, *tags: str, by: User | None = None, seen: int = 0) -> None:
    review.store_label(by or factories.erin(), case, case.label, "", "e" * 64, seen, Beside(tags, 0))


def judged_by_tests(build: Build) -> list[Case]:
    return list(Case.objects.filter(build=build, program__isnull=False).order_by("pk"))


def again(build: Build, stage: Stage) -> None:
    wish = Again(f"again {Rerun.objects.count()}", stage)
    launch.plan_rerun(build, build.cases.all(), wish).launch(Decision(factories.ada(), "so"))


def test_a_tag_of_the_test_asks_for_another_one(build: Build) -> None:
    one, two = judged_by_tests(build)
    tag(one, "inverse")
    assert not find_cases_awaiting_test(build).exists()
    tag(two, "test_wrong_expectation")
    tag(factories.cases(build)[2], "test_tests_nothing")  # it has no test that could be written again
    assert list(find_cases_awaiting_test(build)) == [two]
    assert is_awaiting_test(two) and not is_awaiting_test(one)


def test_whoever_takes_the_tag_back_asks_no_more(build: Build) -> None:
    one, _ = judged_by_tests(build)
    tag(one, "test_wrong_reading")
    tag(one, "unsafe", seen=1)
    assert not is_awaiting_test(one)


def test_it_waits_until_another_test_was_written(build: Build) -> None:
    one, _ = judged_by_tests(build)
    tag(one, "test_wrong_reading")
    again(build, Stage.ARBITRATING)  # judges the same test once more
    assert is_awaiting_test(one)
    again(build, Stage.WRITING_TEST)
    assert not is_awaiting_test(one)
    tag(one, "test_environment", by=factories.person("eve", Role.EXPERT))  # since then
    assert list(find_cases_awaiting_test(build)) == [one]


def test_a_program_can_choose_them_too(build: Build) -> None:
    one, _ = judged_by_tests(build)
    tag(one, "test_wrong_reading")
    assert list(picked_by_words(build, Build.objects.all(), "sent_back=1").cases) == [one]


def link(build: Build, chosen: str) -> str:
    return f"{reverse('build-again', args=[build.pk])}?{chosen}&amp;from=writing_test"


def test_the_build_says_how_many_wait_and_leads_to_the_price(ada: Client, build: Build) -> None:
    page = reverse("build", args=[build.pk])
    assert "sent back" not in ada.get(page).content.decode()
    one, _ = judged_by_tests(build)
    tag(one, "test_wrong_reading")
    shown = ada.get(page).content.decode()
    assert "1 test sent back" in shown and link(build, "sent_back=1") in shown

    form = ada.get(link(build, "sent_back=1").replace("&amp;", "&"))
    found = form.context["page"]
    assert found.count == 1 and found.offer is not None and found.offer.plan.stage == Stage.WRITING_TEST
    assert "What it will cost" in form.content.decode() and not Rerun.objects.exists()


@pytest.mark.parametrize("route", ["review-case", "case"])
def test_experts_are_told_that_it_waits_and_admins_how_it_goes_on(
    client: Client, build: Build, route: str
) -> None:
    one, _ = judged_by_tests(build)
    page = reverse(route, args=[one.pk])
    client.force_login(factories.erin())
    assert "Sent back" not in client.get(page).content.decode()
    tag(one, "test_wrong_expectation")
    shown = client.get(page).content.decode()
    assert "Sent back to the test writer: waiting for an admin" in shown and "build-again" not in shown
    assert link(build, f"case={one.pk}") not in shown
    client.force_login(factories.ada())
    assert f'{link(build, f"case={one.pk}")}">run the case again' in client.get(page).content.decode()


def test_an_admin_runs_any_tested_case_again_from_its_page(ada: Client, build: Build) -> None:
    one, _ = judged_by_tests(build)
    shown = ada.get(reverse("case", args=[one.pk])).content.decode()
    assert f'{link(build, f"case={one.pk}")}">Run again from the test writer' in shown


def test_readers_are_not_told(client: Client, build: Build) -> None:
    one, _ = judged_by_tests(build)
    tag(one, "test_wrong_expectation")
    client.force_login(factories.ray())
    assert "Sent back" not in client.get(reverse("case", args=[one.pk])).content.decode()


def test_a_tag_of_a_rater_asks_when_the_study_is_closed_for_the_case_that_was_shown(build: Build) -> None:
    one, two = judged_by_tests(build)
    study = studies.study(conditions=("agents_tests",), pairs=[one.pair, two.pair])
    study.pairs.filter(pair=one.pair).update(case=one)
    ruth = studies.rater("ruth", study)
    studies.rated(ruth, 1, study.pairs.get(pair=one.pair), tags=["test_wrong_reading"])
    studies.rated(ruth, 1, study.pairs.get(pair=two.pair), tags=["test_wrong_reading"])  # of no case
    assert not find_cases_awaiting_test(build).exists()
    Study.objects.update(state=Study.State.CLOSED)
    assert (
        list(find_cases_awaiting_test(build)) == [one] and is_awaiting_test(one) and not is_awaiting_test(two)
    )
    tag(two, "test_tests_nothing")
    assert set(find_cases_awaiting_test(build)) == {one, two}
    again(build, Stage.WRITING_TEST)
    assert not find_cases_awaiting_test(build).exists()


def test_a_rater_who_is_left_out_asks_for_nothing(build: Build) -> None:
    one, _ = judged_by_tests(build)
    study = studies.study(conditions=("reveal",), pairs=[one.pair], state=Study.State.CLOSED)
    study.pairs.update(case=one)
    studies.rated(studies.rater("ruth", study, excluded=True), 1, tags=["test_environment"])
    assert not find_cases_awaiting_test(build).exists()
