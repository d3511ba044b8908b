"""Encoders by name. Importing this loads neither torch nor any weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

from retrieval.encoders.base import (
    DenseEncoder,
    Doubles,
    Encoder,
    Floats,
    Kind,
    LexicalEncoder,
    LexicalIndex,
    LexicalScores,
    MissingWeights,
    Progress,
)
from retrieval.encoders.baselines.baseline_files import BASELINES
from retrieval.encoders.baselines.baselines import BaselineEncoder
from retrieval.encoders.dense.architectures import ARCHITECTURES
from retrieval.encoders.dense.endpoint import EndpointEncoder
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.lexical.bag_of_words import BagOfWords
from retrieval.encoders.lexical.bm25 import BM25
from retrieval.encoders.lexical.bm25_fields import FieldedBM25

__all__ = [
    "BEFORE_A_COLON",
    "NAMES",
    "DenseEncoder",
    "Doubles",
    "Encoder",
    "Floats",
    "Kind",
    "LexicalEncoder",
    "LexicalIndex",
    "LexicalScores",
    "MissingWeights",
    "Progress",
    "UnknownEncoder",
    "asked_of",
    "find_encoder",
    "is_lexical",
    "why_missing",
]

LEXICAL: dict[str, type[BM25] | type[BagOfWords] | type[FieldedBM25]] = {
    "bm25": BM25,
    "bow": BagOfWords,
    "bm25-fields": FieldedBM25,
}


def is_lexical(encoder: Encoder) -> TypeGuard[LexicalEncoder]:
    """Whether it counts terms. Loads no weights and asks no server, as a look at its dimension would."""
    return isinstance(encoder, tuple(LEXICAL.values()))


UNMASKED, ENDPOINT = "codet5p-unmasked", "endpoint"
NAMES: tuple[str, ...] = (*LEXICAL, *ARCHITECTURES, UNMASKED, ENDPOINT)
"""The names to choose from.

A transformer's takes `:folder` or `:hub/id@revision` after it, that of the endpoint the name of a model.
"""

BEFORE_A_COLON: tuple[str, ...] = (*NAMES, *BASELINES)
"""Those, and what has no weights but those of a folder that `cosqa train` wrote."""


class UnknownEncoder(ValueError):
    """No encoder has this name; the message lists those that exist."""


def find_encoder(name: str) -> Encoder:
    """Return the encoder called `name`, for example "bm25", "codebert" or "codebert:/models/mine".

    Neither loads nor looks for weights: that is done when the encoder is first used. Raises `UnknownEncoder`.
    """
    plain, _, source = name.partition(":")
    if plain in LEXICAL and not source:
        return LEXICAL[plain]()
    if plain in ARCHITECTURES:
        return TransformerEncoder(plain, source)
    if plain == UNMASKED:
        return TransformerEncoder("codet5p", source, mask_padding=False)
    if plain in BASELINES:
        return BaselineEncoder(plain, source)
    if plain == ENDPOINT:
        return EndpointEncoder(source)
    raise UnknownEncoder(
        f"no encoder is called {name!r}; choose from {', '.join(NAMES)} "
        "(a transformer takes :folder after its name)"
    )


def asked_of(encoders: Iterable[Encoder]) -> dict[str, dict[str, Any]]:
    """What those of the encoders that are on servers were asked since they were made, by their names.

    One whose vectors were all stored stands there with no request.
    """
    return {encoder.name: encoder.asked for encoder in encoders if isinstance(encoder, EndpointEncoder)}


def why_missing(name: str) -> str | None:
    """Say what an encoder lacks on this machine and how to get it; None if it can be used.

    Looks for files, packages and settings; imports no torch, asks no server. Raises `UnknownEncoder`.
    """
    encoder = find_encoder(name)
    if isinstance(encoder, TransformerEncoder | BaselineEncoder | EndpointEncoder):
        try:
            encoder.locate()
        except MissingWeights as missing:
            return str(missing)
    return None
