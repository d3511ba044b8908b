"""Which weights and options an old mining's encoders had: proved by the scores that it kept, never guessed.

Minings that were done before they noted that can't be mined again without an encoder. Where vectors are still
stored, or terms are counted, the scores of some candidates are computed anew; an identity that gives every
one of them is what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from retrieval import encoders
from retrieval.encoders.base import Doubles, Encoder
from retrieval.evaluation.runs.stored_search import NotStored, Remembered
from retrieval.index import Cosines, Terms, encode_signals
from retrieval.index.product import Indices
from retrieval.index.vectors import VectorStore
from retrieval.mining import known_encoders
from retrieval.mining.input_texts import snippets_of, texts_of
from retrieval.models import Candidate, Mining, Text

QUERIES: Final = 20
CLOSE: Final = 1e-9
"""Kept scores are rounded to 9 decimals or more."""


class NotTold(Exception):
    """What the encoders were can't be proved here; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Some queries, all snippets that were searched, and the pairs whose scores were kept, in their order."""

    queries: Sequence[str]
    snippets: Sequence[str]
    rows: Sequence[tuple[int, int, Mapping[str, Mapping[str, float]]]]

    def raw(self, name: str) -> Doubles:
        return np.array([scores[name]["raw"] for _, _, scores in self.rows])


def identify_encoders(mining: Mining, vectors: Path) -> dict[str, str]:
    """By encoder what it was. `vectors` is the folder of the vector store. Raises NotTold.

    No model is loaded and no server asked.
    """
    kept = kept_by(mining)
    found = dict[str, str]()
    for name in mining.encoders:
        proved = (
            encoder.identity
            for encoder in find_possible_encoders(name, vectors)
            if has_same_scores(encoder, kept, mining, vectors)
        )
        if not (told := next(proved, "")):
            raise NotTold(
                f"Nothing that is stored here gives the scores that {name} gave: its vectors are gone, or it "
                f"had other options. Mine it again ('cosqa admin mine {mining.pk} --anew') to store them."
            )
        found[name] = told
    return found


def kept_by(mining: Mining) -> Kept:
    """The candidates of a few queries. Raises NotTold where no encoder's scores came with them."""
    of_it = Candidate.objects.filter(mining=mining)
    asked = list(of_it.order_by("query_id").values_list("query_id", flat=True).distinct())
    some = asked[:: max(1, len(asked) // QUERIES)][:QUERIES]
    rows = list(of_it.filter(query__in=some).values_list("query_id", "pair__snippet_id", "scores"))
    if not rows or any(set(mining.encoders) - set(scores) for _, _, scores in rows):
        raise NotTold(
            "Its candidates came without the scores of each encoder, as those of a release do. What the "
            "encoders were is not known here; publish a benchmark of a mining of your own to leave one out."
        )
    searched = texts_of(snippets_of(mining), mining.text_option)
    place = {text: number for number, text in reversed(list(enumerate(searched.ids)))}
    texts = Text.objects.with_bodies().in_bulk(some)
    number = {query: row for row, query in enumerate(some)}
    pairs = [(number[query], place[code], scores) for query, code, scores in rows if code in place]
    return Kept([texts[query].text for query in some], searched.texts, sorted(pairs, key=lambda row: row[:2]))


def find_possible_encoders(name: str, vectors: Path) -> Iterator[Encoder]:
    """What an encoder of that name can have been: as it is now if it counts terms, else what has vectors."""
    try:
        now = known_encoders.find_encoder(name)
    except encoders.UnknownEncoder:
        now = None
    if now is not None and encoders.is_lexical(now):
        yield now
        return
    seen = set[str]()
    for file in sorted(vectors.glob("*/encoder.json")):
        about = json.loads(file.read_text("utf-8"))
        if about["encoder"] not in seen:
            seen.add(about["encoder"])
            yield Remembered(name, about["encoder"], about["dimension"])


def has_same_scores(encoder: Encoder, kept: Kept, mining: Mining, vectors: Path) -> bool:
    """Whether an encoder's scores of all these pairs are those that were kept."""
    owners = np.array([query for query, _, _ in kept.rows], dtype=np.int64)
    places = np.array([snippet for _, snippet, _ in kept.rows], dtype=np.int64)
    lexical = encoders.is_lexical(encoder)
    needed = kept.snippets if lexical else [kept.snippets[place] for place in places]
    store = VectorStore(vectors, mining.text_option)
    try:
        [signal] = encode_signals(kept.queries, needed, [encoder], store.rows)
    except NotStored:
        return False
    found = scores_of(signal, owners, places if lexical else np.arange(len(places)))
    return bool(np.allclose(found, kept.raw(encoder.name), rtol=0, atol=CLOSE))


def scores_of(signal: Cosines | Terms, owners: Indices, places: Indices) -> Doubles:
    if isinstance(signal, Cosines):
        return signal.raw(owners, places)
    table = signal.index.scores(signal.queries).raw
    return np.asarray(table[owners, places])
