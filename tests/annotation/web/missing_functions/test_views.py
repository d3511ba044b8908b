"""The admin's page: how queries stand, what functions would take, the order; the export for readers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.derived.missing_functions import function_decisions
from annotation.derived.missing_functions.function_decisions import ProposalChoice
from annotation.jobs import celery_tasks
from annotation.models import Build, Filling, Price, Proposal, Tally
from tests import factories, filling

pytestmark = pytest.mark.django_db


def page_of(build: Build) -> str:
    return reverse("build-missing", args=[build.pk])


def form(**fields: Any) -> dict[str, Any]:
    return {
        "name": "more",
        "provider": "exchange",
        "model": "small-model",
        "tries": "2",
        **fields,
    }


def test_the_page_counts_and_the_build_links_to_it(ada: Client) -> None:
    build = filling.source(matched=1)
    page = ada.get(page_of(build)).content.decode()
    assert 'id="without">2<' in page and "flatten nested lists" in page and "reverse a list" not in page
    assert page_of(build) in ada.get(reverse("build", args=[build.pk])).content.decode()


def test_the_price_is_shown_before_anything_is_ordered(ada: Client, settings: Any) -> None:
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=5)
    build = filling.source()
    page = ada.get(page_of(build), form()).content.decode()
    assert 'id="expected-cost"' in page and "3 queries" in page and "Write 3 functions" in page
    assert not Filling.objects.exists()
    settings.ANTHROPIC_API_KEY = "a-key"
    live = form(provider="live", budget="0.0001")
    assert "above your cap" in ada.get(page_of(build), live).content.decode()


def test_an_order_makes_a_job_whose_page_says_whose_it_is(ada: Client) -> None:
    build = filling.source()
    response = ada.post(page_of(build), form(budget="1"))
    made = Filling.objects.get()
    assert response.headers["Location"] == reverse("build", args=[made.build_id])
    page = ada.get(response.headers["Location"]).content.decode()
    assert "Functions for queries without a match" in page and "top 1 by" not in page
    assert made.build.created_by == factories.ada() and Proposal.objects.count() == 3
    assert "functions ordered" in list(build.events.values_list("event", flat=True))


def test_a_live_job_is_launched_on_the_estimate_that_was_on_screen(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    Price.objects.create(model="small-model", effective_from=timezone.now(), input=1, output=5)
    build, live = filling.source(), {"provider": "live", "reason": "to fill the gaps"}
    unseen = ada.post(page_of(build), form(**live))
    assert unseen.status_code == 422 and "was not shown yet" in unseen.content.decode()
    price = unseen.context["page"].offer
    other = ada.post(page_of(build), form(**live, tries="3", estimate=price.word))
    assert "The order has changed" in other.content.decode() and not Filling.objects.exists()
    ada.post(page_of(build), form(**live, estimate=price.word))
    job = Filling.objects.get().build
    told = dict(job.events.values_list("event", "note"))
    assert told["launched"].endswith(": to fill the gaps") and "estimate confirmed" in told
    page = ada.get(reverse("build", args=[job.pk])).content.decode()
    assert "Estimate and actual" in page and "to fill the gaps" in page


def test_a_bad_order_is_told_in_the_form(ada: Client) -> None:
    build = filling.source()
    response = ada.get(page_of(build), form(name="source"))
    assert response.status_code == 422 and "already" in response.content.decode()


def test_failed_ones_are_written_again_from_the_jobs_page(ada: Client) -> None:
    job = filling.job()
    page = reverse("build", args=[job.build_id])
    assert "write-again" not in ada.get(page).content.decode()
    Proposal.objects.update(state="failed", failure="no function")
    assert "Write 3 failed again" in (html := ada.get(page).content.decode()) and "an unknown amount" in html
    ada.post(reverse("build-write-again", args=[job.build_id]))
    assert Proposal.objects.writing().count() == 3


def test_writing_again_says_what_it_takes_by_what_was_paid(ada: Client) -> None:
    job = filling.job()
    Price.objects.create(model=job.build.model, effective_from=timezone.now(), input=1, output=5)
    failed = job.proposals.filter(pk__gt=job.proposals.earliest("pk").pk)
    failed.update(state="failed", failure="no function")
    Tally.objects.filter(build=job.build_id).update(spent=40_000_000)
    assert "$0.04" in ada.get(reverse("build", args=[job.build_id])).content.decode()


def test_workers_elsewhere_are_woken_by_an_order_at_once(
    ada: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[object] = []
    monkeypatch.setattr(celery_tasks.drain_llm, "apply_async", lambda **options: woken.append(options))
    settings.CELERY_BROKER_URL = "redis://elsewhere"
    build = filling.source()
    ada.get(page_of(build), form())
    assert woken == [], "nothing is ordered by looking at the price"
    ada.post(page_of(build), form())
    assert len(woken) == 1
    Proposal.objects.update(state="failed", failure="no function")
    ada.post(reverse("build-write-again", args=[Filling.objects.get().build_id]))
    assert len(woken) == 2


def test_the_export_has_what_was_accepted_and_nothing_before(ray: Client) -> None:
    job = filling.checked()
    path = reverse("build-written", args=[job.of_id])

    def lines() -> list[Any]:
        content = b"".join(ray.get(path).streaming_content)  # type: ignore[attr-defined]
        return [json.loads(line) for line in content.splitlines()]

    assert lines() == []
    first = job.proposals.select_related("case").order_by("pk")[0]
    function_decisions.decide_proposal(factories.erin(), first, ProposalChoice("accept"), 0)
    [line] = lines()
    assert line["label"] == 1 and line["provenance"]["decided_by"] == "erin"
    assert line["provenance"]["case"] == first.case_id
