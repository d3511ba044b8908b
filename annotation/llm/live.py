"""A live provider of the Messages protocol, through the anthropic client: the only door to it.

The client never retries by itself: a call that fails goes back to the queue, where budget, pauses and
other workers see it. Structured output is asked for in the best way that the provider's profile offers.
A server that refuses a way (400) was not paid, so the next one is tried and remembered for the model.
"""

import os
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from annotation.llm import failures
from annotation.llm.deadline import bounded_client
from annotation.llm.errors import LLMError
from annotation.llm.payload import build_request_payload
from annotation.llm.profiles import Mode, ProviderProfile, load_provider_profile
from annotation.llm.reply import Reply, is_count
from annotation.llm.request import Request, host_of
from annotation.llm.responses import flag_duplicate_keys, flag_unusable_reply, reply_of

if TYPE_CHECKING:
    from anthropic import Anthropic

__all__ = ["LiveLLM", "LiveSettingsError", "load_provider_profile"]

ANTHROPIC_URL: Final = "https://api.anthropic.com"
_NOT_COUNTED: Final = frozenset({"max_tokens", "extra_body"})
_COUNTS_WITHIN: Final = 15.0
# What a server's complaint has to speak of to mean that it does not know the way of asking.
_COMPLAINTS: Final[dict[Mode, tuple[str, ...]]] = {
    "json_schema": ("output_config", "output_format", "json_schema", "structured output", "grammar"),
    "forced_tool": ("tool_choice", "tools", "tool use"),
    "prompt": (),
}


class LiveSettingsError(LLMError):
    """The provider's address or key can't work; the message says what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, provider=True)


class LiveLLM:
    """One provider; safe to share between threads, and its client is made anew after a fork.

    `base_url` is the address without `/v1` (the client adds it), empty for Anthropic's own; `timeout`
    is in seconds, for the first line of a reply and once more for the rest. Raises LiveSettingsError for an
    address or key that can't work. `judged`: see `bounded_client`.
    """

    def __init__(
        self,
        api_key: str,
        profile: ProviderProfile,
        *,
        base_url: str = "",
        timeout: float = 120.0,
        judged: Sequence[str] = (),
    ) -> None:
        self.name = f"live:{profile.name}"
        self.profile = profile
        self.base_url = _checked_url(base_url or ANTHROPIC_URL)
        self._api_key = _checked_key(api_key, profile)
        self._timeout, self._judged = timeout, judged
        self._lock = threading.Lock()
        self._made: tuple[int, Anthropic] | None = None
        self._first_rung: dict[str, int] = {}

    def ask(self, request: Request) -> Reply:
        """The provider's reply; what keeps it from being an answer is its defect.

        Raises LLMError; one whose reply was paid but is another model's carries it.
        """
        self._refuse_other_host(request)
        ladder = self.profile.ladder
        for rung in range(self._first_rung.get(request.model, 0), len(ladder)):
            try:
                reply = self.call(request, ladder[rung])
            except LLMError as error:
                if rung + 1 == len(ladder) or not way_refused(error, ladder[rung]):
                    raise
                self.skip(request.model, ladder[rung])
            else:
                return flag_unusable_reply(reply, request, self.profile)
        raise AssertionError("the last rung returns or raises")

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            made[1].close()

    def call(self, request: Request, mode: Mode) -> Reply:
        """The reply to a request that is made in one way alone, whatever it is worth. Raises LLMError."""
        import anthropic

        arguments = build_request_payload(request, self.profile, mode)
        start = time.monotonic()
        try:
            response = self.client().messages.with_raw_response.create(**arguments)
        except anthropic.APIStatusError as error:
            raise failures.of_status(error, request.model) from error
        except anthropic.APIConnectionError as error:
            raise failures.of_connection(error, self.base_url) from error
        except (anthropic.AnthropicError, ValueError) as error:
            raise failures.of_protocol(str(error), self.base_url) from error
        latency = time.monotonic() - start
        try:
            message: object = response.parse()
        except (anthropic.AnthropicError, ValueError) as error:
            raise failures.of_protocol(str(error), self.base_url, maybe_billed=True) from error
        return flag_duplicate_keys(
            reply_of(message, response.headers, latency, self.base_url), response.text()
        )

    def count(self, request: Request) -> int:
        """Input tokens of `request`, counted by the provider; nothing is answered. Raises LLMError."""
        import anthropic

        arguments = build_request_payload(request, self.profile, self.mode_of(request.model))
        asked = {name: value for name, value in arguments.items() if name not in _NOT_COUNTED}
        try:
            counted: object = (
                self.client().messages.count_tokens(**asked, timeout=_COUNTS_WITHIN).input_tokens
            )
        except anthropic.APIStatusError as error:
            raise failures.of_status(error, request.model) from error
        except anthropic.APIConnectionError as error:
            raise failures.of_connection(error, self.base_url) from error
        except (anthropic.AnthropicError, ValueError, AttributeError) as error:
            raise failures.of_protocol(str(error), self.base_url) from error
        if not is_count(counted):
            raise failures.of_protocol("the count is no number of tokens", self.base_url)
        return counted

    def mode_of(self, model: str) -> Mode:
        """How `model` is asked for structured output now: the best way that it has not refused."""
        return self.profile.ladder[self._first_rung.get(model, 0)]

    def skip(self, model: str, mode: Mode) -> None:
        """Ask `model` no more in this way, which its server has refused; words always remain."""
        ladder = self.profile.ladder
        if mode in ladder[:-1]:
            self._first_rung[model] = max(self._first_rung.get(model, 0), ladder.index(mode) + 1)

    def client(self) -> "Anthropic":
        """The client of this process, made when it is first needed."""
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                self._made = (os.getpid(), self._new_client())
            return self._made[1]

    def _new_client(self) -> "Anthropic":
        import anthropic

        by_key = self.profile.auth == "api_key"
        return anthropic.Anthropic(
            api_key=self._api_key if by_key else None,
            auth_token=None if by_key else self._api_key,
            base_url=self.base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=bounded_client(self._timeout, self._judged),
        )

    def _refuse_other_host(self, request: Request) -> None:
        if request.base_url and request.base_url != host_of(self.base_url):
            raise LLMError(
                f"the request is meant for {request.base_url}, this provider is {host_of(self.base_url)}: "
                "launch the build again with this provider, or set the other one's address.",
                retryable=False,
                provider=True,
            )


def way_refused(error: LLMError, mode: Mode) -> bool:
    """Whether the server complains of the way in which structured output was asked for."""
    complaint = error.message.lower()
    return error.status in (400, 422) and any(word in complaint for word in _COMPLAINTS[mode])


def _checked_url(base_url: str) -> str:
    url = base_url.rstrip("/")
    if not url.startswith(("http://", "https://")) or not host_of(url):
        raise LiveSettingsError(f"the provider's address has to be an http(s) URL, got '{base_url}'")
    if url.endswith(("/v1", "/v1/messages")):
        raise LiveSettingsError(f"leave '/v1' out of the provider's address '{base_url}'; the client adds it")
    return url


def _checked_key(api_key: str, profile: ProviderProfile) -> str:
    if profile.needs_key and not api_key.strip():
        raise LiveSettingsError(f"the provider profile '{profile.name}' needs an API key")
    # Without any credential the client would look for one in the environment and in files.
    return api_key.strip() or "none"
