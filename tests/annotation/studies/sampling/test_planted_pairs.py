"""Planted pairs: what a file of them may say, and what is stored."""

from __future__ import annotations

import pytest

from annotation.studies.sampling.planted_pairs import (
    find_planted_pair_ids,
    plant_known_pairs,
    read_planted_lines,
)
from annotation.studies.sampling.sample_order import SampleRefused
from retrieval.models import Pair, Text
from tests import studies

GOOD = (
    'kind,answer,query,code\nonboarding,1,reverse it,"def f(x):\n    return x[::-1]"\n'
    "attention,0,sum it,pass\n"
)


def test_a_file_is_read_line_by_line() -> None:
    first, second = read_planted_lines(GOOD, "binary")
    assert (first.kind, first.answer, first.code) == ("onboarding", 1, "def f(x):\n    return x[::-1]")
    assert (second.kind, second.answer, second.query) == ("attention", 0, "sum it")
    assert read_planted_lines("  \n", "binary") == []


@pytest.mark.django_db
def test_a_reason_goes_with_its_answer() -> None:
    lines = read_planted_lines(
        "kind,answer,query,code,reason\nonboarding,0,sum it,pass, It sums nothing. \n", "binary"
    )
    assert [line.reason for line in lines] == ["It sums nothing."]
    assert [planted.reason for planted in plant_known_pairs(lines)] == ["It sums nothing."]


@pytest.mark.parametrize("text", ["\ufeff{}", "sep=;\n{}", "{}"])
def test_a_file_may_be_any_table(text: str) -> None:
    for end in ("\n", "\r\n", "\r"):
        rows = text.format("kind;answer;Query;code\nattention;0;sum it, please;pass\n").replace("\n", end)
        (line,) = read_planted_lines(rows, "binary")
        assert (line.kind, line.answer, line.query, line.code) == ("attention", 0, "sum it, please", "pass")


@pytest.mark.parametrize(
    ("text", "scale", "why"),
    [
        ("kind,answer,query,code\nother,1,a,b\n", "binary", "Line 2.*onboarding or attention"),
        ("kind,answer,query,code\nattention,2,a,b\n", "binary", "Line 2.*one of 0, 1"),
        ("kind,answer,query,code\nattention,one,a,b\n", "binary", "Line 2.*answer"),
        ("kind,answer,query,code\nattention,1,a,\n", "binary", "Line 2.*needs a pair"),
        ("kind,answer,pair\nattention,1,-4\n", "binary", "Line 2.*number of a pair"),
        ("kind,answer,query,code\nattention,-1,a,b\n", "preference", "Line 2.*second function.*empty"),
        ("kind,answer,query\nattention,1," + "x" * 2_000_001, "binary", "larger than 2 MB"),
        ("kind,answer,query,code\n" + "attention,1,a,b\n" * 201, "binary", "At most 200"),
        ('kind,answer,query,code\nattention,1,"a" b,c\n', "binary", "Line 2.*is not CSV"),
        ("kind,answer,query,code\nattention,1,a,b,c\n", "binary", "Line 2.*expected 4 columns"),
        ("kind,answer,query,code,code\nattention,1,a,b,c\n", "binary", "Line 1.*'code' twice"),
        ("kind,answer,pair\n\nattention,1,-4\n", "binary", "Line 3.*number of a pair"),
        ("attention,1,a,b", "binary", "header alone"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, scale: str, why: str) -> None:
    with pytest.raises(SampleRefused, match=why):
        read_planted_lines(text, scale)


@pytest.mark.django_db
def test_planting_stores_texts_once() -> None:
    lines = read_planted_lines(GOOD, "binary")
    assert list(find_planted_pair_ids(lines)) == []
    first, second = plant_known_pairs(lines)
    assert sorted(find_planted_pair_ids(lines)) == sorted([first.pair, second.pair])
    assert plant_known_pairs(lines) == [first, second]
    assert Pair.objects.get(pk=second.pair).snippet.text == "pass"


@pytest.mark.django_db
def test_pairs_are_planted_by_id_and_compared_with_another_snippet() -> None:
    pair = studies.three_pairs()[0]
    text = f"kind,answer,pair,other\nattention,-1,{pair.pk},def better(): ...\n"
    (found,) = plant_known_pairs(read_planted_lines(text, "preference"))
    assert found.pair == pair.pk and found.answer == -1
    assert found.other
    other = Pair.objects.get(pk=found.other)
    assert (other.query, other.snippet.text) == (pair.query, "def better(): ...")


@pytest.mark.django_db
def test_what_can_not_be_planted() -> None:
    with pytest.raises(SampleRefused, match="no pair 999"):
        plant_known_pairs(read_planted_lines("kind,answer,pair\nattention,1,999\n", "binary"))
    with pytest.raises(SampleRefused, match="twice"):
        plant_known_pairs(
            read_planted_lines("kind,answer,query,code\nattention,1,a,b\nonboarding,1,a,b\n", "binary")
        )
    assert Text.objects.count() <= 2
