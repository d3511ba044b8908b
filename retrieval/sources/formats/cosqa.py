"""CoSQA's and CoSQA+'s JSON files: queries, code bases and the labels that came with them.

Queries, and labelled pairs: a JSON array of objects with `doc` (CoSQA) or `query` (CoSQA+), and for pairs
`code` and `label`. Code base: `code_idx_map.txt`, a JSON object from function to index, or an array of
objects with `code`; without one, the code of the pairs. Other keys are ignored. Labels stand beside both
texts, so a file may have no ids: its records are called by their numbers, from 0. Then none may have one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retrieval.sources import GivenLabel, Problem, Record
from retrieval.sources.readers.json_stream import Element, stream_json_elements
from retrieval.sources.readers.records import IdsOfFile, Refused, name_of_record
from retrieval.sources.readers.seen_ids import Seen, hash_of_text

QUERY_TEXT = ("doc", "query")
ANY_ID = ("idx", "_id", "id")
"""Of a pair: `idx` is its query's, and the others are its own."""
QUERY_ID = ("query-idx", "query_idx", "query-id", "query_id", "queryid", "qid", *ANY_ID)
CODE_TEXT = ("code",)
CODE_ID = ("code-idx", "code_idx", "code-id", "code_id", "codeid", "retrieval_idx", *ANY_ID)
PAIR_NAME = re.compile(r"cosqa-[a-z]+-([0-9]{1,18})")
LABELS = (0, 1)

__all__ = [
    "GivenLabel",
    "TextsById",
    "has_label",
    "read_code_of_pairs",
    "read_labels",
    "read_pair_label",
    "read_pairs",
    "read_queries",
    "read_snippets",
]


class _WrongShape(ValueError):
    """A record is not what the format says; the message tells what was expected."""


class TextsById:
    """What the ids of an import stand for, in all of its files: one text each, and the first counts.

    `queries_in` and `code_in` are files that have all queries and all code; None where the pairs bring their
    own. A pair of a text that such a file lacks is refused: nobody would find it. That takes some 60 bytes a
    text. `has_labels`: whether a record of what `read_queries` read had one.
    """

    def __init__(self, queries_in: Path | None = None, code_in: Path | None = None) -> None:
        self.queries, self.snippets = Seen(), Seen()
        self.homes: dict[tuple[str, ...], Path | None] = {QUERY_ID: queries_in, CODE_ID: code_in}
        self.there: dict[tuple[str, ...], set[int]] = {QUERY_ID: set(), CODE_ID: set()}
        self.has_labels = False

    def keep(self, text: str, id_keys: tuple[str, ...]) -> None:
        """Note a text that was read, as a query or as code."""
        if self.homes[id_keys]:
            self.there[id_keys].add(hash_of_text(text))

    def why_absent(self, text: str, id_keys: tuple[str, ...]) -> str:
        """Why a pair is refused of a text that the file of all lacks; mostly empty."""
        home = self.homes[id_keys]
        if home is None or hash_of_text(text) in self.there[id_keys]:
            return ""
        what = "query" if id_keys == QUERY_ID else "code"
        return f"its {what} is not in {home.name}: add it there, or take the pair out"

    def why_other(self, element: Element, text: str, id_keys: tuple[str, ...]) -> str:
        """Why a record is refused whose id stood for another text before; mostly empty."""
        if not isinstance(element.value, dict) or not (name := _given_id(element, id_keys)):
            return ""
        return (self.queries if id_keys == QUERY_ID else self.snippets).refusal(name, text)


def read_queries(path: Path, licence: str = "", known: TextsById | None = None) -> Iterator[Record | Problem]:
    """Yield the queries of a file of queries or pairs; a query of several pairs comes once for each.

    `known` is one for all readers of an import: what an id of one file means, it means in the others.
    """
    known, ids = known or TextsById(), IdsOfFile()
    for element in stream_json_elements(path):
        found = _known_record(element, path, QUERY_TEXT, QUERY_ID, licence, ids, known)
        may_be_judged = _may_be_judged(element)
        known.has_labels = known.has_labels or may_be_judged
        yield found.with_labels if isinstance(found, Problem) and may_be_judged else found


