"""The fake server is only worth as much as its likeness: it refuses what the real one refuses."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from tests.fake_messages import FakeMessages, Slowly

ROOT = Path(__file__).parents[1]
CLOSED = {
    "type": "object",
    "properties": {"verdict": {"type": "integer", "enum": [0, 1]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
ASK: dict[str, Any] = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def fake() -> Iterator[FakeMessages]:
    with FakeMessages() as server:
        yield server


@pytest.fixture
def client(fake: FakeMessages) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key=fake.key, base_url=fake.url, max_retries=0) as client:
        yield client


def by_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def test_it_answers_with_usage_request_id_and_rate_limits(
    fake: FakeMessages, client: anthropic.Anthropic
) -> None:
    fake.script({"verdict": 1})
    raw = client.messages.with_raw_response.create(**ASK, **by_schema(CLOSED))
    message = raw.parse()
    assert isinstance(message, anthropic.types.Message)
    assert message.content[0].to_dict() == {"type": "text", "text": '{"verdict": 1}'}
    assert message.usage.input_tokens > 0
    assert raw.headers["request-id"].startswith("req_fake")
    assert raw.headers["anthropic-ratelimit-requests-remaining"] == "3999"
    assert client.messages.count_tokens(model="m", messages=ASK["messages"]).input_tokens > 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"messages": []}, "at least one message is required"),
        ({"messages": [{"role": "user", "content": ""}]}, "must be non-empty"),
        ({"messages": [{"role": "system", "content": "x"}]}, "Input should be 'user' or 'assistant'"),
        ({"messages": [*ASK["messages"], {"role": "assistant", "content": "{"}]}, "prefill"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"model": ""}, "model: Field required"),
        ({"extra_body": {"temperature": 0}}, "temperature: Extra inputs are not permitted"),
        (by_schema({k: v for k, v in CLOSED.items() if k != "additionalProperties"}), "additionalProperties"),
        (by_schema({"type": "integer", "minimum": 0}), "property 'minimum' is not supported"),
        ({"tool_choice": {"type": "tool", "name": "answer"}}, "Tool 'answer' not found"),
    ],
)
def test_it_refuses_what_breaks_the_protocol(
    fake: FakeMessages, client: anthropic.Anthropic, change: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=re.escape(complaint)) as caught:
        client.messages.create(**(ASK | change))
    assert caught.value.type == "invalid_request_error"
    assert [call.status for call in fake.calls] == [400]


def test_it_refuses_a_wrong_key(fake: FakeMessages) -> None:
    stranger = anthropic.Anthropic(api_key="wrong", base_url=fake.url, max_retries=0)
    with stranger, pytest.raises(anthropic.AuthenticationError, match="invalid API key"):
        stranger.messages.create(**ASK)


def test_a_scripted_answer_has_to_fit_the_schema(fake: FakeMessages, client: anthropic.Anthropic) -> None:
    fake.script({"verdict": 2})
    with pytest.raises(anthropic.InternalServerError, match="does not fit the schema"):
        client.messages.create(**ASK, **by_schema(CLOSED))


def test_a_reply_may_drip_or_be_cut(fake: FakeMessages, client: anthropic.Anthropic) -> None:
    fake.script(Slowly({"verdict": 1}, drip=0.1), Slowly({"verdict": 1}, cut=True))
    began = time.monotonic()
    assert client.messages.create(**ASK, **by_schema(CLOSED)).stop_reason == "end_turn"
    assert time.monotonic() - began >= 0.1
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.create(**ASK, **by_schema(CLOSED))


def test_it_runs_by_hand() -> None:
    command = [sys.executable, "-u", "-m", "tests.fake_messages", "--port", "0", "--key", "by-hand"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[3].rstrip(",")
        with anthropic.Anthropic(api_key="by-hand", base_url=url) as client:
            assert client.messages.create(**ASK).stop_reason == "end_turn"
        process.terminate()
