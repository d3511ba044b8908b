"""What is drawn, shuffled and asked by name, from plain texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.training.data import NothingToLearn, ask_by_name, draw_pairs, make_examples
from retrieval.training.settings import Settings, WrongSettings, hash_configuration, recipe_of
from tests.retrieval.training.conftest import QUERIES, SNIPPETS, make_data


def test_shuffled_labels_keep_texts_and_number_of_pairs() -> None:
    shuffled = draw_pairs(make_data(), Settings(shuffles_labels=True, seed=3))
    assert [query for query, _ in shuffled.train] == list(range(8))
    assert sorted(snippet for _, snippet in shuffled.train) == list(range(8))
    assert shuffled.train != make_data().train
    assert shuffled.matches == {query: frozenset([snippet]) for query, snippet in shuffled.train}
    assert shuffled.dev == make_data().dev, "dev queries go on to choose by true labels"
    assert shuffled.digest != make_data().digest


def test_as_many_pairs_are_drawn_as_are_allowed_and_the_same_by_one_seed() -> None:
    first, again, other = (
        draw_pairs(make_data(), Settings(max_pairs=3, seed=seed)).train for seed in (1, 1, 2)
    )
    assert len(first) == 3
    assert first == again != other


def test_hard_negatives_are_judged_non_matches_of_the_query() -> None:
    without = make_examples(make_data(), Settings())
    assert [example.texts for example in without] == [[code] for code in SNIPPETS[:8]]
    first, second, *_ = make_examples(make_data(), Settings(hard_negatives=1))
    assert first.snippets[0] == 0
    assert first.snippets[1] in {10, 11}
    assert second.snippets == [1], "nothing is judged of the second query"


def test_a_long_name_can_stand_for_the_query_and_leaves_the_code() -> None:
    code = "def read_all_rows(x):\n    return read_all_rows(x)"
    assert ask_by_name("q", code) == ("read all rows", "def name(x):\n    return name(x)")
    assert ask_by_name("q", "def short(x): ...") == ("q", "def short(x): ...")
    assert ask_by_name("q", "no function") == ("q", "no function")


def test_no_pair_is_refused() -> None:
    with pytest.raises(NothingToLearn, match="no pair"):
        make_examples(replace(make_data(), train=[]), Settings())


def test_hard_negatives_are_refused_where_no_training_query_has_one() -> None:
    with pytest.raises(NothingToLearn, match="no training query has a judged non-match"):
        make_examples(replace(make_data(), non_matches={9: [1]}), Settings(hard_negatives=1))


def test_the_hash_tells_settings_and_data_apart() -> None:
    same = {hash_configuration(Settings(), {"texts": "a"}) for _ in range(2)}
    assert len(same) == 1
    others = [
        hash_configuration(Settings(seed=1), {"texts": "a"}),
        hash_configuration(Settings(), {"texts": "b"}),
    ]
    assert len({*same, *others}) == 3


def test_recipes_are_the_papers() -> None:
    tuned, scratch = recipe_of("codebert"), recipe_of("nbow")
    assert (tuned.epochs, tuned.batch_size, tuned.learning_rate, tuned.scale) == (10, 64, 2e-5, 20)
    assert (tuned.decays, tuned.clip, tuned.select_by, tuned.seed) == (True, 1, "ndcg@10", 123456)
    assert (scratch.batch_size, scratch.learning_rate, scratch.loss, scratch.patience) == (
        1000,
        0.01,
        "margin",
        5,
    )
    unif = recipe_of("unif")
    assert (unif.learning_rate, unif.loss, unif.margin) == (1e-3, "ranking", 0.05)
    assert (recipe_of("cnn").learning_rate, recipe_of("selfattn").batch_size) == (5e-4, 450)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"epochs": 0}, "epochs has to be at least 1"),
        ({"learning_rate": 0.0}, "above 0 and below 1"),
        ({"hard_negatives": -1}, "hard negatives can't be below 0"),
        ({"hard_negatives": 1, "loss": "margin"}, "no hard negatives"),
        ({"hard_negatives": 1, "shuffles_labels": True}, "know no judged non-matches"),
    ],
)
def test_settings_out_of_range_are_refused(given: dict[str, object], told: str) -> None:
    with pytest.raises(WrongSettings, match=told):
        Settings().changed(given)


def test_the_queries_of_the_data_are_those_of_the_test() -> None:
    assert make_examples(make_data(), Settings())[0].query == QUERIES[0]
