"""One question to a language model, as a value. Its digest is the call's id everywhere."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Self, TypeVar, cast
from urllib.parse import urlsplit

Role = Literal["user", "assistant"]
JsonObject = Mapping[str, object]
_T = TypeVar("_T")
LIMIT: Final = "max_tokens"
"""The name by which sampling parameters may also say how long replies may be."""


class InvalidRequest(ValueError):
    """The data don't describe a request; the message names the key."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides the answer; two requests with one digest are the same question.

    schema    the JSON schema that the answer has to fit
    sampling  provider parameters such as temperature; empty for the provider's defaults
    salt      keeps apart annotators that ask the same thing and want independent answers
    round     1, 2 ...: asking an unchanged annotator again is a new round
    base_url  the provider's host; a whole URL is cut to its host, so neither path nor password
              enters the digest. Empty stands for "whoever the build's provider is".
    """

    agent: str
    model: str
    system: str
    messages: tuple[Message, ...]
    schema: JsonObject
    max_tokens: int
    sampling: JsonObject = field(default_factory=dict)
    salt: str = ""
    round: int = 1
    base_url: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", host_of(self.base_url))

    def digest(self) -> str:
        """sha256 (hex) of the canonical JSON: sorted keys, no spaces, ASCII only."""
        return hashlib.sha256(self.canonical().encode("ascii")).hexdigest()

    def canonical(self) -> str:
        """The canonical JSON. Raises ValueError for NaN or infinity in schema or sampling."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON data; messages have the keys of the Messages protocol (role, content)."""
        return {
            "agent": self.agent,
            "model": self.model,
            "system": self.system,
            "messages": [{"role": message.role, "content": message.text} for message in self.messages],
            "schema": dict(self.schema),
            "max_tokens": self.max_tokens,
            "sampling": dict(self.sampling),
            "salt": self.salt,
            "round": self.round,
            "base_url": self.base_url,
        }

    def sampled(self, sampling: JsonObject) -> Self:
        """The same question with these parameters.

        `max_tokens` among them is how long each reply may be at least; an agent that allows more stays at it.
        """
        rest = dict(sampling)
        least = cast(int, rest.pop(LIMIT, 0))
        return replace(self, sampling=rest, max_tokens=max(self.max_tokens, least))

    @classmethod
    def from_dict(cls, data: JsonObject) -> Self:
        """The request that `to_dict` described. Raises InvalidRequest, naming the key."""
        messages = _typed(data, "messages", list)
        return cls(
            agent=_typed(data, "agent", str),
            model=_typed(data, "model", str),
            system=_typed(data, "system", str),
            messages=tuple(_message(message) for message in messages),
            schema=_typed(data, "schema", dict),
            max_tokens=_typed(data, "max_tokens", int),
            sampling=_typed(data, "sampling", dict),
            salt=_typed(data, "salt", str),
            round=_typed(data, "round", int),
            base_url=_typed(data, "base_url", str),
        )


def host_of(base_url: str) -> str:
    """`host[:port]` of a URL, lower case, without path, user and password; a host stays itself."""
    if not base_url:
        return ""
    netloc = urlsplit(base_url if "//" in base_url else f"//{base_url}").netloc
    return netloc.rpartition("@")[2].lower()


def escape_surrogates(text: str) -> str:
    """`text` with lone surrogates, which UTF-8 can't hold, as visible backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _typed(data: JsonObject, key: str, kind: type[_T]) -> _T:
    value = data.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidRequest(f"a request's '{key}' has to be of type {kind.__name__}, got {value!r:.60}")
    return value


def _message(data: object) -> Message:
    if not isinstance(data, dict) or data.get("role") not in ("user", "assistant"):
        raise InvalidRequest(f"a message needs role 'user' or 'assistant' and content, got {data!r:.60}")
    return Message(role=cast(Role, data["role"]), text=_typed(data, "content", str))
