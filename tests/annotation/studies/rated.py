"""Studies whose raters and agents said what a test wants to hear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import (
    Condition,
    Enrolment,
    Study,
)
from annotation.stats.agreement.figures import Figure
from annotation.studies.report.figures import Figures
from retrieval.models import Annotator, Label, Pair, Text
from tests import factories, studies

Kind = Condition.Kind
PAIRS = 8


def many_pairs(count: int = PAIRS) -> list[Pair]:
    """Pairs of as many queries."""
    texts = Text.objects.keep_all([f"query number {one}" for one in range(count)])
    code = Text.objects.keep_all([f"def f{one}(): return {one}" for one in range(count)])
    return [
        Pair.objects.get_or_create(query=query, snippet=snippet)[0]
        for query, snippet in zip(texts, code, strict=True)
    ]


def rated_study(values: Sequence[Sequence[int | None]], kind: str = Kind.OWN_TESTS, **columns: Any) -> Study:
    """A study whose raters, one a row, said these values of its pairs."""
    study = studies.study(conditions=(kind,), pairs=many_pairs(len(values[0])), raters=len(values), **columns)
    rate(study, kind, values)
    return study


def rate(study: Study, kind: str, values: Sequence[Sequence[int | None]]) -> list[Enrolment]:
    raters: list[Enrolment] = []
    for row in values:
        rater = studies.rater(f"{kind}-{len(raters)}", study, kind)
        for sampled, value in zip(study.pairs.order_by("number"), row, strict=True):
            studies.rated(rater, value, sampled)
        raters.append(rater)
    return raters


def agents(study: Study, labels: Sequence[int | None], model: str = "small-model") -> Annotator:
    made = factories.annotator(model=model)
    for sampled, label in zip(study.pairs.order_by("number"), labels, strict=True):
        if label is not None:
            Label.objects.create(pair=sampled.pair, annotator=made, value=label)
    return made


def pairwise() -> Study:
    study = studies.study(
        conditions=(Kind.READING,),
        pairs=many_pairs(),
        raters=1,
        kind=Study.Kind.PAIRWISE,
        scale=Study.Scale.PREFERENCE,
    )
    rate(study, Kind.READING, [[1, 1, 1, -1, 0, 1, 1, 1]])
    return study


def row(found: Figures, name: str) -> dict[str, Figure]:
    assert found.page
    one = next(one for one in found.page.table if name in one.name)
    return {"accuracy": one.accuracy, "precision": one.precision, "coverage": one.coverage}


def rows_of(found: Figures) -> set[str]:
    assert found.page is not None
    return {row.name for row in found.page.table}
