"""Before the first pair: information, profile, guidelines, and the list of one's studies."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from annotation.models import (
    Condition,
    Enrolment,
    Guideline,
)
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from tests import factories, studies
from tests.annotation.studies.rated import rated_study
from tests.rating_pages import (
    given,
    page,
    send,
)

pytestmark = pytest.mark.django_db
Kind = Condition.Kind


def welcomed(client: Client, **columns: Any) -> Enrolment:
    study = studies.study(information="**Your** rights\n\n<script>alert(1)</script>", **columns)
    rita = studies.rater("rita", study, accepted_at=None)
    client.force_login(rita.user)
    return rita


def test_information_and_profile_come_before_the_first_pair(client: Client) -> None:
    rita = welcomed(client)
    here = f"/rate/{rita.study_id}/"
    html = client.get(f"{here}next/", follow=True).content.decode()
    assert "<strong>Your</strong>" in html
    assert f'data-kept="{rita.user_id}"' in html, "a login that ends meanwhile loses no profile"
    assert "<script>alert" not in html and "&lt;script&gt;" in html
    bad = client.post(here, {"years": "many", "occupation": "", "languages": "German"})
    assert bad.status_code == 422
    assert "whole number" in bad.content.decode() and "German" in bad.content.decode()
    assert (
        client.post(here, {"years": "7", "occupation": "student", "languages": "German"}).status_code == 302
    )
    rita.refresh_from_db()
    assert (rita.years_of_python, rita.occupation) == (7, "student")
    assert rita.accepted_at is not None
    assert "/pairs/" in client.get(f"{here}next/").headers["Location"]


def test_a_new_version_of_the_guidelines_is_read_before_the_next_pair(client: Client) -> None:
    of = given(client, Kind.READING)
    study = of.condition.study
    study.guideline = Guideline.objects.create(
        name="rules", version=2, text="# New", change="meaning", note="edge cases count", worked_cases=[{}]
    )
    study.save()
    assert "The guidelines have changed" in page(client, of)
    send(client, of, "1")
    assert client.get(f"/rate/{study.pk}/next/").headers["Location"] == f"/rate/{study.pk}/"
    assert "edge cases count" in client.get(f"/rate/{study.pk}/guidelines/").content.decode()
    client.post(f"/rate/{study.pk}/guidelines/", {"guideline": "0"})
    assert "/pairs/" not in client.get(f"/rate/{study.pk}/next/").headers["Location"], "another version"
    read = client.post(f"/rate/{study.pk}/guidelines/", {"guideline": str(study.guideline.pk)})
    assert read.headers["Location"] == f"/rate/{study.pk}/next/"
    assert "/pairs/" in client.get(f"/rate/{study.pk}/next/").headers["Location"]


def test_the_list_says_what_is_left(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1", seconds="61.5")
    html = client.get("/rate/").content.decode()
    assert "first study" in html
    assert re.search(r'data-label="Rated">1<', html) and re.search(r'data-label="Left">2<', html)
    assert re.search(r'data-label="Time so far">1 min', html)
    assert re.search(r'data-label="Time left">2 min', html)


def test_an_empty_list_says_what_to_do(client: Client) -> None:
    client.force_login(factories.erin())
    html = client.get("/rate/").content.decode()
    assert "An admin enrols experts" in html
    assert ">Rate</a>" not in html, "no entry for those who are in no study"


def test_the_navigation_leads_raters_there(client: Client) -> None:
    given(client, Kind.READING)
    assert '<a href="/rate/" aria-current="page">Rate</a>' in client.get("/rate/").content.decode()


@pytest.mark.parametrize("where", ["/rate/", "/rate/{study}/"])
def test_figures_are_linked_once_they_are_open_to_the_rater(client: Client, where: str) -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    rita = study.enrolments.all()[0]
    client.force_login(rita.user)
    here, figures = where.format(study=study.pk), f'href="/studies/{study.pk}/figures/"'
    assert figures not in client.get(here).content.decode(), "their part is not finished"
    Enrolment.objects.filter(pk=rita.pk).update(finished_at=rita.accepted_at)
    assert figures in client.get(here).content.decode()
    assert client.get(f"/studies/{study.pk}/figures/").status_code == 200
    study.pairs.get(number=1).quotas.update(wanted=4)
    assert figures not in client.get(here).content.decode(), "a planned rating is missing"


def test_precedents_are_linked_in_the_guidelines_and_where_there_are_none(client: Client) -> None:
    of = given(client, Kind.READING)
    html = page(client, of)
    precedents = 'href="/precedents/"'
    assert precedents not in html.partition("<dialog")[0], "one place is enough"
    assert precedents in html.partition('id="guidelines-dialog"')[2]
    guidelines = client.get(f"/rate/{of.condition.study_id}/guidelines/").content.decode()
    assert precedents in guidelines
    of.condition.study.guideline = None
    of.condition.study.save()
    assert precedents in page(client, of)


def test_guidelines_that_nothing_is_left_for_keep_nobody_waiting(client: Client) -> None:
    study = studies.study()
    rita = studies.rater("rita", study, capacity=1)
    studies.rated(rita, 1)
    study.guideline = studies.guideline(version=2)
    study.save()
    client.force_login(rita.user)
    html = client.get(f"/rate/{study.pk}/").content.decode()
    assert "finished" in html and "All done, thank you!" in html
    ask_again(study, RepeatPairFilter(every=True), "meaning", factories.ada())
    html = client.get(f"/rate/{study.pk}/").content.decode()
    assert "needs you" in html and "All done, thank you!" not in html


def test_whoever_left_is_not_told_to_look_in_again(client: Client) -> None:
    rita = studies.rater("rita", studies.study())
    client.force_login(rita.user)
    where = f"/rate/{rita.study_id}/"
    assert "Only an <em>undo</em>" in client.get(f"{where}leave/").content.decode()
    client.post(f"{where}leave/")
    html = client.get(where).content.decode()
    assert "You have left this study" in html and "more pairs may appear" not in html
