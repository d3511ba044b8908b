"""What a rater runs over the API: nothing of it tells what agents did."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Assignment, Condition, ExecutionRequest, Rating
from tests import factories, studies
from tests.calls import get, post

pytestmark = pytest.mark.django_db
OWN = "assert reverse([1]) == [1]\n"


def handed(kind: str = Condition.Kind.OWN_TESTS) -> tuple[Client, Assignment, str]:
    case = factories.examined(factories.cases(factories.opened())[0], 1)
    study = studies.study(conditions=(kind,), pairs=[case.pair])
    rita = studies.rater("rita", study)
    found = studies.assignment(rita)
    client = Client()
    client.force_login(rita.user)
    return client, found, f"rate/{study.pk}/pairs/{found.study_pair.number}"


def test_an_own_test_is_run_and_no_execution_is_named() -> None:
    client, found, path = handed()
    asked = post(client, f"{path}/runs", {"source": OWN}, 201)
    row = ExecutionRequest.objects.select_related("program__source", "program__pair").get(pk=asked["id"])
    assert row.assignment == found
    done = factories.execution(row.program)
    ExecutionRequest.objects.filter(pk=row.pk).update(state="done", execution=done)
    told = get(client, f"{path}/runs/{row.pk}")
    assert (told["outcome"], told["execution"], bool(told["report"])) == ("passed", None, True)
    assert post(client, f"{path}/runs", {"source": OWN, "side": "left"}, 422)["errors"][0]["where"] == "side"


def test_a_call_and_the_strength_of_an_own_test_are_asked() -> None:
    client, found, path = handed()
    asked = post(client, f"{path}/calls", {"expression": "reverse([1])"}, 201)
    assert get(client, f"{path}/calls/{asked['id']}")["state"] == "waiting"
    post(client, f"{path}/runs", {"source": OWN}, 201)
    own = found.programs.get()
    assert post(client, f"{path}/programs/{own.pk}/strength", {}, 201)["asked"]
    assert get(client, f"{path}/programs/{own.pk}/strength")["open"] > 1


def test_the_agents_test_is_not_there_for_who_writes_own_ones() -> None:
    client, found, path = handed()
    theirs = found.study_pair.pair.programs.get()
    get(client, f"{path}/programs/{theirs.pk}/strength", 403)
    post(client, f"{path}/programs/{theirs.pk}/strength", {}, 403)


def test_where_code_is_read_alone_nothing_is_run() -> None:
    client, _, path = handed(Condition.Kind.READING)
    assert post(client, f"{path}/runs", {"source": OWN}, 409)["type"] == "urn:cosqa:not-now"
    assert not ExecutionRequest.objects.exists()


def test_an_earlier_rating_counts_again() -> None:
    client, _, path = handed()
    now = get(client, path)
    said = {"token": now["token"], "evidence": now["evidence"], "seen_revision": 0, "choice": "1"}
    one = post(client, f"{path}/ratings", {**said, "notes": "so"}, 201)
    post(client, f"{path}/ratings", {**said, "choice": "0", "notes": "no", "seen_revision": 1}, 201)
    earlier = Rating.objects.get(revision=1)
    refused = post(client, f"{path}/ratings/{earlier.pk}/restore", {"seen_revision": 1}, 409)
    assert refused["type"] == "urn:cosqa:nothing-to-restore"
    back = post(client, f"{path}/ratings/{earlier.pk}/restore", {"seen_revision": 2}, 201)
    assert (back["revision"], back["choice"]) == (3, one["choice"])
