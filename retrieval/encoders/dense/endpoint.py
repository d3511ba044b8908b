"""Texts to vectors by a server that speaks OpenAI's embeddings protocol: hosted models, vLLM, Ollama, TEI."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import numpy as np

from retrieval.encoders.base import Doubles, Floats, Kind, MissingWeights, Progress
from retrieval.encoders.dense.transformer import collapse_whitespace
from retrieval.texts.plurals import count_noun

if TYPE_CHECKING:
    from openai import OpenAI

BASE_URL, KEY, MODEL = (f"COSQA_EMBEDDINGS_{name}" for name in ("BASE_URL", "API_KEY", "MODEL"))
LONGEST: Final = 8_000
"""Characters of a text that are sent; hosted models refuse more than about 8,000 tokens."""
TEXTS_A_REQUEST: Final = 128
REQUESTS_AT_ONCE: Final = 4
RETRIES: Final = 6
"""Of a request that the server put off or did not answer, with growing pauses or those that it asks for."""
PATIENCE_SECONDS: Final = 60.0
MOST_TOKENS: Final = 10**9
"""A request that is said to have more is not believed."""
NOTHING: Final = "empty"
"""What is sent for a text of white space, which servers refuse."""


@dataclass
class Usage:
    """What was asked of a server since the encoder was made; `untold`: answers that name no tokens."""

    requests: int = 0
    tokens: int = 0
    untold: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    def add(self, answer: object) -> None:
        """Count an answer by its `usage.prompt_tokens`, where that is a number that can be one."""
        told = getattr(getattr(answer, "usage", None), "prompt_tokens", None)
        is_number = isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= MOST_TOKENS
        with self._lock:
            self.requests += 1
            self.tokens += told if is_number and told else 0
            self.untold += not is_number

    def counts(self) -> dict[str, int]:
        """What was asked so far, as it is kept and printed."""
        return {"requests": self.requests, "tokens": self.tokens, "untold": self.untold}


@dataclass(frozen=True)
class EndpointEncoder:
    """A model of the server at `COSQA_EMBEDDINGS_BASE_URL`; `source` is its name, else it is configured.

    The server decides how texts are cut into tokens, pooled and prefixed. It may put another model behind
    the same name; vectors that are stored by then are used on.
    """

    source: str = ""
    used: Usage = field(default_factory=Usage, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The name that `retrieval.encoders.find_encoder` takes."""
        return f"endpoint:{self.source}" if self.source else "endpoint"

    @property
    def asked(self) -> dict[str, Any]:
        """The model, and what it was asked since this encoder was made. Raises `MissingWeights`."""
        return {"model": self.model, **self.used.counts()}

    @property
    def model(self) -> str:
        """What the server is asked for. Raises `MissingWeights`."""
        return self.source or require_endpoint_setting(MODEL, "the name of a model, or choose endpoint:NAME")

    def locate(self) -> str:
        """The server's address; what lacks in the configuration is told. Raises `MissingWeights`."""
        address = require_endpoint_setting(
            BASE_URL, "the address of a server that speaks OpenAI's protocol, with its /v1"
        )
        if urlsplit(address).scheme not in {"http", "https"}:
            raise MissingWeights(f"{BASE_URL} is no address: begin it with https://")
        require_endpoint_setting(KEY, "the server's key; any word where it needs none")
        assert self.model, "the caller has checked that it is there"
        return address

    @property
    def identity(self) -> str:
        """Server, model and all that is sent. Raises `MissingWeights`."""
        return f"endpoint;server={self.server};model={self.model};characters={LONGEST}"

    @property
    def server(self) -> str:
        """Where it is, without a user's name or password. Raises `MissingWeights`."""
        place = urlsplit(self.locate())
        host = f"{place.hostname}:{place.port}" if place.port else place.hostname
        return f"{host}{place.path.rstrip('/')}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector: that of a word's. Raises `MissingWeights`."""
        return int(self._asked(["word"]).shape[1])

    @cached_property
    def _client(self) -> OpenAI:
        from openai import OpenAI

        return OpenAI(
            base_url=self.locate(),
            api_key=os.environ[KEY],
            max_retries=RETRIES,
            timeout=PATIENCE_SECONDS,
        )

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        """Return float32 vectors of shape (len(texts), dimension), each of length 1.

        Raises `MissingWeights` where the server can't be reached, refuses, or answers with something else.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        done, blocks = 0, list(blocks_of(texts))
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
            try:
                for found in pool.map(self._asked, blocks):
                    if found.shape[1] != self.dimension:
                        raise MissingWeights(f"{self.name}: vectors of {found.shape[1]} and {self.dimension}")
                    vectors[done : done + len(found)] = found
                    done += len(found)
                    if progress is not None:
                        progress(done, len(texts))
            finally:
                pool.shutdown(cancel_futures=True)
        return vectors

    def _asked(self, texts: list[str]) -> Floats:
        """The unit vectors of one request's texts."""
        import openai

        try:
            answer = self._client.embeddings.create(model=self.model, input=texts, encoding_format="float")
            self.used.add(answer)
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], dtype=np.float64)
        except openai.APIConnectionError as why:
            where = f"of the server at {self.server}; {BASE_URL} says where it is"
            raise MissingWeights(f"{self.name}: {describe_endpoint_error(why).rstrip('.')} {where}") from why
        except openai.OpenAIError as why:
            raise MissingWeights(f"{self.name}: {describe_endpoint_error(why)}") from why
        except (AttributeError, TypeError, ValueError) as why:
            raise MissingWeights(f"{self.name}: the server's answer has no list of vectors") from why
        return normalize_vectors(vectors, len(texts), self.name)


def asked_in_words(name: str, asked: Mapping[str, Any]) -> str:
    """For example "endpoint:small: 1,200 tokens in 4 requests; 0 answers named none"."""
    tokens, requests, untold = (
        count_noun(asked[what], noun)
        for what, noun in (("tokens", "token"), ("requests", "request"), ("untold", "answer"))
    )
    return f"{name}: {tokens} in {requests}; {untold} named none"


def require_endpoint_setting(name: str, what: str) -> str:
    """A setting of the environment. Raises `MissingWeights`."""
    value = os.environ.get(name, "").strip()
    if not value:
        raise MissingWeights(f"endpoint: {name} is not set; it is {what}")
    return value


def blocks_of(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts as they are sent, so many a request."""
    for start in range(0, len(texts), TEXTS_A_REQUEST):
        yield [
            collapse_whitespace(text)[:LONGEST] or NOTHING for text in texts[start : start + TEXTS_A_REQUEST]
        ]


def normalize_vectors(vectors: Doubles, count: int, name: str) -> Floats:
    """The vectors, each of length 1. Raises `MissingWeights` for what are not so many directions."""
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
        raise MissingWeights(f"{name}: {count} texts were sent, and the answer has shape {vectors.shape}")
    with np.errstate(over="ignore"):  # what is too long to be measured is refused below
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise MissingWeights(f"{name}: the server answered with a vector that has no direction")
    return np.asarray(vectors / lengths, dtype=np.float32)


def describe_endpoint_error(why: Exception) -> str:
    """What a person can do something about, in one line; never the request, which has the key."""
    return " ".join(str(why).split())[:300] or type(why).__name__
