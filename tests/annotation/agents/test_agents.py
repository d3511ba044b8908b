import re
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from annotation.agents import (
    arbiter,
    build_repair_request,
    fixer,
    query_screener,
    screener,
    single_llm,
    sources,
    test_writer,
)
from annotation.agents.request_parts import fence_material
from annotation.llm import Message, Request

QUERY = "python reverse a list"
CODE = "def reverse(items):\n    return items[::-1]\n"
SCREENING = screener.build_screener_request(screener.ScreenerInputs(QUERY, CODE), "some-model")
WRITING = test_writer.build_test_writer_request(test_writer.WriterInputs(QUERY, CODE), "some-model")
FIXING = fixer.build_fixer_request(
    fixer.FixerInputs("yaml", "import yaml\n", "no module named yaml"), "some-model"
)
ARBITRATING = arbiter.build_arbiter_request(
    arbiter.ArbiterInputs(QUERY, CODE, "assert reverse([1]) == [1]", "reverse a list", "outcome: passed"),
    "some-model",
)
ALONE = single_llm.build_single_llm_request(single_llm.SingleInputs(QUERY, CODE), "some-model")
COMPANY = query_screener.build_listwise_request(
    query_screener.CompanyInputs(QUERY, (CODE, "def f(): pass")), "some-model"
)
REQUESTS = [SCREENING, WRITING, FIXING, ARBITRATING, ALONE, COMPANY]


def user_text(request: Request) -> str:
    (message,) = request.messages
    assert message.role == "user"
    return message.text


def objects_in(schema: object) -> list[Mapping[str, object]]:
    if isinstance(schema, Mapping):
        inner = [found for value in schema.values() for found in objects_in(value)]
        return [schema, *inner] if schema.get("type") == "object" else inner
    return []


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.agent)
def test_the_rules_are_fixed_and_the_material_is_in_the_user_message(request_: Request) -> None:
    assert request_.model == "some-model"
    assert CODE.strip() not in request_.system
    assert QUERY not in request_.system
    assert request_.max_tokens >= 2048


def test_each_agent_sees_its_inputs_and_nothing_else() -> None:
    for request in (SCREENING, WRITING, ARBITRATING, ALONE, COMPANY):
        assert QUERY in user_text(request)
        assert CODE in user_text(request)
    for part in ("reverse a list", "outcome: passed", "assert reverse([1]) == [1]"):
        assert part in user_text(ARBITRATING)
    for part in ("yaml", "import yaml\n", "no module named yaml"):
        assert part in user_text(FIXING)
    assert "scope: reverse\n" in user_text(WRITING)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.agent)
def test_schemas_are_closed_and_need_every_property(request_: Request) -> None:
    objects = objects_in(request_.schema)
    assert objects
    for schema in objects:
        properties = schema["properties"]
        assert isinstance(properties, Mapping)
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(properties)
    assert not re.search("minimum|maximum|minLength|maxLength", str(request_.schema))


@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        (SCREENING, screener.ScreenerVerdict),
        (WRITING, test_writer.TestProgramReply),
        (FIXING, fixer.FixerReply),
        (ARBITRATING, arbiter.FinalVerdict),
    ],
)
def test_schema_and_verdict_have_the_same_fields(request_: Request, verdict: type[BaseModel]) -> None:
    assert request_.schema["required"] == list(verdict.model_fields)


def test_the_menus_are_enums() -> None:
    assert "'verdict': {'type': 'number', 'enum': [0, 0.5, 1]}" in str(SCREENING.schema)
    assert "'verdict': {'type': 'integer', 'enum': [0, 1]}" in str(ARBITRATING.schema)


def test_options_reach_the_request() -> None:
    request = screener.build_screener_request(
        screener.ScreenerInputs(QUERY, CODE),
        "m",
        max_tokens=7,
        sampling={"temperature": 0},
        salt="s",
        round=3,
        base_url="https://user:secret@Example.org:8443/anthropic",
    )
    assert (request.max_tokens, request.sampling, request.salt, request.round) == (
        7,
        {"temperature": 0},
        "s",
        3,
    )
    assert request.base_url == "example.org:8443"


def test_a_refused_program_is_shown_with_its_reason() -> None:
    again = test_writer.build_test_writer_request(
        test_writer.WriterInputs(QUERY, CODE, "def reverse(x): ...", "line 1 defines 'reverse'"), "some-model"
    )
    assert user_text(again).startswith(user_text(WRITING))
    assert "def reverse(x): ..." in user_text(again)
    assert "line 1 defines 'reverse'" in user_text(again)
    assert again.digest() != WRITING.digest()
    assert again.system == WRITING.system


def test_a_repair_continues_the_conversation() -> None:
    again = build_repair_request(
        SCREENING, '{"verdict": 0.7}', "verdict: has to be one of the numbers 0, 0.5, 1, got 0.7"
    )
    assert again.messages[:-2] == SCREENING.messages
    assert again.messages[-2] == Message("assistant", '{"verdict": 0.7}')
    assert again.messages[-1].role == "user"
    assert "got 0.7" in again.messages[-1].text
    assert '"enum": [0, 0.5, 1]' in again.messages[-1].text
    assert again.digest() != SCREENING.digest()


@pytest.mark.parametrize("bad", ["", "  \n", "\ud800", "x" * 100_000])
def test_a_repair_of_anything_can_be_sent(bad: str) -> None:
    again = build_repair_request(SCREENING, bad, "p" * 100_000 + "\ud800")
    assert all(0 < len(message.text.encode()) < 25_000 for message in again.messages)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (CODE, ("reverse",)),
        ("class A:\n    def f(self): ...\nasync def g(): ...\ndef g(): ...\n", ("A", "g")),
        ("def old(x):\n    print x\n", ("old",)),
        ("LIMIT = 3\ndef f(x): ...\n", ("LIMIT", "f")),
        ("return 1\n", ()),
    ],
)
def test_names_of_a_snippet(code: str, names: tuple[str, ...]) -> None:
    assert sources.names_of(code) == names


@given(st.text())
@example("</code>")
@example("\ud800")
def test_a_fence_is_repeatable_and_can_not_be_closed_from_inside(text: str) -> None:
    fenced = fence_material("code", text)
    assert fenced == fence_material("code", text)
    opening, _, rest = fenced.partition("\n")
    inside, _, closing = rest.rpartition("\n")
    assert re.fullmatch("<code-[0-9a-f]{16}>", opening)
    assert closing == opening.replace("<", "</")
    assert closing not in inside
    assert opening not in inside
    fenced.encode()


def test_a_text_that_holds_its_own_tag_gets_another() -> None:
    tag = fence_material("code", "x").partition("\n")[0]
    text = f"{tag}\nx"
    assert tag not in fence_material("code", text).splitlines()[0]


def test_kinds_keep_their_tags_apart() -> None:
    assert fence_material("query", "x")[7:24] != fence_material("code", "x")[6:23]
