"""The draw: its probabilities estimate the population, it is reproducible, and it keeps to its strata."""

from __future__ import annotations

import random
from collections import Counter
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from annotation.schemas.studies.studies import Allocation, SampleWish, Stratifier
from annotation.studies.sampling.draw import Sample, allocate_to_strata, draw_sample
from annotation.studies.sampling.frame import Unit
from annotation.studies.sampling.sample_order import SampleRefused

LABEL = (Stratifier.LABEL,)
DRAWS = 1500


def frame(queries: int = 40, seed: int = 5) -> list[Unit]:
    """Queries of 1 to 12 pairs, with matches and a rare third stratum; later queries have more matches."""
    chance = random.Random(seed)
    units, pair = [], 0
    for query in range(queries):
        for _ in range(chance.randint(1, 12)):
            pair += 1
            rare = chance.random() < 0.05
            match = chance.random() < 0.1 + 0.4 * query / queries
            units.append(Unit(query, pair, pair, "rare" if rare else "match" if match else "no match"))
    return units


UNITS = frame()
DESIGNS = [
    SampleWish(size=15),
    SampleWish(size=15, per_query=3),
    SampleWish(size=40, per_query=0),
    SampleWish(size=15, strata=LABEL),
    SampleWish(size=15, strata=LABEL, allocation=Allocation.EQUAL),
    SampleWish(size=60, strata=LABEL, allocation=Allocation.EQUAL),
    SampleWish(size=60, per_query=0, strata=LABEL, allocation=Allocation.EQUAL),
]


def seeded(wish: SampleWish, seed: int) -> SampleWish:
    return wish.model_copy(update={"seed": seed})


def total(sample: Sample, stratum: str = "") -> float:
    return sum(1 / one.probability for one in sample.drawn if stratum in ("", one.unit.stratum))


@pytest.mark.parametrize("wish", DESIGNS)
def test_weights_estimate_the_population_and_the_share_of_each_label(wish: SampleWish) -> None:
    """Σ 1/p is right on the mean over many draws: for all pairs, and for those of each stratum."""
    units = UNITS if wish.strata else [unit._replace(stratum="") for unit in UNITS]
    labels = {unit.pair: unit.stratum for unit in UNITS}
    samples = [draw_sample(units, seeded(wish, seed)) for seed in range(DRAWS)]
    for label in ("", "match", "no match", "rare"):
        found = [
            sum(1 / one.probability for one in sample.drawn if label in ("", labels[one.unit.pair]))
            for sample in samples
        ]
        true = sum(label in ("", one) for one in labels.values())
        assert abs(fmean(found) - true) < 4 * stdev(found) / DRAWS**0.5 + 1e-9, (label, fmean(found), true)


@pytest.mark.parametrize("wish", DESIGNS[:3])
def test_a_pair_comes_in_as_often_as_its_probability_says(wish: SampleWish) -> None:
    units = [unit._replace(stratum="") for unit in UNITS]
    told: dict[int, float] = {}
    times: Counter[int] = Counter()
    for seed in range(DRAWS):
        for one in draw_sample(units, seeded(wish, seed)).drawn:
            times[one.unit.pair] += 1
            assert told.setdefault(one.unit.pair, one.probability) == pytest.approx(one.probability)
    for pair, probability in told.items():
        error = (probability * (1 - probability) / DRAWS) ** 0.5
        assert abs(times[pair] / DRAWS - probability) < 5 * error


def test_one_pair_a_query_by_default() -> None:
    sample = draw_sample(UNITS, SampleWish(size=15, strata=LABEL))
    queries = [one.unit.query for one in sample.drawn]
    assert len(queries) == len(set(queries)) == sample.queries == 15
    assert (sample.population, sample.population_queries) == (len(UNITS), 40)


def test_the_formula_of_the_two_stages() -> None:
    units = [unit._replace(stratum="") for unit in UNITS]
    sizes = Counter(unit.query for unit in units)
    for one in draw_sample(units, SampleWish(size=15)).drawn:
        assert one.probability == pytest.approx(15 / 40 / sizes[one.unit.query])
    for one in draw_sample(units, SampleWish(size=15, per_query=3)).drawn:
        size = sizes[one.unit.query]
        assert one.probability == pytest.approx(5 / 40 * min(3, size) / size)


def test_the_seed_alone_decides() -> None:
    assert (
        draw_sample(UNITS, SampleWish(size=15, seed=7))
        == draw_sample(UNITS, SampleWish(size=15, seed=7))
        != draw_sample(UNITS, SampleWish(size=15, seed=8))
    )


def test_equal_shares_take_from_others_what_a_rare_stratum_lacks() -> None:
    sample = draw_sample(UNITS, SampleWish(size=60, per_query=0, strata=LABEL, allocation=Allocation.EQUAL))
    rare = sum(unit.stratum == "rare" for unit in UNITS)
    drawn = {one.name: one.drawn for one in sample.strata}
    assert drawn["rare"] == min(rare, 20)
    assert sum(drawn.values()) == 60 and abs(drawn["match"] - drawn["no match"]) <= 1


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (SampleWish(size=9, per_query=2, strata=LABEL), "one pair a query"),
        (SampleWish(size=2, per_query=0, strata=LABEL), "3 strata need at least 3 pairs"),
    ],
)
def test_what_can_not_be_drawn(wish: SampleWish, why: str) -> None:
    with pytest.raises(SampleRefused, match=why):
        draw_sample(UNITS, wish)


@pytest.mark.parametrize("asked", [{"size": 0}, {"size": 20_001}, {"size": 9, "per_query": -1}])
def test_a_sample_has_bounds(asked: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="than or equal to"):
        SampleWish.model_validate(asked)


def test_nothing_to_draw_from() -> None:
    with pytest.raises(SampleRefused, match="no pairs"):
        draw_sample([], SampleWish(size=3))


@settings(max_examples=100)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(6, 60))
def test_dividing_fills_what_there_is_room_for(rooms: list[int], size: int) -> None:
    room = {f"s{number}": one for number, one in enumerate(rooms)}
    wanted = dict.fromkeys(room, 1 / len(room))
    given_ = allocate_to_strata(size, wanted, room)
    assert sum(given_.values()) == min(size, sum(rooms))
    assert all(1 <= given_[name] <= room[name] for name in room)


@pytest.mark.parametrize("wish", DESIGNS)
def test_no_wish_draws_more_than_there_is_room_for(wish: SampleWish) -> None:
    room = draw_sample(UNITS, wish).room
    everything = wish.model_copy(update={"size": 1_000})
    assert len(draw_sample(UNITS, everything).drawn) == room
