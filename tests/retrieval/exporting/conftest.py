"""Benchmarks made of plain numbers, and folders read back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from retrieval.evaluation.publication import Chosen, Order, last_of, publish_chosen
from retrieval.models import Annotator, Benchmark, Collection, Label, Mining, Pair, Pool, Text
from tests import factories

collect_ignore = [] if os.environ.get("MTEB_PYTHON") else ["test_mteb.py"]
names = count(1)
Values = Mapping[tuple[int, int], float]


def annotator(kind: str = Annotator.Kind.AGENTS, **config: Any) -> Annotator:
    return Annotator.objects.version(kind, f"by {kind}", config)


def benchmark(
    queries: Sequence[str] = factories.QUERIES,
    snippets: Sequence[str] = factories.SNIPPETS,
    said: Mapping[Annotator, Values] | None = None,
    candidates: Sequence[tuple[int, int]] = (),
    further: Sequence[tuple[int, int]] = (),
    rule: str = "",
    bases: Mapping[tuple[int, int], str] = MappingProxyType({}),
    **columns: Any,
) -> Benchmark:
    """Labels of people are assisted; with candidates those are what is searched. A fraction is a mean, of
    labels that are not stored. `bases` says of some pairs how their labels came about.
    """
    name = f"made {next(names)}"
    asked = factories.collection(Collection.Kind.QUERIES, queries, name)
    code = factories.collection(Collection.Kind.SNIPPETS, snippets, name)
    texts = [list(Text.objects.keep_all(rows)) for rows in (queries, snippets)]
    made, means = [], []
    for by, values in (said or {annotator(): {(0, 0): 1, (0, 1): 0, (1, 1): 1}}).items():
        for (query, snippet), value in values.items():
            pair = Pair.objects.keep_all([(texts[0][query].pk, texts[1][snippet].pk)])[0]
            assisted = by.kind == Annotator.Kind.PERSON
            if value == int(value):
                given = {"basis": bases.get((query, snippet), ""), "assisted": assisted, **columns}
                made.append(Label(pair=pair, annotator=by, value=int(value), **given))
            else:
                means.append(Chosen(pair.query_id, pair.snippet_id, pair.pk, value, None, ""))
    Label.objects.bulk_create(made)
    mining = mined(asked, code, texts, candidates) if candidates else None
    labels = Label.objects.filter(pk__in=[label.pk for label in made])
    more = [mined(asked, code, texts, further)] if further else []
    searched = Pool.COLLECTION if further else None
    order = Order(name, asked, code, rule or f"the rule of {name}", mining, more, searched)
    return publish_chosen(order, [*last_of(labels), *means])


def mined(
    asked: Collection, code: Collection, texts: list[list[Text]], candidates: Sequence[tuple[int, int]]
) -> Mining:
    mining = factories.mining(asked, code, encoders=["bm25", "minilm"])
    for rank, (query, snippet) in enumerate(candidates, 1):
        factories.candidate(mining, texts[0][query], texts[1][snippet], rank)
    return mining


def loaded(folder: Path, name: str) -> Any:
    """A JSON file of a folder."""
    return json.loads((folder / name).read_text("ascii"))


def lines(folder: Path, name: str) -> list[Any]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
