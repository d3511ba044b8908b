"""The pairs that a benchmark labels, as a list; and what a candidate belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from retrieval.given_pairs import of_benchmark
from retrieval.models import Candidate, PairList
from tests import factories, given

pytestmark = pytest.mark.django_db


def test_the_list_has_the_labelled_pairs_alone_and_is_kept_once(tmp_path: Path) -> None:
    whole = given.pair_list(tmp_path)  # five pairs, one of them without a label
    assert whole.benchmark is not None
    pairs = of_benchmark(whole.benchmark)
    assert (pairs.name, pairs.size, pairs.digest) == ("dev@1", 4, whole.benchmark.digest)
    assert of_benchmark(whole.benchmark) == pairs and PairList.objects.count() == 2
    assert str(pairs) == "given pairs of dev@1"


def test_a_candidate_is_of_a_mining_or_of_given_pairs(tmp_path: Path) -> None:
    pairs = given.pair_list(tmp_path)
    first = pairs.candidates.order_by("pk")[0]
    mining = factories.mining(pairs.queries, pairs.snippets)
    both = {"pair_list": pairs, "mining": mining}
    for source in (both, {"pair_list": None, "mining": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Candidate.objects.filter(pk=first.pk).update(**source)


def test_a_pair_and_a_place_are_in_a_list_once(tmp_path: Path) -> None:
    pairs = given.pair_list(tmp_path)
    one = pairs.candidates.order_by("pk")[0]
    for rank in (one.rank, 9):
        with pytest.raises(IntegrityError), transaction.atomic():
            Candidate.objects.create(
                pair_list=pairs, pair=one.pair, query=one.query, rank=rank, score=0, scores={}
            )
