"""Which texts of a benchmark are in training data, too: a system that learned them is tested on its memory.

Found by the exact joins of near-duplicates (decision 49): no text is missed by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.exporting.splits import count_query_words
from retrieval.filters.bags import Bags
from retrieval.filters.duplicates import FEWEST_IDENTIFIERS, count_identifiers, digest_code, near_pairs
from retrieval.index import StageProgress
from retrieval.models import Benchmark, Collection
from retrieval.models.collections import MemberQuerySet
from retrieval.sources import Item, Problem, Query, Record, Snippet
from retrieval.sources.code.python_source import read_python_functions
from retrieval.sources.formats.table import Columns, guess_column_roles, peek_table_file, read_table_rows

ROWS_A_READ: Final = 2000


class NoTrainingTexts(ValueError):
    """What was named has no query and no function; the message says why."""


class Likeness(StrEnum):
    """How a text of the benchmark is like one of the training data."""

    SAME = "same text"
    NEAR = "near same"


@dataclass(frozen=True, slots=True)
class Told:
    """A text, and what it is called where it comes from. `key` is the id of a stored text, else 0."""

    text: str
    name: str
    key: int = 0


@dataclass(frozen=True, slots=True)
class TrainingTexts:
    """What was learned. `refused` counts what could not be read."""

    queries: Sequence[Told]
    functions: Sequence[Told]
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Shared:
    """A text of the benchmark and the first one of the training data that is like it."""

    own: Told
    other: Told
    likeness: Likeness


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the judged `texts` are shared, by likeness."""

    texts: int
    same: int
    near: int

    @property
    def share(self) -> float | None:
        """Of both kinds; None of nothing."""
        return (self.same + self.near) / self.texts if self.texts else None


@dataclass(frozen=True, slots=True)
class Contamination:
    """What a benchmark shares with training data.

    Of its matches: `matches` in all, `seen_functions` whose function is there, `seen_pairs` whose query is
    there, too.
    """

    queries: Sequence[Shared]
    functions: Sequence[Shared]
    query_share: Share
    function_share: Share
    matches: int
    seen_functions: int
    seen_pairs: int
    refused: int


