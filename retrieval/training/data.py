"""What a training learns from and is measured by, as plain texts and places."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from retrieval.training.settings import Settings

Progress: TypeAlias = Callable[[str, int, int], None]
"""Gets a stage in words, how much of it is done, and how much there is; 0 for what nobody knows."""
Pair: TypeAlias = tuple[int, int]
"""A query and a snippet, by their places."""
NAME: Final = re.compile(r"\bdef\s+(\w+)")
SHORTEST_NAME: Final = 12
"""Characters of a function's name that may stand for a query, as in CodeSearchNet's repository."""


def say_nothing(stage: str, done: int, total: int) -> None:
    """Nobody looks at the progress."""


class NothingToLearn(ValueError):
    """The benchmark leaves no pair to train on; the message says why."""


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """Queries of dev or test: all their matches are known, and every snippet is searched."""

    queries: Sequence[int]
    matches: Mapping[int, frozenset[int]]

    def pairs(self) -> list[Pair]:
        """One match of each query, the first one."""
        return [(query, min(self.matches[query])) for query in self.queries]


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Texts by place, the pairs that are learned, and dev and test queries with the whole code base.

    `searched`: the places of snippets that may be found. `matches` and `non_matches` are labels of training
    queries by their places. `about` is what the card says of all this. `digests` are those of the stored
    queries and snippets, empty for texts that are not stored.
    """

    queries: Sequence[str]
    snippets: Sequence[str]
    searched: Sequence[int]
    train: Sequence[Pair]
    matches: Mapping[int, frozenset[int]]
    non_matches: Mapping[int, Sequence[int]]
    dev: MeasuredPart
    test: MeasuredPart
    about: Mapping[str, Any] = field(default_factory=dict)
    digests: tuple[Sequence[str], Sequence[str]] = ((), ())

    @property
    def seen_digests(self) -> set[str]:
        """The digests of the texts of training pairs, and of dev queries, which choose the weights."""
        queries, snippets = self.digests
        if not queries:
            return set()
        learned = {digest for query, snippet in self.train for digest in (queries[query], snippets[snippet])}
        return learned | {queries[query] for query in self.dev.queries}

    @property
    def digest(self) -> str:
        """sha256 of the texts of training pairs and dev queries in their order: what decides the result."""
        found = hashlib.sha256()
        for query, snippet in (*self.train, *self.dev.pairs()):
            for text in (self.queries[query], self.snippets[snippet]):
                found.update(hashlib.sha256(text.encode("utf-8", "replace")).digest())
        for query in sorted(self.non_matches):
            found.update(
                repr((self.queries[query], sorted(self.non_matches[query]))).encode("utf-8", "replace")
            )
        return found.hexdigest()


@dataclass(frozen=True, slots=True)
class Example:
    """A query's text, the snippet that is to be found for it, and judged non-matches as further columns.

    `snippets` has the places of `texts`, `matches` those of all matches of the query.
    """

    query: str
    texts: Sequence[str]
    snippets: Sequence[int]
    matches: frozenset[int]


def draw_pairs(data: TrainingData, settings: Settings) -> TrainingData:
    """The data with as many training pairs as the settings allow, and with shuffled labels if they say so.

    Shuffled labels give each query the snippet of another pair: as many pairs, the same texts, no knowledge.
    """
    drawn = list(data.train)
    generator = random.Random(settings.seed)  # noqa: S311  # a seed is the point
    if 0 < settings.max_pairs < len(drawn):
        drawn = sorted(generator.sample(drawn, settings.max_pairs))
    if not settings.shuffles_labels:
        return replace(data, train=drawn)
    snippets = [snippet for _, snippet in drawn]
    generator.shuffle(snippets)
    shuffled = [(query, snippet) for (query, _), snippet in zip(drawn, snippets, strict=True)]
    return replace(data, train=shuffled, matches=group_matches(shuffled), non_matches={})


def group_matches(pairs: Iterable[Pair]) -> dict[int, frozenset[int]]:
    """By query the places of its snippets."""
    found: dict[int, set[int]] = {}
    for query, snippet in pairs:
        found.setdefault(query, set()).add(snippet)
    return {query: frozenset(snippets) for query, snippets in found.items()}


def make_examples(data: TrainingData, settings: Settings) -> list[Example]:
    """An example for each training pair. Raises `NothingToLearn`."""
    if not data.train:
        raise NothingToLearn("no pair is left to train on")
    if settings.hard_negatives and not any(data.non_matches.get(query) for query, _ in data.train):
        raise NothingToLearn(
            "no training query has a judged non-match of its own; leave the hard negatives out, or name a "
            "benchmark that judges several functions for each query"
        )
    generator = random.Random(settings.seed)  # noqa: S311  # a seed is the point
    found = []
    for query, snippet in data.train:
        judged = sorted(data.non_matches.get(query, ()))
        chosen = generator.sample(judged, min(settings.hard_negatives, len(judged)))
        asked, code = data.queries[query], data.snippets[snippet]
        if settings.names_as_queries and generator.random() < settings.names_as_queries:
            asked, code = ask_by_name(asked, code)
        texts = [code, *(data.snippets[place] for place in chosen)]
        found.append(Example(asked, texts, [snippet, *chosen], data.matches.get(query, frozenset())))
    return found


def ask_by_name(query: str, code: str) -> tuple[str, str]:
    """The function's name as the query, and the code without it; as they were where the name is short."""
    found = NAME.search(code)
    if found is None or len(found[1]) < SHORTEST_NAME:
        return query, code
    return found[1].replace("_", " ").strip(), re.sub(rf"\b{re.escape(found[1])}\b", "name", code)
