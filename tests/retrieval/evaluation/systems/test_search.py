"""Systems by name rank every query's snippets, in the pool that the benchmark names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pytest_django import Settings

from retrieval.encoders import UnknownEncoder
from retrieval.evaluation.content import Content, content_of, snippet_members
from retrieval.evaluation.systems import search
from retrieval.evaluation.systems.search import Search, find_system, rank_snippets
from retrieval.models import Benchmark


def lists(content: Content, name: str, how: Search) -> list[list[int]]:
    return [places.tolist() for _, places in rank_snippets(find_system(name), content, how)]


@pytest.mark.parametrize("name", ["bow", "bm25", "bm25-fields", "bm25+bow"])
def test_the_function_that_a_query_asks_for_comes_first(
    benchmark_: Benchmark, tmp_path: Path, name: str
) -> None:
    found = lists(content_of(benchmark_), name, Search("whole", None, tmp_path))
    assert [of_query[0] for of_query in found] == [0, 1, 2]
    assert [sorted(of_query) for of_query in found] == [[0, 2], [0, 1], [0, 2]], "those that share a term"


def test_lists_end_at_the_depth(benchmark_: Benchmark, tmp_path: Path) -> None:
    found = lists(content_of(benchmark_), "bm25", Search("whole", None, tmp_path, depth=1))
    assert found == [[0], [1], [2]]


@pytest.mark.parametrize("name", ["bow", "bm25", "bm25+bow"])
def test_a_pool_keeps_the_order_of_its_snippets(benchmark_: Benchmark, tmp_path: Path, name: str) -> None:
    content = content_of(benchmark_)
    pool = dict(zip(content.queries, ([1, 2, 3], [0, 1], []), strict=True))
    whole = lists(content, name, Search("whole", None, tmp_path))
    found = lists(content, name, Search("whole", pool, tmp_path))
    for all_of, within, kept in zip(whole, pool.values(), found, strict=True):
        assert kept == [place for place in all_of if place in within]


@pytest.mark.parametrize("place", [0, 2])
def test_a_snippet_without_text_is_left_out_and_the_others_keep_their_places(
    benchmark_: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    content = content_of(benchmark_)
    heads = list(snippet_members(benchmark_).values_list("text__head", flat=True))
    monkeypatch.setattr(
        search, "extract_searched_text", lambda code, option: "" if code.startswith(heads[place]) else code
    )
    pool = {query: [0, 1, 2] for query in content.queries}
    for within in (None, pool):
        found = lists(content, "bow", Search("without docstring", within, tmp_path))
        assert not any(place in of_query for of_query in found)
        assert [of_query[0] for at, of_query in enumerate(found) if at != place] == [
            at for at in range(3) if at != place
        ]


def test_where_every_snippet_is_left_out_nothing_is_found(
    benchmark_: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "extract_searched_text", lambda code, option: "")
    assert lists(content_of(benchmark_), "bow", Search("whole", None, tmp_path)) == [[], [], []]


@pytest.mark.django_db
def test_a_mean_may_have_encoders_by_folder_hub_id_and_server() -> None:
    name = "bm25+codebert:/models/a+b+unixcoder:org/name@main+endpoint:small"
    assert [one.name for one in find_system(name).encoders] == [
        "bm25",
        "codebert:/models/a+b",
        "unixcoder:org/name@main",
        "endpoint:small",
    ]


@pytest.mark.django_db
def test_unknown_names_are_told_those_that_there_are() -> None:
    with pytest.raises(UnknownEncoder, match="bm25-fields"):
        find_system("bm26")
    with pytest.raises(UnknownEncoder, match="twice"):
        find_system("bow+bow")
    with pytest.raises(UnknownEncoder, match="twice"):
        find_system("endpoint:small+bm25+endpoint:small")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("codebert:/models/x+mine", "mine+codebert:/models/x"),
        ("bm25+endpoint:small+mine", "mine+endpoint:small"),
        ("codebert:me/tuned@v2+mine+bow", "mine+codebert:me/tuned@v2"),
    ],
)
def test_a_spec_that_is_named_behind_a_colon_is_told_to_come_first(
    name: str, first: str, tmp_path: Path, settings: Settings
) -> None:
    settings.COSQA_HOME = tmp_path
    (tmp_path / "encoders").mkdir()
    (tmp_path / "encoders/mine.json").write_text('{"folder": "/models/mine", "pooling": "mean"}')
    with pytest.raises(UnknownEncoder, match=re.escape(f"write {first!r}, with mine first")):
        find_system(name)
    folder = tmp_path / "x+mine"
    folder.mkdir()
    assert [one.name for one in find_system(f"bow+codebert:{folder}").encoders] == [
        "bow",
        f"codebert:{folder}",
    ]


@pytest.mark.django_db
def test_a_folder_that_is_called_as_a_mean_is_refused(tmp_path: Path) -> None:
    name = f"codebert:{tmp_path}/a+bm25"
    assert len(find_system(name).encoders) == len(find_system(f"bm25+codebert:{tmp_path}").encoders) == 2
    (tmp_path / "a+bm25").mkdir()
    with pytest.raises(UnknownEncoder, match=r"may mean the folder .*a\+bm25', or .* and 'bm25': give that"):
        find_system(name)
