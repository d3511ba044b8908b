"""Every way of asking × everything that can be wrong with a reply: a label, one repair call, or a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build, retry_abandoned
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.jobs import worker
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC, DEEPSEEK, GENERIC, ProviderProfile
from annotation.models import Build, Case, LLMCall, Price, Tally
from annotation.stages import Stage
from retrieval.models import Label
from tests import factories
from tests.fake_messages import Answer, Drop, FakeMessages, Fault, Raw, Say
from tests.fakes import FakeSandbox

pytestmark = [pytest.mark.django_db, pytest.mark.alike]

RUNGS: Final = {"schema": ANTHROPIC, "tool": DEEPSEEK, "prompt": GENERIC}
YES: Final = {"explanation": "it does", "verdict": 1}
TEXT: Final = json.dumps(YES)
THINKING: Final = {
    "type": "thinking",
    "thinking": '{"verdict": 0}, or rather {"verdict": 1}',
    "signature": "s",
}
REDACTED: Final = {"type": "redacted_thinking", "data": "c2VjcmV0"}
OTHERS_CALL: Final = {"type": "tool_use", "id": "toolu_x", "name": "lookup", "input": YES}


def said(text: str, rung: str) -> Answer:
    """`text` as the answer of a server on this rung: the JSON of a tool call, or a text."""
    if rung != "tool":
        return Say(text)
    block = f'{{"type": "tool_use", "id": "toolu_1", "name": "answer", "input": {text}}}'
    return message(block, "tool_use")


def message(content: str, stop_reason: str) -> Raw:
    """A message byte by byte: what no JSON writer of ours would write."""
    head = '"id": "msg_1", "type": "message", "role": "assistant", "model": "small-model"'
    usage = '"usage": {"input_tokens": 300, "output_tokens": 40}'
    return Raw(f'{{{head}, "content": [{content}], "stop_reason": "{stop_reason}", {usage}}}'.encode())


def ended(stop_reason: str) -> Callable[[str], Answer]:
    """A whole answer that the server says is none."""
    return lambda rung: (
        Say(stop_reason=stop_reason, tool_inputs=(YES,)) if rung == "tool" else Say(TEXT, stop_reason)
    )


def wrong(text: str) -> Callable[[str], Answer]:
    return lambda rung: said(text, rung)


def always(answer: Answer) -> Callable[[str], Answer]:
    return lambda rung: answer


REPAIRED: Final[dict[str, tuple[Callable[[str], Answer], str]]] = {
    "cut off": (ended("max_tokens"), "cut off at max_tokens = 4096"),
    "paused": (ended("pause_turn"), "paused in the middle of its turn"),
    "ended somehow": (ended("length"), "unknown reason (stop reason 'length')"),
    "empty": (always(Say()), "the reply is empty"),
    "blank": (always(Say(" \n")), "the reply is empty"),
    "thought alone": (always(Say(blocks=(THINKING, REDACTED))), "the reply is empty"),
    "off the menu": (wrong('{"explanation": "hm", "verdict": 0.7}'), "one of the numbers 0, 0.5, 1, got 0.7"),
    "a number as text": (wrong('{"explanation": "hm", "verdict": "1"}'), "one of the numbers 0, 0.5, 1"),
    "a truth value": (wrong('{"explanation": "hm", "verdict": true}'), "one of the numbers 0, 0.5, 1"),
    "NaN": (wrong('{"explanation": "hm", "verdict": NaN}'), "NaN is no JSON number"),
    "infinity": (wrong('{"explanation": "hm", "verdict": -Infinity}'), "-Infinity is no JSON number"),
    "too large": (wrong('{"explanation": "hm", "verdict": 1e999}'), "too large a number"),
    "a key twice": (wrong('{"explanation": "hm", "verdict": 0, "verdict": 1}'), "names a key twice"),
    "a field too many": (wrong('{"explanation": "hm", "verdict": 1, "sure": 1}'), "sure: Extra inputs"),
    "a field missing": (wrong('{"verdict": 1}'), "explanation: Field required"),
    "no explanation": (wrong('{"explanation": " ", "verdict": 1}'), "explanation: must not be empty"),
    "a list": (wrong(f"[{TEXT}]"), "it has to be one JSON object|no JSON object"),
    "nothing but words": (always(Say("It is a match: 1.")), "no JSON object"),
    "two objects": (always(Say('{"verdict": 0} or rather {"verdict": 1}')), "2 different JSON objects"),
    "broken off": (always(Say(TEXT[:-3])), "can't be read"),
    "another tool": (
        always(Say(stop_reason="tool_use", blocks=(OTHERS_CALL,))),
        "called the tool 'lookup', which does not exist",
    ),
    "another tool too": (
        lambda rung: Say(TEXT if rung != "tool" else "", blocks=(OTHERS_CALL, *answers(rung, YES))),
        "called the tool 'lookup', which does not exist",
    ),
    "two different calls": (
        always(Say(stop_reason="tool_use", tool_name="answer", tool_inputs=(YES, YES | {"verdict": 0}))),
        "2 different JSON objects",
    ),
    "a call without an object": (
        always(Say(stop_reason="tool_use", tool_name="answer", tool_inputs=("1",))),
        "no JSON object",
    ),
}


def answers(rung: str, *inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls of the right tool, where the rung has one."""
    calls = [{"type": "tool_use", "id": "t", "name": "answer", "input": value} for value in inputs]
    return calls if rung == "tool" else []


