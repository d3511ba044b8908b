"""A live provider, asked by the protocol that its profile names: Anthropic's Messages or OpenAI's chat.

The client never retries by itself: a call that fails goes back to the queue, where budget, pauses and
other workers see it. Structured output is asked for in the best way that the provider's profile offers.
A server that refuses a way (400) was not paid, so the next one is tried and remembered for the model.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from annotation.llm.chat import ENDPOINT, ChatWire
from annotation.llm.errors import LLMError
from annotation.llm.messages import MessagesWire
from annotation.llm.profiles import Mode, ProviderProfile, Wire, load_provider_profile
from annotation.llm.reply import Reply
from annotation.llm.request import Request, host_of
from annotation.llm.responses import flag_unusable_reply
from annotation.llm.wire import Client, Place, WireProtocol

__all__ = ["LiveLLM", "LiveSettingsError", "load_provider_profile"]

ANTHROPIC_URL: Final = "https://api.anthropic.com"
WIRES: Final[Mapping[Wire, WireProtocol]] = {"messages": MessagesWire(), "chat": ChatWire()}
_WAY_REFUSED: Final = frozenset({400, 404, 422, 500, 501})
"""OpenRouter answers 404 where no provider takes tools, llama.cpp 500 where it was started without them."""
_NO_PROVIDER: Final = "can handle the requested parameters"
"""OpenRouter, where it was told to pass over providers that ignore a parameter; it does not say which."""
# What a server's complaint has to speak of to mean that it does not know the way of asking.
_COMPLAINTS: Final[dict[Mode, tuple[str, ...]]] = {
    "json_schema": (
        *("output_config", "output_format", "json_schema", "structured output", "grammar"),
        *("response_format", _NO_PROVIDER),
    ),
    "forced_tool": ("tool_choice", "tools", "tool use", _NO_PROVIDER),
    "json_object": ("response_format", "json_object", "json mode", _NO_PROVIDER),
    "prompt": (),
}


class LiveSettingsError(LLMError):
    """The provider's address or key can't work; the message says what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, provider=True)


class LiveLLM:
    """One provider; safe to share between threads, and its client is made anew after a fork.

    `base_url` is the address without `/v1` (the client adds it), empty for the profile's own; `timeout`
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
        self.base_url = _checked_url(base_url or profile.address or ANTHROPIC_URL, profile)
        self._place = Place(self.base_url, _checked_key(api_key, profile), profile, timeout, judged)
        self._wire = WIRES[profile.protocol]
        self._lock = threading.Lock()
        self._made: tuple[int, Client] | None = None
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
        return self._wire.ask(self.client(), self._place, request, mode)

    def count(self, request: Request) -> int:
        """Input tokens of `request`, counted by the provider; nothing is answered. Raises LLMError."""
        return self._wire.count(self.client(), self._place, request, self.mode_of(request.model))

    def mode_of(self, model: str) -> Mode:
        """How `model` is asked for structured output now: the best way that it has not refused."""
        return self.profile.ladder[self._first_rung.get(model, 0)]

    def skip(self, model: str, mode: Mode) -> None:
        """Ask `model` no more in this way, which its server has refused; words always remain."""
        ladder = self.profile.ladder
        if mode in ladder[:-1]:
            self._first_rung[model] = max(self._first_rung.get(model, 0), ladder.index(mode) + 1)

    def client(self) -> Any:
        """The client library's client of this process, made when it is first needed."""
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                self._made = (os.getpid(), self._wire.open(self._place))
            return self._made[1]

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
    return error.status in _WAY_REFUSED and any(word in complaint for word in _COMPLAINTS[mode])


def strip_chat_path(base_url: str) -> str:
    """The address without the path that clients of chat completions are given with it."""
    return base_url.rstrip("/").removesuffix(ENDPOINT.removeprefix("/v1")).removesuffix("/v1")


def _checked_url(base_url: str, profile: ProviderProfile) -> str:
    url = strip_chat_path(base_url) if profile.protocol == "chat" else base_url.rstrip("/")
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
