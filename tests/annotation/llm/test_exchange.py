import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.llm import LLM, Message, Reply, Request, Usage, Waiting
from annotation.llm.exchange import (
    LONGEST_LINE,
    ExchangeLLM,
    ExchangeProblem,
    ReplyLine,
    prompt_of,
    question_of,
    read_replies,
    read_reply_at,
    reply_line,
    write_requests,
)

REQUEST = Request(
    agent="screener",
    model="m",
    system="rules",
    messages=(Message("user", "pair\né\ud800"),),
    schema={"type": "object"},
    max_tokens=10,
)
ID = REQUEST.digest()
OTHER = replace(REQUEST, salt="other").digest()
ANSWER = {"verdict": 1, "explanation": "é"}
REPLY = Reply("text", "m-1", Usage(3, 4, 5, 6), 1.5, "req_1", "end_turn")


def line(**keys: object) -> bytes:
    return json.dumps({"id": ID, "reply": ANSWER} | keys).encode() + b"\n"


def read(content: bytes, known: set[str] | None = None) -> list[ReplyLine | ExchangeProblem]:
    return list(read_replies(io.BytesIO(content), known))


def problem_of(content: bytes, known: set[str] | None = None) -> str:
    (problem,) = read(content, known)
    assert isinstance(problem, ExchangeProblem)
    return str(problem)


def test_the_exchange_answers_nothing() -> None:
    llm: LLM = ExchangeLLM()
    with pytest.raises(Waiting, match=f"request {ID} of the screener waits") as caught:
        llm.ask(REQUEST)
    assert llm.name == "exchange"
    assert caught.value.request_id == ID
    assert not caught.value.retryable


def test_a_request_line_names_its_prompt_and_has_the_calls_id() -> None:
    data = question_of(REQUEST)
    assert list(data) == ["id", "agent", "model", "prompt", "messages"]
    assert data["id"] == ID
    assert data["messages"] == [{"role": "user", "content": "pair\né\ud800"}]
    shared = prompt_of(REQUEST)
    assert shared["prompt"] == data["prompt"]
    assert (shared["system"], shared["schema"]) == (REQUEST.system, dict(REQUEST.schema))


def test_a_later_round_is_named_in_request_and_reply() -> None:
    second = replace(REQUEST, round=2)
    assert question_of(second)["round"] == json.loads(reply_line(second, REPLY))["round"] == 2
    assert "round" not in json.loads(reply_line(REQUEST, REPLY))


def test_requests_are_written_one_a_line_after_the_prompt_that_they_share() -> None:
    stream = io.BytesIO()
    assert write_requests(stream, iter([REQUEST, replace(REQUEST, salt="other")])) == 2
    prompt, *requests = map(json.loads, stream.getvalue().splitlines())
    assert prompt == prompt_of(REQUEST)
    assert [row["id"] for row in requests] == [ID, OTHER]
    assert {row["prompt"] for row in requests} == {prompt["prompt"]}


def test_a_line_of_the_file_of_requests_is_told_apart_from_a_reply() -> None:
    stream = io.BytesIO()
    write_requests(stream, [REQUEST])
    problems = [str(one) for one in read(stream.getvalue())]
    assert problems[1] == 'line 2: is a line of the file of requests: a reply is {"id", "reply"}'


def test_a_reply_is_the_agents_object_or_its_text() -> None:
    as_object, as_text = read(line() + line(id=OTHER, reply="```json\n{}\n```"))
    assert isinstance(as_object, ReplyLine)
    assert isinstance(as_text, ReplyLine)
    assert json.loads(as_object.text) == ANSWER
    assert as_text.text == "```json\n{}\n```"