HOPELESS: Final = {
    "declined": (ended("refusal"), "the model declined to answer"),
    "declined without a word": (always(Say(stop_reason="refusal")), "the model declined to answer"),
    "too long": (ended("model_context_window_exceeded"), "too long for the model"),
}
TAKEN: Final[dict[str, Callable[[str], Answer]]] = {
    "plain": wrong(TEXT),
    "after a draft": always(Say(f'<think>{{"explanation": "hm", "verdict": 0}}</think>\n{TEXT}')),
    "after thinking": lambda rung: Say(
        TEXT if rung != "tool" else "",
        "tool_use" if rung == "tool" else "end_turn",
        blocks=(THINKING, REDACTED, *answers(rung, YES)),
    ),
    "in a fence": always(Say(f"Here it is:\n\n```json\n{TEXT}\n```\n")),
    "twice the same": lambda rung: Say(
        f"{TEXT}\n{TEXT}" if rung != "tool" else "", blocks=tuple(answers(rung, YES, YES))
    ),
    "in several blocks": lambda rung: Say(
        TEXT[10:] if rung != "tool" else "",
        blocks=({"type": "text", "text": TEXT[:10]}, *answers(rung, YES)),
    ),
}


@dataclass
class Bench:
    """One case in screening, a fake server, and a worker that asks it in one way."""

    fake: FakeMessages
    tools: Tools
    build: Build

    def work(self, *script: Answer) -> Case:
        self.fake.script(*script)
        Case.objects.update(next_attempt_at=None)
        worker.drain_queue("llm", self.tools)
        self.build.refresh_from_db()
        return Case.objects.get()

    @property
    def paid(self) -> int:
        return sum(LLMCall.objects.values_list("cost", flat=True))

    @property
    def spent(self) -> int:
        tally = Tally.objects.get()
        assert tally.reserved == 0
        return tally.spent


def bench_of(fake: FakeMessages, profile: ProviderProfile) -> Iterator[Bench]:
    started = timezone.now() - timedelta(days=1)
    Price.objects.create(model="small-model", effective_from=started, input=Decimal(1), output=Decimal(5))
    factories.queries(factories.QUERIES[:1])
    build = factories.opened(k=1, provider=Build.Provider.LIVE)
    with closing(LiveLLM(fake.key, profile, base_url=fake.url, timeout=5.0)) as llm:
        yield Bench(fake, Tools(lambda build: llm, SandboxProvider(FakeSandbox)), build)


@pytest.fixture
def fake() -> Iterator[FakeMessages]:
    with FakeMessages() as server:
        yield server


