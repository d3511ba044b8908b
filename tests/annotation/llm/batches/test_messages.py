"""Message Batches over real HTTP: what goes out, and what the lines of the results become."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from annotation.llm import LLMError, Message, Request
from annotation.llm.batches import LiveBatches, open_batches
from annotation.llm.batches import provider as batches_module
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC, GENERIC
from tests.fake_messages import FakeMessages, Fault, Raw, Say

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
ASKED = Request("screener", "some-model", "Answer 1.", (Message("user", "?"),), SCHEMA, 100)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def fake() -> Iterator[FakeMessages]:
    with FakeMessages(answer=lambda body: {"answer": 1}) as server:
        server.batches.looks = 0
        yield server


@pytest.fixture
def batches(fake: FakeMessages) -> Iterator[LiveBatches]:
    llm = LiveLLM(fake.key, ANTHROPIC, base_url=fake.url, timeout=5)
    yield open_batches(llm)
    llm.close()


def ended(batches: LiveBatches, count: int = 3) -> str:
    made = batches.create((f"id-{number}", ASKED) for number in range(count))
    assert (made.ended, made.requests) == (False, count)
    assert batches.look(made.id).ended
    return made.id


def test_a_request_goes_out_in_a_batch_as_it_would_live(batches: LiveBatches, fake: FakeMessages) -> None:
    batches.create([("one", ASKED)])
    live = LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)
    live.ask(ASKED)
    live.close()
    [entry] = fake.calls[0].body["requests"]
    assert (entry["custom_id"], entry["params"]) == ("one", fake.calls[1].body)


def test_sampling_goes_out_beside_the_other_parameters(fake: FakeMessages) -> None:
    llm = LiveLLM(fake.key, replace(GENERIC, batches=True), base_url=fake.url)
    open_batches(llm).create([("one", replace(ASKED, sampling={"temperature": 0}))])
    llm.close()
    assert fake.calls[0].body["requests"][0]["params"]["temperature"] == 0


def test_every_entry_comes_with_its_id_in_any_order(batches: LiveBatches, fake: FakeMessages) -> None:
    fake.script(Fault(500, "a bad day"), Say(stop_reason="refusal"))
    found = {entry.id: entry for entry in batches.results(ended(batches))}
    assert set(found) == {"id-0", "id-1", "id-2"}
    error, declined, reply = found["id-0"].error, found["id-1"].reply, found["id-2"].reply
    assert error is not None and "errored" in error.message and "a bad day" in error.message
    assert declined is not None and "declined" in batches.checked(declined, ASKED).defect
    assert reply is not None and (reply.text, reply.usage.output_tokens > 0) == ('{"answer": 1}', True)
    assert reply.request_id.startswith("msg_")


def test_an_entry_that_complains_of_the_way_of_asking_steps_down_once(
    batches: LiveBatches, fake: FakeMessages
) -> None:
    complaint = Fault(400, "output_config: not with this model; use tools with tool_choice")
    fake.script(complaint, complaint)
    for entry in batches.results(ended(batches, 2)):
        assert entry.error is not None and entry.error.status == 400
        batches.learn(entry.error, ASKED.model)
    assert batches.refused == "json_schema"
    batches.create([("again", ASKED)])
    params = fake.calls[-1].body["requests"][0]["params"]
    assert "tool_choice" in params and "output_config" not in params


@pytest.mark.parametrize("fault", [Fault(500, "output_config broke"), Fault(400, "messages: too long")])
def test_other_errors_of_entries_change_nothing(
    fault: Fault, batches: LiveBatches, fake: FakeMessages
) -> None:
    fake.script(fault)
    [entry] = batches.results(ended(batches, 1))
    assert entry.error is not None
    batches.learn(entry.error, ASKED.model)
    assert batches.refused is None


def test_another_models_reply_is_told(batches: LiveBatches, fake: FakeMessages) -> None:
    fake.script(Say("{}", model="other"))
    [entry] = batches.results(ended(batches, 1))
    assert entry.reply is not None
    with pytest.raises(LLMError, match="other answered"):
        batches.checked(entry.reply, ASKED)


@pytest.mark.parametrize(
    "line",
    [
        b"no json",
        b"[1]",
        b'{"result": {}}',
        b'{"custom_id": 7}',
        b'{"custom_id": "a", "custom_id": "b"}',
        b"",
    ],
)
def test_a_line_that_is_none_of_the_protocol_is_left_out(
    line: bytes, batches: LiveBatches, fake: FakeMessages
) -> None:
    good = json.dumps({"custom_id": "good", "result": {"type": "expired"}}).encode()
    fake.batches.fail("results", Raw(line + b"\n" + good))
    assert [entry.id for entry in batches.results(ended(batches))] == ["good"]


@pytest.mark.parametrize("message", [None, "text", {}, {"content": [], "model": 1}, {"usage": "much"}])
def test_a_reply_that_is_no_message_may_have_been_billed(
    message: Any, batches: LiveBatches, fake: FakeMessages
) -> None:
    line = {"custom_id": "a", "result": {"type": "succeeded", "message": message}}
    fake.batches.fail("results", Raw(json.dumps(line).encode()))
    [entry] = batches.results(ended(batches))
    assert entry.reply is None
    assert entry.error is not None and entry.error.maybe_billed


def test_an_endless_line_is_never_held_whole(
    batches: LiveBatches, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "LONGEST_LINE", 1000)
    good = json.dumps({"custom_id": "good", "result": {"type": "expired"}}).encode()
    fake.batches.fail("results", Raw(b'{"custom_id": "' + b"x" * 50_000 + b'"}\n' + good))
    assert [entry.id for entry in batches.results(ended(batches))] == ["good"]


def test_whole_lines_come_before_the_break(batches: LiveBatches, fake: FakeMessages) -> None:
    pk, seen = ended(batches, 10), list[str]()
    fake.batches.cuts = 1
    with pytest.raises(LLMError, match="not whole") as broken:
        seen.extend(entry.id for entry in batches.results(pk))
    assert broken.value.retryable
    assert 0 < len(seen) < 10
    assert len(list(batches.results(pk))) == 10


def test_the_accounts_batches_are_listed_page_by_page_down_to_a_moment(
    batches: LiveBatches, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches_module, "A_PAGE", 2)
    made = [batches.create([("one", ASKED)]).id for _ in range(5)]
    assert [one.id for one in batches.since(LONG_AGO)] == made[::-1]
    fake.batches.made[made[2]].created_at -= timedelta(days=1)
    assert [one.id for one in batches.since(datetime.now(UTC) - timedelta(hours=1))] == made[:2:-1]


@pytest.mark.parametrize("answer", [Raw(b"<html>"), Raw(b"[]"), Raw(b'{"id": 7}')])
def test_an_answer_that_is_no_batch_is_told(answer: Raw, batches: LiveBatches, fake: FakeMessages) -> None:
    fake.batches.fail("get", answer)
    pk = batches.create([("one", ASKED)]).id
    with pytest.raises(LLMError, match="does not speak the Messages protocol"):
        batches.look(pk)


def test_the_key_goes_nowhere_else_whatever_the_batch_says_of_its_results(
    batches: LiveBatches, fake: FakeMessages
) -> None:
    pk = ended(batches, 1)
    with FakeMessages() as other:
        fake.batches.described = lambda batch: {"results_url": f"{other.url}/steal"}  # type: ignore[method-assign]
        assert len(list(batches.results(pk))) == 1
        assert not other.calls
