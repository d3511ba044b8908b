"""An approximate index finds most of what exact search finds, ranks it alike, and says how much it misses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from retrieval import nearest
from retrieval.index import approximate, encode_in_memory, mine_best_snippets
from retrieval.models import Mining
from retrieval.nearest import INDEXES
from tests import factories
from tests.retrieval.encoders.conftest import tiny_models  # noqa: F401  (a fixture)


class Made:
    """Vectors drawn by the text."""

    name, identity, dimension = "made", "made", 24

    def encode(self, texts, kind, progress=None):  # type: ignore[no-untyped-def]
        rows = [np.random.default_rng(list(text.encode())).standard_normal(24) for text in texts]
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


QUERIES = [f"query {number}" for number in range(30)]
SNIPPETS = [f"snippet {number % 900}" for number in range(1000)]


@pytest.mark.parametrize("kind", sorted(INDEXES))
def test_most_is_found_and_ranked_alike(kind: str) -> None:
    exact = mine_best_snippets(QUERIES, SNIPPETS, [Made()], 10)
    found, recall = approximate.mine_approximately(QUERIES, SNIPPETS, [Made()], 10, kind, encode_in_memory)
    same = [len({h.index for h in a} & {h.index for h in b}) / 10 for a, b in zip(exact, found, strict=True)]
    assert recall.recall == pytest.approx(np.mean(same)) and recall.recall > 0.8
    assert (recall.queries, recall.k, recall.index) == (30, 10, kind)
    assert all(len(some) == 10 for some in found)
    for theirs, ours in zip(exact, found, strict=True):
        known = {hit.index: hit.score for hit in theirs}
        assert all(hit.score == known[hit.index] for hit in ours if hit.index in known)


def test_what_the_index_does_not_meet_is_searched_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "LISTS_LOOKED_INTO", 1)
    found, recall = approximate.mine_approximately(
        QUERIES[:3], SNIPPETS[:40], [Made()], 39, "ivf", encode_in_memory
    )
    assert recall.recall == 1.0
    assert found == mine_best_snippets(QUERIES[:3], SNIPPETS[:40], [Made()], 39)


@pytest.mark.django_db
def test_a_mining_keeps_and_tells_its_recall(
    tiny_models: dict[str, Path],  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"minilm:{tiny_models['minilm']}"
    row = factories.mining(
        factories.queries(), factories.snippets(), encoders=[name], k=2, rule=0, state=Mining.State.WAITING
    )
    call_command("mine", row.pk, approximate="hnsw")
    row.refresh_from_db()
    assert row.recall == {"index": "hnsw", "k": 2, "queries": 3, "seed": 7, "recall": 1.0}
    told = "100.0 % of the top 2 of exact search, measured on 3 queries drawn by seed 7"
    said = capsys.readouterr().out
    assert told in said and told in row.searched
    assert f"by mean of {name}; text: whole" in said
    call_command("mine", row.pk, approximate="none")
    row.refresh_from_db()
    assert (row.recall, row.searched) == (None, "exact")


@pytest.mark.django_db
def test_words_have_no_approximate_index() -> None:
    row = factories.mining(
        factories.queries(), factories.snippets(), encoders=["bow"], k=2, state=Mining.State.WAITING
    )
    call_command("mine", row.pk)
    row.refresh_from_db()
    before = row.state, row.identities, row.candidates.count()
    with pytest.raises(CommandError, match=r"choose encoders of vectors.*Nothing was changed"):
        call_command("mine", row.pk, approximate="ivf")
    row.refresh_from_db()
    assert (row.state, row.identities, row.candidates.count()) == before
    assert (row.state, row.approximate) == ("done", "")
