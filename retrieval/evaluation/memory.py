"""What of a benchmark a system learned when it was trained here."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from retrieval.encoders import Encoder
from retrieval.encoders.baselines.baselines import BaselineEncoder
from retrieval.encoders.baselines.learned_texts import (
    HASH_LENGTH,
    count_learned,
    read_learned_texts,
    read_training,
)
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.evaluation.content import query_members, snippet_members
from retrieval.models import Benchmark
from retrieval.texts.plurals import count_noun


def describe_learned_texts(encoders: Sequence[Encoder], benchmark: Benchmark) -> Iterator[str]:
    """A note for each encoder that learned queries or functions of the benchmark.

    Raises `MissingWeights`.
    """
    for encoder in encoders:
        if not isinstance(encoder, TransformerEncoder | BaselineEncoder):
            continue
        try:
            learned = read_learned_texts(encoder.folder)
        except ValueError as why:
            yield f"{encoder.name}: what it learned can't be read ({why})"
            continue
        if not learned:
            continue
        members = query_members(benchmark), snippet_members(benchmark)
        queries, snippets = (
            count_learned(learned, rows.values_list("text__body", flat=True).iterator()) for rows in members
        )
        if queries or snippets:
            yield (
                f"{encoder.name}: it was trained with {count_noun(queries, 'query', 'queries')} and "
                f"{count_noun(snippets, 'function')} of {benchmark}, so its figures are too high"
            )


def training_facts(encoders: Sequence[Encoder], benchmark: Benchmark) -> dict[str, Any]:
    """What a run keeps of the training of its only encoder; empty where that was not trained here.

    `group` is the same for trainings that differ in their seed alone. `seen` has a bit for each query of the
    benchmark, aliases last: whether the training asked it. Raises `MissingWeights`.
    """
    if len(encoders) != 1 or not isinstance(encoders[0], TransformerEncoder | BaselineEncoder):
        return {}
    folder = encoders[0].folder
    try:
        card, learned = read_training(folder), read_learned_texts(folder)
    except ValueError:
        return {}
    if card is None:
        return {}
    functions = snippet_members(benchmark).values_list("text__body", flat=True)
    seen = np.array([digest[:HASH_LENGTH] in learned for digest in query_digests(benchmark)], dtype=bool)
    return {
        "hash": card["hash"],
        "group": hash_without_seed(card),
        "system": card["system"],
        "start": card["start"],
        "learned": card["data"]["benchmark"],
        "shuffled": card["settings"]["shuffles_labels"],
        "pairs": card["pairs"],
        "seed": card["settings"]["seed"],
        "stopped": card["result"]["stopped"],
        "seen": base64.b64encode(np.packbits(seen).tobytes()).decode("ascii"),
        "functions": count_learned(learned, functions.iterator()),
    }


def query_digests(benchmark: Benchmark) -> list[str]:
    """The sha256 of each query's text, in the order of scores: members, then aliases."""
    aliases = benchmark.queries.aliases.filter(number__lte=benchmark.query_aliases).order_by("number")
    rows = (query_members(benchmark), aliases)
    return [digest for found in rows for digest in found.values_list("text__body", flat=True).iterator()]


def hash_without_seed(card: Mapping[str, Any]) -> str:
    """sha256 of what decides a training but its seed. Which pairs are drawn, and shuffled, is the seed's."""
    data = {name: value for name, value in card["data"].items() if name != "texts"}
    settings = {name: value for name, value in card["settings"].items() if name != "seed"}
    told = {"system": card["system"], "start": card["start"], "data": data, "settings": settings}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def unpack_seen(packed: str, queries: int) -> npt.NDArray[np.bool_]:
    """The bits of `training_facts`, shape (queries,)."""
    return np.unpackbits(np.frombuffer(base64.b64decode(packed), np.uint8), count=queries).astype(bool)
