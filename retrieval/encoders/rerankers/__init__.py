"""Rerankers by name: models that read a query together with each of a list's first snippets.

Importing this loads neither torch nor any weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from retrieval.encoders.base import Doubles, MissingWeights
from retrieval.encoders.rerankers.cross_encoder import CrossEncoder
from retrieval.encoders.rerankers.late_interaction import LateInteraction

__all__ = [
    "LANGUAGE_MODEL",
    "RERANKERS",
    "Reranker",
    "UnknownReranker",
    "find_reranker",
    "why_reranker_missing",
]


class UnknownReranker(ValueError):
    """No reranker has this name; the message says what names look like."""


class Reranker(Protocol):
    """Scores snippets for a query; a higher score comes first."""

    @property
    def name(self) -> str:
        """What a person types to choose it."""

    @property
    def identity(self) -> str:
        """Weights and every option that changes a score. Raises `MissingWeights`."""

    @property
    def revision(self) -> str:
        """Which commit of the hub its files are; empty for those of a folder. Raises `MissingWeights`."""

    def score_snippets(self, query: str, snippets: Sequence[str]) -> Doubles:
        """Scores of shape (len(snippets),), rounded to 6 decimals, all finite. Raises `MissingWeights`."""


RERANKERS: Final[dict[str, type[CrossEncoder] | type[LateInteraction]]] = {
    "cross-encoder": CrossEncoder,
    "late-interaction": LateInteraction,
}
"""What stands before the colon of a name; a folder or hub id comes after it."""

LANGUAGE_MODEL: Final = "llm"
"""Stands before the colon where a language model was asked: it is reached from outside this package."""


def find_reranker(name: str) -> CrossEncoder | LateInteraction:
    """The reranker called, for example, `cross-encoder:/models/mine` or `cross-encoder:hub/id@revision`.

    Neither loads nor looks for weights. Raises `UnknownReranker`.
    """
    kind, _, source = name.partition(":")
    if kind == LANGUAGE_MODEL:
        raise UnknownReranker(
            f"{name!r} is a language model: 'cosqa admin rerank' asks it, within a cap or by file"
        )
    if kind not in RERANKERS or not source.strip():
        known = " or ".join(f"{kind}:/folder" for kind in RERANKERS)
        raise UnknownReranker(
            f"no reranker is called {name!r}; write {known}, with a folder or a hub id after the colon"
        )
    return RERANKERS[kind](source)


def why_reranker_missing(name: str) -> str | None:
    """What a reranker lacks on this machine; None if it can be used. Raises `UnknownReranker`."""
    try:
        find_reranker(name).folder  # noqa: B018  (looks for the files)
    except MissingWeights as missing:
        return str(missing)
    return None
