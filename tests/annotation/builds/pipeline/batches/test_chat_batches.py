"""A build that asks by batches of chat completions, lost ids and failures included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import pytest

from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import load_provider_profile
from annotation.models import LLMCall, Tally
from tests.annotation.builds.pipeline.batches.by_batch import PLAIN, balanced, batched, work
from tests.fake_chat import FakeChat
from tests.fake_messages import Drop, FakeMessages
from tests.fakes import FakeSandbox
from tests.messages_protocol import Json

pytestmark = pytest.mark.django_db


@pytest.fixture
def chat(fake: FakeMessages) -> Iterator[FakeChat]:
    """`fake` is asked for its prices and for clocks that do not wait."""
    with FakeChat(answer=lambda body: PLAIN) as server:
        yield server


@pytest.fixture
def tools(chat: FakeChat) -> Iterator[Tools]:
    llm = LiveLLM(chat.key, load_provider_profile("openai"), base_url=chat.url)
    yield Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    llm.close()


def test_a_build_is_settled_by_one_batch(tools: Tools, chat: FakeChat) -> None:
    build = batched()
    work(tools)
    assert (len(chat.chat_batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    assert all(call.batch_id for call in LLMCall.objects.all())
    balanced(build)


def test_a_batch_whose_id_was_lost_is_found_before_the_provider_has_counted_it(
    tools: Tools, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = chat.chat_batches._create

    def create_and_lose(body: Json) -> NoReturn:
        made = real(body)
        monkeypatch.setattr(chat.chat_batches, "_create", real)
        raise ConnectionAbortedError(made.id)  # the handler's thread ends, and the connection with it

    monkeypatch.setattr(chat.chat_batches, "_create", create_and_lose)
    build = batched()
    work(tools)
    assert len(chat.chat_batches.made) == 1, "it is not sent, and paid, twice"
    assert Tally.objects.get(build=build).settled == 9
    balanced(build)


def test_what_an_expired_batch_left_out_is_asked_again_and_costs_nothing_twice(
    tools: Tools, chat: FakeChat
) -> None:
    chat.chat_batches.ends.append("expired")
    build = batched()
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    sizes = [len(made.lines) for made in chat.chat_batches.made.values()]
    assert sizes[0] > sum(sizes[1:]) > 0, "only the rest goes out again"
    balanced(build)


def test_a_file_that_is_not_taken_is_sent_again(tools: Tools, chat: FakeChat) -> None:
    chat.chat_batches.faults.append(("upload", Drop()))
    build = batched()
    work(tools)
    assert (len(chat.chat_batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    balanced(build)
