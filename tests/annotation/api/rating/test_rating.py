"""A rater's part of a study by API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import Acknowledgement, Assignment, Condition, Rating, Study
from tests import studies

pytestmark = pytest.mark.django_db


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(studies.user(name))
    return client


def post(client: Client, path: str, body: dict[str, Any] | None = None) -> Any:
    client.cookies["csrftoken"] = "c" * 32
    return client.post(
        f"/api/rate/{path}", body or {}, content_type="application/json", headers={"X-CSRFToken": "c" * 32}
    )


@pytest.fixture
def study() -> Study:
    return studies.study(raters=1)


@pytest.fixture
def rita(study: Study) -> Client:
    studies.rater("rita", study)
    return client_of("rita")


def label(client: Client, found: dict[str, Any], choice: str = "1", **changes: Any) -> Any:
    body = {name: found[name] for name in ("token", "evidence", "seen_revision")} | {"choice": choice}
    return post(client, f"{found['study']}/pairs/{found['number']}/ratings", body | changes)


def test_a_rater_goes_through_the_study(study: Study, rita: Client) -> None:
    for _ in range(3):
        found = post(rita, f"{study.pk}/next").json()["assignment"]
        assert found["choices"] == ["1", "0", "unsure"]
        assert found["query"]
        assert found["sides"][0]["code"]
        answer = label(rita, found, "0", notes="no", tags=["partial"], seconds=4.5)
        assert answer.status_code == 201
    assert post(rita, f"{study.pk}/next").json() == {"assignment": None, "finished": True}
    last = rita.get(f"/api/rate/{study.pk}/ratings").json()
    assert [(row["choice"], row["notes"], row["tags"], row["seconds"]) for row in last] == [
        ("0", "no", ["partial"], 4.5)
    ] * 3


def test_lines_are_the_reason_of_a_rating(study: Study, rita: Client) -> None:
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    assert found["sides"][0]["numbers"][:2] == [1, 2]
    assert label(rita, found, lines="1-99").status_code == 422
    assert label(rita, found, lines="1-2").json()["lines"] == "1-2"


def test_a_label_needs_a_run_or_says_why_no_test_is_possible(study: Study, rita: Client) -> None:
    Study.objects.update(needs_run=True)
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    assert found["needs_run"] is True
    refused = label(rita, found)
    assert refused.status_code == 422 and "why no test is possible" in refused.json()["detail"]
    assert label(rita, found, no_test="it needs a printer").json()["no_test"] == "it needs a printer"


def test_a_second_window_is_told_what_stands(study: Study, rita: Client) -> None:
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    assert label(rita, found, "1").status_code == 201
    assert label(rita, found, "1").status_code == 201
    clash = label(rita, found, "0")
    assert (clash.status_code, clash.json()["type"]) == (409, "urn:cosqa:rated-meanwhile")
    assert clash.json()["stored"]["choice"] == "1"
    assert Rating.objects.count() == 1


def test_skip_hold_draft_undo_and_leave(study: Study, rita: Client) -> None:
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    at = f"{study.pk}/pairs/{found['number']}"
    assert post(rita, f"{at}/hold", {"token": found["token"]}).status_code == 200
    assert post(rita, f"{at}/hold", {"token": "old"}).json()["type"] == "urn:cosqa:lapsed"
    assert post(rita, f"{at}/draft", {"field": "notes", "text": "half"}).status_code == 204
    assert rita.get(f"/api/rate/{at}").json()["drafts"] == {"notes": "half"}
    assert post(rita, f"{at}/skip", {"token": found["token"], "reason": "?"}).json()["state"] == "skipped"
    assert post(rita, f"{study.pk}/undo").json()["state"] == "reserved"
    assert post(rita, f"{study.pk}/leave").json()["finished"] is True
    assert post(rita, f"{study.pk}/undo").json()["type"] == "urn:cosqa:nothing-to-take-back"


def test_others_find_nothing(study: Study, rita: Client) -> None:
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    rolf = client_of("rolf")
    assert post(rolf, f"{study.pk}/next").status_code == 404
    assert rolf.get(f"/api/rate/{study.pk}/pairs/{found['number']}").status_code == 404
    assert rolf.get(f"/api/rate/{study.pk}/ratings").status_code == 404
    assert label(rolf, found).status_code == 404


def test_a_choice_that_is_none_is_refused(study: Study, rita: Client) -> None:
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    answer = label(rita, found, "2")
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:cosqa:bad-rating")


def test_what_rests_on_the_agents_is_labelled_on_its_page() -> None:
    study = studies.study(conditions=(Condition.Kind.AGENTS_TESTS,))
    studies.rater("rita", study)
    rita = client_of("rita")
    found = post(rita, f"{study.pk}/next").json()["assignment"]
    assert label(rita, found).json()["type"] == "urn:cosqa:queue-closed"
    assert Assignment.objects.get().state == "reserved"


def test_a_rater_reads_and_joins_by_api() -> None:
    study = studies.study(information="We pay you.", asks_profile=True)
    part = studies.rater("rita", study, accepted_at=None)
    Acknowledgement.objects.all().delete()
    rita = client_of("rita")
    [told] = rita.get("/api/rate").json()["items"]
    assert (told["information"], told["wanted"]) == ("We pay you.", ["accept", "acknowledge"])
    assert told["guideline_text"].startswith("A match")
    assert post(rita, f"{study.pk}/next").json()["type"] == "urn:cosqa:queue-closed"
    profile = {"years": "4", "occupation": "developer", "languages": "German"}
    old = post(rita, f"{study.pk}/join", profile)
    assert (old.status_code, old.json()["type"]) == (409, "urn:cosqa:guideline-changed")
    read = {"guideline": study.guideline_id}
    empty = post(rita, f"{study.pk}/join", read)
    assert (empty.status_code, empty.json()["type"]) == (422, "urn:cosqa:bad-profile")
    assert post(rita, f"{study.pk}/join", read | profile).json()["wanted"] == []
    part.refresh_from_db()
    assert part.years_of_python == 4
    assert post(rita, f"{study.pk}/next").json()["assignment"]["number"]


def test_a_study_without_information_needs_no_joining() -> None:
    study = studies.study(guideline=None)
    studies.rater("rita", study, accepted_at=None)
    assert post(client_of("rita"), f"{study.pk}/next").json()["assignment"]["number"]


def test_nobody_reads_about_a_study_of_others() -> None:
    study = studies.study()
    studies.rater("rita", study)
    sam = client_of("sam")
    assert sam.get(f"/api/rate/{study.pk}").status_code == 404
    assert sam.get("/api/rate").json() == {"items": [], "next": None}
