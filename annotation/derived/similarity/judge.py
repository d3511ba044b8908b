"""Code that is similar to a known answer counts as a match, as in Neural Code Search (arXiv 1908.09804).

No model and no person is asked. A pair whose code can't be compared gets an empty label: it could not be
judged, which is never "no match".
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final

from django.db import transaction

from retrieval.corpus.languages import UNKNOWN, language_expression
from retrieval.evaluation.content import Content, content_of, query_members, snippet_members
from retrieval.models import Annotator, Benchmark, Collection, Label, Pair, RankedList, Run, Text
from retrieval.models.benchmarks import NOWHERE
from retrieval.sources.code.aroma import GRAMMARS, THRESHOLD, Shape, compare_shapes, shape_of

NAME: Final = "Aroma similarity"
LANGUAGES: Final = tuple(GRAMMARS)
MOST_DEPTH: Final = 100
PAIRS_AT_ONCE: Final = 200
ROWS_A_READ: Final = 2_000
SHAPES_KEPT: Final = 5_000
FEATURES: Final = 1
"""Goes up where the same code gets other features: then it is another annotator."""
Tick = Callable[[int, int], None]
"""Called with (pairs done, pairs in all)."""
Answers = Mapping[int, Sequence[int]]
"""Texts of answers by the text of their query (ids)."""


class NotComparable(ValueError):
    """Nothing can be judged by similarity; the message says what to do."""


class Unjudged(StrEnum):
    """Why a pair could not be judged."""

    NO_ANSWER = "no other answer is known for the query"
    LANGUAGE = "the function is in another language"
    CODE = "the function can not be read"
    ANSWER = "no answer can be read"


@dataclass(frozen=True, slots=True)
class SimilarityChoice:
    """The language of functions and answers, from which similarity on a function is a match, and how many
    results of each run are judged beside the pairs that have a label.

    `answers` are snippets whose source ids are those of the queries; None: the benchmark's matches.
    """

    language: str = "python"
    threshold: float = THRESHOLD
    depth: int = 10
    answers: Collection | None = None


@dataclass(frozen=True, slots=True)
class SimilarityVerdict:
    """How similar a function is to the answer that is most like it, or why it could not be judged."""

    similarity: float = 0.0
    unjudged: Unjudged | None = None

    def label(self, threshold: float) -> int | None:
        return None if self.unjudged else int(self.similarity >= threshold)

    def __str__(self) -> str:
        if self.unjudged:
            return f"could not judge: {self.unjudged}"
        return f"similarity {self.similarity:.3f} to the most similar answer"


@dataclass(slots=True)
class Judged:
    """Who judged, and what: pairs by label, and pairs that could not be judged by reason."""

    annotator: Annotator
    labels: Counter[int] = field(default_factory=Counter)
    unjudged: Counter[Unjudged] = field(default_factory=Counter)

    @property
    def pairs(self) -> int:
        return self.labels.total() + self.unjudged.total()


def judge_similarity(
    benchmark: Benchmark, choice: SimilarityChoice, tick: Tick = lambda done, total: None
) -> Judged:
    """Judge the benchmark's labelled pairs and the first results of its runs; labels are stored as they come.

    Doing it twice stores each label once. Raises NotComparable where no query has an answer.
    """
    content = content_of(benchmark)
    answers = find_answers(benchmark, choice)
    if not answers:
        raise NotComparable(
            f"No query of {benchmark} has an answer: its source ids are none of those of {choice.answers}."
            if choice.answers
            else f"{benchmark} has no match to compare with: name a collection of answers."
        )
    judged = Judged(similarity_annotator(choice, answers))
    languages = find_languages(benchmark)
    keys = list_pairs(benchmark, content, choice.depth)
    compare = Comparison(choice.language)
    for start in range(0, len(keys), PAIRS_AT_ONCE):
        tick(start, len(keys))
        some = keys[start : start + PAIRS_AT_ONCE]
        judge_some(some, answers, languages, compare, choice, judged)
    tick(len(keys), len(keys))
    return judged


def find_answers(benchmark: Benchmark, choice: SimilarityChoice) -> Answers:
    """The answers of the benchmark's queries: members of a collection by source id, else its matches."""
    found: dict[int, list[int]] = defaultdict(list)
    rows: Iterable[tuple[int, int]]
    if choice.answers is None:
        matches = benchmark.labels.filter(relevance__gt=0).order_by("pair")
        rows = matches.values_list("pair__query", "pair__snippet")
    else:
        queries = dict(query_members(benchmark).exclude(source_id="").values_list("source_id", "text"))
        members = choice.answers.members.exclude(source_id="").order_by("position")
        rows = (
            (queries[name], text)
            for name, text in members.values_list("source_id", "text").iterator(ROWS_A_READ)
            if name in queries
        )
    for query, text in rows:
        found[query].append(text)
    return found