def read_snippets(
    path: Path, licence: str = "", known: TextsById | None = None
) -> Iterator[Record | Problem]:
    """Yield the functions of a code base."""
    known, ids = known or TextsById(), IdsOfFile()
    for element in stream_json_elements(path):
        if isinstance(element, Element) and element.key is not None:
            yield _mapped(element, element.key, path, licence, known)
        else:
            yield _known_record(element, path, CODE_TEXT, CODE_ID, licence, ids, known)


def read_code_of_pairs(
    path: Path, licence: str = "", known: TextsById | None = None
) -> Iterator[Record | Problem]:
    """Yield the code of a file of pairs, once for each; records without any (queries) are passed over.

    So are records that `read_queries` or, where they have a label, `read_labels` tells of.
    """
    known, ids = known or TextsById(), IdsOfFile()
    for element in stream_json_elements(path):
        if not isinstance(element, Element) or not isinstance(element.value, dict):
            continue
        if any(key in element.value for key in CODE_TEXT):
            found = _known_record(element, path, CODE_TEXT, CODE_ID, licence, ids, known)
            if isinstance(found, Record) or not has_label(element.value):
                yield found


def read_labels(path: Path, known: TextsById | None = None) -> Iterator[GivenLabel | Problem]:
    """Yield the labels of a file of pairs; records without a label (a file of queries) are passed over.

    So are records without a readable query, which `read_queries` tells of.
    """
    known, ids = known or TextsById(), IdsOfFile()
    for element in stream_json_elements(path):
        query = _known_record(element, path, QUERY_TEXT, QUERY_ID, "", ids, known)
        if isinstance(element, Element) and isinstance(query, Record) and has_label(element.value):
            yield read_pair_label(element, path, known)


def read_pairs(path: Path, known: TextsById | None = None) -> Iterator[GivenLabel | Problem]:
    """Yield the labels of a file of pairs whose queries have a file of their own.

    Nobody else tells what can't be read in it; records without a label are passed over.
    """
    known = known or TextsById()
    for element in stream_json_elements(path):
        if isinstance(element, Problem):
            yield element.with_labels
        elif not isinstance(element.value, dict) or has_label(element.value):
            yield read_pair_label(element, path, known)


def _known_record(
    element: Element | Problem,
    path: Path,
    text_keys: Sequence[str],
    id_keys: tuple[str, ...],
    licence: str,
    ids: IdsOfFile,
    known: TextsById,
) -> Record | Problem:
    """As `_record`; a problem also where the record's id stood for another text before."""
    found = _record(element, path, text_keys, id_keys, licence, ids)
    if isinstance(found, Problem) or isinstance(element, Problem):
        return found
    if found.has_id and (why := known.why_other(element, found.text, id_keys)):
        return Problem(str(path), element.number, why)
    known.keep(found.text, id_keys)
    return found


def _record(
    element: Element | Problem,
    path: Path,
    text_keys: Sequence[str],
    id_keys: tuple[str, ...],
    licence: str,
    ids: IdsOfFile,
) -> Record | Problem:
    if isinstance(element, Problem):
        return element
    try:
        text = _find_text(element.value, text_keys)
        name, read = ids.read(element.number, element.value, id_keys)
    except (_WrongShape, Refused) as wrong:
        return Problem(str(path), element.number, str(wrong))
    has_id = bool(_given_id(element, id_keys))
    return Record(text, name, path.name, licence, read, has_id, has_id)


