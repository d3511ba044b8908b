import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.llm import Message, Request, host_of
from annotation.llm.request import InvalidRequest

REQUEST = Request(
    agent="screener",
    model="m",
    system="rules",
    messages=(Message("user", "pair"),),
    schema={"type": "object", "properties": {}},
    max_tokens=10,
)


def test_the_digest_is_the_sha256_of_the_canonical_json() -> None:
    assert REQUEST.digest() == "052d464987e65f741d29f825c554dd302051c047e597091d538b031de252492a"
    assert json.loads(REQUEST.canonical()) == REQUEST.to_dict()


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, agent="arbiter"),
        replace(REQUEST, model="n"),
        replace(REQUEST, system="other rules"),
        replace(REQUEST, messages=(Message("user", "other pair"),)),
        replace(REQUEST, messages=(Message("assistant", "pair"),)),
        replace(REQUEST, schema={"type": "array"}),
        replace(REQUEST, max_tokens=11),
        replace(REQUEST, sampling={"temperature": 0}),
        replace(REQUEST, salt="s"),
        replace(REQUEST, round=2),
        replace(REQUEST, base_url="example.org"),
    ],
)
def test_everything_that_decides_the_answer_is_in_the_digest(other: Request) -> None:
    assert other.digest() != REQUEST.digest()


def test_the_order_of_keys_is_not_in_the_digest() -> None:
    turned = replace(REQUEST, schema={"properties": {}, "type": "object"})
    assert turned.digest() == REQUEST.digest()


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("", ""),
        ("https://api.deepseek.com/anthropic", "api.deepseek.com"),
        ("http://Localhost:11434", "localhost:11434"),
        ("https://user:secret@example.org/x?key=1", "example.org"),
        ("example.org:8080", "example.org:8080"),
    ],
)
def test_only_the_host_of_a_base_url_is_kept(url: str, host: str) -> None:
    assert host_of(url) == host
    assert host_of(host) == host
    assert replace(REQUEST, base_url=url).base_url == host


texts = st.text(st.characters(exclude_categories=[]))
requests = st.builds(
    Request,
    agent=texts,
    model=texts,
    system=texts,
    messages=st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), texts)).map(tuple),
    schema=st.dictionaries(texts, texts),
    max_tokens=st.integers(1, 10**6),
    sampling=st.dictionaries(texts, st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
    salt=texts,
    round=st.integers(1, 9),
)


@given(requests)
def test_a_request_survives_json(request_: Request) -> None:
    again = Request.from_dict(json.loads(json.dumps(request_.to_dict())))
    assert again == request_
    assert again.digest() == request_.digest()


@pytest.mark.parametrize("key", sorted(REQUEST.to_dict()))
def test_a_description_without_a_key_is_refused_by_name(key: str) -> None:
    data = REQUEST.to_dict()
    del data[key]
    with pytest.raises(InvalidRequest, match=f"'{key}'"):
        Request.from_dict(data)


@pytest.mark.parametrize("message", ["text", {"role": "system", "content": "x"}, {"role": "user"}])
def test_a_message_without_role_or_content_is_refused(message: object) -> None:
    with pytest.raises(InvalidRequest, match=r"role|content"):
        Request.from_dict({**REQUEST.to_dict(), "messages": [message]})


def test_sampling_may_say_how_long_replies_may_be() -> None:
    asked = replace(REQUEST, max_tokens=4096, sampling={})
    longer = asked.sampled({"max_tokens": 16384, "temperature": 0})
    assert (longer.max_tokens, longer.sampling) == (16384, {"temperature": 0})
    assert asked.sampled({"max_tokens": 10}) == asked.sampled({}) == asked


def test_numbers_that_json_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        replace(REQUEST, sampling={"temperature": float("nan")}).digest()
