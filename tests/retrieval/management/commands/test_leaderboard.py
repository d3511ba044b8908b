"""`manage.py leaderboard`: who stands where, for people and machines, and what it refuses."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from retrieval import mining
from retrieval.evaluation.publishing import Order, publish
from retrieval.models import Annotator, Benchmark, Label
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(tmp_path: Path, settings: Any) -> Benchmark:
    """A benchmark of a mining by two encoders, with two systems."""
    settings.COSQA_HOME = tmp_path
    found = factories.mining(factories.queries(), factories.snippets(), encoders=["bm25", "bow"], k=2)
    mining.perform(found, tmp_path / "vectors")
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for candidate in found.candidates.all():
        Label.objects.create(pair=candidate.pair, annotator=by, value=candidate.rank % 2)
    done = publish(Order("small", found.queries, found.snippets, "", found), Label.objects.all())
    call_command(
        "evaluate", "small", "--encoder", "bm25", "bow", "--metrics", "mrr,ndcg_all", stdout=StringIO()
    )
    return done


def said(*words: str) -> str:
    out = StringIO()
    call_command("leaderboard", *words, stdout=out)
    return out.getvalue()


def test_people_read_who_stands_where(made: Benchmark) -> None:
    text = said("small", "--leave-one-out")
    assert text.startswith("small@1, candidates: mrr over")
    assert "helped to mine; without bm25 rank" in text
    assert "after Holm, stays above in" in text
    assert "flip 6.1% of the matches" in text


def test_machines_get_every_digit(made: Benchmark) -> None:
    found = json.loads(said("small@1", "--json", "--errors", "0.1,0.2", "--leave-one-out", "--matches", "1-"))
    assert set(found["systems"]) == {"bm25", "bow"}
    assert found["label_noise"]["rates"] == {"matches": 0.1, "others": 0.2, "source": "as given"}
    assert set(found["without"]) == {"bm25", "bow"}
    assert 0 <= found["differences"][0]["stays_above"] <= 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("other",), "no benchmark 'other'"),
        (("small", "--pool", "collection"), "No run on small@1 searched collection"),
        (("small", "--matches", "many"), "write a number"),
        (("small", "--errors", "2"), "between 0 and 1"),
        (("small", "--errors", "0.1,0.2,0.3"), "between 0 and 1"),
        (("small", "--metric", "ndcg_all", "--leave-one-out"), "not one that ranks decide"),
    ],
)
def test_what_is_wrong_is_said(made: Benchmark, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        said(*words)
