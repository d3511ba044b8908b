"""The live mode with the real anthropic client against a real HTTP server."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Protocol

import pytest

from annotation.agents import InvalidReply, arbiter, build_repair_request, fixer, screener, test_writer
from annotation.llm import LLM, LLMError, Request, Usage
from annotation.llm.live import LiveLLM, LiveSettingsError
from annotation.llm.profiles import (
    ANTHROPIC,
    DEEPSEEK,
    GENERIC,
    PROFILES,
    ProviderProfile,
    UnknownProfile,
    load_provider_profile,
)
from tests.fake_messages import FakeMessages, Say

MESSAGES = {name: known for name, known in PROFILES.items() if known.protocol == "messages"}
VERDICT = {"explanation": "it returns the items in reverse", "verdict": 1}
PAIR = screener.ScreenerInputs("python reverse a list", "def reverse(items):\n    return items[::-1]\n")
REQUEST = screener.build_screener_request(PAIR, "some-model")


@pytest.fixture
def fake() -> Iterator[FakeMessages]:
    with FakeMessages(supports=("json_schema", "forced_tool", "temperature")) as server:
        yield server


class Connect(Protocol):
    def __call__(self, profile: ProviderProfile = ANTHROPIC, timeout: float = 5.0) -> LiveLLM: ...


@pytest.fixture
def live(fake: FakeMessages) -> Iterator[Connect]:
    with ExitStack() as opened:

        def connect(profile: ProviderProfile = ANTHROPIC, timeout: float = 5.0) -> LiveLLM:
            llm = LiveLLM(fake.key, profile, base_url=fake.url, timeout=timeout)
            return opened.enter_context(closing(llm))

        yield connect


@pytest.mark.parametrize("profile", MESSAGES.values(), ids=list(MESSAGES))
def test_every_profile_brings_every_agents_answer_home(live: Connect, profile: ProviderProfile) -> None:
    llm: LLM = live(profile)
    assert llm.name == f"live:{profile.name}"
    writing = test_writer.build_test_writer_request(test_writer.WriterInputs(PAIR.query, PAIR.code), "m")
    fixing = fixer.build_fixer_request(fixer.FixerInputs("yaml", "import yaml", "no yaml"), "m")
    judging = arbiter.build_arbiter_request(
        arbiter.ArbiterInputs(PAIR.query, PAIR.code, "p", "r", "passed"), "m"
    )
    assert screener.ScreenerVerdict.of_reply(llm.ask(REQUEST).text).verdict == 0.5
    assert "assert callable(reverse)" in test_writer.TestProgramReply.of_reply(llm.ask(writing).text).program
    assert fixer.FixerReply.of_reply(llm.ask(fixing).text).commands == []
    assert arbiter.FinalVerdict.of_reply(llm.ask(judging).text).verdict == 1


def test_a_reply_tells_what_it_took(fake: FakeMessages, live: Connect) -> None:
    llm = live()
    fake.script(VERDICT, VERDICT)
    first, second = llm.ask(REQUEST), llm.ask(REQUEST)
    assert json.loads(first.text) == VERDICT
    assert (first.model, first.stop_reason) == ("some-model", "end_turn")
    assert first.request_id.startswith("req_fake")
    assert first.request_id != second.request_id
    assert 0 < first.latency < 5
    system = len(json.dumps(fake.calls[0].body["system"])) // 4
    assert (first.usage.cache_write_tokens, first.usage.cache_read_tokens) == (system, 0)
    assert second.usage == replace(first.usage, cache_write_tokens=0, cache_read_tokens=system)
    assert first.usage.input_tokens > 0
    assert first.usage.output_tokens > 0


def test_anthropic_is_asked_by_schema_with_the_rules_cached(fake: FakeMessages, live: Connect) -> None:
    live().ask(REQUEST)
    body = fake.calls[0].body
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": REQUEST.schema}}
    (block,) = body["system"]
    assert block == {"type": "text", "text": REQUEST.system, "cache_control": {"type": "ephemeral"}}
    assert body["messages"] == [{"role": "user", "content": REQUEST.messages[0].text}]
    assert set(body) == {"model", "max_tokens", "messages", "system", "output_config"}
    assert fake.calls[0].path == "/v1/messages"


def test_deepseek_is_asked_by_forced_tool_without_thinking(fake: FakeMessages, live: Connect) -> None:
    reply = live(DEEPSEEK).ask(replace(REQUEST, sampling={"temperature": 0}))
    body = fake.calls[0].body
    assert reply.stop_reason == "tool_use"
    assert body["tool_choice"]["name"] == body["tools"][0]["name"]
    assert body["tools"][0]["input_schema"] == REQUEST.schema
    assert body["thinking"] == {"type": "disabled"}
    assert body["temperature"] == 0
    assert body["system"] == REQUEST.system


def test_others_are_asked_in_words(fake: FakeMessages, live: Connect) -> None:
    reply = live(GENERIC).ask(REQUEST)
    body = fake.calls[0].body
    assert set(body) == {"model", "max_tokens", "messages", "system"}
    assert body["system"].startswith(REQUEST.system)
    assert '"enum": [0, 0.5, 1]' in body["system"]
    assert "```json" in reply.text
    assert screener.ScreenerVerdict.of_reply(reply.text).verdict == 0.5


def test_effort_goes_where_anthropic_wants_it(fake: FakeMessages, live: Connect) -> None:
    live().ask(replace(REQUEST, sampling={"effort": "low"}))
    assert fake.calls[0].body["output_config"]["effort"] == "low"
    assert "effort" not in fake.calls[0].body


def test_a_sampling_parameter_that_the_profile_lacks_is_refused_before_paying(
    fake: FakeMessages, live: Connect
) -> None:
    with pytest.raises(
        LLMError, match=r"takes no sampling parameter temperature \(it takes: effort\)"
    ) as caught:
        live().ask(replace(REQUEST, sampling={"temperature": 0}))
    assert caught.value.provider
    assert fake.calls == []


@pytest.mark.parametrize(
    ("supports", "key"), [(("forced_tool",), "tool_choice"), ((), "system")], ids=["no schema", "words only"]
)
def test_a_server_that_refuses_a_way_is_asked_in_the_next_one(supports: tuple[str, ...], key: str) -> None:
    with (
        FakeMessages(supports=supports) as fake,
        closing(LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)) as llm,
    ):
        assert screener.ScreenerVerdict.of_reply(llm.ask(REQUEST).text).verdict == 0.5
        refused = len(fake.calls) - 1
        assert [call.status for call in fake.calls] == [400] * refused + [200]
        assert key in fake.calls[-1].body
        llm.ask(REQUEST)
        assert fake.calls[-1].status == 200
        assert len(fake.calls) == refused + 2, "what a model can't do is remembered"


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001", True),
        ("some-haiku-latest", "some-haiku-20241022", True),
        ("anthropic/claude-opus-5", "claude-opus-5", True),
        ("claude-opus-4", "claude-opus-4-5", False),
        ("claude-haiku-5-5", "deepseek-flash", False),
    ],
)
def test_another_models_answer_is_not_taken_for_the_models_own(
    fake: FakeMessages, live: Connect, asked: str, answered: str, same: bool
) -> None:
    fake.script(Say(json.dumps(VERDICT), model=answered))
    llm, request = live(), replace(REQUEST, model=asked)
    if same:
        assert llm.ask(request).model == answered
        return
    with pytest.raises(LLMError, match=f"asked for the model {asked}, {answered} answered") as caught:
        llm.ask(request)
    assert caught.value.provider
    assert caught.value.reply is not None


def test_a_generic_server_may_call_its_model_as_it_likes(fake: FakeMessages, live: Connect) -> None:
    fake.script(Say(json.dumps(VERDICT), model="/models/llama.gguf"))
    assert live(GENERIC).ask(REQUEST).model == "/models/llama.gguf"


def test_two_tool_calls_are_no_verdict(fake: FakeMessages, live: Connect) -> None:
    fake.script(Say(stop_reason="tool_use", tool_inputs=(VERDICT, VERDICT | {"verdict": 0})))
    with pytest.raises(InvalidReply, match="2 different JSON objects"):
        screener.ScreenerVerdict.of_reply(live(DEEPSEEK).ask(REQUEST).text)


def test_a_bad_verdict_is_repaired_in_the_same_conversation(fake: FakeMessages, live: Connect) -> None:
    fake.script(Say('{"explanation": "hm", "verdict": 0.7}'), VERDICT)
    llm = live(GENERIC)
    bad = llm.ask(REQUEST)
    with pytest.raises(InvalidReply) as caught:
        screener.ScreenerVerdict.of_reply(bad.text)
    good = llm.ask(build_repair_request(REQUEST, bad.text, str(caught.value)))
    assert screener.ScreenerVerdict.of_reply(good.text).verdict == 1
    assert [turn["role"] for turn in fake.calls[1].body["messages"]] == ["user", "assistant", "user"]


def test_half_a_surrogate_pair_in_a_prompt_can_be_sent(fake: FakeMessages, live: Connect) -> None:
    live().ask(replace(REQUEST, system="rules \ud800"))
    assert fake.calls[0].body["system"][0]["text"] == "rules \\ud800"


@pytest.mark.parametrize("profile", MESSAGES.values(), ids=list(MESSAGES))
def test_a_wrong_key_is_told_without_showing_it(fake: FakeMessages, profile: ProviderProfile) -> None:
    llm = LiveLLM("secret-key", profile, base_url=fake.url)
    with closing(llm), pytest.raises(LLMError, match="does not accept the key") as caught:
        llm.ask(REQUEST)
    assert caught.value.provider
    assert "secret-key" not in str(caught.value)
    assert "secret-key" not in repr(llm)


def test_keys_and_addresses_of_the_environment_are_not_used(
    fake: FakeMessages, live: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    for each in MESSAGES.values():
        assert live(each).ask(REQUEST)
    assert "from-the-environment" not in str(fake.calls)


def test_a_local_server_needs_no_key() -> None:
    with FakeMessages(key="none") as fake, closing(LiveLLM("", GENERIC, base_url=fake.url)) as llm:
        assert llm.ask(REQUEST)


@pytest.mark.parametrize("url", ["api.example.org", "ftp://example.org", "http://", "https://x.org/v1", "x"])
def test_an_address_that_can_not_work_is_refused_at_once(url: str) -> None:
    with pytest.raises(LiveSettingsError, match=r"http\(s\) URL|leave '/v1' out"):
        LiveLLM("key", ANTHROPIC, base_url=url)


@pytest.mark.parametrize("profile", [ANTHROPIC, DEEPSEEK], ids=["anthropic", "deepseek"])
def test_a_missing_key_is_refused_at_once(profile: ProviderProfile) -> None:
    with pytest.raises(LiveSettingsError, match="needs an API key"):
        LiveLLM(" ", profile, base_url="https://example.org")


def test_a_request_for_another_host_is_not_sent(fake: FakeMessages, live: Connect) -> None:
    with pytest.raises(LLMError, match=r"meant for api\.deepseek\.com"):
        live().ask(replace(REQUEST, base_url="https://api.deepseek.com/anthropic"))
    assert fake.calls == []
    assert live().ask(replace(REQUEST, base_url=fake.url))


def test_threads_share_one_client(fake: FakeMessages, live: Connect) -> None:
    llm = live()
    barrier = threading.Barrier(8)

    def ask(salt: int) -> Usage:
        barrier.wait()
        return llm.ask(replace(REQUEST, salt=str(salt))).usage

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(ask, range(8)))) == 8
    assert llm.client() is llm.client()
    assert len(fake.calls) == 8
    llm.close()
    assert llm.ask(REQUEST), "a closed provider opens again when it is asked"
    llm.close()


def test_a_fork_gets_a_client_of_its_own(live: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = live()
    mine = llm.client()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert llm.client() is not mine
    mine.close()
    llm.close()


def test_nothing_of_a_pair_is_logged(live: Connect, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        live().ask(REQUEST)
    assert "reverse" not in caplog.text


def test_the_client_is_loaded_by_the_first_call_only() -> None:
    code = (
        "import sys, annotation.agents, annotation.llm.live, annotation.llm.recording\n"
        "annotation.llm.live.LiveLLM('k', annotation.llm.profiles.ANTHROPIC)\n"
        "sys.exit('anthropic' in sys.modules or 'django' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    assert load_provider_profile("deepseek") is DEEPSEEK
    with pytest.raises(UnknownProfile, match="choose one of: anthropic, deepseek, deepseek-openai, generic"):
        load_provider_profile("gpt")


def test_a_request_survives_the_way_to_the_provider_unchanged(live: Connect) -> None:
    before: Request = replace(REQUEST)
    live().ask(REQUEST)
    assert before == REQUEST
    assert before.digest() == REQUEST.digest()


@pytest.mark.parametrize("field", ["input_tokens", "cache_read_input_tokens"])
@pytest.mark.parametrize("count", [-1, 10**30, "many"])
def test_a_provider_that_counts_nonsense_stops_the_build_and_not_the_books(
    field: str, count: object, fake: FakeMessages, live: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = {"input_tokens": 1, "output_tokens": 1} | {field: count}
    monkeypatch.setattr(fake, "_usage", lambda body, produced: usage)
    with pytest.raises(LLMError, match="Messages protocol") as caught:
        live().ask(REQUEST)
    assert caught.value.provider


def test_tokens_are_counted_by_the_provider_and_nothing_is_answered(
    fake: FakeMessages, live: Connect
) -> None:
    counted = live().count(REQUEST)
    assert counted > 10
    (call,) = fake.calls
    assert call.path.startswith("/v1/messages/count_tokens")
    assert "max_tokens" not in call.body
    assert call.body["output_config"]["format"]["type"] == "json_schema"


def test_a_counter_that_refuses_is_an_error_of_the_provider(fake: FakeMessages) -> None:
    with (
        closing(LiveLLM("wrong", ANTHROPIC, base_url=fake.url)) as llm,
        pytest.raises(LLMError, match="does not accept the key"),
    ):
        llm.count(REQUEST)
