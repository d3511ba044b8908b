"""Encoders in the precision of the vectors that are there.

Which precision is faster is timed anew by every process, and a busy moment says otherwise: then all texts
that were encoded in the other one would be encoded a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar, get_args

from retrieval.encoders.base import Encoder
from retrieval.encoders.dense.precision import Precision, multiplies_bf16
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.index.vectors import VectorStore

SAMPLE: Final = 200
MOST: Final = 0.5
"""Share of the looked at texts above which a precision counts as the one that is there."""

One = TypeVar("One")


def sample_evenly(found: Sequence[One]) -> Sequence[One]:
    """Up to SAMPLE of them, from the first to the last."""
    return found[:: max(1, -(-len(found) // SAMPLE))]


def as_stored(
    chosen: Sequence[Encoder], store: VectorStore, sample: Callable[[], Sequence[str]]
) -> list[Encoder]:
    """Each encoder in the precision, if it is one alone, in which most snippets of `sample` are stored.

    The others, and those whose precision is not left to timing, are returned as they are. Raises what an
    identity raises, and `DamagedShard`.
    """
    texts = sample() if any(map(_is_timed, chosen)) else []
    return [_settled(encoder, store, texts) for encoder in chosen]


def _is_timed(encoder: Encoder) -> bool:
    return isinstance(encoder, TransformerEncoder) and encoder.wanted == "fastest"


def _settled(encoder: Encoder, store: VectorStore, texts: Sequence[str]) -> Encoder:
    if not isinstance(encoder, TransformerEncoder) or encoder.wanted != "fastest":
        return encoder
    each = [replace(encoder, wanted=precision) for precision in get_args(Precision)]
    there = [one for one in each if store.share(one, texts, "snippet") > MOST]
    if len(there) != 1 or (there[0].precision == "bf16" and not multiplies_bf16()):
        return encoder
    return there[0]