@pytest.fixture(params=list(RUNGS))
def rung(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bench(fake: FakeMessages, rung: str) -> Iterator[Bench]:
    yield from bench_of(fake, RUNGS[rung])


@pytest.fixture
def words(fake: FakeMessages) -> Iterator[Bench]:
    """A server that may name its model as it likes, asked in words."""
    yield from bench_of(fake, GENERIC)


def asked_in(fake: FakeMessages) -> str:
    body = fake.calls[-1].body
    return "schema" if "output_config" in body else "tool" if "tool_choice" in body else "prompt"


@pytest.mark.parametrize("defect", list(REPAIRED))
def test_a_reply_that_can_not_be_used_is_repaired_once(bench: Bench, rung: str, defect: str) -> None:
    case = bench.work(REPAIRED[defect][0](rung), YES)
    assert (case.stage, case.label) == (Stage.SETTLED, 1)
    assert len(bench.fake.calls) == 2 and asked_in(bench.fake) == rung
    quoted, complaint = bench.fake.calls[1].body["messages"][1:]
    assert (quoted["role"], complaint["role"]) == ("assistant", "user")
    assert any(words in complaint["content"] for words in REPAIRED[defect][1].split("|"))
    assert bench.spent == bench.paid > 0


@pytest.mark.parametrize("defect", list(REPAIRED))
def test_one_that_can_not_be_used_twice_is_abandoned_with_the_reason_and_never_guessed(
    bench: Bench, rung: str, defect: str
) -> None:
    answer, words = REPAIRED[defect]
    case = bench.work(answer(rung), answer(rung))
    assert (case.stage, case.label, Label.objects.count()) == (Stage.ABANDONED, None, 0)
    assert case.reason.startswith("the screener's reply could not be used, even when asked again: ")
    assert any(part in case.reason for part in words.split("|"))
    assert len(bench.fake.calls) == 2
    assert Tally.objects.get().calls == 2
    assert bench.spent == bench.paid > 0


@pytest.mark.parametrize("defect", list(HOPELESS))
def test_where_asking_again_can_not_help_no_repair_is_paid(bench: Bench, rung: str, defect: str) -> None:
    answer, words = HOPELESS[defect]
    case = bench.work(answer(rung))
    assert (case.stage, case.label, Label.objects.count()) == (Stage.ABANDONED, None, 0)
    assert case.reason.startswith("the screener gave no answer: ") and words in case.reason
    assert len(bench.fake.calls) == 1
    assert bench.spent == bench.paid > 0
    assert retry_abandoned(bench.build) == 1
    assert bench.work(YES).stage == Stage.SETTLED, "a person's retry asks anew"


@pytest.mark.parametrize("form", list(TAKEN))
def test_an_answer_is_found_in_whatever_form_it_comes(bench: Bench, rung: str, form: str) -> None:
    case = bench.work(TAKEN[form](rung))
    assert (case.stage, case.label) == (Stage.SETTLED, 1), case.reason
    assert len(bench.fake.calls) == 1
    assert Label.objects.get().value == 1


def test_what_was_stored_is_not_paid_again_when_the_repair_has_to_wait(bench: Bench, rung: str) -> None:
    case = bench.work(ended("max_tokens")(rung), Fault(529))
    assert (case.stage, case.attempts) == (Stage.SCREENING, 0)
    case = bench.work(YES)
    assert case.stage == Stage.SETTLED
    roles = [[turn["role"] for turn in call.body["messages"]] for call in bench.fake.calls]
    assert roles == [["user"], ["user", "assistant", "user"], ["user", "assistant", "user"]]
    assert (Tally.objects.get().calls, Tally.objects.get().reused) == (2, 0), "its own reply, not reused"


@pytest.mark.parametrize("answer", [Drop(), Raw(b"{ half"), Fault(504)])
def test_a_request_of_which_no_word_came_back_counts_at_its_bound(bench: Bench, answer: Answer) -> None:
    case = bench.work(answer)
    call = LLMCall.objects.get()
    assert (call.status, call.cost) == (LLMCall.Status.UNKNOWN, call.bound)
    assert bench.spent == call.bound > 0
    assert "it may have been billed, so it counts at its bound" in call.error
    assert (case.stage, case.attempts) == (Stage.SCREENING, 0)


def test_a_request_that_the_provider_refused_costs_nothing(bench: Bench) -> None:
    bench.work(Fault(529))
    assert LLMCall.objects.get().status == LLMCall.Status.FAILED
    assert bench.spent == 0


def test_a_build_does_not_change_its_model_by_itself(words: Bench) -> None:
    first = Say('{"explanation": "hm", "verdict": 0.7}', model="/models/small.gguf")
    other = Say('{"explanation": "hm", "verdict": 0.5}', model="/models/other.gguf")
    words.work(first, other)
    assert words.build.state == Build.State.WAITING and words.build.next_probe_at is None
    assert "/models/other.gguf answered, and until now it was /models/small.gguf" in words.build.reason
    assert Case.objects.get().stage == Stage.SCREENING
    assert words.spent == words.paid > 0
    control_build(words.build, Action.RESUME, factories.ada())
    assert words.work(other).stage == Stage.WRITING_TEST, "whoever resumes it takes the other model"


def test_resuming_for_another_reason_takes_no_other_model(words: Bench) -> None:
    words.work(Say('{"explanation": "hm", "verdict": 0.7}', model="small"), Fault(529))
    control_build(words.build, Action.PAUSE, factories.ada())
    control_build(words.build, Action.RESUME, factories.ada())
    words.work(Say(TEXT, model="other"))
    assert words.build.state == Build.State.WAITING


def test_recorded_replies_may_be_those_of_several_models(words: Bench) -> None:
    Build.objects.update(provider=Build.Provider.RECORDED)
    words.work(Say('{"explanation": "hm", "verdict": 0.7}', model="small"), Say(TEXT, model="other"))
    assert Case.objects.get().stage == Stage.SETTLED
