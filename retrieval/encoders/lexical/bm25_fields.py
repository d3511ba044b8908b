"""BM25 over two fields of a snippet: its name, split into subtokens, and its whole text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from retrieval.encoders.base import Doubles, LexicalScores, TermWeights, score_by_terms
from retrieval.encoders.lexical.bm25 import BM25, BM25Index
from retrieval.encoders.lexical.frequencies import Frequencies

DEFINED = re.compile(r"\b(?:def|func|function|fn|sub)\s+(?:self\.)?(\w+[?!]?)")
CALLED = re.compile(r"(\w+)\s*\(")


def find_snippet_name(code: str) -> str:
    """The first name that a snippet defines, else the first one before a parenthesis; empty where none is.

    >>> name_of("def readCSV(path):\\n    return open(path)\\n")
    'readCSV'
    """
    found = DEFINED.search(code) or CALLED.search(code)
    return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class FieldedIndex:
    """One BM25 index a field."""

    names: BM25Index
    texts: BM25Index

    def scores(self, queries: Sequence[str]) -> LexicalScores:
        """Raw score = sum of the fields' BM25 sums."""
        return score_by_terms(self, queries)

    def weigh_terms(self, queries: Sequence[str]) -> Sequence[TermWeights]:
        """Those of the names, and those of the texts."""
        return [*self.names.weigh_terms(queries), *self.texts.weigh_terms(queries)]

    def bound_scores(self, queries: Sequence[str]) -> Doubles:
        """The sum of the fields' bounds."""
        return self.names.bound_scores(queries) + self.texts.bound_scores(queries)


@dataclass(frozen=True, slots=True)
class FieldedBM25:
    """CodeSearchNet's ElasticSearch baseline (arXiv 1909.09436, §4.2): fields name and text.

    The paper does not say how the fields' scores become one; here they are added, each with its own document
    frequencies and lengths, as ElasticSearch's `most_fields` does.
    """

    one: BM25 = field(default_factory=BM25)
    name: str = "bm25-fields"

    @property
    def identity(self) -> str:
        """Name and the parameters of both fields."""
        return f"{self.name};{self.one.identity}"

    def fields(self, snippet: str) -> tuple[str, ...]:
        """Name and text."""
        return find_snippet_name(snippet), snippet

    def fit(self, snippets: Sequence[str], known: Sequence[Frequencies] = ()) -> FieldedIndex:
        """Index a collection, or a part of one of which the frequencies of both fields are known."""
        names = self.one.fit([find_snippet_name(code) for code in snippets], known[:1])
        return FieldedIndex(names, self.one.fit(snippets, known[1:]))
