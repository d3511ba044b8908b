"""An admin changes a study's raters, and sees what nobody can rate."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role
from annotation.models import Enrolment, Seen, Study
from annotation.studies.enrolment import queue, raters
from tests import factories, studies

pytestmark = pytest.mark.django_db


def page(client: Client, route: str, *args: object) -> str:
    answer = client.get(reverse(route, args=args))
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_raters_are_enrolled_changed_and_removed(ada: Client) -> None:
    study = studies.study()
    where = reverse("study-raters", args=[study.pk])
    erin = factories.erin()
    ada.post(where, {"do": "add", "user": erin.pk, "condition": "own_tests", "capacity": 5})
    made = study.enrolments.get()
    ada.post(where, {"do": "capacity", "rater": made.pk, "capacity": 8})
    made.refresh_from_db()
    assert made.capacity == 8
    told = ada.post(where, {"do": "remove", "rater": made.pk}, follow=True).content.decode()
    assert "Say why the rater leaves" in told
    ada.post(where, {"do": "remove", "rater": made.pk, "reason": "gone", "exclude": "on"})
    made.refresh_from_db()
    assert made.finished_at and made.excluded
    assert "Count their ratings again" in page(ada, "study", study.pk)
    ada.post(where, {"do": "include", "rater": made.pk, "reason": "a mistake"})
    made.refresh_from_db()
    assert not made.excluded and "Count their ratings again" not in page(ada, "study", study.pk)
    assert ada.post(where, {"do": "add", "user": "x"}).status_code == 404
    assert "Choose what" in ada.post(where, {"do": "x", "rater": made.pk}, follow=True).content.decode()


def test_a_change_of_raters_that_is_refused_is_shown_again_as_it_was_sent(ada: Client) -> None:
    study = studies.study()
    where, (ruth, sam) = reverse("study-raters", args=[study.pk]), [studies.rater(n, study) for n in "rs"]
    sent = {"do": "capacity", "rater": sam.pk, "capacity": "100001", "reason": "more <time>", "exclude": "on"}
    answer = ada.post(where, sent)
    html = answer.content.decode()
    form = html.split('id="change-rater"')[1].split("</form>")[0]
    assert answer.status_code == 422 and "A capacity is 1 to" in html and 'href="#h-change"' in html
    assert f'value="{sam.pk}" selected' in form and f'value="{ruth.pk}" selected' not in form
    assert 'value="100001"' in form and 'value="more &lt;time&gt;"' in form and " checked" in form
    assert "selected" not in html.split('id="add-user"')[1].split("</form>")[0]
    assert ada.get(where)["Location"] == reverse("study", args=[study.pk])
    Study.objects.update(state=Study.State.CLOSED)
    assert "The study is closed" in ada.post(where, {**sent, "capacity": 9}).content.decode()


def test_who_left_or_was_removed_is_told_apart_from_who_finished(ada: Client) -> None:
    study = studies.study()
    gone, removed, done = (studies.rater(name, study) for name in ("ruth", "sam", "tess"))
    queue.leave_study(gone)
    raters.remove_rater(removed, "slept", factories.person("root", Role.ADMIN))
    Enrolment.objects.filter(pk=done.pk).update(finished_at=study.created_at)
    text = page(ada, "study", study.pk)
    assert re.findall(r'data-label="State">(\w+)', text) == ["left", "removed", "finished"]
    assert re.findall(r'data-label="Raters" class="num">(\d+)', text) == ["1"]  # who is done is still there


def test_the_page_says_what_became_of_the_places_of_an_excluded_rater(ada: Client) -> None:
    study = studies.study(raters=1)
    where, ruth = reverse("study-raters", args=[study.pk]), studies.rater("ruth", study)
    for number in (1, 2):
        studies.rated(ruth, 1, study.pairs.get(number=number))
    said = {"rater": ruth.pk, "reason": "slept", "exclude": "on"}
    told = ada.post(where, {"do": "remove", **said}, follow=True).content.decode()
    assert "2 places can now be taken by others" in told and "excluded, 2 ratings left out" in told
    studies.rated(studies.rater("sam", study), 1, study.pairs.get(number=1))
    told = ada.post(where, {"do": "include", **said}, follow=True).content.decode()
    assert "1 rating of R01 counts again. The places of 1 were taken" in told


def test_a_study_that_nobody_else_can_be_enrolled_in_says_what_to_do(ada: Client) -> None:
    study = studies.study()
    assert "There is nobody else to enrol" in page(ada, "study", study.pk)
    factories.erin()
    assert "There is nobody else to enrol" not in page(ada, "study", study.pk)


def test_who_can_take_a_round_is_shown_and_what_nobody_can_is_given_up(ada: Client) -> None:
    study = studies.study(conditions=("reveal",), raters=1)
    ruth = studies.rater("ruth", study)
    for sampled in study.pairs.order_by("number"):
        studies.rated(ruth, 1, sampled)
        Seen.objects.create(user=ruth.user, pair=sampled.pair)
    again = reverse("study-again", args=[study.pk])
    counted = ada.post(again, {"every": "on", "step": "count"}).content.decode()
    assert "3 rated pairs" in counted and "0 raters can take each pair, 1 is planned" in counted
    assert "3 pairs have too few" in counted
    assert "nobody can give" not in page(ada, "study", study.pk)

    ada.post(again, {"every": "on", "reason": "stricter"})
    shown = page(ada, "study", study.pk)
    assert "Ratings that nobody can give" in shown and "reveal: 3 pairs, 3 places" in shown
    told = ada.post(again, {"step": "give_up", "reason": ""}, follow=True).content.decode()
    assert "Say why" in told
    told = ada.post(again, {"step": "give_up", "reason": "all have seen it"}, follow=True).content.decode()
    assert "3 planned ratings were dropped" in told
    assert "Ratings that nobody can give" not in told


def test_places_that_somebody_can_take_are_not_among_those_that_nobody_can(ada: Client) -> None:
    study = studies.study(raters=3)
    studies.rater("ruth", study)
    assert "own tests: 3 pairs, 6 places" in page(ada, "study", study.pk)
    again = reverse("study-again", args=[study.pk])
    told = ada.post(again, {"step": "give_up", "reason": "too few raters"}, follow=True).content.decode()
    assert "6 planned ratings were dropped" in told
