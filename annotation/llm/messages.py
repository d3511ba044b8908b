"""Anthropic's Messages protocol, through the anthropic client: the door to it beside `batches`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from annotation.llm import failures
from annotation.llm.deadline import bounded_client
from annotation.llm.payload import build_request_payload
from annotation.llm.profiles import Mode
from annotation.llm.reply import Reply, is_count
from annotation.llm.request import Request
from annotation.llm.responses import flag_duplicate_keys, reply_of
from annotation.llm.wire import Place

if TYPE_CHECKING:
    from anthropic import Anthropic

_NOT_COUNTED: Final = frozenset({"max_tokens", "extra_body"})
_COUNTS_WITHIN: Final = 15.0


class MessagesWire:
    """See `WireProtocol`."""

    def open(self, place: Place) -> Anthropic:
        """The anthropic client."""
        import anthropic

        by_key = place.profile.auth == "api_key"
        return anthropic.Anthropic(
            api_key=place.api_key if by_key else None,
            auth_token=None if by_key else place.api_key,
            base_url=place.base_url,
            timeout=place.timeout,
            max_retries=0,
            http_client=bounded_client(place.timeout, place.judged),
        )

    def ask(self, client: Anthropic, place: Place, request: Request, mode: Mode) -> Reply:
        """The reply of `POST /v1/messages`."""
        import anthropic

        arguments = build_request_payload(request, place.profile, mode)
        start = time.monotonic()
        with _told_errors(place.base_url, request.model):
            response = client.messages.with_raw_response.create(**arguments)
        latency = time.monotonic() - start
        try:
            message: object = response.parse()
        except (anthropic.AnthropicError, ValueError) as error:
            raise failures.of_protocol(str(error), place.base_url, maybe_billed=True) from error
        return flag_duplicate_keys(
            reply_of(message, response.headers, latency, place.base_url), response.text()
        )

    def count(self, client: Anthropic, place: Place, request: Request, mode: Mode) -> int:
        """The answer of `POST /v1/messages/count_tokens`."""
        arguments = build_request_payload(request, place.profile, mode)
        asked = {name: value for name, value in arguments.items() if name not in _NOT_COUNTED}
        with _told_errors(place.base_url, request.model):
            counted: object = client.messages.count_tokens(**asked, timeout=_COUNTS_WITHIN).input_tokens
        if not is_count(counted):
            raise failures.of_protocol("the count is no number of tokens", place.base_url)
        return counted


@contextlib.contextmanager
def _told_errors(base_url: str, model: str) -> Iterator[None]:
    """The client's errors as LLMError."""
    import anthropic

    try:
        yield
    except anthropic.APIStatusError as error:
        raise failures.of_status(error, model) from error
    except anthropic.APIConnectionError as error:
        raise failures.of_connection(error, base_url) from error
    except (anthropic.AnthropicError, ValueError, AttributeError) as error:
        raise failures.of_protocol(str(error), base_url) from error
