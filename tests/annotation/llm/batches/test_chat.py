"""Batches of chat completions over real HTTP: what goes out, and what the lines of both files become."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from annotation.llm import LLMError
from annotation.llm.batches import LiveBatches, open_batches, provider
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import load_provider_profile
from tests.annotation.llm.batches.test_messages import ASKED, LONG_AGO
from tests.fake_chat import FakeChat
from tests.fake_messages import Drop, Fault, Raw, Say

OPENAI = load_provider_profile("openai")


@pytest.fixture
def fake() -> Iterator[FakeChat]:
    with FakeChat(answer=lambda body: {"answer": 1}) as server:
        server.chat_batches.looks = 0
        yield server


@pytest.fixture
def batches(fake: FakeChat) -> Iterator[LiveBatches]:
    llm = LiveLLM(fake.key, OPENAI, base_url=fake.url, timeout=5)
    yield open_batches(llm)
    llm.close()


def ended(batches: LiveBatches, count: int = 4) -> str:
    made = batches.create((f"id-{number}", ASKED) for number in range(count))
    assert (made.ended, made.requests) == (False, count), "counted though the provider has not counted yet"
    assert batches.look(made.id).ended
    return made.id


def test_a_request_goes_out_in_a_batch_as_it_would_live(batches: LiveBatches, fake: FakeChat) -> None:
    batches.create([("one", ASKED)])
    live = LiveLLM(fake.key, OPENAI, base_url=fake.url)
    live.ask(ASKED)
    live.close()
    [made] = fake.chat_batches.made.values()
    [line] = made.lines
    assert line == {
        "custom_id": "one",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": fake.calls[-1].body,
    }


def test_replies_and_errors_come_from_two_files(batches: LiveBatches, fake: FakeChat) -> None:
    fake.script(Fault(500, "a bad day"), Say(stop_reason="refusal"))
    found = {entry.id: entry for entry in batches.results(ended(batches))}
    assert set(found) == {"id-0", "id-1", "id-2", "id-3"}
    error, declined, reply = found["id-0"].error, found["id-1"].reply, found["id-2"].reply
    assert error is not None and "HTTP 500" in error.message and "a bad day" in error.message
    assert error.retryable and not error.maybe_billed
    assert declined is not None and "declined" in batches.checked(declined, ASKED).defect
    assert reply is not None and reply.by_batch and reply.text == '{"answer": 1}'
    assert reply.usage.output_tokens > 0 and reply.request_id.startswith("req_")


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_what_an_undone_batch_left_out_comes_with_the_reason_and_costs_nothing(
    status: str, batches: LiveBatches, fake: FakeChat
) -> None:
    fake.chat_batches.ends.append(status)
    found = {entry.id: entry for entry in batches.results(ended(batches))}
    assert [found[f"id-{number}"].reply is not None for number in range(4)] == [True, True, False, False]
    error = found["id-3"].error
    assert error is not None and status in error.message and not error.maybe_billed and error.retryable


def test_a_batch_that_fails_its_validation_says_why_of_each_request(
    batches: LiveBatches, fake: FakeChat
) -> None:
    fake.chat_batches.invalid.append("response_format: json_schema is unknown to this model")
    entries = list(batches.results(ended(batches, 2)))
    assert [entry.id for entry in entries] == ["id-0", "id-1"]
    for entry in entries:
        assert entry.error is not None and "json_schema is unknown" in entry.error.message
        batches.learn(entry.error, ASKED.model)
    assert batches.refused == "json_schema"
    batches.create([("again", ASKED)])
    body = list(fake.chat_batches.made.values())[-1].lines[0]["body"]
    assert "tool_choice" in body and "response_format" not in body


def test_a_cancelled_batch_ends(batches: LiveBatches, fake: FakeChat) -> None:
    fake.chat_batches.looks = 9
    made = batches.create([("one", ASKED)])
    assert not batches.look(made.id).ended
    batches.cancel(made.id)
    assert batches.look(made.id).ended


def test_an_upload_that_is_lost_was_never_billed_a_batch_may_have_been(
    batches: LiveBatches, fake: FakeChat
) -> None:
    for what, maybe_billed in (("upload", False), ("create", True)):
        fake.chat_batches.faults.append((what, Drop()))
        with pytest.raises(LLMError) as lost:
            batches.create([("one", ASKED)])
        assert (lost.value.retryable, lost.value.maybe_billed) == (True, maybe_billed), what
    assert not fake.chat_batches.made


@pytest.mark.parametrize(
    "line",
    [b"no json", b"[1]", b'{"response": {}}', b'{"custom_id": 7}', b'{"custom_id": "a", "custom_id": "b"}'],
)
def test_a_line_that_is_none_of_the_protocol_is_left_out(
    line: bytes, batches: LiveBatches, fake: FakeChat
) -> None:
    pk = ended(batches, 1)
    place = fake.chat_batches.made[pk].output_file_id
    assert place is not None
    fake.chat_batches.files[place] = line + b"\n" + fake.chat_batches.files[place]
    assert [entry.id for entry in batches.results(pk)] == ["id-0"]


@pytest.mark.parametrize(
    "body", [None, "text", {}, {"choices": [], "model": "m"}, {"choices": [{"message": {}}], "model": "m"}]
)
def test_a_reply_that_is_no_completion_or_tells_no_tokens_may_have_been_billed(
    body: Any, batches: LiveBatches, fake: FakeChat
) -> None:
    pk = ended(batches, 1)
    place = fake.chat_batches.made[pk].output_file_id
    assert place is not None
    line = {"custom_id": "a", "response": {"status_code": 200, "body": body}}
    fake.chat_batches.files[place] = json.dumps(line).encode()
    [entry] = batches.results(pk)
    assert entry.reply is None
    assert entry.error is not None and entry.error.maybe_billed


def test_whole_lines_come_before_the_break(batches: LiveBatches, fake: FakeChat) -> None:
    pk, seen = ended(batches, 10), list[str]()
    fake.chat_batches.cuts = 1
    with pytest.raises(LLMError, match="not whole") as broken:
        seen.extend(entry.id for entry in batches.results(pk))
    assert broken.value.retryable
    assert 0 < len(seen) < 10
    assert len(list(batches.results(pk))) == 10


def test_the_accounts_batches_are_listed_page_by_page_down_to_a_moment(
    batches: LiveBatches, fake: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "A_PAGE", 2)
    made = [batches.create([("one", ASKED)]).id for _ in range(5)]
    assert [one.id for one in batches.since(LONG_AGO)] == made[::-1]
    fake.chat_batches.made[made[2]].created_at -= 86_400
    assert [one.id for one in batches.since(datetime.now(UTC) - timedelta(hours=1))] == made[:2:-1]


@pytest.mark.parametrize("answer", [Raw(b"<html>"), Raw(b"[]"), Raw(b'{"id": 7}')])
def test_an_answer_that_is_no_batch_is_told(answer: Raw, batches: LiveBatches, fake: FakeChat) -> None:
    pk = batches.create([("one", ASKED)]).id
    fake.chat_batches.faults.append(("get", answer))
    with pytest.raises(LLMError, match="does not speak OpenAI's chat completions"):
        batches.look(pk)
