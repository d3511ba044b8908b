"""The builds that are to survive: a large one, one that shares its pairs, and one with too little money."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from annotation.models import Build, Case, Price, ProjectTally, Tally
from retrieval.models import Candidate, Collection, Mining, Pair
from tests import factories

MODEL, OTHER_MODEL = "fake-model", "other-fake-model"
DESIGN: dict[str, Any] = {"prompt_set": "", "reader": True, "neighbour": True}
"""What a build has that is launched as usual."""
A_QUERY: Final = 20
"""Candidates a query."""
DOLLAR: Final = 1_000_000_000
SHORT_OF_MONEY: Final = DOLLAR // 10
"""Enough for some of the cases."""
SOME_CALLS: Final = DOLLAR // 2
"""What a dozen calls may cost at the most: those of the dead hold it until they are given up."""


def collections(queries: int, name: str = "small") -> tuple[Collection, Collection]:
    asked = [f"how to do {name} task number {number} with a list" for number in range(queries)]
    codes = [
        f"def function_{number}(items):\n    total = {number}\n    return [total, *items]\n"
        for number in range(A_QUERY)
    ]
    return (
        factories.collection(Collection.Kind.QUERIES, asked, name),
        factories.collection(Collection.Kind.SNIPPETS, codes, name),
    )


def mined(queries: Collection, snippets: Collection, pairs: int) -> Mining:
    """A finished mining of the first so many pairs."""
    mining = Mining.objects.create(
        queries=queries, snippets=snippets, encoders=["bm25"], k=A_QUERY, state=Mining.State.DONE
    )
    asked = list(queries.members.order_by("position").values_list("text_id", flat=True))
    codes = list(snippets.members.order_by("position").values_list("text_id", flat=True))
    keys = [(query, code) for query in asked for code in codes][:pairs]
    rows = [
        Candidate(
            mining=mining, pair=pair, query_id=pair.query_id, rank=at % A_QUERY + 1, score=0.5, scores={}
        )
        for at, pair in enumerate(Pair.objects.keep_all(keys))
    ]
    Candidate.objects.bulk_create(rows, batch_size=1000)
    return mining


def opened(builds: int, cases: int) -> None:
    """Builds with so many cases each, of the same pairs; a handful has cases of several of them."""
    prices()
    asked, codes = collections(-(-cases // A_QUERY))
    made = [
        factories.launched(
            f"build {number}",
            mining=mined(asked, codes, cases),
            model=MODEL,
            annotator=factories.annotator(model=MODEL, **DESIGN),
            provider=Build.Provider.LIVE,
            opened=True,
        )
        for number in range(builds)
    ]
    found = [list(Candidate.objects.filter(mining=build.mining)) for build in made]
    Case.objects.bulk_create(
        Case(
            build=build,
            candidate=candidate,
            pair_id=candidate.pair_id,
            query_id=candidate.query_id,
            annotator=build.annotator,
            rank=candidate.rank,
            score=candidate.score,
        )
        for row in zip(*found, strict=True)
        for build, candidate in zip(made, row, strict=True)
    )
    Tally.objects.update(screening=cases)


def prices() -> None:
    for model in (MODEL, OTHER_MODEL):
        Price.objects.create(
            model=model, effective_from=datetime(2020, 1, 1, tzinfo=UTC), input=1, output=5, note="made up"
        )


def allowance(cases: int) -> int:
    """Nanodollars that all builds together may spend before somebody allows as much again."""
    return max(SOME_CALLS, cases * DOLLAR // 1000)


def launch(cases: int) -> None:
    """The builds, whose cases a beat is to open, under a cap that they share and soon reach."""
    prices()
    ProjectTally.objects.update_or_create(pk=ProjectTally.ONLY, defaults={"cap": allowance(cases)})
    queries, snippets = collections(-(-cases // A_QUERY))
    for name, model, pairs, cap in (
        ("large", MODEL, cases, 1000 * DOLLAR),
        ("sharing", MODEL, cases // 8, 1000 * DOLLAR),
        ("short of money", OTHER_MODEL, cases // 8, SHORT_OF_MONEY),
    ):
        factories.launched(
            name,
            cap,
            mining=mined(queries, snippets, pairs),
            model=model,
            annotator=factories.annotator(model=model, **DESIGN),
            provider=Build.Provider.LIVE,
        )
    own = collections(-(-cases // (8 * A_QUERY)), "batched")
    factories.launched(
        "by batch",
        1000 * DOLLAR,
        mining=mined(*own, cases // 8),
        model=MODEL,
        annotator=factories.annotator(model=MODEL),
        provider=Build.Provider.LIVE,
        batches=True,
    )
