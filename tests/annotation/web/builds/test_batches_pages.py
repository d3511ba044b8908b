"""Ordering a build by batch, and the batches on its page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Batch, Build
from tests import factories

pytestmark = pytest.mark.django_db
NEW = "/builds/new/"


def batch(build: Build, **columns: Any) -> Batch:
    now = timezone.now()
    return Batch.objects.create(
        build=build, stage="screening", requests=9, joined_at=now, **{"has_room": False} | columns
    )


def shown(client: Client, build: Build) -> str:
    return client.get(f"/builds/{build.pk}/").content.decode()


def test_an_open_batch_is_on_the_page_with_its_id_and_when_it_is_looked_at(ada: Client) -> None:
    build = factories.opened(batches=True)
    soon = timezone.now() + timedelta(minutes=4)
    batch(build, state=Batch.State.OPEN, provider_id="msgbatch_1", sent_at=timezone.now(), next_poll_at=soon)
    page = shown(ada, build)
    assert "9 requests in 1 batch" in page
    assert "msgbatch_1" in page
    assert "looked at next" in page
    assert "screener and test writer by batch" in page


def test_what_a_batch_met_is_told(ada: Client) -> None:
    build = factories.opened(batches=True)
    batch(build, state=Batch.State.OPEN, provider_id="m", error="the provider is <overloaded>")
    assert "the provider is &lt;overloaded&gt;" in shown(ada, build)


def test_batches_that_have_ended_are_counted(ada: Client) -> None:
    build = factories.opened(batches=True)
    batch(build, state=Batch.State.ENDED, answered=7, returned=2)
    page = shown(ada, build)
    assert "1 batch ended: 7 replies at half price" in page
    assert "2 requests came back without one and were asked again" in page


def test_a_build_that_asks_live_shows_no_batches(ada: Client) -> None:
    assert "atch" not in shown(ada, factories.opened()).replace("match", "").replace("Match", "")


def test_only_so_many_are_listed(ada: Client) -> None:
    build = factories.opened(batches=True)
    for number in range(9):
        batch(build, state=Batch.State.OPEN, provider_id=f"m{number}")
    page = shown(ada, build)
    assert "81 requests in 9 batches" in page
    assert "and 3 others" in page


def test_a_batch_is_ordered_in_the_form_where_the_provider_takes_one(ada: Client, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "a-key"
    order: dict[str, Any] = {
        "name": "by batch",
        "queries": factories.queries().pk,
        "snippets": factories.snippets().pk,
        "encoders": ["bm25"],
        "k": 3,
        "rule": "1",
        "text_option": "whole",
        "fix_rounds": 2,
        "model": "a-model",
        "unpriced": "on",
        "batches": "on",
    }
    assert "Batches are for live builds" in ada.post(NEW, order | {"provider": "exchange"}).content.decode()
    live = order | {"provider": "live"}
    settings.LLM_PROFILE = "deepseek"
    assert "offers no batches" in ada.post(NEW, live).content.decode()
    settings.LLM_PROFILE = "anthropic"
    word = ada.post(NEW, live).context["page"].word
    assert ada.post(NEW, live | {"step": "launch", "estimate": word}).status_code == 302
    assert Build.objects.get().batches
