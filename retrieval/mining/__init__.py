"""Encoders + collections → candidates: performs one Mining and stores what it found, with progress.

The snippets are divided into parts, the same ones whoever works. Each part is searched by itself and its
lists are kept; whoever finishes the last one merges them, exactly.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from django.utils import timezone

from retrieval import encoders
from retrieval.encoders import Encoder
from retrieval.encoders.base import Doubles
from retrieval.encoders.dense.transformer import TransformerEncoder
from retrieval.encoders.lexical.frequencies import Frequencies
from retrieval.fusion import Fusion
from retrieval.index import (
    Options,
    Prepared,
    StageProgress,
    Vectorise,
    approximate,
    encode_distinct_snippets,
    stored_precision,
)
from retrieval.index.vectors import VectorStore
from retrieval.mining import known_encoders, parts
from retrieval.mining.alone import lists_alone
from retrieval.mining.frequencies import load_document_frequencies
from retrieval.mining.input_texts import (
    NothingToMine,
    Texts,
    note_end,
    queries_of_mining,
    refuse_empty,
    snippets_of,
    text_ids,
    texts_of,
)
from retrieval.mining.lists import Lists, lists_of
from retrieval.mining.parts import LEASE, Unwanted, release_mining_parts
from retrieval.mining.progress import Reporter, fail_mining
from retrieval.mining.server_use import note_asked
from retrieval.mining.storage import resting_on, store_candidates
from retrieval.models import Mining, MiningPart

__all__ = [
    "NothingToMine",
    "OtherWeights",
    "Reporter",
    "Unwanted",
    "begin_anew",
    "fail_mining",
    "match_encoder_precision",
    "perform_mining",
    "refuse_impossible",
    "release_mining_parts",
    "resting_on",
]


class OtherWeights(ValueError):
    """This machine would encode otherwise than the one that began; the message says what differs."""


def perform_mining(
    mining: Mining, vectors: Path, progress: StageProgress | None = None, worker: str = ""
) -> int | None:
    """Search the parts of `mining` that nobody else works on, and close it if no other is left.

    Returns the number of candidates; None where others are still at it. Safe to run again after a crash, and
    beside other workers. `vectors` is the folder of the vector store. Raises NothingToMine, OtherWeights,
    Unwanted, encoders.MissingWeights and encoders.UnknownEncoder; the caller records the failure.
    """
    note_end(mining)
    members = snippets_of(mining)
    queries = texts_of(queries_of_mining(mining), "whole")
    refuse_empty(mining, queries.ids, members)
    place = VectorStore(vectors, mining.text_option)
    chosen = align_encoders(mining, as_stored(mining, members, place))
    refuse_index(mining, chosen)
    mark_mining_started(mining)
    counts = load_document_frequencies(mining, members, chosen, progress)
    parts.plan_mining_parts(mining, len(members), together=bool(mining.approximate))
    work = Work(mining, queries, members, chosen, place.rows, counts)
    count, name = mining.parts.count(), worker or uuid.uuid4().hex
    try:
        while (part := parts.claim_mining_part(mining, name)) is not None:
            work.do(part, parts.renew_lease_on_progress(part, count, progress))
    finally:
        release_mining_parts(name)
        note_asked(mining, chosen)
    lists = parts.merge_finished_parts(mining)
    if lists is not None and not len(lists):
        raise NothingToMine("No query shares a term with any function: choose an encoder of vectors as well.")
    return None if lists is None else store_candidates(mining, queries.ids, text_ids(members), lists)


def as_stored(mining: Mining, members: Sequence[int], place: VectorStore) -> list[Encoder]:
    """The mining's encoders, in the precision in which its snippets are stored, if they are."""
    chosen = [known_encoders.find_encoder(name) for name in mining.encoders]
    return stored_precision.as_stored(
        chosen, place, lambda: texts_of(stored_precision.sample_evenly(members), mining.text_option).texts
    )


def refuse_index(mining: Mining, chosen: Sequence[Encoder]) -> None:
    """Raises NothingToMine where an approximate index could not hold what is searched."""
    lexical = any(map(encoders.is_lexical, chosen))
    if mining.approximate and (lexical or mining.fusion != Fusion.MEAN):
        raise NothingToMine(
            "An approximate index holds vectors: choose encoders of vectors and fusion by mean."
        )


