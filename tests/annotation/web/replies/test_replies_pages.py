"""Replies in the browser: what waits, files down and up, one answer in a form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.agents import screener, test_writer
from annotation.builds.limits.budget import without_system
from annotation.builds.pipeline import file_exchange
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm.exchange import ExchangeLLM
from annotation.models import Build, Case, LLMCall, RequestText, SystemText
from annotation.web.replies import page as pages
from tests import factories
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
YES = {"verdict": 1, "explanation": "yes"}
HOSTILE = "</pre><script>alert(1)</script>"


@pytest.fixture
def build(fresh: Callable[[Case], Case]) -> Build:
    """Nine requests of the screener wait."""
    llm = ExchangeLLM()
    tools = Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    made = factories.opened("by hand", model="any")
    for case in factories.cases(made):
        advance_case(fresh(case), tools)
    return made


def address(build: Build, name: str = "build-replies", *more: int) -> str:
    return reverse(name, args=[build.pk, *more])


def ids(build: Build) -> list[str]:
    return list(file_exchange.find_unanswered_calls(build).values_list("digest", flat=True))


def sent(client: Client, build: Build, content: bytes | str, model: str = "gpt-x") -> Any:
    data = content.encode() if isinstance(content, str) else content
    file = SimpleUploadedFile("replies.jsonl", data)
    return client.post(address(build), {"file": file, "model": model})


def lines(*replies: object) -> str:
    return "".join(json.dumps(reply) + "\n" for reply in replies)


def test_the_builds_page_leads_to_the_replies(ada: Client, build: Build) -> None:
    html = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "Waiting for 9 replies" in html
    assert "waiting for replies" in html
    for name in ("build-replies", "build-requests", "build-reply-next"):
        assert f'href="{address(build, name)}"' in html
    assert "do-resume" not in html  # nothing but replies sets it going


def test_the_page_says_what_waits_and_prints_a_script_with_its_own_address(ada: Client, build: Build) -> None:
    html = ada.get(address(build)).content.decode()
    assert "Waiting for 9 replies" in html
    assert f"http://testserver/api/builds/{build.pk}&quot;" in html
    assert len(pages.SCRIPT.splitlines()) <= 15


def test_the_files_of_requests_hold_each_prompt_once(ada: Client, build: Build) -> None:
    answer = ada.get(address(build, "build-requests"))
    assert answer["Content-Disposition"] == 'attachment; filename="by-hand-requests.jsonl"'
    rows = [json.loads(line) for line in answer.content.splitlines()]
    assert [row["id"] for row in rows if "id" in row] == ids(build)
    assert ["system" in row for row in rows].count(True) == 1
    table = list(
        csv.DictReader(
            io.StringIO(ada.get(f"{address(build, 'build-requests')}?as=sheet").content.decode("utf-8-sig"))
        )
    )
    assert [row["id"] for row in table] == ids(build)
    assert {row["query"] for row in table} == set(factories.QUERIES)


def test_good_lines_are_kept_and_bad_ones_told_by_number(ada: Client, build: Build) -> None:
    first, second, third, *_ = ids(build)
    other = factories.opened("another")
    foreign = factories.llm_call(factories.cases(other)[0], "screener", {}, status="waiting")
    html = sent(
        ada,
        build,
        lines({"id": first, "reply": YES}, {"id": second, "reply": {"verdict": 7, "explanation": HOSTILE}})
        + "no json\n"
        + lines(
            {"id": foreign.digest, "reply": YES}, {"id": third, "reply": YES}, {"id": first, "reply": YES}
        ),
    ).content.decode()
    assert "2 replies taken" in html
    assert "4 refused" in html
    assert "Line 2</strong>: verdict: has to be one of the numbers 0, 0.5, 1" in html
    assert "Line 3</strong>: is not JSON" in html
    assert f"the request {foreign.digest} is one of another build, not of this one" in html
    assert HOSTILE not in html
    assert LLMCall.objects.filter(build=build, status="succeeded").count() == 2
    foreign.refresh_from_db()
    assert foreign.status == LLMCall.Status.WAITING


def test_the_same_file_again_changes_nothing_and_another_reply_is_told(ada: Client, build: Build) -> None:
    first = ids(build)[0]
    sent(ada, build, lines({"id": first, "reply": YES}))
    html = sent(ada, build, lines({"id": first, "reply": YES})).content.decode()
    assert "0 replies taken, 1 known already" in html
    html = sent(ada, build, lines({"id": first, "reply": {**YES, "verdict": 0}})).content.decode()
    assert "has a reply already, and this is another one" in html
    assert LLMCall.objects.get(build=build, status="succeeded").reply.text == json.dumps(YES)  # type: ignore[union-attr]


def test_a_filled_in_sheet_is_taken(ada: Client, build: Build) -> None:
    sheet = ada.get(f"{address(build, 'build-requests')}?as=sheet").content.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(sheet)))
    out = io.StringIO()
    csv.writer(out).writerows([rows[0], *([*row[:3], "match", "plain"] for row in rows[1:5]), *rows[5:]])
    html = sent(ada, build, out.getvalue(), "a person").content.decode()
    assert "4 replies taken" in html
    assert "Waiting for 5 replies" in html
    build.refresh_from_db()
    assert build.answering_model == "a person"
    assert "a person" in ada.get(reverse("build", args=[build.pk])).content.decode()


def test_an_upload_has_to_say_who_answered(ada: Client, build: Build) -> None:
    answer = sent(ada, build, lines({"id": ids(build)[0], "reply": YES}), model=" ")
    assert answer.status_code == 422
    assert len(ids(build)) == 9


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    ada: Client, build: Build, settings: Settings
) -> None:
    settings.UPLOAD_LIMIT_BYTES = 10
    answer = sent(ada, build, lines({"id": ids(build)[0], "reply": YES}))
    assert "Upload it in parts" in answer.content.decode()
    assert len(ids(build)) == 9


def test_an_empty_file_and_one_of_requests_take_nothing(ada: Client, build: Build) -> None:
    assert "The file holds no reply" in sent(ada, build, b"").content.decode()
    requests = ada.get(address(build, "build-requests")).content
    assert "is a line of the file of requests" in sent(ada, build, requests).content.decode()


def test_one_request_is_answered_in_a_form_and_the_next_one_follows(ada: Client, build: Build) -> None:
    html = ada.get(address(build, "build-reply-next")).content.decode()
    assert "Answer as the screener" in html
    assert "8 more requests" in html
    call = file_exchange.find_unanswered_calls(build)[0]
    given = {"model": "a person", "verdict": "0.5", "explanation": "only a run can tell"}
    answer = ada.post(address(build, "build-reply", call.pk), given)
    assert answer["Location"] == address(build, "build-reply-next")
    call.refresh_from_db()
    assert json.loads(call.reply.text) == {"explanation": "only a run can tell", "verdict": 0.5}  # type: ignore[union-attr]
    assert call.answered_by == "a person"
    again = ada.get(address(build, "build-reply", call.pk), follow=True)
    assert "That request has its reply already." in again.content.decode()


def test_a_form_says_what_its_agent_cannot_use(ada: Client, build: Build) -> None:
    call = file_exchange.find_unanswered_calls(build)[0]
    given = {"model": "a person", "verdict": "0.5", "explanation": "  "}
    answer = ada.post(address(build, "build-reply", call.pk), given)
    assert answer.status_code == 422
    assert len(ids(build)) == 9


def test_a_deep_schema_is_answered_as_json(ada: Client, build: Build) -> None:
    case = factories.cases(build)[0]
    request = test_writer.build_test_writer_request(test_writer.WriterInputs("q", HOSTILE), "any")
    columns = {
        "digest": request.digest(),
        "system": SystemText.keep(request.system),
        "request": RequestText.keep(without_system(request)),
    }
    call = factories.llm_call(case, "test_writer", {}, status="waiting", **columns)
    case.refresh_from_db()
    Case.objects.filter(pk=case.pk).update(waiting_for=call)
    html = ada.get(address(build, "build-reply", call.pk)).content.decode()
    assert "Schema of the reply" in html
    assert HOSTILE not in html
    answer = ada.post(address(build, "build-reply", call.pk), {"model": "x", "reply": "no object"})
    assert "Not taken: the answer holds no JSON object." in answer.content.decode()


def test_replies_are_for_admins(client: Client, build: Build) -> None:
    client.force_login(factories.erin())
    assert client.get(address(build)).status_code == 403
    assert client.get(address(build, "build-requests")).status_code == 403


def test_every_field_of_the_screener_is_one_of_the_form() -> None:
    from annotation.web.replies.forms import read_flat_properties

    assert set(read_flat_properties(screener.SCHEMA)) == {"explanation", "verdict"}
    assert read_flat_properties(test_writer.SCHEMA) == {}
