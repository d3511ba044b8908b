"""What a protocol is to the live provider: how a request goes out, and how its reply is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotation.llm.profiles import Mode, ProviderProfile
from annotation.llm.reply import Reply
from annotation.llm.request import Request


@dataclass(frozen=True, slots=True)
class Place:
    """A server. `base_url` is without `/v1`; `timeout` is in seconds; `judged`: see `bounded_client`."""

    base_url: str
    api_key: str
    profile: ProviderProfile
    timeout: float
    judged: Sequence[str] = ()


class Client(Protocol):
    """A client library's own object, of which only its end is known here."""

    def close(self) -> None:
        """Close its connections."""
        ...


class WireProtocol(Protocol):
    """One protocol; the clients that it opens are passed back to it."""

    def open(self, place: Place) -> Any:
        """A client of the protocol's library, which never retries by itself."""
        ...

    def ask(self, client: Any, place: Place, request: Request, mode: Mode) -> Reply:
        """The reply, whatever it is worth. Raises LLMError."""
        ...

    def count(self, client: Any, place: Place, request: Request, mode: Mode) -> int:
        """Input tokens, counted by the provider. Raises LLMError."""
        ...
