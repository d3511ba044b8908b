"""A run's ranked lists once more from stored vectors and counted terms, without any model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval import encoders
from retrieval.encoders.base import Encoder, Floats, Kind, Progress
from retrieval.evaluation.content import Content, NoCandidates, pool_of
from retrieval.evaluation.systems.search import Search, System, rank_snippets
from retrieval.evaluation.systems.second_stage import second_stage_of
from retrieval.filters import text_option
from retrieval.mining import known_encoders
from retrieval.models import Pool, Run
from retrieval.models.benchmarks import Places


class NotStored(Exception):
    """A run can't be searched again from what is stored here; the message says why."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """An encoder of which only vectors are there."""

    name: str
    identity: str
    dimension: int

    def encode(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Floats:
        """Raises NotStored."""
        raise NotStored(f"{len(texts):,} vectors of {self.name} are not stored here")


def searched_again(run: Run, content: Content, vectors: Path) -> Mapping[int, Places]:
    """The run's lists by query (id of its text), found anew. `vectors` is the folder of the vector store.

    Raises NotStored.
    """
    identities = run.options.get("identities")
    if not run.encoders or not identities:
        raise NotStored("its lists were uploaded, not searched here")
    if second_stage_of(run):
        raise NotStored("its reranker has no stored scores: 'cosqa evaluate' runs it once more")
    known = [
        restore_run_encoder(name, identity, vectors)
        for name, identity in zip(run.encoders, identities, strict=True)
    ]
    try:
        pool = pool_of(content, Pool(run.pool))
    except NoCandidates as why:
        raise NotStored(str(why)) from why
    how = Search(text_option(run.text_option), pool, vectors, run.options["depth"])
    return dict(rank_snippets(System(run.system, known), content, how))


def restore_run_encoder(name: str, identity: str, vectors: Path) -> Encoder:
    """The encoder that a run had: a lexical one as it is, of another its vectors. Raises NotStored."""
    try:
        found = known_encoders.find_encoder(name)
    except encoders.UnknownEncoder as why:
        raise NotStored(str(why)) from why
    if encoders.is_lexical(found):
        if found.identity != identity:
            raise NotStored(f"{name} has other options now: {found.identity}, not {identity}")
        return found
    for file in sorted(vectors.glob("*/encoder.json")):
        about = json.loads(file.read_text("utf-8"))
        if about["encoder"] == identity:
            return Remembered(name, identity, about["dimension"])
    raise NotStored(f"no vectors of {name} as it was are stored here")
