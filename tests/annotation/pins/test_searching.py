"""Pinned runs are searched again from stored vectors: no model is loaded, and what differs is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from annotation.pins import pin_leaderboard, reproduce_pin, search_too
from retrieval.encoders import Floats, Kind, find_encoder
from retrieval.evaluation.content import content_of, pool_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file, evaluate_system
from retrieval.evaluation.systems.search import Search, System
from retrieval.filters import text_option
from retrieval.metrics.names import parse_measures
from retrieval.mining import perform_mining
from retrieval.models import Annotator, Benchmark, Label, Pair, Pin, Pool
from tests import factories

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Drawn:
    """A dense encoder whose vectors are drawn by the text's length."""

    name: str = "minilm:me/mine"
    identity: str = "minilm;weights=of a test"
    dimension: int = 5

    def encode(self, texts: Sequence[str], kind: Kind, progress: Any = None) -> Floats:
        found = np.array([np.random.default_rng(len(text)).normal(size=5) for text in texts], np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


@pytest.fixture(params=[Pool.COLLECTION, Pool.CANDIDATES])
def pin(request: pytest.FixtureRequest, vectors: Path) -> Pin:
    """Of a run by terms and vectors, and of an uploaded one."""
    queries, snippets = factories.queries(), factories.snippets()
    mining = factories.mining(queries, snippets, encoders=["bow"], rule=0, k=3)
    perform_mining(mining, vectors)
    annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for number in range(3):
        texts = [kind.members.get(position=number).text_id for kind in (queries, snippets)]
        pair = Pair.objects.keep_all([(texts[0], texts[1])])[0]
        Label.objects.create(pair=pair, annotator=annotator, value=1)
    benchmark = publish_benchmark(Order("small", queries, snippets, "by hand", mining), Label.objects.all())
    content, wanted = content_of(benchmark), parse_measures(["mrr"])
    how = Search("whole", pool_of(content, request.param), vectors, depth=3)
    evaluate_system(System("bm25+mine", [find_encoder("bm25"), Drawn()]), content, request.param, how, wanted)
    file = vectors.parent / "a.run"
    file.write_text("queries-0 Q0 snippets-0 1 2 x\n")
    evaluate_file(file, "theirs", content, request.param, wanted)
    return pin_leaderboard(benchmark, pool=request.param, metric="mrr")


def test_runs_are_searched_again_without_their_models(pin: Pin, vectors: Path) -> None:
    found = search_too(reproduce_pin(pin), vectors)
    assert found.equal
    assert sorted(found.notes) == [
        "bm25+mine: searched again",
        "theirs: not searched again: its lists were uploaded, not searched here",
    ]


def test_runs_of_one_system_are_told_apart_by_what_they_searched(pin: Pin, vectors: Path) -> None:
    content = content_of(Benchmark.objects.get())
    for text in ("whole", "without docstring"):
        how = Search(text_option(text), pool_of(content, pin.subject["pool"]), vectors, depth=3)
        evaluate_system(
            System("bow", [find_encoder("bow")]), content, pin.subject["pool"], how, parse_measures(["mrr"])
        )
    both = pin_leaderboard(Benchmark.objects.get(), pool=pin.subject["pool"], metric="mrr")
    notes = search_too(reproduce_pin(both), vectors).notes
    assert {"bow: searched again", "bow (without docstring): searched again"} <= set(notes)


def test_other_vectors_give_other_lists_which_is_said(pin: Pin, vectors: Path) -> None:
    for file in vectors.glob("*/*.npy"):
        rows = np.load(file)
        rows["vector"] = (
            -rows["vector"] * np.arange(1, len(rows) + 1)[:, None] if len(rows) > 3 else rows["vector"]
        )
        np.save(file, rows)
    found = search_too(reproduce_pin(pin), vectors)
    assert [one.where.partition("/")[0] for one in found.changes] == ["lists"]


def test_vectors_that_are_gone_are_no_difference(pin: Pin, vectors: Path, settings: Any) -> None:
    settings.COSQA_HOME = vectors.parent
    for file in vectors.glob("*/*.npy"):
        file.unlink()
    out = StringIO()
    call_command("reproduce", pin.digest, "--from", "vectors", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["equal"] and any("vectors of minilm:me/mine are not stored" in note for note in told["notes"])
    for file in vectors.glob("*/encoder.json"):
        file.unlink()
    out = StringIO()
    call_command("reproduce", pin.digest, "--from", "vectors", stdout=out)
    assert "not searched again: no vectors of minilm:me/mine as it was are stored here" in out.getvalue()


def test_what_is_no_leaderboard_has_no_runs_to_search(pin: Pin, vectors: Path) -> None:
    Benchmark.objects.filter(runs__isnull=False).update(digest="0" * 64)
    assert "can be searched" in search_too(reproduce_pin(pin), vectors).notes[0]
