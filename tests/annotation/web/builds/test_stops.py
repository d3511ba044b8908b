"""The card of a build that has stopped by itself: the reply as it came, and how to continue."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.agents import screener
from annotation.builds.limits import unusable_replies
from annotation.builds.limits.budget import without_system
from annotation.models import Build, LLMCall, ReplyText, RequestText, SystemText, Tally
from tests import factories

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> I think it does."


def call_of(build: Build, text: str, **columns: Any) -> LLMCall:
    """A call of the screener with this reply."""
    request = screener.build_screener_request(screener.ScreenerInputs("q", "def f(): pass"), build.model)
    texts = {
        "system": SystemText.keep(request.system),
        "request": RequestText.keep(without_system(request)),
        "reply": ReplyText.keep(text),
    }
    case = factories.cases(build)[0]
    case.build = build
    made = {"agent": "screener", "build": build, "model": build.model, "digest": request.digest()}
    return LLMCall.objects.create(**{**made, "provider": "live:test", **texts, **columns})


def stopped(run: int) -> Build:
    build = factories.opened(provider=Build.Provider.LIVE)
    call = call_of(build, HOSTILE, status="succeeded", answered_by="small-model")
    Tally.objects.filter(pk=build.pk).update(unusable_run=run, last_unusable=call)
    reason = unusable_replies.describe_stop(
        f"{unusable_replies.STOPPED}: 10 in a row", "it holds no JSON object"
    )
    Build.objects.filter(pk=build.pk).update(state=Build.State.PAUSED, reason=reason)
    return build


def page_of(client: Client, build: Build) -> str:
    return client.get(reverse("build", args=[build.pk])).content.decode()


def test_the_reply_is_shown_as_text_with_its_schema_and_what_to_do(ada: Client) -> None:
    html = page_of(ada, stopped(run=10))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; I think it does." in html
    assert HOSTILE not in html
    assert "10 in a row. The last one: it holds no JSON object." in html
    assert "What was expected" in html
    assert "&quot;enum&quot;" in html  # the schema of the screener's verdict
    assert "Correct the server, then resume" in html
    assert "share is then accepted" not in html
    assert 'id="do-resume"' in html


def test_after_a_share_of_unusable_replies_it_can_be_accepted(ada: Client) -> None:
    assert "share is then accepted" in page_of(ada, stopped(run=3))


def test_a_long_reply_is_cut_on_the_page(ada: Client) -> None:
    build = stopped(run=10)
    LLMCall.objects.update(reply=ReplyText.keep("x" * 9_000))
    html = page_of(ada, build)
    assert "5,000 characters more" in html
    assert "x" * 4_001 not in html


def test_another_model_is_shown_with_what_was_expected(ada: Client) -> None:
    build = factories.opened(provider=Build.Provider.LIVE)
    call_of(build, "{}", status="succeeded", answered_by="first-model")
    why = "other-model answered, and until now it was first-model"
    call_of(build, HOSTILE, status="failed", attempt=2, answered_by="other-model", error=why)
    Build.objects.filter(pk=build.pk).update(state=Build.State.WAITING, reason=why)
    html = page_of(ada, build)
    assert "a reply of first-model; this one is of other-model" in html
    assert "Set the server back to the first model" in html
    assert HOSTILE not in html


def test_a_build_that_a_person_paused_shows_no_such_card(ada: Client) -> None:
    build = stopped(run=10)
    Build.objects.update(reason="")
    assert "The reply that stopped it" not in page_of(ada, build)
