"""`Idempotency-Key`: what is sent again is answered again, and done once."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.models import Build, StoredAnswer
from cosqa_site.http import idempotency
from retrieval.models import Job
from tests import factories
from tests.annotation.web.collections.test_upload_pages import own_storage
from tests.calls import with_token

__all__ = ["own_storage"]
pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "night-1"}


def launch(client: Client, name: str = "night", headers: dict[str, str] = KEY, **more: Any) -> Any:
    body = {"name": name, "queries": "small", "functions": "small", **more}
    return client.post("/api/builds", json.dumps(body), content_type="application/json", headers=headers)


@pytest.fixture
def token() -> Client:
    factories.queries()
    factories.snippets()
    return with_token(factories.ada())


def test_a_repeated_launch_is_answered_again_and_done_once(token: Client) -> None:
    first, second = launch(token), launch(token)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert (first.get("Idempotent-Replayed"), second["Idempotent-Replayed"]) == (None, "true")
    assert second["Content-Type"].startswith("application/json")
    assert Build.objects.count() == 1


def test_another_body_with_the_key_is_refused(token: Client) -> None:
    launch(token)
    other = launch(token, "noon")
    assert (other.status_code, other.json()["type"]) == (422, "urn:cosqa:idempotency-key")
    assert "another request" in other.json()["detail"]


def test_a_refused_request_may_be_put_right_with_its_key(token: Client) -> None:
    assert launch(token, encoders=["word2vec"]).status_code == 422
    assert not StoredAnswer.objects.exists()
    assert launch(token, encoders=["bm25"]).status_code == 201


def test_keys_are_each_accounts_own(token: Client) -> None:
    launch(token)
    eve = with_token(factories.person("eve", Role.ADMIN))
    assert launch(eve).json()["type"] == "urn:cosqa:launch-refused", "a build of that name is there"


def test_a_session_counts_like_a_token(token: Client, ada: Client) -> None:
    launch(token)
    assert launch(ada)["Idempotent-Replayed"] == "true", "it is the same account"


def test_who_is_not_signed_in_learns_nothing(token: Client) -> None:
    launch(token)
    answer = launch(Client())
    assert (answer.status_code, StoredAnswer.objects.count()) == (401, 1)


def test_a_withdrawn_token_is_answered_nothing(token: Client) -> None:
    launch(token)
    factories.ada().api_tokens.all().delete()
    assert launch(token).status_code == 401


def test_a_request_that_is_being_answered_is_not_begun_again(token: Client) -> None:
    launch(token)
    StoredAnswer.objects.update(status=0)
    answer = launch(token)
    assert (answer.status_code, answer.json()["detail"]) == (409, idempotency.STILL_ANSWERED)
    StoredAnswer.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert launch(token).json()["detail"] == idempotency.NOT_KNOWN


def test_an_answer_is_kept_for_a_day(token: Client) -> None:
    launch(token)
    StoredAnswer.objects.update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    assert launch(token).status_code == 422, "asked anew: there is a build of that name"


@pytest.mark.parametrize("key", ["k" * 201, "\u00e4", "a\tb"])
def test_a_key_of_no_use_is_refused(token: Client, key: str) -> None:
    answer = launch(token, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:cosqa:idempotency-key")


def test_an_upload_is_the_same_whatever_its_boundary(ada: Client) -> None:
    def send(content: bytes) -> Any:
        fields = {"name": "mine", "format": "python", "file": SimpleUploadedFile("a.py", content)}
        return ada.post("/api/collections/imports", fields, headers=KEY)

    assert send(b"x = 1").content == send(b"x = 1").content
    assert Job.objects.count() == 1
    assert send(b"x = 2").status_code == 422


def test_pages_take_no_key(ada: Client) -> None:
    ada.post("/project/cap/", {}, headers=KEY)
    assert not StoredAnswer.objects.exists()