def refuse_impossible(mining: Mining) -> None:
    """Raises what `perform_mining` would, before anything is forgotten of a mining that is done."""
    chosen = [known_encoders.find_encoder(name) for name in mining.encoders]
    refuse_index(mining, chosen)
    for one in chosen:
        _ = one.identity  # raises where its weights are not here


def mark_mining_started(mining: Mining) -> None:
    """Say that the work has begun, where no worker has said so."""
    begun = Mining.objects.filter(pk=mining.pk).exclude(state=Mining.State.RUNNING)
    begun.update(state=Mining.State.RUNNING, lease_until=timezone.now() + LEASE)


def begin_anew(mining: Mining) -> None:
    """Forget what was found so far: what was ordered has changed, or is wanted again."""
    mining.parts.all().delete()
    mining.shared.all().delete()
    mining.identities = mining.revisions = mining.recall = mining.overlaps = None
    mining.state = Mining.State.WAITING
    mining.save(
        update_fields=["identities", "revisions", "recall", "overlaps", "state", "fusion", "approximate"]
    )


def align_encoders(mining: Mining, chosen: Sequence[Encoder]) -> list[Encoder]:
    """The encoders as whoever came first runs them: with its weights, and in its precision.

    Raises OtherWeights, and encoders.UnknownEncoder where the name of a spec stands for another one.
    """
    known_encoders.keep_weights(chosen)
    own = {encoder.name: encoder.identity for encoder in chosen}
    revisions = known_encoders.revisions_of(chosen)
    Mining.objects.filter(pk=mining.pk, identities__isnull=True).update(identities=own, revisions=revisions)
    mining.refresh_from_db(fields=["identities", "revisions"])
    first = mining.identities or own
    return [
        match_encoder_precision(encoder, first.get(encoder.name, own[encoder.name])) for encoder in chosen
    ]


def match_encoder_precision(encoder: Encoder, wanted: str) -> Encoder:
    """`encoder` in the precision of `wanted`. Raises OtherWeights where that is not all that differs."""
    if encoder.identity != wanted and isinstance(encoder, TransformerEncoder):
        encoder = replace(encoder, wanted="bf16" if encoder.precision == "fp32" else "fp32")
    if encoder.identity != wanted:
        raise OtherWeights(
            f"The weights or options of {encoder.name} are not those that this mining began with "
            f"({encoder.identity}, not {wanted}). Bring the same weights to every machine, or restart it: "
            "cosqa admin mine ID --anew"
        )
    return encoder


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker needs to search any part of a mining; `members` are the ids of all snippets."""

    mining: Mining
    queries: Texts
    members: Sequence[int]
    encoders: Sequence[Encoder]
    rows: Vectorise
    frequencies: Mapping[str, Sequence[Frequencies]]

    def do(self, part: MiningPart, progress: StageProgress) -> None:
        """Measure a part, or search it, and keep what was found. Raises Unwanted."""
        if parts.has_unmeasured_parts(self.mining):
            texts = texts_of(self.members[part.start : part.stop], self.mining.text_option).texts
            parts.keep_largest(part, self.prepared(texts, {}, progress).largest())
        else:
            parts.store_part_lists(part, *self.search(part, progress))

    def prepared(
        self, texts: Sequence[str], largest: Mapping[str, Doubles], progress: StageProgress
    ) -> Prepared:
        options = Options(
            Fusion(self.mining.fusion), progress=progress, frequencies=self.frequencies, largest=largest
        )
        return encode_distinct_snippets(self.queries.texts, texts, self.encoders, self.rows, options)

    def search(self, part: MiningPart, progress: StageProgress) -> tuple[Lists, Lists | None]:
        """The k best snippets of one part for every query, and by each encoder alone for a few."""
        mining, asked = self.mining, self.queries.texts
        texts = texts_of(self.members[part.start : part.stop], mining.text_option).texts
        if mining.approximate:
            hits, recall = approximate.mine_approximately(
                asked, texts, self.encoders, mining.k, mining.approximate, self.rows, progress
            )
            Mining.objects.filter(pk=mining.pk).update(recall=asdict(recall))
        found = self.prepared(texts, parts.largest_of_all(mining), progress)
        best = hits if mining.approximate else found.best(mining.k)
        together = lists_of(best, texts, part.start, mining.encoders)
        return together, lists_alone(found, texts, part.start, mining.k)
