"""What encoders find by themselves: as if each had mined alone, whatever the parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.mining import alone, parts, perform_mining
from retrieval.models import Candidate, Mining
from tests import factories
from tests.retrieval.encoders.conftest import tiny_models  # noqa: F401  (a fixture)
from tests.retrieval.mining.test_parts import CODES, WORDS

K = 4


def mining(encoders: list[str], **columns: object) -> Mining:
    queries, snippets = factories.queries(WORDS), factories.snippets(CODES)
    wanted = {"encoders": encoders, "k": K, "rule": 0, "state": Mining.State.WAITING, **columns}
    return factories.mining(queries, snippets, **wanted)


def candidates(row: Mining) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for query, snippet in Candidate.objects.filter(mining=row).values_list("query", "pair__snippet"):
        found.setdefault(query, set()).add(snippet)
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("approximate", ["", "hnsw"])
def test_it_is_what_minings_by_each_one_alone_have_in_common(
    approximate: str,
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "SNIPPETS_A_PART", 5)
    names = [f"{name}:{tiny_models[name]}" for name in ("minilm", "unixcoder")]
    both = mining(names, approximate=approximate)
    perform_mining(both, tmp_path)
    both.refresh_from_db()
    found = []
    for name in names:
        own = mining([name])
        perform_mining(own, tmp_path)
        own.refresh_from_db()
        assert own.overlaps == []
        found.append(candidates(own))
    assert both.overlaps is not None
    (told,) = both.overlaps
    shared = [len(found[0][query] & found[1][query]) for query in found[0]]
    assert (told["first"], told["second"], told["queries"], told["depth"]) == (*names, len(WORDS), K)
    assert told["shared"] == pytest.approx(sum(shared) / len(shared))
    assert 0 < told["jaccard"] < 1


@pytest.mark.django_db
def test_words_and_vectors_are_compared_too_and_a_sample_is_enough(
    tiny_models: dict[str, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alone, "SAMPLED_QUERIES", 2)
    row = mining(["bm25", "bow", f"minilm:{tiny_models['minilm']}"])
    perform_mining(row, tmp_path)
    row.refresh_from_db()
    assert [one["queries"] for one in row.overlaps or ()] == [2, 2, 2]
