"""A release's files by their old and new names."""

import gzip
import json
from pathlib import Path

import pytest

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats.cosqa_plus import LICENCE, Release, read_cosqa_plus, release_at, release_in

PAIR = {"pair-idx": 0, "query-idx": 4, "query": "ask", "code-idx": 7, "code": "answer", "label": 1}


@pytest.mark.parametrize("prefix", ["", "test_agent_", "gpt4o_augment_"])
@pytest.mark.parametrize("pairs", ["pairs", "pairs_true"])
def test_files_of_all_versions_are_found(tmp_path: Path, prefix: str, pairs: str) -> None:
    for name in ("query", "codebase", pairs):
        (tmp_path / f"{prefix}{name}.json").write_text("[]")
    release = release_in(tmp_path)
    assert release.pairs == tmp_path / f"{prefix}{pairs}.json"
    assert release.queries
    assert release.codebase


def test_pairs_alone_bring_their_queries_and_code(tmp_path: Path) -> None:
    (tmp_path / "pairs_for_search.json").write_text(json.dumps([PAIR]))
    assert list(read_cosqa_plus(release_in(tmp_path))) == [
        Query("ask", "4", "pairs_for_search.json", LICENCE),
        Snippet("answer", "7", "pairs_for_search.json", LICENCE),
        GivenLabel("ask", "answer", 1),
    ]


def test_one_file_is_what_it_is_called_and_else_read_as_pairs(tmp_path: Path) -> None:
    names = ("test_agent_query.json", "codebase.json", "pairs_true.json", "mine.json")
    query, codebase, pairs, mine = (tmp_path / name for name in names)
    assert [release_at(path) for path in (query, codebase, pairs, mine)] == [
        Release(query, None, None),
        Release(None, codebase, None),
        Release(None, None, pairs),
        Release(None, None, mine),
    ]
    assert release_at(tmp_path) == release_in(tmp_path)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("query.json", "test_agent_query.json"), "query.json and test_agent_query.json"),
        (("codebase", "codebase.json"), "codebase.json and codebase"),
        (("pairs.json", "pairs.json.gz"), "pairs.json and pairs.json.gz"),
        (("gpt4o_augment_pairs_true.json", "test_agent_pairs.json"), "test_agent_pairs.json and gpt4o_"),
    ],
)
def test_a_file_by_the_names_of_two_versions_refuses_the_folder(
    tmp_path: Path, names: tuple[str, ...], told: str
) -> None:
    for name in ("query.json", "codebase.json", *names):
        (tmp_path / name).write_text("[]")
    (item,) = read_cosqa_plus(release_in(tmp_path))
    assert str(item).startswith(f"{tmp_path}: has {told}")
    assert str(item).endswith(": leave the one that counts there, and move the other away")


def test_all_pairs_and_the_matches_alone_are_one_version(tmp_path: Path) -> None:
    for name in ("query.json", "codebase.json", "pairs.json", "pairs_true.json"):
        (tmp_path / name).write_text("[]")
    release = release_in(tmp_path)
    assert (release.pairs, release.refused) == (tmp_path / "pairs.json", None)


def test_a_packed_file_of_a_release_is_found(tmp_path: Path) -> None:
    (tmp_path / "pairs.json.gz").write_bytes(gzip.compress(json.dumps([PAIR]).encode()))
    assert [type(item) for item in read_cosqa_plus(release_in(tmp_path))] == [Query, Snippet, GivenLabel]


def test_queries_in_a_file_of_any_name_are_queries_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"query-idx": 4, "query": "ask"}]))
    assert list(read_cosqa_plus(release_at(path))) == [Query("ask", "4", "mine.json", LICENCE)]


def test_an_id_of_two_functions_is_told_and_so_is_a_null(tmp_path: Path) -> None:
    rows: list[tuple[int | None, str]] = [(0, "b"), (0, "other"), (0, "b "), (None, "c"), (None, "d")]
    path = tmp_path / "codebase.json"
    path.write_text(json.dumps([{"code-idx": number, "code": code} for number, code in rows]))
    items = list(read_cosqa_plus(release_at(path)))
    assert [item.record for item in items if isinstance(item, Problem)] == [2, 4, 5]
    found = [(item.source_id, item.text) for item in items if isinstance(item, Snippet)]
    assert found == [("0", "b"), ("0", "b ")]


def test_pairs_are_told_that_can_not_be_read_beside_a_file_of_queries(tmp_path: Path) -> None:
    """A release that was cut off in its pairs was imported as if it were whole."""
    (tmp_path / "query.json").write_text(json.dumps([{"query-idx": 4, "query": "ask"}]))
    (tmp_path / "codebase.json").write_text(json.dumps([{"code-idx": 7, "code": "answer"}]))
    rows = [PAIR, PAIR | {"query": None}, 5, {"query": "unjudged", "code": "answer"}, PAIR]
    (tmp_path / "pairs.json").write_text(json.dumps(rows)[:-9])
    items = list(read_cosqa_plus(release_in(tmp_path)))
    assert [item.record for item in items if isinstance(item, Problem)] == [2, 3, 5, 5]
    assert [item for item in items if isinstance(item, GivenLabel)] == [GivenLabel("ask", "answer", 1)]


def test_a_pair_of_what_is_in_no_file_is_refused(tmp_path: Path) -> None:
    rows = [PAIR, {**PAIR, "query-idx": 5, "query": "other"}, {**PAIR, "code-idx": 8, "code": "more"}]
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    assert len([item for item in read_cosqa_plus(release_in(tmp_path)) if isinstance(item, GivenLabel)]) == 3
    (tmp_path / "query.json").write_text(json.dumps([{"query-idx": 4, "query": " ask\r\n"}]))
    (tmp_path / "codebase.json").write_text(json.dumps([{"code-idx": 7, "code": "answer"}]))
    items = list(read_cosqa_plus(release_in(tmp_path)))
    assert [item.query for item in items if isinstance(item, GivenLabel)] == ["ask"]
    refused = [item for item in items if isinstance(item, Problem)]
    what = "add it there, or take the pair out"
    assert [(one.record, one.message, one.costs_labels) for one in refused] == [
        (2, f"its query is not in query.json: {what}", True),
        (3, f"its code is not in codebase.json: {what}", True),
    ]


def test_an_id_of_two_queries_is_told_and_the_first_counts(tmp_path: Path) -> None:
    rows = [{"query-idx": 1, "query": query} for query in ("ask", "other", "ask")] + [{"query": "a"}]
    (tmp_path / "query.json").write_text(json.dumps(rows))
    first, problem, *rest = read_cosqa_plus(release_in(tmp_path))
    assert isinstance(problem, Problem) and problem.record == 2
    assert "the id '1' was there before" in problem.message
    assert [item.text for item in (first, *rest) if isinstance(item, Query)] == ["ask", "ask"]


@pytest.mark.parametrize(
    "name", ["pairs.jsonl", "test_agent_pairs.csv.gz", "queries.json", "pairs.parquet", "codebase.json.zip"]
)
def test_a_file_of_another_kind_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "query.json").write_text('[{"query-idx": 4, "query": "ask"}]')
    (tmp_path / name).write_text("")
    query, *rest = sorted(read_cosqa_plus(release_in(tmp_path)), key=lambda item: isinstance(item, Problem))
    assert isinstance(query, Query)
    why = "is not read: query.json, codebase.json and pairs.json are, each an array of objects"
    assert rest == [Problem(str(tmp_path / name), 0, why)]
