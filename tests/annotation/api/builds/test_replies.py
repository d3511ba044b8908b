"""Requests out and replies in by the API; and the script of the page, as it is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build, Case
from annotation.web.replies.page import SCRIPT
from tests import factories
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
YES = {"verdict": 1, "explanation": "yes"}


@pytest.fixture
def build(fresh: Callable[[Case], Case]) -> Build:
    llm = ExchangeLLM()
    tools = Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    made = factories.opened(model="any")
    for case in factories.cases(made):
        advance_case(fresh(case), tools)
    return made


def post(client: Client, build: Build, **body: Any) -> Any:
    return client.post(f"/api/builds/{build.pk}/replies", body, content_type="application/json")


def test_requests_are_listed_by_pages_with_their_prompts(ada: Client, build: Build) -> None:
    page = ada.get(f"/api/builds/{build.pk}/requests?limit=5").json()
    assert (page["open"], page["waiting"], len(page["items"])) == (True, 9, 5)
    [prompt] = page["prompts"].values()
    assert set(prompt) == {"system", "schema"}
    assert {item["prompt"] for item in page["items"]} == set(page["prompts"])
    rest = ada.get(f"/api/builds/{build.pk}/requests?limit=5&after={page['next']}").json()
    assert (len(rest["items"]), rest["next"]) == (4, None)


def test_replies_are_taken_and_bad_ones_told_by_their_place(ada: Client, build: Build) -> None:
    first, second = file_exchange.find_unanswered_calls(build).values_list("digest", flat=True)[:2]
    replies = [{"id": first, "reply": YES}, {"id": second, "reply": "prose"}, {"id": "0", "reply": YES}]
    found = post(ada, build, model="gpt-x", replies=replies).json()
    assert (found["taken"], found["known"], found["continuing"]) == (1, 0, 1)
    assert [one["place"] for one in found["refused"]] == [2, 3]
    assert post(ada, build, model="gpt-x", replies=replies[:1]).json()["known"] == 1
    detail = ada.get(f"/api/builds/{build.pk}").json()
    assert detail["answered_by"] == ["gpt-x"]


def test_replies_name_their_model(ada: Client, build: Build) -> None:
    assert post(ada, build, model="", replies=[{"id": "0", "reply": "x"}]).status_code == 422


def test_the_script_answers_a_whole_build(ada: Client, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as it stands, but for the model and for the way to the server."""
    source = SCRIPT.format(address="http://workbench/api/builds/1")
    source = source.replace(
        'raise SystemExit("Ask your model here, and return its JSON object or its text.")', "return YES"
    )

    def urlopen(asked: Any) -> Any:
        path = f"/api/builds/{build.pk}{asked.full_url.removeprefix('http://workbench/api/builds/1')}"
        assert asked.headers["Authorization"] == "Bearer YOUR TOKEN"
        sent = ada.post(path, asked.data, content_type="application/json") if asked.data else ada.get(path)
        assert sent.status_code == 200, sent.content
        if asked.data:  # the build's own work is not done here: it is over once all is answered
            Build.objects.filter(pk=build.pk).update(state=Build.State.DONE)
        return __import__("io").BytesIO(sent.content)

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    exec(source, {"YES": YES})  # our own text
    assert (
        Build.objects.get(pk=build.pk).calls.filter(status="succeeded", answered_by="YOUR MODEL").count() == 9
    )
    assert json.loads(Build.objects.get(pk=build.pk).calls.first().reply.text) == YES  # type: ignore[union-attr]
