"""What a rater is shown, and not offered any more, when the study or their part of it is over."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Condition, Enrolment, Study
from annotation.studies.enrolment import raters
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from tests import factories, studies
from tests.rating_pages import given, page, path, send

pytestmark = pytest.mark.django_db
Kind, State = Condition.Kind, Assignment.State
WAYS = {"closed": "The study is closed", "removed": "An admin has ended your part"}


def end(rater: Enrolment, how: str) -> None:
    if how == "closed":
        Study.objects.update(state=Study.State.CLOSED, closed_at=timezone.now())
    else:
        raters.remove_rater(rater, "slept", factories.ada())


@pytest.mark.parametrize("how", WAYS)
def test_a_pair_says_why_nothing_can_be_done_and_offers_nothing(client: Client, how: str) -> None:
    of = given(client, Kind.READING)
    assert "Undo" in page(client, of) and "rate-skip" in page(client, of)
    end(of.enrolment, how)
    html = page(client, of)
    assert html.count(WAYS[how]) == 1 and "data-heartbeat" not in html
    assert "/undo/" not in html and "rate-skip" not in html
    refused = client.post(path(of, "skip/"), {"token": of.token, "reason": "not Python"})
    assert refused.status_code == 422 and WAYS[how] in refused.content.decode()
    of.refresh_from_db()
    assert of.state == State.RESERVED


def test_a_pair_that_was_asked_again_is_not_waited_for_after_the_end(client: Client) -> None:
    of = given(client, Kind.READING)
    send(client, of, "1")
    ask_again(of.condition.study, RepeatPairFilter(every=True), "meaning", factories.ada())
    end(of.enrolment, "closed")
    html = page(client, of)
    assert WAYS["closed"] in html and "asked again" not in html and 'id="lapsed"' not in html
    assert "1 pair rated, 0 left" in client.get(f"/rate/{of.condition.study_id}/").content.decode()


def test_a_pair_that_is_done_has_no_reservation_to_be_told_of(client: Client) -> None:
    of = given(client, Kind.READING)
    assert "data-heartbeat" in page(client, of)
    send(client, of, "1")
    assert "data-heartbeat" not in page(client, of)
    assert '<fieldset class="label-fields">' in page(client, of), "it can still be changed"


@pytest.mark.parametrize("how", WAYS)
def test_whoever_has_not_begun_is_asked_for_nothing(client: Client, how: str) -> None:
    rita = studies.rater("rita", studies.study(), accepted_at=None)
    studies.guideline().acknowledgements.all().delete()
    client.force_login(rita.user)
    here = f"/rate/{rita.study_id}/"
    for where, offer in (("/work/", "Read and join"), (here, "start rating")):
        assert offer in client.get(where).content.decode()
    end(rita, how)
    for where in ("/work/", here, f"{here}guidelines/"):
        html = client.get(where).content.decode()
        assert not any(offer in html for offer in ("Read and join", "start rating", "Read and confirm"))
        assert "I have read them" not in html
    assert WAYS[how] in client.get(here).content.decode()


def test_whoever_was_removed_is_not_asked_to_go_on(client: Client) -> None:
    of = given(client, Kind.READING)
    assert "/next/" in client.get("/work/").content.decode()
    end(of.enrolment, "removed")
    for where in ("/work/", f"/rate/{of.condition.study_id}/"):
        assert "/next/" not in client.get(where).content.decode()
