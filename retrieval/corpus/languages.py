"""Which programming languages a corpus has, as CodeSearchNet's Tables 1 and 2 count them.

A function's language is told by the ending of the file in its source id, `path/of/file.py::name`: functions
of CodeSearchNet and all that was extracted from sources have one. A function without a name, as JavaScript
has many, goes by its file alone.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Case, CharField, Count, Exists, OuterRef, Q, Subquery, Value, When
from django.db.models.expressions import Combinable

from retrieval.models import Benchmark, BenchmarkLabel, Collection, Member, Text

ENDINGS: Final[Mapping[str, str]] = {
    ".go": "Go",
    ".java": "Java",
    ".js": "JavaScript",
    ".php": "PHP",
    ".py": "Python",
    ".rb": "Ruby",
}
UNKNOWN: Final = "not stated"
PYTHON: Final = "Python"
TEXTS_A_READ: Final = 500
"""Texts that one statement asks for: SQLite bounds how many values it takes."""


@dataclass(frozen=True, slots=True)
class Functions:
    """A language's functions, and how many of them brought documentation that became a query."""

    language: str
    documented: int
    all: int


def language_expression(field: str = "source_id") -> Combinable:
    """A member's language, read from the field that holds its source id."""
    cases = [
        When(Q(**{f"{field}__contains": f"{end}::"}) | Q(**{f"{field}__endswith": end}), then=Value(name))
        for end, name in ENDINGS.items()
    ]
    return Case(*cases, default=Value(UNKNOWN), output_field=CharField())


def find_text_languages(texts: Iterable[int]) -> dict[int, str]:
    """By id of a text the language of its files, where that is one that is known; Python counts first."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    ids = list(texts)
    for start in range(0, len(ids), TEXTS_A_READ):
        rows = Member.objects.filter(text__in=ids[start : start + TEXTS_A_READ]).order_by()
        told = rows.annotate(language=language_expression()).values_list("text", "language").distinct()
        for text, language in told:
            found[text].add(language)
    known = {text: names - {UNKNOWN} for text, names in found.items()}
    return {text: PYTHON if PYTHON in names else min(names) for text, names in known.items() if names}


def find_other_language(text: Text) -> str:
    """The language whose files a text comes from; empty for Python, or where it is not known."""
    language = find_text_languages([text.pk]).get(text.pk, PYTHON)
    return "" if language == PYTHON else language


def count_language_functions(snippets: Collection) -> list[Functions]:
    """By language, the most frequent first. Three statements.

    Each query of the collection's own name that has the source id of one of its functions stands for one that
    is documented: that is how imports of documented functions name both. Of functions with one paragraph the
    first alone has it.
    """
    rows = Member.objects.filter(collection=snippets).order_by().annotate(language=language_expression())
    found = dict(rows.values_list("language").annotate(Count("pk")))
    asked = count_documented_queries(snippets)
    counts = [Functions(name, min(asked.get(name, 0), number), number) for name, number in found.items()]
    return sorted(counts, key=lambda row: (-row.all, row.language))


def count_documented_queries(snippets: Collection) -> dict[str, int]:
    """By language how many queries have the source id of a function; a plain number names none."""
    beside = Collection.objects.filter(name=snippets.name, kind=Collection.Kind.QUERIES)
    same = Member.objects.filter(collection=snippets, source_id=OuterRef("source_id"))
    rows = Member.objects.filter(Exists(same), collection__in=list(beside.values_list("pk", flat=True)))
    named = (
        rows.order_by()
        .annotate(language=language_expression())
        .exclude(~Q(source_id__contains="::"), language=UNKNOWN)
    )
    return dict(named.values_list("language").annotate(Count("text", distinct=True)))


def count_relevance_labels(benchmark: Benchmark) -> dict[str, Counter[int]]:
    """Labels of a benchmark by language and relevance, which is rounded where it is a mean. One statement."""
    member = Member.objects.filter(collection=benchmark.snippets_id, text=OuterRef("pair__snippet"))
    rows = (
        BenchmarkLabel.objects.filter(benchmark=benchmark)
        .annotate(source=Subquery(member.values("source_id")[:1]))
        .annotate(language=language_expression("source"))
        .values("language", "relevance")
        .annotate(count=Count("pk"))
    )
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for row in rows:
        found[row["language"]][math.floor(row["relevance"] + 0.5)] += row["count"]
    return dict(found)
