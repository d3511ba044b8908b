"""Label quality over the API: the page's form, as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import Build, Seen
from tests import factories, studies
from tests.annotation.web.label_quality.test_views import build, file, rows, truth

__all__ = ["build"]  # a fixture
pytestmark = pytest.mark.django_db


def send(client: Client, build: Build, **more: Any) -> Any:
    files = {"pairs": file("pairs.jsonl", rows(build)), "truth": file("truth.jsonl", truth(1, 0, 0, 0))}
    return client.post("/api/quality", {**files, **more})


def test_a_build_named_is_measured(erin: Client, build: Build) -> None:
    answer = send(erin, build, builds=[build.name])
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert [wrong["truth"] for wrong in told["report"]["wrong"]] == [0]
    assert told["tables"][0]["columns"] and told["tables"][0]["table"].startswith("01-")
    assert Seen.objects.filter(user=factories.erin()).exists()
    assert send(erin, build, builds=[f"{build.pk}#1"]).status_code == 200


def test_files_of_labels_are_measured_beside_it(erin: Client, build: Build) -> None:
    theirs = file("theirs.jsonl", truth(1, 1, 0, 0))
    told = send(erin, build, builds=[build.name], labels=[theirs]).json()
    assert "theirs" in str(told["tables"][0]["rows"])


def test_what_is_missing_or_closed_says_so(erin: Client, build: Build) -> None:
    missing = send(erin, build)
    assert (missing.status_code, missing.json()["errors"][0]["where"]) == (422, "builds")
    assert send(erin, build, builds=["nothing"]).json()["type"] == "urn:cosqa:no-such-name"
    rater = studies.rater("rita", studies.study())
    client = Client()
    client.force_login(rater.user)
    assert send(client, build, builds=[build.name]).json()["type"] == "urn:cosqa:kept-blind"
