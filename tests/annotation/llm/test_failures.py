"""What each way of failing means, with the real anthropic client against a real HTTP server."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from annotation.agents import screener
from annotation.llm import LLMError, Reply, Request, failures
from annotation.llm.failures import retry_after
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC
from tests.fake_messages import Answer, Drop, FakeMessages, Fault, Raw, Say, Slowly

VERDICT = {"explanation": "it returns the items in reverse", "verdict": 1}
PAIR = screener.ScreenerInputs("python reverse a list", "def reverse(items):\n    return items[::-1]\n")
REQUEST = screener.build_screener_request(PAIR, "some-model")


@pytest.fixture
def fake() -> Iterator[FakeMessages]:
    with FakeMessages(supports=("json_schema", "forced_tool", "temperature")) as server:
        yield server


Ask = Callable[..., LLMError]


@pytest.fixture
def error_of(fake: FakeMessages) -> Ask:
    """What asking once comes to when the server gives this answer."""

    def ask(answer: Answer, request: Request = REQUEST, timeout: float = 60.0) -> LLMError:
        fake.script(answer)
        llm = LiveLLM(fake.key, ANTHROPIC, base_url=fake.url, timeout=timeout)
        with closing(llm), pytest.raises(LLMError) as caught:
            llm.ask(request)
        assert len(fake.calls) == 1, "the client must not retry by itself"
        return caught.value

    return ask


Asked = Callable[..., Reply]


@pytest.fixture
def reply_to(fake: FakeMessages) -> Asked:
    """The reply to asking once when the server gives this answer."""

    def ask(answer: Answer, request: Request = REQUEST) -> Reply:
        fake.script(answer)
        with closing(LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)) as llm:
            return llm.ask(request)

    return ask


def a_message(**fields: object) -> dict[str, object]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "some-model",
        "content": [{"type": "text", "text": json.dumps(VERDICT)}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    } | fields


def test_another_mistake_is_no_reason_to_ask_differently(error_of: Ask) -> None:
    error = error_of(Fault(400, "messages: text content blocks must be non-empty"))
    assert (error.retryable, error.provider, error.status) == (False, False, 400)
    assert "text content blocks must be non-empty" in error.message


@pytest.mark.parametrize(
    ("status", "retryable", "provider"),
    [
        (400, False, False),
        (401, False, True),
        (402, False, True),
        (403, False, True),
        (404, False, True),
        (408, True, False),
        (409, True, False),
        (413, False, False),
        (422, False, False),
        (429, True, False),
        (500, True, False),
        (503, True, False),
        (504, True, False),
        (529, True, False),
    ],
)
def test_each_status_means_again_or_never_or_ask_a_person(
    error_of: Ask, status: int, retryable: bool, provider: bool
) -> None:
    error = error_of(Fault(status, "told by the server"))
    assert (error.status, error.retryable, error.provider) == (status, retryable, provider)
    assert f"HTTP {status}, model some-model): told by the server" in error.message
    assert error.retry_after is None
    assert error.maybe_billed == (status == 504), "a gateway gave up, the model behind it may not have"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_the_wish_to_wait_is_passed_on(error_of: Ask, headers: dict[str, str], seconds: float | None) -> None:
    assert error_of(Fault(429, headers=headers)).retry_after == seconds


@pytest.mark.parametrize(("status", "told", "retryable"), [(400, "true", True), (400, "false", False)])
def test_the_server_may_say_itself_that_a_retry_helps(
    error_of: Ask, status: int, told: str, retryable: bool
) -> None:
    assert error_of(Fault(status, headers={"x-should-retry": told})).retryable is retryable


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_no_header_makes_an_outage_or_a_limit_the_requests_fault(error_of: Ask, status: int) -> None:
    error = error_of(Fault(status, headers={"x-should-retry": "false", "retry-after": "7"}))
    assert (error.retryable, error.retry_after, error.provider) == (True, 7.0, False)


def test_an_account_without_credit_is_the_providers_matter(error_of: Ask) -> None:
    error = error_of(Fault(400, "Your credit balance is too low to access the API."))
    assert error.provider
    assert "top up" in error.message


def test_a_dropped_connection_is_worth_a_retry(fake: FakeMessages, error_of: Ask) -> None:
    error = error_of(Drop())
    assert (error.retryable, error.status, error.maybe_billed) == (True, None, True)
    assert f"no answer from {fake.url}" in error.message


def test_silence_ends_at_the_timeout(error_of: Ask) -> None:
    start = time.monotonic()
    error = error_of(Drop(seconds=60.0), timeout=0.2)
    assert "APITimeoutError" in error.message
    assert error.retryable and error.maybe_billed
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("answer", "timeout", "lost"),
    [
        (Slowly(VERDICT, cut=True), 60.0, True),
        (Drop(), 60.0, True),
        (Drop(seconds=60.0), 0.5, True),
        (Raw(b"{ not json"), 60.0, True),
        (Fault(529), 60.0, False),
    ],
)
def test_a_request_without_a_whole_reply_may_be_billed_all_the_same(
    error_of: Ask, answer: Answer, timeout: float, lost: bool
) -> None:
    assert error_of(answer, timeout=timeout).maybe_billed is lost


def test_a_reply_that_drips_ends_at_the_timeout_too(error_of: Ask) -> None:
    start = time.monotonic()
    error = error_of(Slowly(VERDICT, drip=60.0), timeout=0.5)
    assert (error.retryable, error.maybe_billed) == (True, True)
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("seconds", ["", "5", "3600"])
def test_no_call_takes_as_long_as_a_lease_whatever_the_timeout(seconds: str, tmp_path: Path) -> None:
    program = (
        "import django; django.setup()\n"
        "from django.conf import settings\n"
        "from annotation.builds.limits import budget, rate_limit\n"
        "from annotation.builds.pipeline import claims\n"
        "from annotation.models import Build\n"
        "from annotation.jobs.providers import get_provider_client\n"
        "asked = get_provider_client(Build.Provider.LIVE, '').client().timeout\n"
        "assert asked == settings.LLM_TIMEOUT, asked\n"
        "longest = rate_limit.LONGEST_CALL.total_seconds()\n"
        "assert longest == 3 * asked, longest\n"
        "assert longest < min(claims.LEASE, budget.RESERVATION).total_seconds()\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COSQA_LLM")}
    made = {
        "COSQA_LLM_TIMEOUT": seconds,
        "COSQA_HOME": str(tmp_path),
        "ANTHROPIC_API_KEY": "a-key",
        "DJANGO_SETTINGS_MODULE": "cosqa_site.settings",
    }
    ended = subprocess.run(
        [sys.executable, "-c", program], env={**kept, **made}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_nobody_at_the_address_is_worth_a_retry() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        llm = LiveLLM("k", ANTHROPIC, base_url=url)
        with closing(llm), pytest.raises(LLMError, match=f"no answer from {url}") as caught:
            llm.ask(REQUEST)
    assert caught.value.retryable
    assert not caught.value.maybe_billed, "nothing was sent"


@pytest.mark.parametrize(
    "raw",
    [
        Raw(b"<html>welcome</html>", "text/html"),
        Raw(b"{}"),
        Raw(b"null"),
        Raw(b"[1]"),
        Raw(b'"text"'),
        Raw(b'{"type": "message", "content": "x", "model": "m"}'),
        Raw(b'{"content": [], "model": "m", "usage": {"input_tokens": "many"}}'),
        Raw(b'{"content": [], "model": "m", "usage": null}'),
        Raw(b"{ not json"),
        Raw(b"\xff\xfe"),
    ],
)
def test_an_answer_that_is_no_message_is_the_addresss_fault(error_of: Ask, raw: Raw) -> None:
    error = error_of(raw)
    assert (error.retryable, error.provider, error.maybe_billed) == (False, True, True)
    assert "does not speak the Messages protocol" in error.message


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Say("I'd rather not.", "refusal"), "declined to answer"),
        (Say('{"verdict": 1', "max_tokens"), r"cut off at max_tokens = 4096"),
        (Say(json.dumps(VERDICT), "max_tokens"), "cut off"),
        (Say("x", "model_context_window_exceeded"), "too long for the model"),
        (Say("x", "pause_turn"), "paused"),
        (Say("x", "something_new"), "unknown reason.*something_new"),
        (Say(""), "is empty"),
        (Say(" \n"), "is empty"),
    ],
)
def test_an_unfinished_or_empty_reply_says_its_defect_and_what_it_took(
    reply_to: Asked, answer: Say, complaint: str
) -> None:
    reply = reply_to(answer)
    assert re.search(complaint, reply.defect)
    assert reply.usage.input_tokens > 0


def test_what_is_too_long_for_max_tokens_is_cut_off_for_real(reply_to: Asked) -> None:
    assert "cut off at max_tokens = 3" in reply_to(VERDICT, replace(REQUEST, max_tokens=3)).defect


@pytest.mark.parametrize("stop_reason", [None, 7, [], "x" * 500])
def test_a_stop_reason_of_any_form_is_a_defect(reply_to: Asked, stop_reason: object) -> None:
    defect = reply_to(Raw(json.dumps(a_message(stop_reason=stop_reason)).encode())).defect
    assert "unknown reason" in defect and len(defect) < 120


@pytest.mark.parametrize("block", [None, "text", {}, {"type": "text", "text": None}, {"type": 3}])
def test_content_that_is_no_block_is_the_addresss_fault(error_of: Ask, block: object) -> None:
    error = error_of(Raw(json.dumps(a_message(content=[block])).encode()))
    assert "does not speak the Messages protocol" in error.message
    assert error.maybe_billed


SOON = {
    "anthropic-ratelimit-input-tokens-remaining": "0",
    "anthropic-ratelimit-input-tokens-reset": "2026-11-22T10:00:42Z",
    "date": "Sun, 22 Nov 2026 10:00:00 GMT",
}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        (SOON, 42.0),
        (SOON | {"anthropic-ratelimit-input-tokens-remaining": "1"}, 0.0),
        (SOON | {"date": "Sun, 22 Nov 2026 10:01:00 GMT"}, 0.0),
        (SOON | {"anthropic-ratelimit-input-tokens-reset": "soon"}, 0.0),
        (SOON | {"anthropic-ratelimit-input-tokens-reset": "2026-11-22T11:00:10+01:00"}, 10.0),
        (
            SOON
            | {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-22T10:01:00Z",
            },
            60.0,
        ),
    ],
)
def test_a_limit_that_is_used_up_is_read_off_the_headers_by_the_providers_own_clock(
    headers: dict[str, str], seconds: float
) -> None:
    assert failures.used_up(headers) == seconds


AT = datetime(2026, 11, 22, 10, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("kind", ["", "-requests", "-tokens"])
@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("17", 17.0),
        (f"{AT + 42:.0f}", 42.0),
        (f"{1000 * (AT + 42):.0f}", 42.0),
        ("2026-11-22T10:00:42Z", 42.0),
        (f"{AT - 42:.0f}", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        ("5 parsecs", 0.0),
    ],
)
def test_headers_like_openais_are_read_too(kind: str, reset: str, seconds: float) -> None:
    told = {f"x-ratelimit-remaining{kind}": "0", f"x-ratelimit-reset{kind}": reset, "date": SOON["date"]}
    assert failures.used_up(told) == pytest.approx(seconds)
    assert failures.used_up(told | {f"x-ratelimit-remaining{kind}": "1"}) == 0.0
    assert failures.used_up(told | SOON) == pytest.approx(max(seconds, 42.0)), "the longest counts"


FULL = {"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "1m30s"}


@pytest.mark.parametrize(
    ("fault", "pause"),
    [
        (Fault(429, headers=FULL), 90.0),
        (Fault(429, headers=FULL | {"retry-after": "7"}), 7.0),
        (Fault(500, headers=FULL), None),
    ],
)
def test_headers_like_openais_tell_how_long_a_refusal_lasts(
    error_of: Ask, fault: Fault, pause: float | None
) -> None:
    assert error_of(fault).retry_after == pause


def test_headers_like_openais_tell_of_the_pause_after_a_reply(fake: FakeMessages) -> None:
    fake.reply_headers = FULL
    with closing(LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)) as llm:
        assert llm.ask(REQUEST).pause == 90.0


def test_a_refusal_without_a_pause_waits_until_its_limit_is_renewed(error_of: Ask) -> None:
    headers = {name: value for name, value in SOON.items() if name != "date"}
    headers["anthropic-ratelimit-input-tokens-reset"] = f"{datetime.now(UTC) + timedelta(seconds=90):%FT%TZ}"
    told = error_of(Fault(429, headers=headers)).retry_after
    assert told is not None and 80 < told <= 91


def test_a_reply_tells_of_the_pause_after_it(fake: FakeMessages) -> None:
    fake.reply_headers = {name: value for name, value in SOON.items() if name != "date"} | {
        "anthropic-ratelimit-input-tokens-reset": f"{datetime.now(UTC) + timedelta(seconds=30):%FT%TZ}"
    }
    with closing(LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)) as llm:
        assert 20 < llm.ask(REQUEST).pause <= 31


@pytest.mark.parametrize("year", [2000, 2080])
def test_a_date_to_wait_for_is_reckoned_by_the_providers_clock(year: int) -> None:
    """However wrong ours is."""
    day = datetime(year, 1, 1, tzinfo=UTC)
    headers = {
        "date": format_datetime(day, usegmt=True),
        "retry-after": format_datetime(day + timedelta(seconds=90), usegmt=True),
    }
    assert retry_after(headers) == 90.0
