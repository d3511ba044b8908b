"""OpenAI's chat completions as each documented server speaks it: what it wants, leaves out and adds.

Each server here answers as its documents or its source say; decision 67 lists where. What can't be told from
a document (speed, a model's quality) is not tried; `test_open_server.py` asks a real server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

import pytest

from annotation.agents import arbiter, fixer, screener, test_writer
from annotation.llm import LLMError, Usage
from annotation.llm.chat import count_most_tokens
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import GENERIC_CHAT, PROFILES, Mode, ProviderProfile
from tests.fake_chat import FakeChat, plain_error
from tests.fake_messages import Fault, Raw, Say
from tests.messages_protocol import Json

VERDICT = {"explanation": "it returns the items in reverse", "verdict": 1}
PAIR = screener.ScreenerInputs("python reverse a list", "def reverse(items):\n    return items[::-1]\n")
REQUEST = screener.build_screener_request(PAIR, "some-model")
ALL = ("json_schema", "json_object", "forced_tool", "temperature", "thinking", "provider")
Dress = Callable[[Json, Json], Json]


def message_of(completion: Json) -> Json:
    found: Json = completion["choices"][0]["message"]
    return found


def as_openai(completion: Json, body: Json) -> Json:
    message_of(completion).setdefault("refusal", None)
    completion["model"] = f"{body['model']}-2026-03-17"
    completion["usage"] |= {
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    return completion


def refuse_max_tokens(body: Json) -> str:
    told = "Unsupported parameter: 'max_tokens' is not supported with this model."
    return f"{told} Use 'max_completion_tokens' instead." if "max_tokens" in body else ""


def as_vllm(completion: Json, body: Json) -> Json:
    """It thinks in a field of its own (older ones in `reasoning_content`); after a named tool: `stop`."""
    message_of(completion).update(reasoning='I think {"verdict": 0}', refusal=None, annotations=None)
    completion["choices"][0].update(finish_reason="stop", stop_reason=None, token_ids=None)
    completion.update(prompt_logprobs=None, kv_transfer_params=None)
    completion["usage"]["prompt_tokens_details"] = None
    return completion


def as_ollama(completion: Json, body: Json) -> Json:
    """It knows no `tool_choice`, and passes over what it does not know."""
    message_of(completion)["reasoning"] = "Hm."
    return completion | {"id": "chatcmpl-7", "system_fingerprint": "fp_ollama"}


def as_llama_cpp(completion: Json, body: Json) -> Json:
    """Its model is a file, whatever was asked for."""
    completion |= {"model": "/models/qwen.gguf", "timings": {"prompt_n": 5}}
    message_of(completion)["reasoning_content"] = "Hm."
    completion["usage"]["prompt_tokens_details"] = {"cached_tokens": 0}
    return completion


def as_litellm(completion: Json, body: Json) -> Json:
    """After a fallback it names the model that answered instead."""
    message_of(completion).update(function_call=None, provider_specific_fields={})
    return completion | {"model": "mistral/mistral-small-latest", "service_tier": None}


def as_openrouter(completion: Json, body: Json) -> Json:
    message_of(completion).update(reasoning="Hm.", reasoning_details=[], refusal=None)
    completion["choices"][0]["native_finish_reason"] = "STOP"
    return completion | {"provider": "Somebody", "model": f"maker/{body['model']}"}


def as_deepseek(completion: Json, body: Json) -> Json:
    message_of(completion)["reasoning_content"] = 'First {"verdict": 0}, but no.'
    given = completion["usage"]["prompt_tokens"]
    completion["usage"] |= {
        "prompt_cache_hit_tokens": 64,
        "prompt_cache_miss_tokens": given - 64,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    return completion


def vllm_error(fault: Fault) -> Json:
    inner = {"message": fault.message, "type": "BadRequestError", "param": None, "code": fault.status}
    return {"error": inner}


def flat_error(fault: Fault) -> Json:
    """As vLLM had it in 2024."""
    return {"object": "error", "message": fault.message, "type": "BadRequestError", "code": fault.status}


def fastapi_error(fault: Fault) -> Json:
    """As `transformers serve` has it, and proxies."""
    return {"detail": fault.message}


def short_error(fault: Fault) -> Json:
    """As vLLM refuses a key, and Ollama answers beside `/v1`."""
    return {"error": fault.message}


def numbered_error(fault: Fault) -> Json:
    return {"error": {"code": fault.status, "message": fault.message, "type": "invalid_request_error"}}


def litellm_error(fault: Fault) -> Json:
    return {
        "error": {"message": fault.message, "type": "auth_error", "param": "None", "code": str(fault.status)}
    }


def openrouter_error(fault: Fault) -> Json:
    metadata = {"raw": fault.message, "provider_name": "Somebody"}
    return {"error": {"code": fault.status, "message": "Provider returned error", "metadata": metadata}}


@dataclass(frozen=True)
class Server:
    """A server as its documentation describes it; `mode`: how its profile asks first."""

    mode: Mode
    dress: Dress
    shape: Callable[[Fault], Json] = plain_error
    supports: tuple[str, ...] = ALL
    refuse: Callable[[Json], str] = field(default=lambda body: "")


SERVERS: Mapping[str, Server] = {
    "openai": Server("json_schema", as_openai, refuse=refuse_max_tokens),
    "vllm-openai": Server("json_schema", as_vllm, vllm_error),
    "ollama-openai": Server(
        "json_schema", as_ollama, plain_error, ("json_schema", "json_object", "temperature")
    ),
    "llama-cpp-openai": Server("json_schema", as_llama_cpp, numbered_error),
    "litellm-openai": Server("json_schema", as_litellm, litellm_error),
    "openrouter-openai": Server("json_schema", as_openrouter, openrouter_error),
    "deepseek-openai": Server(
        "forced_tool", as_deepseek, plain_error, ("json_object", "forced_tool", "temperature", "thinking")
    ),
    "generic-openai": Server("prompt", lambda completion, body: completion, fastapi_error, ()),
}


def serve(name: str) -> FakeChat:
    server = SERVERS[name]
    return FakeChat(supports=server.supports, dress=server.dress, shape=server.shape, refuse=server.refuse)


@pytest.fixture(params=list(SERVERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def fake(name: str) -> Iterator[FakeChat]:
    with serve(name) as server:
        yield server


@pytest.fixture
def llm(name: str, fake: FakeChat) -> Iterator[LiveLLM]:
    with closing(LiveLLM(fake.key, PROFILES[name], base_url=fake.url, timeout=5.0)) as found:
        yield found


@pytest.fixture
def plain() -> Iterator[tuple[FakeChat, Callable[[ProviderProfile], LiveLLM]]]:
    """A server that knows all of the protocol, and clients of it by any profile."""
    with FakeChat(supports=ALL) as server, ExitStack() as opened:

        def connect(profile: ProviderProfile) -> LiveLLM:
            return opened.enter_context(
                closing(LiveLLM(server.key, profile, base_url=server.url, timeout=5.0))
            )

        yield server, connect


def test_every_shipped_chat_profile_has_its_server_here() -> None:
    assert {name for name, known in PROFILES.items() if known.protocol == "chat"} == set(SERVERS)


def test_server_brings_every_agents_answer_home_by_the_best_way(
    name: str, llm: LiveLLM, fake: FakeChat
) -> None:
    writing = test_writer.build_test_writer_request(test_writer.WriterInputs(PAIR.query, PAIR.code), "m")
    fixing = fixer.build_fixer_request(fixer.FixerInputs("yaml", "import yaml", "no yaml"), "m")
    judging = arbiter.build_arbiter_request(
        arbiter.ArbiterInputs(PAIR.query, PAIR.code, "p", "r", "passed"), "m"
    )
    reply = llm.ask(REQUEST)
    assert screener.ScreenerVerdict.of_reply(reply.text).verdict == 0.5
    assert "assert callable(reverse)" in test_writer.TestProgramReply.of_reply(llm.ask(writing).text).program
    assert fixer.FixerReply.of_reply(llm.ask(fixing).text).commands == []
    assert arbiter.FinalVerdict.of_reply(llm.ask(judging).text).verdict == 1
    assert [call.status for call in fake.calls] == [200] * 4
    assert llm.mode_of("m") == SERVERS[name].mode
    assert {call.path for call in fake.calls} == {"/v1/chat/completions"}
    assert not any(call.body.get("stream") for call in fake.calls)


def test_server_sees_the_same_question_whatever_the_protocol(llm: LiveLLM, fake: FakeChat) -> None:
    digest = REQUEST.digest()
    llm.ask(REQUEST)
    first, *turns = fake.calls[0].body["messages"]
    assert (first["role"], first["content"][: len(REQUEST.system)]) == ("system", REQUEST.system)
    assert turns == [{"role": turn.role, "content": turn.text} for turn in REQUEST.messages]
    assert REQUEST.digest() == digest


def test_server_that_refuses_the_key_is_told_in_its_own_words(name: str, fake: FakeChat) -> None:
    with (
        closing(LiveLLM("secret-key", PROFILES[name], base_url=fake.url)) as llm,
        pytest.raises(LLMError, match=r"does not accept the key.*invalid API key") as caught,
    ):
        llm.ask(REQUEST)
    assert (caught.value.status, caught.value.provider, caught.value.retryable) == (401, True, False)
    assert "secret-key" not in str(caught.value)


def test_server_at_its_limit_says_how_long_to_wait(llm: LiveLLM, fake: FakeChat) -> None:
    fake.script(Fault(429, "Rate limit reached", {"retry-after": "7"}))
    with pytest.raises(LLMError, match=r"rate limit.*Rate limit reached") as caught:
        llm.ask(REQUEST)
    assert (caught.value.retryable, caught.value.retry_after) == (True, 7.0)


def test_server_that_still_loads_its_model_is_asked_again_later(llm: LiveLLM, fake: FakeChat) -> None:
    fake.script(Fault(503, "Loading model"))
    with pytest.raises(LLMError, match="Loading model") as caught:
        llm.ask(REQUEST)
    assert (caught.value.retryable, caught.value.provider) == (True, False)


def test_reply_that_was_cut_off_is_no_answer(llm: LiveLLM, fake: FakeChat) -> None:
    fake.dress = lambda completion, body: (
        completion
        | {
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": '{"expl'}, "finish_reason": "length"}
            ]
        }
    )
    with_own_model(fake)
    reply = llm.ask(REQUEST)
    assert (reply.stop_reason, reply.defect[:20]) == ("max_tokens", "the reply was cut of")


def with_own_model(fake: FakeChat) -> None:
    """The model keeps the name that was asked for."""
    inner = fake.dress
    fake.dress = lambda completion, body: inner(completion, body) | {"model": body["model"]}


Plain = tuple[FakeChat, Callable[[ProviderProfile], LiveLLM]]
OPENAI = PROFILES["openai"]


def test_openai_is_asked_by_strict_schema_with_its_own_name_for_the_limit(plain: Plain) -> None:
    fake, connect = plain
    connect(OPENAI).ask(replace(REQUEST, sampling={"effort": "low", "seed": 3}))
    body = fake.calls[0].body
    shape = body["response_format"]["json_schema"]
    assert (shape["strict"], shape["schema"]) == (True, REQUEST.schema)
    assert body["max_completion_tokens"] == REQUEST.max_tokens
    assert (body["reasoning_effort"], body["seed"]) == ("low", 3)
    assert "max_tokens" not in body
    assert fake.calls[0].headers["authorization"] == f"Bearer {fake.key}"
    assert not {"openai-organization", "openai-project"} & set(fake.calls[0].headers)


def test_openrouter_is_told_to_choose_providers_that_know_the_parameters(plain: Plain) -> None:
    fake, connect = plain
    connect(PROFILES["openrouter-openai"]).ask(REQUEST)
    assert fake.calls[0].body["provider"] == {"require_parameters": True}


def test_cached_and_thought_tokens_are_counted_once(plain: Plain) -> None:
    fake, connect = plain
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 150}
    fake.dress = lambda completion, body: (
        completion | {"usage": usage | {"prompt_tokens_details": {"cached_tokens": 64}}}
    )
    # 100 - 64 = 36 new ones; 150 - 100 - 20 = 30 were thought, and are billed as output.
    assert connect(OPENAI).ask(REQUEST).usage == Usage(36, 50, cache_read_tokens=64)
    fake.dress = lambda completion, body: completion | {"usage": usage | {"prompt_cache_hit_tokens": 90}}
    assert connect(OPENAI).ask(REQUEST).usage == Usage(10, 50, cache_read_tokens=90)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": 3}, "many"])
def test_tokens_that_nobody_told_are_counted_at_their_bound(plain: Plain, usage: object) -> None:
    fake, connect = plain
    fake.dress = lambda completion, body: completion | {"usage": usage}
    found = connect(GENERIC_CHAT).ask(REQUEST)
    assert found.usage.input_tokens == count_most_tokens(REQUEST.to_dict())
    assert found.usage.output_tokens > len(found.text)


@pytest.mark.parametrize(
    ("supports", "way"),
    [
        (("json_object", "forced_tool"), "tool_choice"),
        (("json_object",), "response_format"),
        ((), "messages"),
    ],
)
def test_server_that_refuses_a_way_is_asked_in_the_next_one(supports: tuple[str, ...], way: str) -> None:
    with (
        FakeChat(supports=supports) as fake,
        closing(LiveLLM(fake.key, OPENAI, base_url=fake.url)) as llm,
    ):
        assert screener.ScreenerVerdict.of_reply(llm.ask(REQUEST).text).verdict == 0.5
        asked = len(fake.calls)
        llm.ask(REQUEST)
    assert way in fake.calls[-1].body
    assert len(fake.calls) == asked + 1


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use. To learn more …"),
        (404, "No endpoints found that support the provided 'tool_choice' value."),
        (404, "No endpoints found that can handle the requested parameters. To learn more …"),
        (400, "Thinking mode does not support this tool_choice"),
        (400, "litellm.UnsupportedParamsError: x does not support parameters: ['tools', 'tool_choice']"),
    ],
)
def test_tools_that_a_server_lacks_are_no_outage(plain: Plain, status: int, message: str) -> None:
    fake, connect = plain
    llm = connect(replace(OPENAI, json_schema=False))
    fake.script(Fault(status, message))
    assert screener.ScreenerVerdict.of_reply(llm.ask(REQUEST).text).verdict == 0.5
    assert fake.calls[-1].body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("choice", "stop", "defect"),
    [
        (
            {"message": {"content": "No.", "refusal": "I can't."}, "finish_reason": "stop"},
            "refusal",
            "declined",
        ),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "refusal", "declined"),
        (
            {"message": {"content": "", "reasoning_content": "{}"}, "finish_reason": "stop"},
            "end_turn",
            "empty",
        ),
        # DeepSeek writes spaces over what is no JSON in its mode for JSON.
        ({"message": {"content": "   "}, "finish_reason": "stop"}, "end_turn", "empty"),
        ({"message": {"content": "{}"}, "finish_reason": None}, "none", "unknown reason"),
        (
            {"message": {"content": "{"}, "finish_reason": "insufficient_system_resource"},
            "insufficient_system_resource",
            "ran out of resources",
        ),
        ({"message": {"content": "{"}, "finish_reason": "error"}, "error", "failed in the middle"),
        (
            {
                "message": {"tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]},
                "finish_reason": "tool_calls",
            },
            "tool_use",
            "the tool 'search', which does not exist",
        ),
    ],
)
def test_reply_that_is_no_answer_says_why(plain: Plain, choice: Json, stop: str, defect: str) -> None:
    fake, connect = plain
    fake.dress = lambda completion, body: completion | {"choices": [choice]}
    reply = connect(GENERIC_CHAT).ask(REQUEST)
    assert reply.stop_reason == stop
    assert defect in reply.defect


@pytest.mark.parametrize(
    "message",
    [
        {"content": json.dumps(VERDICT)},
        {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": json.dumps(VERDICT)}]},
        {"content": None, "tool_calls": [{"function": {"name": "answer", "arguments": VERDICT}}]},
        {"content": "", "tool_calls": [{"function": {"name": "answer", "arguments": json.dumps(VERDICT)}}]},
        {"content": f'<think>\nFirst {{"verdict": 0}}. No.\n</think>\n\n{json.dumps(VERDICT)}'},
        {"content": f"Here you are:\n```json\n{json.dumps(VERDICT)}\n```\nAnything else?", "tool_calls": []},
    ],
)
def test_answer_is_found_wherever_a_server_puts_it(plain: Plain, message: Json) -> None:
    fake, connect = plain
    fake.dress = lambda completion, body: (
        completion | {"choices": [{"message": message, "finish_reason": "stop"}]}
    )
    reply = connect(GENERIC_CHAT).ask(REQUEST)
    assert screener.ScreenerVerdict.of_reply(reply.text).verdict == 1


def test_blank_lines_before_the_answer_keep_the_connection_open(plain: Plain) -> None:
    fake, connect = plain
    body = {"id": "1", "model": "m", "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
    fake.script(Raw(b"\n\n   \n" + json.dumps(body).encode()))
    assert connect(GENERIC_CHAT).ask(REQUEST).text == "{}"


def test_error_in_an_answer_with_status_200_is_an_error(plain: Plain) -> None:
    fake, connect = plain
    fake.script(Raw(b'{"error": {"code": 502, "message": "The provider is down"}}'))
    with pytest.raises(LLMError, match="The provider is down") as caught:
        connect(GENERIC_CHAT).ask(REQUEST)
    assert (caught.value.retryable, caught.value.status) == (True, 502)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": "x"}}]}',
        b'{"model": "m"}',
    ],
)
def test_answer_that_is_no_completion_stops_the_build(plain: Plain, body: bytes) -> None:
    fake, connect = plain
    fake.script(Raw(body))
    with pytest.raises(LLMError, match="does not speak OpenAI's chat completions") as caught:
        connect(GENERIC_CHAT).ask(REQUEST)
    assert (caught.value.provider, caught.value.maybe_billed) == (True, True)


@pytest.mark.parametrize(
    ("status", "inner"),
    [
        (429, {"code": "insufficient_quota"}),
        (429, {"type": "insufficient_quota"}),
        (400, {"type": "budget_exceeded", "code": "400"}),
        (429, {"type": "budget_exceeded", "code": "429"}),
    ],
)
def test_account_without_money_is_no_limit_that_a_pause_lifts(plain: Plain, status: int, inner: Json) -> None:
    fake, connect = plain
    fake.shape = lambda fault: {"error": {"message": fault.message} | inner}
    fake.script(Fault(status, "You exceeded your current quota"))
    with pytest.raises(LLMError, match="top up the account") as caught:
        connect(OPENAI).ask(REQUEST)
    assert (caught.value.provider, caught.value.retryable) == (True, False)


def test_moderation_refuses_one_request_and_not_the_account(plain: Plain) -> None:
    fake, connect = plain
    metadata = {"reasons": ["violence"], "flagged_input": "kill the process", "provider_name": "Somebody"}
    fake.shape = lambda fault: {"error": {"code": 403, "message": fault.message, "metadata": metadata}}
    fake.script(Fault(403, "Your input was flagged"))
    with pytest.raises(LLMError, match=r"moderation refuses.*Your input was flagged") as caught:
        connect(PROFILES["openrouter-openai"]).ask(REQUEST)
    assert (caught.value.provider, caught.value.retryable) == (False, False)


@pytest.mark.parametrize("raw", ['{"detail": "no such tool"}', {"detail": "no such tool"}])
def test_what_the_provider_behind_a_gateway_said_is_told(plain: Plain, raw: object) -> None:
    fake, connect = plain
    fake.shape = lambda fault: {"error": {"code": 400, "message": fault.message, "metadata": {"raw": raw}}}
    fake.script(Fault(400, "Provider returned error"))
    with pytest.raises(LLMError, match=r"Provider returned error.*no such tool"):
        connect(PROFILES["openrouter-openai"]).ask(REQUEST)


@pytest.mark.parametrize("shape", [flat_error, short_error, fastapi_error, vllm_error])
def test_error_is_told_in_the_servers_words_whatever_its_form(
    plain: Plain, shape: Callable[[Fault], Json]
) -> None:
    fake, connect = plain
    fake.shape = shape
    fake.script(Fault(400, "This model's maximum context length is 4096 tokens"))
    with pytest.raises(LLMError, match="maximum context length is 4096 tokens") as caught:
        connect(GENERIC_CHAT).ask(REQUEST)
    assert (caught.value.provider, caught.value.retryable) == (False, False)


def test_parameters_that_no_provider_takes_are_told_once_no_way_is_left(plain: Plain) -> None:
    """OpenRouter does not say which parameter it was: it may have been another than the way of asking."""
    fake, connect = plain
    told = "No endpoints found that can handle the requested parameters."
    fake.script(*[Fault(404, told)] * 4)
    with pytest.raises(LLMError, match="No endpoints found that can handle") as caught:
        connect(PROFILES["openrouter-openai"]).ask(REQUEST)
    assert (len(fake.calls), caught.value.provider) == (4, True)


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_address_is_taken_with_or_without_the_protocols_path(plain: Plain, end: str) -> None:
    fake, _ = plain
    with closing(LiveLLM(fake.key, GENERIC_CHAT, base_url=fake.url + end)) as llm:
        assert llm.base_url == fake.url
        assert llm.ask(REQUEST)


def test_keys_and_addresses_of_the_environment_are_not_used(
    plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, connect = plain
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    assert connect(OPENAI).ask(REQUEST)
    assert "from-the-environment" not in str(fake.calls)


def test_made_up_words_end_with_what_was_said(plain: Plain) -> None:
    fake, connect = plain
    fake.script(Say("I would say that it depends."))
    assert connect(OPENAI).ask(REQUEST).text == "I would say that it depends."
