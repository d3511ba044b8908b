"""The pairs of a file, found in the database by the hashes of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from annotation.quality.answers import BenchPair
from annotation.quality.inputs.files import BadFile, GivenPair
from retrieval.models import Alias, Collection, Member, Pair, Text
from retrieval.models.blobs import digest_of
from retrieval.models.texts import canonicalize_text

AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class PlacedPair:
    """A pair with its texts, and its row (id) in the database; None where nobody has ever judged it here."""

    pair: BenchPair
    query: str
    code: str
    row: int | None


def place_bench_pairs(
    given: Sequence[GivenPair], name: str, queries: Collection | None, snippets: Collection | None
) -> tuple[PlacedPair, ...]:
    """The pairs in their order; those by ids are members of the collections. Raises BadFile."""
    texts = resolve_pair_texts(given, name, queries, snippets)
    hashes = {
        pair: (digest_of(canonicalize_text(query)), digest_of(canonicalize_text(code)))
        for pair, (query, code) in texts.items()
    }
    refuse_same(hashes, name)
    ids = Text.objects.ids_of(sorted({digest for both in hashes.values() for digest in both}))
    rows = pair_ids_of_texts(
        {pair: (ids[one], ids[two]) for pair, (one, two) in hashes.items() if {one, two} <= ids.keys()}
    )
    return tuple(
        PlacedPair(BenchPair(pair.id, hashes[pair.id][0], pair.stratum), *texts[pair.id], rows.get(pair.id))
        for pair in given
    )


def refuse_same(hashes: Mapping[str, tuple[str, str]], name: str) -> None:
    """Raises BadFile where two pairs are the same query and code: it would count twice."""
    first = dict[tuple[str, str], str]()
    problems = []
    for pair, both in hashes.items():
        if both in first:
            problems.append(f"pair {pair!r}: the same query and code as pair {first[both]!r}")
        first.setdefault(both, pair)
    if problems:
        raise BadFile(name, problems)


def pair_ids_of_texts(texts: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """The stored pairs of (query, snippet) texts."""
    known = dict[tuple[int, int], int]()
    queries = sorted({query for query, _ in texts.values()})
    for start in range(0, len(queries), AT_ONCE):
        some = Pair.objects.filter(query__in=queries[start : start + AT_ONCE])
        known |= {(query, code): pk for pk, query, code in some.values_list("pk", "query_id", "snippet_id")}
    return {pair: known[both] for pair, both in texts.items() if both in known}


def resolve_pair_texts(
    given: Sequence[GivenPair], name: str, queries: Collection | None, snippets: Collection | None
) -> dict[str, tuple[str, str]]:
    """The texts of each pair. Raises BadFile."""
    by_ids = [pair for pair in given if pair.by_ids]
    if by_ids and (queries is None or snippets is None):
        raise BadFile(name, [f"pair {by_ids[0].id!r}: ids need a collection of queries and one of functions"])
    asked = texts_of(queries, (pair.query_id for pair in by_ids))
    codes = texts_of(snippets, (pair.code_id for pair in by_ids))
    problems = [
        f"pair {pair.id!r}: no query {pair.query_id!r}" for pair in by_ids if pair.query_id not in asked
    ]
    problems += [
        f"pair {pair.id!r}: no function {pair.code_id!r}" for pair in by_ids if pair.code_id not in codes
    ]
    if problems:
        raise BadFile(name, problems)
    return {
        pair.id: (asked[pair.query_id], codes[pair.code_id]) if pair.by_ids else (pair.query, pair.code)
        for pair in given
    }


def texts_of(collection: Collection | None, wanted: Iterable[str]) -> dict[str, str]:
    """The members' texts by their ids in the source."""
    ids, found = sorted(set(wanted)), dict[str, str]()
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        for kind in (Alias, Member):
            rows = kind._default_manager.filter(collection=collection, source_id__in=some)
            found |= {row.source_id: row.text.text for row in rows.select_related("text__body")}
    return found
