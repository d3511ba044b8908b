"""What formats have no place for: the source of each label, the origins of members, and what is unjudged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.exporting.content import MemberEntry, Subject
from retrieval.exporting.files import PROVENANCE, Output
from retrieval.exporting.labels import Ids, Pairs, Places
from retrieval.licences import classify_licence
from retrieval.models import Alias, Pool

LABELS = f"{PROVENANCE}/labels.jsonl"
QUERIES = f"{PROVENANCE}/queries.jsonl"
SNIPPETS = f"{PROVENANCE}/codebase.jsonl"
WITHHELD = f"{PROVENANCE}/withheld.jsonl"
WITHHELD_PAIRS = f"{PROVENANCE}/withheld_pairs.jsonl"
UNJUDGED = f"{PROVENANCE}/unjudged.jsonl"
CANDIDATES = f"{PROVENANCE}/candidates.jsonl"
ALIASES = f"{PROVENANCE}/aliases.jsonl"
DISTRACTORS = f"{PROVENANCE}/distractors.jsonl"
ROWS_A_READ = 2000
NOT_KNOWN = "not known"
WHY_NOT_KNOWN = "the benchmark was made of labels, so nobody knows which pairs were candidates"


def note_member_origins(entries: Iterator[MemberEntry], key: str, output: Output) -> Iterator[MemberEntry]:
    """Pass the members on, and note of each where it came from."""
    for entry in entries:
        output.line(
            {
                key: entry.number,
                "source_id": entry.source_id,
                "origin": entry.origin,
                "licence": entry.licence,
                "rules": entry.rules,
            }
        )
        yield entry


def write_labels(subject: Subject, pairs: Pairs, folder: Path, name: str = LABELS) -> int:
    """A line for each pair, in the order of pairs: who gave the label, assisted or blind, and how."""
    givers = [json.dumps(giver.as_json())[1:].encode() for giver in pairs.known]
    asked, code = subject.query_numbers, subject.snippet_numbers
    with Output(folder, name) as output:
        for query, snippet, relevance, giver in pairs.rows():
            told = (asked[query], code[snippet], _number(relevance), givers[giver])
            output.add(b'{"query-idx": %d, "code-idx": %d, "relevance": %b, %b\n' % told)
    return output.count


def _number(relevance: float) -> bytes:
    return b"%d" % relevance if relevance.is_integer() else repr(relevance).encode()


def write_withheld(subject: Subject, folder: Path) -> None:
    """What is withheld, as origin and hash with the reason, and its pairs; no file where that is nothing."""
    if not subject.held_queries.count + subject.held_snippets.count:
        return
    with Output(folder, WITHHELD) as output:
        for entries, key, held in (
            (subject.queries(), "query-idx", subject.held_queries),
            (subject.snippets(), "code-idx", subject.held_snippets),
        ):
            for entry in entries if held.count else ():
                if held.mask[entry.position]:
                    output.line(_known_of(entry, key))
    write_labels(subject, subject.withheld_pairs, folder, WITHHELD_PAIRS)


def _known_of(entry: MemberEntry, key: str) -> dict[str, object]:
    """What is written of a member that is withheld."""
    return {
        key: entry.number,
        "sha256": entry.digest,
        "source_id": entry.source_id,
        "origin": entry.origin,
        "licence": entry.licence,
        "reason": classify_licence(entry.licence).value,
    }


def write_aliases(subject: Subject, folder: Path) -> int:
    """Further ids of the texts that are written once, and how many there are; no file where that is none."""
    benchmark = subject.benchmark
    sides = (
        (benchmark.queries, query_members(benchmark), "query-idx", subject.query_numbers),
        (benchmark.snippets, snippet_members(benchmark), "code-idx", subject.snippet_numbers),
    )
    if subject.by_ids or not Alias.objects.filter(collection__in=[side[0] for side in sides]).exists():
        return 0
    with Output(folder, ALIASES) as output:
        for collection, members, key, numbers in sides:
            place_of = dict(members.values_list("text_id", "position"))
            rows = collection.aliases.order_by("number").values_list("text_id", "source_id")
            for text, name in rows.iterator():
                if text in place_of:
                    output.line({key: int(numbers[place_of[text]]), "source_id": name})
    return output.count


def write_distractors(subject: Subject, folder: Path) -> int:
    """A line for each match with a planted bug: of which match it was made, how, and what proved it.

    Of one that is withheld no code is told. Says how many there are; no file where that is none.
    """
    rows = list(list_distractors(subject))
    if rows:
        with Output(folder, DISTRACTORS) as output:
            for row in rows:
                output.line(row)
    return len(rows)


def list_distractors(subject: Subject) -> Iterator[dict[str, object]]:
    """The distractors of a benchmark as records; their ids are those of the export."""
    found = subject.benchmark.distractors.select_related("pair")
    queries, snippets = Places.of(subject.query_ids), Places.of(subject.snippet_ids)
    for row in found.iterator(ROWS_A_READ):
        query = int(queries.many(np.array([row.pair.query_id]))[0])
        code, parent = snippets.many(np.array([row.pair.snippet_id, row.parent_id])).tolist()
        is_open = not subject.held_snippets.mask[[code, parent]].any()
        yield {
            "query-idx": int(subject.query_numbers[query]),
            "code-idx": int(subject.snippet_numbers[code]),
            "parent-code-idx": int(subject.snippet_numbers[parent]),
            "kind": row.kind,
            "line": row.line,
            "before": row.before if is_open else None,
            "after": row.after if is_open else None,
            "program": row.program,
            "program-text": row.source if is_open else None,
            "run": row.run,
        }


def write_candidates(subject: Subject, folder: Path) -> int | None:
    """The candidates that have no label, and all of them where they are what is searched.

    Says how many have none; None where the benchmark was not made of a mining: the file says that then.
    """
    if subject.benchmark.mining_id is None:
        with Output(folder, UNJUDGED) as unjudged:
            unjudged.line({"unjudged": NOT_KNOWN, "why": WHY_NOT_KNOWN})
        return None
    judged = np.sort(_keys(subject, subject.pairs.queries, subject.pairs.snippets))
    asked, code = subject.query_numbers, subject.snippet_numbers
    with Output(folder, UNJUDGED) as unjudged:
        for query, snippet, _, _ in subject.candidates():
            key = query * len(subject.snippet_ids) + snippet
            place = int(np.searchsorted(judged, key))
            if place == len(judged) or judged[place] != key:
                unjudged.add(b'{"query-idx": %d, "code-idx": %d}\n' % (asked[query], code[snippet]))
    if subject.benchmark.pool == Pool.CANDIDATES:
        with Output(folder, CANDIDATES) as candidates:
            for query, snippet, rank, score in subject.candidates():
                told = (asked[query], code[snippet], rank, json.dumps(score).encode())
                candidates.add(b'{"query-idx": %d, "code-idx": %d, "rank": %d, "score": %b}\n' % told)
    return unjudged.count


def _keys(subject: Subject, queries: Ids, snippets: Ids) -> Ids:
    return queries * len(subject.snippet_ids) + snippets
