"""Before the first pair: information, profile, guidelines, and the list of one's studies."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from annotation.models import (
    Acknowledgement,
    Condition,
    Enrolment,
    Guideline,
    Study,
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


def join(client: Client, rita: Enrolment, **sent: str) -> Any:
    return client.post(f"/rate/{rita.study_id}/", {"guideline": str(rita.study.guideline_id), **sent})


def test_one_page_and_one_button_come_before_the_first_pair(client: Client) -> None:
    rita = welcomed(client)
    html = client.get(f"/rate/{rita.study_id}/next/", follow=True).content.decode()
    assert "<strong>Your</strong>" in html and "A match does all that is asked." in html
    assert "3 pairs, about 15 min" in html, "five minutes a pair, as the plan assumes of own tests"
    assert f'data-kept="{rita.user_id}"' in html, "a login that ends meanwhile loses no profile"
    assert "<script>alert" not in html and "&lt;script&gt;" in html
    assert html.count('<button type="submit" class="button primary">') == 1
    assert " required" not in html, "the plan asks for no profile"
    Acknowledgement.objects.all().delete()
    started = join(client, rita)
    rita.refresh_from_db()
    assert rita.accepted_at is not None and rita.years_of_python is None
    assert Acknowledgement.objects.get(user=rita.user).guideline == rita.study.guideline
    assert started.headers["Location"] == f"/rate/{rita.study_id}/next/"
    assert "/pairs/" in client.get(started.headers["Location"]).headers["Location"]


def test_two_clicks_lead_from_the_home_to_the_first_pair(client: Client) -> None:
    rita = welcomed(client)
    assert f'href="/rate/{rita.study_id}/">Read and start' in client.get("/work/").content.decode()
    page = client.post(f"/rate/{rita.study_id}/", {"guideline": str(rita.study.guideline_id)}, follow=True)
    assert 'id="label-form"' in page.content.decode()


def test_a_profile_is_compulsory_where_the_plan_asks_for_it(client: Client) -> None:
    rita = welcomed(client, asks_profile=True)
    bad = join(client, rita, years="many", occupation="", languages="German")
    assert bad.status_code == 422
    assert "whole number" in bad.content.decode() and "German" in bad.content.decode()
    assert "This is empty" in bad.content.decode()
    rita.refresh_from_db()
    assert rita.accepted_at is None
    assert join(client, rita, years="7", occupation="student", languages="German").status_code == 302
    rita.refresh_from_db()
    assert (rita.years_of_python, rita.occupation) == (7, "student")


def test_a_wrong_profile_is_refused_where_it_is_optional(client: Client) -> None:
    assert join(client, welcomed(client), years="many").status_code == 422


def test_other_guidelines_than_were_shown_are_read_first(client: Client) -> None:
    rita = welcomed(client)
    Study.objects.update(guideline=studies.guideline(version=2, text="Quite another rule."))
    refused = join(client, rita, occupation="student")
    assert refused.status_code == 409
    for shown in ("The guidelines were changed while you read", "Quite another rule.", "student"):
        assert shown in refused.content.decode()
    rita.refresh_from_db()
    assert rita.accepted_at is None


def practised(client: Client, planted: str, **columns: Any) -> str:
    """The page of the pair after a planted one that Rita took for a match."""
    of = given(client, Kind.READING, **columns)
    pair = of.study_pair
    pair.planted, pair.answer, pair.answer_reason = planted, 0, "It <i>sorts</i> in place."
    pair.save()
    send(client, of, "1")
    return client.get(f"/rate/{of.condition.study_id}/next/", follow=True).content.decode()


def test_in_practice_the_right_label_is_told_with_its_reason(client: Client) -> None:
    html = practised(client, "onboarding", practice=True)
    told = html.split('id="practice"')[1].split("</div></div>")[0]
    assert "match" in told and "no match" in told and "It &lt;i&gt;sorts&lt;/i&gt; in place." in told
    assert "right is" in told and "does not count" in told


@pytest.mark.parametrize(("planted", "practice"), [("attention", True), ("onboarding", False), ("", True)])
def test_no_other_pair_tells_its_answer(client: Client, planted: str, practice: bool) -> None:
    html = practised(client, planted, practice=practice)
    assert "sorts" not in html and 'id="practice"' not in html


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
    html = client.get("/work/").content.decode()
    assert "first study" in html
    assert re.search(r'data-label="Rated">1<', html) and re.search(r'data-label="Left">2<', html)
    assert re.search(r'data-label="Time so far">1 min', html)
    assert re.search(r'data-label="Time left">2 min', html)


def test_an_empty_list_says_what_to_do(client: Client) -> None:
    client.force_login(factories.erin())
    html = client.get("/work/").content.decode()
    assert "Studies, pairs to check and disagreements appear here" in html
    assert "Studies you rate in" not in html, "no list for those who are in no study"


def test_the_navigation_leads_raters_there(client: Client) -> None:
    given(client, Kind.READING)
    assert '<a href="/work/" aria-current="page">Your work</a>' in client.get("/work/").content.decode()


@pytest.mark.parametrize("where", ["/work/", "/rate/{study}/"])
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


def test_nobody_says_to_have_read_what_there_is_not(client: Client) -> None:
    rita = studies.rater("rita", studies.study(information="", guideline=None), accepted_at=None)
    client.force_login(rita.user)
    html = client.get(f"/rate/{rita.study_id}/").content.decode()
    assert ">Start rating</button>" in html and "I have read this" not in html
