"""Of a pair with a label in the newest version and one of holes the merge rule says which one stands."""

from __future__ import annotations

import pytest

from retrieval.evaluation.label_join import _standing
from retrieval.evaluation.publication import Chosen
from retrieval.models import Annotator, Benchmark, Label

Kind = Annotator.Kind


def chosen(label: Label | None, value: int) -> Chosen:
    return Chosen(1, 1, 1, float(value), label.pk if label else None, "")


def said(benchmark: Benchmark, kind: Kind | None, name: str = "") -> Label | None:
    """A label of one of its pairs by somebody of that kind; None: several were merged."""
    if kind is None:
        return None
    by = Annotator.objects.version(kind, name or kind.value, {})
    return Label.objects.create(pair=benchmark.labels.earliest("pk").pair, annotator=by, value=1)


@pytest.mark.parametrize(
    ("first", "second", "stands"),
    [
        (Kind.AGENTS, Kind.ORIGINAL, True),
        (Kind.AGENTS, Kind.SINGLE_LLM, False),
        (Kind.AGENTS, Kind.PERSON, False),
        (Kind.PERSON, Kind.AGENTS, False),
        (Kind.ORIGINAL, Kind.AGENTS, False),
        (None, Kind.AGENTS, False),
        (Kind.AGENTS, None, True),
    ],
)
def test_agents_stand_over_files_and_what_people_say_now_over_all(
    benchmark_: Benchmark, first: Kind | None, second: Kind | None, stands: bool
) -> None:
    both = chosen(said(benchmark_, first), 1), chosen(said(benchmark_, second), 0)
    assert _standing({1: both}) == ({1} if stands else set())


def test_of_two_agents_the_later_label_stands(benchmark_: Benchmark) -> None:
    older, newer = (said(benchmark_, Kind.AGENTS, name) for name in ("older", "newer"))
    assert _standing({1: (chosen(newer, 1), chosen(older, 1))}) == {1}
