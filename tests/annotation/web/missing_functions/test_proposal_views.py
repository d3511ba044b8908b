"""The expert's queue: what is shown, what a decision stores, what comes back as it was typed."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.derived.missing_functions import accepted_functions, function_decisions
from annotation.derived.missing_functions.function_decisions import ProposalChoice
from annotation.models import Draft, ExecutionRequest, Filling, Proposal, ProposalDecision, Seen
from retrieval.models import Collection, Label
from tests import factories, filling

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
EDIT = "def reverse(items):\n    return [*reversed(items)]"


@pytest.fixture
def job() -> Filling:
    return filling.checked()


@pytest.fixture
def first(job: Filling) -> Proposal:
    return job.proposals.order_by("pk")[0]


def url(name: str, *args: int) -> str:
    return reverse(name, args=args)


def send(client: Client, proposal: Proposal, action: str, seen: int = 0, **fields: str) -> Any:
    body = {"action": action, "seen_revision": seen, **fields}
    return client.post(url("proposal-decide", proposal.pk), body, headers=HTMX)


def test_the_index_counts_what_waits(erin: Client, job: Filling) -> None:
    page = erin.get(url("work")).content.decode()
    assert "queue" in page and "Start" in page
    assert 'data-label="To review">3' in page


def test_the_queue_leads_to_the_first_that_waits_and_to_its_end(erin: Client, job: Filling) -> None:
    rows = list(job.proposals.order_by("pk"))
    response = erin.get(url("proposals-next", job.pk))
    assert response.headers["Location"] == url("proposal", rows[0].pk)
    for row in rows:
        function_decisions.decide_proposal(
            factories.erin(), Proposal.objects.get(pk=row.pk), ProposalChoice("reject"), 0
        )
    assert "3 rejected" in erin.get(url("proposals-next", job.pk)).content.decode()


def test_a_page_shows_code_test_run_and_verdict_and_that_it_was_seen(erin: Client, first: Proposal) -> None:
    page = erin.get(url("proposal", first.pk)).content.decode()
    for words in ("reversed", "assert", "the test decides", "It turns the list round.", "passed", "Accept"):
        assert words in page, words
    assert Seen.objects.filter(user=factories.erin(), pair__snippet=first.snippet).exists()


def test_what_was_written_is_escaped(erin: Client, job: Filling) -> None:
    row = job.proposals.order_by("pk")[0]
    Proposal.objects.filter(pk=row.pk).update(explanation="<script>alert(1)</script>", packages=["<b>x</b>"])
    page = erin.get(url("proposal", row.pk)).content.decode()
    assert "<script>alert" not in page and "<b>x</b>" not in page


def test_abandoned_and_denied_ones_say_so(erin: Client, job: Filling) -> None:
    _, denied, abandoned = job.proposals.order_by("pk")
    assert "no match" in erin.get(url("proposal", denied.pk)).content.decode()
    page = erin.get(url("proposal", abandoned.pk)).content.decode()
    assert "Could not be judged" in page and "the sandbox could not run" in page


def test_accept_goes_on_to_the_next_and_undo_comes_back(erin: Client, job: Filling, first: Proposal) -> None:
    response = send(erin, first, "accept")
    second = job.proposals.order_by("pk")[1]
    assert response.headers["Location"] == url("proposal", second.pk)
    assert Collection.objects.filter(name__endswith=accepted_functions.ENDING).get().size == 1
    page = erin.get(url("proposal", second.pk)).content.decode()
    assert f'action="{url("proposal-undo", first.pk)}"' in page
    erin.post(url("proposal-undo", first.pk), {"seen_revision": 1})
    assert list(Label.objects.order_by("pk").values_list("value", flat=True))[-2:] == [1, None]
    assert Collection.objects.filter(name__endswith=accepted_functions.ENDING).get().size == 0


def test_a_denied_one_is_accepted_with_a_reason_only(erin: Client, job: Filling) -> None:
    denied = job.proposals.order_by("pk")[1]
    response = send(erin, denied, "accept")
    assert response.status_code == 422 and b"Give a reason" in response.content
    assert send(erin, denied, "accept", reason="the test is wrong").status_code == 302


def test_an_edit_with_a_syntax_error_comes_back_as_typed(erin: Client, first: Proposal) -> None:
    response = send(erin, first, "edit", code="def reverse(items:\n    pass", reason="shorter")
    page = response.content.decode()
    assert response.status_code == 422
    assert "line 1" in page and "def reverse(items:" in page and ">shorter</textarea>" in page
    assert not ProposalDecision.objects.exists()


def test_two_experts_at_once_see_both_decisions(erin: Client, ada: Client, first: Proposal) -> None:
    send(erin, first, "reject", reason="it copies")
    response = send(ada, first, "edit", code=EDIT, reason="mine is shorter")
    page = response.content.decode()
    assert response.status_code == 409
    for words in ("it copies", "mine is shorter", "[*reversed(items)]", "erin"):
        assert words in page, words
    assert ProposalDecision.objects.count() == 1


def test_a_draft_outlives_the_page(erin: Client, first: Proposal) -> None:
    url_ = url("proposal-draft", first.pk)
    assert erin.post(url_, {"field": "code", "text": EDIT}).status_code == 204
    assert erin.post(url_, {"field": "reason", "text": "because"}).status_code == 204
    assert erin.post(url_, {"field": "test", "text": "x"}).status_code == 400
    page = erin.get(url("proposal", first.pk) + "?edit=1").content.decode()
    assert "[*reversed(items)]" in page and "because" in page
    assert "Continue editing" in erin.get(url("proposal", first.pk)).content.decode()
    send(erin, first, "edit", code=EDIT)
    assert not Draft.objects.exists()
    late = erin.post(url_, {"field": "reason", "text": "because"})
    assert late.status_code == 400 and b"has decided on this function" in late.content
    assert not Draft.objects.exists()


def test_the_test_is_run_beside_an_edit(erin: Client, first: Proposal) -> None:
    response = erin.post(url("proposal-run", first.pk), {"code": EDIT}, headers=HTMX)
    run = ExecutionRequest.objects.get()
    assert response.headers["Location"] == url("proposal-ran", first.pk, run.pk)
    assert "Waiting for the sandbox" in erin.get(response.headers["Location"], headers=HTMX).content.decode()
    assert Draft.objects.get().text == EDIT
    bad = erin.post(url("proposal-run", first.pk), {"code": "def ("}, headers=HTMX)
    assert bad.status_code == 422 and b"line 1" in bad.content


def test_a_function_of_another_kind_of_address_is_not_there(erin: Client, first: Proposal) -> None:
    assert erin.get(url("proposal", first.pk + 100)).status_code == 404
    assert erin.get(url("proposal-ran", first.pk, 1)).status_code == 404


def test_nothing_of_it_is_browsed_or_reviewed(
    erin: Client, ray: Client, job: Filling, first: Proposal
) -> None:
    assert job.build.name not in ray.get(url("browse")).content.decode().replace("queue: source", "")
    assert ray.get(url("browse-build", job.build_id)).status_code == 404
    assert ray.get(url("case", first.case_id or 0)).status_code == 404
    assert erin.get(url("case", first.case_id or 0)).headers["Location"] == url("proposal", first.pk)
    assert erin.get(url("review-case", first.case_id or 0)).status_code == 404
    assert erin.get(url("review-next", job.build_id)).status_code == 404
    builds = ray.get("/api/builds").json()["items"]
    assert [one["name"] for one in builds] == ["queue: source"]
    assert ray.get(f"/api/builds/{job.build_id}/cases").status_code == 404


def test_an_accepted_function_stands_beside_its_query(ray: Client, job: Filling, first: Proposal) -> None:
    page = url("query", job.of_id, first.query_id)
    assert "Written for this query" not in ray.get(page).content.decode()
    function_decisions.decide_proposal(factories.erin(), first, ProposalChoice("accept"), 0)
    told = ray.get(page).content.decode()
    assert "Written for this query" in told and "accepted" in told