def measure_contamination(
    benchmark: Benchmark, learned: TrainingTexts, progress: StageProgress | None = None
) -> Contamination:
    """Compare the judged queries and functions of a benchmark with training texts.

    Raises `NoTrainingTexts` where there are none.
    """
    if not learned.queries and not learned.functions:
        raise NoTrainingTexts("There is no query and no function in it, so there is nothing to compare.")
    rows = benchmark.labels.values_list("pair__query", "pair__snippet", "relevance")
    pairs = list(rows.iterator(ROWS_A_READ))
    asked = list(read_told(query_members(benchmark), {query for query, _, _ in pairs}))
    codes = list(read_told(snippet_members(benchmark), {snippet for _, snippet, _ in pairs}))
    queries = find_shared_texts(asked, learned.queries, QUERY_RULE, progress)
    functions = find_shared_texts(codes, learned.functions, CODE_RULE, progress)
    seen_queries = {found.own.key for found in queries}
    seen_codes = {found.own.key for found in functions}
    matches = [(query, snippet) for query, snippet, relevance in pairs if relevance > 0]
    seen = [query for query, snippet in matches if snippet in seen_codes]
    return Contamination(
        queries,
        functions,
        count_likeness(len(asked), queries),
        count_likeness(len(codes), functions),
        len(matches),
        len(seen),
        sum(query in seen_queries for query in seen),
        learned.refused,
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """When two texts are alike: what equal ones have in common, and of which words near ones are made.

    Texts with fewer words than `fewest` are compared as texts alone.
    """

    digest: Callable[[str], bytes]
    words: Callable[[str], Counter[str]]
    fewest: int
    stage: str


def digest_query(text: str) -> bytes:
    """What queries that are the same but for case and blanks have in common."""
    return digest_code(text.casefold())


QUERY_RULE: Final = Rule(digest_query, count_query_words, 1, "compare queries")
CODE_RULE: Final = Rule(digest_code, count_identifiers, FEWEST_IDENTIFIERS, "compare functions")


def find_shared_texts(
    own: Sequence[Told], others: Sequence[Told], rule: Rule, progress: StageProgress | None = None
) -> list[Shared]:
    """By place in `own`, each text that is in `others`, with the first that is the same, else near the same.

    Near: sets of words with a Jaccard similarity of 0.8 and multisets with 0.7. Directly, not by way of a
    third text.
    """
    first_of: dict[bytes, int] = {}
    for place, other in enumerate(others):
        first_of.setdefault(rule.digest(other.text), place)
    found = {
        place: (Likeness.SAME, first_of[digest])
        for place, told in enumerate(own)
        if (digest := rule.digest(told.text)) in first_of
    }
    bags = Bags()
    # Of the others each text once: their own copies are nobody's concern here.
    for place, text in enumerate_texts(own, others, found, first_of.values()):
        words = rule.words(text)
        if words.total() >= max(rule.fewest, 1):
            bags.add(place, words)
    near = near_pairs(bags, None if progress is None else lambda done, all_: progress(rule.stage, done, all_))
    for low, high in near:
        if low < len(own) <= high:
            known = found.get(low)
            if known is None or (known[0] is Likeness.NEAR and high - len(own) < known[1]):
                found[low] = (Likeness.NEAR, high - len(own))
    return [Shared(own[place], others[other], kind) for place, (kind, other) in sorted(found.items())]


def enumerate_texts(
    own: Sequence[Told], others: Sequence[Told], same: Mapping[int, object], firsts: Iterable[int]
) -> Iterator[tuple[int, str]]:
    """The texts to join by words, each with its place: those of `others` come behind all of `own`."""
    yield from ((place, told.text) for place, told in enumerate(own) if place not in same)
    yield from ((len(own) + place, others[place].text) for place in firsts)


def count_likeness(texts: int, found: Iterable[Shared]) -> Share:
    kinds = Counter(shared.likeness for shared in found)
    return Share(texts, kinds[Likeness.SAME], kinds[Likeness.NEAR])


def read_told(members: MemberQuerySet, texts: set[int] | None = None) -> Iterator[Told]:
    """The texts of members by position, of all or of these ids, each with its source id."""
    for row in members.select_related("text__body").iterator(ROWS_A_READ):
        if texts is None or row.text_id in texts:
            yield Told(row.text.text, row.source_id, row.text_id)


def read_collection_texts(collection: Collection) -> TrainingTexts:
    """All members of a stored collection."""
    told = list(read_told(collection.members.order_by("position")))
    is_queries = collection.kind == Collection.Kind.QUERIES
    return TrainingTexts(told, ()) if is_queries else TrainingTexts((), told)


def read_table_texts(path: Path) -> TrainingTexts:
    """Queries and functions of a table: CSV, JSON, JSON Lines or Parquet, also packed; columns are guessed.

    Raises `NoTrainingTexts` for a file in which neither is found.
    """
    seen = peek_table_file(path)
    if isinstance(seen, Problem):
        raise NoTrainingTexts(str(seen))
    roles = guess_column_roles(seen)
    if not roles["query"] and not roles["snippet"]:
        raise NoTrainingTexts(
            f"{path}: no column is called query or code; it has {', '.join(seen.columns)[:200]}"
        )
    columns = Columns(query=roles["query"], snippet=roles["snippet"])
    return collect_texts(read_table_rows(path, columns))


def read_code_texts(place: Path | str) -> TrainingTexts:
    """The Python functions of a file, folder, wheel, zip, packed source or Git repository, or of "stdlib"."""
    return collect_texts(
        row if isinstance(row, Problem) else Snippet(row.text, row.source_id, row.origin)
        for row in read_python_functions(place)
    )


def collect_texts(items: Iterable[Item | Record]) -> TrainingTexts:
    """Queries and functions apart; what can't be read is counted."""
    queries, functions, refused = list[Told](), list[Told](), 0
    for item in items:
        match item:
            case Problem():
                refused += 1
            case Query():
                queries.append(Told(item.text, item.source_id))
            case Snippet():
                functions.append(Told(item.text, item.source_id))
    return TrainingTexts(queries, functions, refused)