def _mapped(element: Element, code: str, path: Path, licence: str, known: TextsById) -> Record | Problem:
    if not isinstance(element.value, int) or isinstance(element.value, bool) or not code.strip():
        message = f"expected a function and its index, found {code[:20]!r}: {str(element.value)[:20]!r}"
        return Problem(str(path), element.number, message)
    if why := known.snippets.refusal(str(element.value), code):
        return Problem(str(path), element.number, why)
    known.keep(code, CODE_ID)
    return Record(code, str(element.value), path.name, licence, "the map from code to index", is_key=True)


def has_label(record: dict[str, Any]) -> bool:
    """Whether a pair is judged; data frames write one that isn't as null."""
    return record.get("label") is not None


def _may_be_judged(element: Element | Problem) -> bool:
    """Whether a label is lost with a record of a file that may have pairs."""
    if isinstance(element, Problem):
        return True
    return isinstance(element.value, dict) and has_label(element.value)


def read_pair_label(element: Element, path: Path, known: TextsById) -> GivenLabel | Problem:
    """The label of one pair of a file; its ids must mean the texts that stand beside them, and these must be
    where all are.
    """
    try:
        query, snippet = _find_text(element.value, QUERY_TEXT), _find_text(element.value, CODE_TEXT)
        value = element.value["label"]
        if isinstance(value, bool) or value not in LABELS:
            number = ", a number" if isinstance(value, str) else ""
            raise _WrongShape(f'"label" is {str(value)[:20]!r}; expected 0 or 1{number}')
        for text, keys in ((query, QUERY_ID), (snippet, CODE_ID)):
            if why := known.why_other(element, text, keys) or known.why_absent(text, keys):
                raise _WrongShape(why)
    except _WrongShape as wrong:
        return Problem(str(path), element.number, str(wrong), costs_labels=True)
    given = [_named_id(element, keys) for keys in (QUERY_ID, CODE_ID)]
    read = " and ".join(key for _, key in given if key)
    return GivenLabel(query, snippet, int(value), "binary", given[0][0], given[1][0], read)


def _given_id(element: Element, keys: Sequence[str]) -> str:
    """The id that a record gives to its query or code; empty where it has none that can be read."""
    return _named_id(element, keys)[0]


def _named_id(element: Element, keys: Sequence[str]) -> tuple[str, str]:
    """The same, and the key under which it stands, empty for none.

    Of a pair, `idx` is the query's: CoCLR asks each record's query for the code of its `retrieval_idx`. But
    `cosqa-train-7` in the record of number 7 is the pair's, of which a query may have several.
    """
    record = element.value
    if not (there := [key for key in keys if key in record]):
        return "", ""
    if any(key in record for key in QUERY_TEXT) and any(key in record for key in CODE_TEXT):
        is_querys = keys == QUERY_ID and not _is_pair_name(element)
        there = [key for key in there if key not in ANY_ID or (key == "idx" and is_querys)]
    found = ((name_of_record(record, [key], ""), key) for key in there)
    return next((named for named in found if named[0]), ("", ""))


def _is_pair_name(element: Element) -> bool:
    name = PAIR_NAME.fullmatch(str(element.value.get("idx")))
    return name is not None and int(name[1]) == element.number - 1


def _find_text(value: Any, keys: Sequence[str]) -> str:
    key = next((key for key in keys if key in value), None) if isinstance(value, dict) else None
    if key is None:
        raise _WrongShape(_lacks_text(value, keys))
    if not isinstance(value[key], str) or not value[key].strip():
        raise _WrongShape(f'"{key}" must be a text that is not empty, found {str(value[key])[:20]!r}')
    return str(value[key])


def _lacks_text(value: Any, keys: Sequence[str]) -> str:
    """Why a record has none of the keys."""
    wanted = " or ".join(f'"{key}"' for key in keys)
    if not isinstance(value, dict):
        return f"expected an object with {wanted}, found {str(value)[:20]!r}"
    has = ", ".join(f'"{name}"' for name in list(value)[:8]) or "nothing"
    return f"has no {wanted}; it has {has}"