def similarity_annotator(choice: SimilarityChoice, answers: Answers) -> Annotator:
    """The judge with these settings and these answers: with others it is another annotator."""
    pairs = [(query, text) for query, texts in answers.items() for text in texts]
    keys = sorted({key for pair in pairs for key in pair})
    digests = dict[int, str]()
    for start in range(0, len(keys), ROWS_A_READ):
        some = Text.objects.filter(pk__in=keys[start : start + ROWS_A_READ])
        digests |= dict(some.values_list("pk", "body_id"))
    told = sorted((digests[query], digests[text]) for query, text in pairs)
    config = {
        "method": "aroma",
        "features": FEATURES,
        "language": choice.language,
        "threshold": choice.threshold,
        "answers": hashlib.sha256(json.dumps(told).encode()).hexdigest(),
    }
    return Annotator.objects.version(Annotator.Kind.SIMILARITY, NAME, config)


def find_languages(benchmark: Benchmark) -> dict[int, str]:
    """The language of each function that states one, in lower case, by its text."""
    rows = snippet_members(benchmark).annotate(written_in=language_expression())
    stated = rows.exclude(written_in=UNKNOWN).values_list("text", "written_in")
    return {text: language.lower() for text, language in stated.iterator(ROWS_A_READ)}


def list_pairs(benchmark: Benchmark, content: Content, depth: int) -> list[tuple[int, int]]:
    """The pairs (texts of query and function) with a label, then the first results of each run; each once."""
    rows = benchmark.labels.order_by("pair").values_list("pair__query", "pair__snippet")
    found = dict.fromkeys(rows.iterator(ROWS_A_READ))
    lists = RankedList.objects.filter(run__in=Run.objects.filter(benchmark=benchmark)).order_by("pk")
    for listed in lists.iterator(ROWS_A_READ) if depth else ():
        query = content.text_of_query(listed.key)
        places = array("q", listed.places[:depth].tolist())
        found.update(((query, content.snippets[place]), None) for place in places if place != NOWHERE)
    return list(found)


class Comparison:
    """Compares texts by their ids; the features of those that came last are kept."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.texts = dict[int, Text]()
        self.shape = lru_cache(SHAPES_KEPT)(self._shape)

    def _shape(self, text: int) -> Shape:
        return shape_of(self.texts[text].text, self.language)

    def load(self, texts: set[int]) -> None:
        """Read the texts that are compared next."""
        self.texts = Text.objects.select_related("body").in_bulk(texts)

    def judge(self, snippet: int, answers: Sequence[int], language: str) -> SimilarityVerdict:
        """A function and the answers of its query, of which it may be one. No language: not stated."""
        others = [answer for answer in answers if answer != snippet]
        if not others:
            return SimilarityVerdict(unjudged=Unjudged.NO_ANSWER)
        if language and language != self.language:
            return SimilarityVerdict(unjudged=Unjudged.LANGUAGE)
        code = self.shape(snippet)
        if not code.is_readable:
            return SimilarityVerdict(unjudged=Unjudged.CODE)
        shapes = [shape for shape in map(self.shape, others) if shape.is_readable]
        if not shapes:
            return SimilarityVerdict(unjudged=Unjudged.ANSWER)
        return SimilarityVerdict(max(compare_shapes(code, shape) for shape in shapes))


def judge_some(
    keys: Sequence[tuple[int, int]],
    answers: Answers,
    languages: Mapping[int, str],
    compare: Comparison,
    choice: SimilarityChoice,
    judged: Judged,
) -> None:
    """Judge a handful of pairs, and store their labels."""
    compare.load(
        {snippet for _, snippet in keys} | {text for query, _ in keys for text in answers.get(query, ())}
    )
    verdicts = [
        compare.judge(snippet, answers.get(query, ()), languages.get(snippet, "")) for query, snippet in keys
    ]
    with transaction.atomic():
        pairs = Pair.objects.keep_all(keys)
        Label.objects.bulk_create(
            build_labels(judged.annotator, pairs, verdicts, choice.threshold), ignore_conflicts=True
        )
    for verdict in verdicts:
        if verdict.unjudged:
            judged.unjudged[verdict.unjudged] += 1
        else:
            judged.labels[verdict.label(choice.threshold) or 0] += 1


def build_labels(
    annotator: Annotator, pairs: Sequence[Pair], verdicts: Sequence[SimilarityVerdict], threshold: float
) -> Iterator[Label]:
    """The labels of these pairs, empty where a pair could not be judged."""
    for pair, verdict in zip(pairs, verdicts, strict=True):
        yield Label(pair=pair, annotator=annotator, value=verdict.label(threshold), source=str(verdict))
