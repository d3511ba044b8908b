"""What a server can do is found out from what it answers, not from what it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from annotation.llm import LLMError, probe
from annotation.llm.probe import Probed, ask_probe
from annotation.llm.profiles import parse_provider_profile
from tests.fake_chat import FakeChat
from tests.fake_messages import Expired, FakeMessages, Fault, Say

WORDS = Say("Yes, it is.")


@pytest.fixture
def fake() -> Iterator[FakeMessages]:
    with FakeMessages() as server:
        yield server


def probed(server: FakeMessages, key: str = "fake-key", **options: Any) -> Probed:
    return ask_probe(server.url, key, "some-model", timeout=5.0, **options)


def said(found: Probed) -> dict[str, bool]:
    return {finding.tried: finding.works for finding in found.findings}


def test_a_server_that_can_do_everything(fake: FakeMessages) -> None:
    fake.supports = frozenset({"json_schema", "forced_tool", "temperature"})
    profile = probed(fake, caching=True).profile
    assert (profile.json_schema, profile.forced_tool, profile.strict_tool) == (True, True, True)
    assert (profile.thinking, profile.prompt_caching, profile.same_model) == ("as_is", True, True)
    assert (profile.auth, profile.needs_key) == ("bearer", True)
    assert profile.sampling == ("temperature", "top_p", "top_k", "effort")
    assert profile.token_counting


def test_a_server_that_knows_words_alone(fake: FakeMessages) -> None:
    fake.supports = frozenset()
    found = probed(fake)
    assert found.profile.ladder == ("prompt",)
    assert (found.profile.sampling, found.profile.prompt_caching) == ((), False)
    refused = next(one for one in found.findings if one.tried == "json schema")
    assert not refused.works and "output_config" in refused.told


def test_what_is_accepted_and_ignored_does_not_count(fake: FakeMessages) -> None:
    fake.answer = lambda body: WORDS
    found = probed(fake)
    assert found.profile.ladder == ("prompt",)
    assert said(found)["json schema"] is False and said(found)["forced tool"] is False


def test_a_tool_that_is_refused_while_the_model_thinks_is_asked_for_without_thinking(
    fake: FakeMessages,
) -> None:
    def like_deepseek(body: dict[str, Any]) -> dict[str, Any] | Fault:
        if "tool_choice" in body and body.get("thinking") != {"type": "disabled"}:
            return Fault(400, "tool_choice: not while thinking is on")
        return {"answer": 1}

    fake.supports, fake.answer = frozenset({"forced_tool"}), like_deepseek
    profile = probed(fake).profile
    assert (profile.forced_tool, profile.thinking, profile.json_schema) == (True, "disabled", False)


@pytest.mark.parametrize("shape", ["messages", "chat"])
def test_probe_tells_which_protocol_the_server_speaks(shape: str) -> None:
    server = FakeMessages() if shape == "messages" else FakeChat()
    with server:
        found = probed(server)
        assert found.profile.protocol == shape
        assert said(found)[probe.PROTOCOLS[found.profile.protocol]] is True
        assert len(server.calls) <= probe.MOST_CALLS
    profile = parse_provider_profile(found.toml(), "probed")
    assert (profile.protocol, profile.address) == (shape, server.url)


def test_chat_server_is_probed_for_each_way_to_get_json() -> None:
    with FakeChat() as server:
        profile = probed(server).profile
        assert (profile.json_schema, profile.forced_tool, profile.json_object) == (True, True, True)
        assert "effort" in profile.sampling
    with FakeChat(supports=["json_object"]) as server:
        found = probed(server)
    assert found.profile.ladder == ("json_object", "prompt")
    assert said(found)[probe.PROTOCOLS["messages"]] is False


@pytest.mark.parametrize("end", ["/v1", "/v1/", "/v1/chat/completions"])
def test_address_is_probed_with_or_without_the_path_of_chat_completions(end: str) -> None:
    for server in (FakeChat(supports=[]), FakeMessages(supports=[])):
        with server:
            found = ask_probe(server.url + end, "fake-key", "some-model", timeout=5.0)
            assert found.profile.address == server.url


def test_chat_server_that_wants_another_name_for_the_limit_is_asked_by_that() -> None:
    told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with FakeChat(refuse=lambda body: told if "max_tokens" in body else "") as server:
        assert probed(server).profile.length_name == "max_completion_tokens"


def test_chat_server_that_refuses_the_key_says_so() -> None:
    with FakeChat() as server, pytest.raises(LLMError, match="does not accept the key"):
        probed(server, key="wrong")


def test_another_models_answer_is_told(fake: FakeMessages) -> None:
    fake.answer = lambda body: Say('{"answer": 1}', model="/models/some.gguf")
    found = probed(fake)
    assert not found.profile.same_model
    assert "/models/some.gguf" in [one.told for one in found.findings]


def test_a_wrong_key_is_said_and_nothing_is_concluded(fake: FakeMessages) -> None:
    with pytest.raises(LLMError, match="does not accept the key"):
        probed(fake, key="wrong")


def test_an_error_of_the_moment_is_no_finding(fake: FakeMessages) -> None:
    asked: list[object] = []

    def overloaded(body: dict[str, Any]) -> dict[str, Any] | Fault:
        asked.append(body)
        return {"answer": 1} if len(asked) < 4 else Fault(529)

    fake.answer = overloaded
    with pytest.raises(LLMError, match="overloaded"):
        probed(fake)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LOOKS_EVERY", 0.0)
    monkeypatch.setattr(probe, "BATCH_WITHIN", 0.2)


def batch_finding(found: Probed) -> tuple[bool, bool, str]:
    [finding] = [one for one in found.findings if one.tried == "batches"]
    return found.profile.batches, finding.works, finding.told


def test_batches_are_tried_only_when_asked_for(fake: FakeMessages) -> None:
    found = probed(fake)
    assert "batches" not in said(found) and not found.profile.batches and not fake.batches.made


@pytest.mark.usefixtures("soon")
def test_a_batch_of_one_question_is_handed_in_and_waited_for(fake: FakeMessages) -> None:
    plain = probed(fake)
    found = probed(fake, batches=True)
    profile, works, told = batch_finding(found)
    assert profile and works and '{"answer": 1}' in told
    assert [len(batch.requests) for batch in fake.batches.made.values()] == [1]
    assert found.replies == plain.replies + 1 and found.latency > 0
    assert parse_provider_profile(found.toml(), "probed").batches


@pytest.mark.usefixtures("soon")
def test_a_batch_that_takes_too_long_is_cancelled_and_counts_as_taken(fake: FakeMessages) -> None:
    fake.batches.looks = 100_000
    profile, works, told = batch_finding(probed(fake, batches=True))
    assert profile and works and "was cancelled" in told
    assert [batch.cancelled for batch in fake.batches.made.values()] == [True]


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("status", [400, 404, 405, 501])
def test_a_server_that_takes_no_batch_has_none(status: int, fake: FakeMessages) -> None:
    fake.batches.fail("create", Fault(status))
    assert batch_finding(probed(fake, batches=True))[:2] == (False, False)


@pytest.mark.usefixtures("soon")
def test_a_batch_that_comes_to_nothing_does_not_count(fake: FakeMessages) -> None:
    fake.batches.fail("get", Fault(404))
    assert "was taken in, then" in batch_finding(probed(fake, batches=True))[2]
    real, fake.answer = fake.answer, lambda body: real(body) if not fake.batches.made else Expired()
    fake.batches.made.clear()
    profile, works, told = batch_finding(probed(fake, batches=True))
    assert not profile and not works and "expired" in told


@pytest.mark.usefixtures("soon")
def test_batches_of_chat_completions_are_tried_as_well() -> None:
    with FakeChat() as server:
        server.chat_batches.looks = 0
        profile, works, told = batch_finding(probed(server, batches=True))
        assert profile and works and "batch_fake" in told
        server.chat_batches.faults.append(("upload", Fault(404)))
        assert batch_finding(probed(server, batches=True))[:2] == (False, False)


def test_a_busy_server_says_nothing_of_its_batches(fake: FakeMessages) -> None:
    fake.batches.fail("create", Fault(529))
    with pytest.raises(LLMError, match="overloaded"):
        probed(fake, batches=True)


def test_the_profile_can_be_read_again(fake: FakeMessages) -> None:
    found = probed(fake)
    assert parse_provider_profile(found.toml(), "probed") == found.profile