def test_model_and_usage_are_taken_and_other_keys_ignored() -> None:
    usage = {"input_tokens": 7, "output_tokens": 8, "cache": 1}
    (found,) = read(line(model="opus", usage=usage, agent="screener", query="q", snippet="s"))
    assert isinstance(found, ReplyLine)
    assert (found.model, found.usage) == ("opus", Usage(7, 8))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{\n", "line 1: is not JSON: "),
        (b"[1]\n", "line 1: has to be a JSON object"),
        (b"\xff{}\n", "line 1: is not UTF-8 (byte 1 of the line)"),
        (b'{"id": NaN}', "line 1: is not JSON: NaN is no JSON number"),
        (b'{"id": "a", "id": "b"}', "line 1: is not JSON: an object names a key twice"),
        (b"[" * 200_000, "line 1: is not JSON: it is nested too deeply"),
        (line(id="17"), 'line 1: "id" has to be the 64 hex digits of the request\'s id, got "17"'),
        (line(id=None), 'line 1: "id" has to be the 64 hex digits of the request\'s id, got nothing'),
        (line(reply=None), 'line 1: "reply" has to be the agent\'s JSON object, or its text, got nothing'),
        (line(reply=[ANSWER]), 'line 1: "reply" has to be'),
        (line(reply=0.5), 'line 1: "reply" has to be the agent\'s JSON object, or its text, got 0.5'),
        (line(reply={}), 'line 1: "reply" has to be'),
        (line(reply=" \n"), 'line 1: "reply" has to be'),
        (line(model=3), 'line 1: "model" has to be a text, got 3'),
        (line(usage=3), 'line 1: "usage" needs the numbers'),
        (line(usage={"input_tokens": 1}), 'line 1: "usage" needs the numbers'),
        (line(usage={"input_tokens": -1, "output_tokens": 1}), 'line 1: "usage" needs the numbers'),
        (line(usage={"input_tokens": 10**30, "output_tokens": 1}), 'line 1: "usage" needs the numbers'),
        (line(usage={"input_tokens": True, "output_tokens": 1}), 'line 1: "usage" needs the numbers'),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_reason(content: bytes, complaint: str) -> None:
    assert problem_of(content).startswith(complaint)


def test_good_lines_between_bad_ones_are_kept() -> None:
    content = b"\xef\xbb\xbf" + line() + b"\n  \nnonsense\n" + line(id=OTHER)[:-1]
    first, problem, last = read(content)
    assert isinstance(first, ReplyLine)
    assert isinstance(problem, ExchangeProblem)
    assert isinstance(last, ReplyLine)
    assert (first.line, problem.line, last.line) == (1, 4, 5)


def test_a_reply_to_a_request_that_does_not_wait_is_refused() -> None:
    assert f"no request with the id {ID} waits" in problem_of(line(), known={OTHER})
    assert isinstance(read(line(), known={ID})[0], ReplyLine)


def test_the_first_of_two_replies_counts() -> None:
    first, second = read(line(reply="a") + line(reply="b"))
    assert isinstance(first, ReplyLine)
    assert first.text == "a"
    assert str(second) == f"line 2: a second reply to {ID}; the first, on line 1, counts"


def test_an_oversize_line_is_skipped_and_the_next_one_read() -> None:
    long = line(reply="x" * (LONGEST_LINE + 3_000_000))
    problem, after = read(long + line())
    assert str(problem) == "line 1: is longer than 4,194,304 bytes"
    assert isinstance(after, ReplyLine)
    assert (after.line, after.offset) == (2, len(long))


def test_a_line_of_just_the_longest_length_is_read() -> None:
    padding = LONGEST_LINE - len(line(reply="")) + 1
    content = line(reply="x" * padding)
    assert len(content) == LONGEST_LINE + 1, "the line end is not part of the line"
    assert isinstance(read(content)[0], ReplyLine)
    assert isinstance(read(content[:-1])[0], ReplyLine)


def test_a_line_is_found_again_by_its_offset() -> None:
    stream = io.BytesIO(b"nonsense\n\n" + line() + line(id=OTHER))
    for found in list(read_replies(stream))[1:]:
        assert isinstance(found, ReplyLine)
        again = read_reply_at(stream, found.offset)
        assert again == replace(found, line=0)
    assert isinstance(read_reply_at(stream, 0), ExchangeProblem)
    assert isinstance(read_reply_at(stream, 10**6), ExchangeProblem)


@pytest.mark.parametrize("text", [json.dumps(ANSWER), "prose", "[1]", '{"a": NaN}'])
def test_a_reply_can_be_recorded_and_read_again(text: str) -> None:
    (found,) = read(reply_line(REQUEST, replace(REPLY, text=text)).encode())
    assert isinstance(found, ReplyLine)
    assert (found.id, found.model, found.usage) == (ID, "m-1", Usage(3, 4))
    assert found.text == (json.dumps(ANSWER, ensure_ascii=False) if text.startswith('{"v') else text)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
objects = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "reply", "model", "usage"), json_values))


@given(st.lists(st.binary() | objects.map(lambda data: json.dumps(data).encode()), max_size=5))
def test_any_file_gives_lines_or_problems(lines: list[bytes]) -> None:
    for found in read(b"\n".join(lines)):
        assert isinstance(found, ExchangeProblem)
        assert found.line >= 1
        assert found.message
