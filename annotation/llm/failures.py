"""What a failed call means: again later, never, or a matter for whoever set the provider up."""

import email.utils
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from annotation.llm.errors import LLMError

if TYPE_CHECKING:
    from anthropic import APIConnectionError, APIStatusError

_LONGEST: Final = 300
_ANTHROPIC: Final = "anthropic-ratelimit"
_LIMITS: Final = ("requests", "tokens", "input-tokens", "output-tokens")
_OPENAI: Final = "x-ratelimit"
_KINDS: Final = ("", "-requests", "-tokens", "-input-tokens", "-output-tokens")
_LONG_AGO: Final = 1e9
"""A number above it is no span but seconds since 1970 (this one is September 2001)."""
_UNITS: Final[Mapping[str, float]] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|[smhd])")
_SPAN: Final = re.compile(rf"(?:{_PART.pattern})+")
_TOO_MANY: Final = 429
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_RETRYABLE: Final = frozenset({408, 409, _TOO_MANY})
_ADVICE: Final[Mapping[int, str]] = {
    **dict.fromkeys(_REDIRECTS, "the address points to another one, which is not followed: name that one"),
    401: "the provider does not accept the key: check the API key and the profile's way of sending it",
    402: "the provider wants to be paid: top up the account's credit",
    403: "the key may not do this: check its permissions and the model's availability",
    404: "nothing answers there: check the model's name and the address (without /v1)",
    413: "the request is too large for the provider",
    429: "the provider's rate limit is reached",
    529: "the provider is overloaded",
}
_ACCOUNT: Final = frozenset({401, 402, 403, 404, *_REDIRECTS})
_GATEWAY_GAVE_UP: Final = frozenset({504, 524})
"""Whoever stands before the model stopped waiting for it; the model may have gone on."""
# By name: the client's transport is no dependency of ours.
_NEVER_SENT: Final = frozenset(
    {
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "ProxyError",
        "LocalProtocolError",
        "UnsupportedProtocol",
    }
)


def of_status(error: "APIStatusError", model: str) -> LLMError:
    """An answer with an HTTP error status; `retry-after` is obeyed.

    `x-should-retry: true` makes any answer worth a retry. `false` changes nothing: it speaks to a client that
    would ask again at once, and an outage or a limit is over some time, whatever it says.
    """
    status, headers = error.status_code, error.response.headers
    said = (error.api_message if isinstance(error.api_message, str) else None) or error.message
    no_credit = status == 400 and "credit balance" in said.lower()
    advice = _ADVICE[402] if no_credit else _ADVICE.get(status, "the provider reports an error")
    return LLMError(
        f"{advice} (HTTP {status}, model {model}): {said[:_LONGEST]}",
        retryable=_worth_a_retry(status, headers),
        retry_after=_asked_pause(status, headers),
        provider=no_credit or status in _ACCOUNT,
        status=status,
        maybe_billed=status in _GATEWAY_GAVE_UP,
    )


def of_connection(error: "APIConnectionError", base_url: str) -> LLMError:
    """No answer: refused, name not found; or, after the request was sent, dropped or timed out."""
    cause = f": {error.__cause__}" if error.__cause__ else ""
    message = f"no answer from {base_url} ({type(error).__name__}{cause:.{_LONGEST}})"
    return LLMError(message, retryable=True, maybe_billed=type(error.__cause__).__name__ not in _NEVER_SENT)


def of_protocol(reason: str, base_url: str, *, maybe_billed: bool = False) -> LLMError:
    """An answer that is none of the Messages protocol."""
    return LLMError(
        f"{base_url} does not speak the Messages protocol: {reason[:_LONGEST]}",
        retryable=False,
        provider=True,
        maybe_billed=maybe_billed,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.

    A date is reckoned by the provider's own clock, which may differ from ours.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    date = _moment(value)
    return None if date is None else max(0.0, (date - _now(headers)).total_seconds())


def _asked_pause(status: int, headers: Mapping[str, str]) -> float | None:
    told = retry_after(headers)
    return (used_up(headers) or None) if told is None and status == _TOO_MANY else told


def used_up(headers: Mapping[str, str]) -> float:
    """Seconds until the last of the limits is renewed that the rate-limit headers say is used up; else 0.

    Anthropic's headers name the moment, those like OpenAI's, which gateways send, mostly a span. Moments are
    reckoned by the provider's own clock, which may differ from ours.
    """
    names = [(f"{_ANTHROPIC}-{kind}-remaining", f"{_ANTHROPIC}-{kind}-reset") for kind in _LIMITS]
    names += [(f"{_OPENAI}-remaining{kind}", f"{_OPENAI}-reset{kind}") for kind in _KINDS]
    spent = [reset for remaining, reset in names if _number(headers.get(remaining)) == 0]
    return max((_seconds_until(headers.get(reset), headers) for reset in spent), default=0.0)


def _seconds_until(renewal: str | None, headers: Mapping[str, str]) -> float:
    """Of a renewal as a moment, as seconds or milliseconds since 1970, or as a span; 0 where it is none."""
    told, now = (renewal or "").strip(), _now(headers)
    number = _number(told)
    if number is not None and number >= _LONG_AGO:
        seconds = number / 1000 if number >= 1000 * _LONG_AGO else number
        return max(0.0, seconds - now.timestamp())
    if number is not None:
        return number
    if _SPAN.fullmatch(told):
        return sum(float(many) * _UNITS[unit] for many, unit in _PART.findall(told))
    moment = _moment(told)
    return max(0.0, (moment - now).total_seconds()) if moment else 0.0


def _now(headers: Mapping[str, str]) -> datetime:
    """The moment of the answer, by the provider's clock where it says."""
    return _moment(headers.get("date")) or datetime.now(UTC)


def _moment(value: str | None) -> datetime | None:
    """An RFC 3339 moment or an HTTP date; None for anything else."""
    for parse in (datetime.fromisoformat, email.utils.parsedate_to_datetime):
        try:
            moment = parse(value or "")
        except ValueError:
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _worth_a_retry(status: int, headers: Mapping[str, str]) -> bool:
    return status in _RETRYABLE or status >= 500 or headers.get("x-should-retry") == "true"
