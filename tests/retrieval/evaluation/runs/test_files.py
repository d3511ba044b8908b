"""Run files are matched with a benchmark, and what is unknown is counted."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from retrieval.evaluation.content import content_of
from retrieval.evaluation.files import NotComparable
from retrieval.evaluation.runs.files import RunFile, read_run_file
from retrieval.models import Benchmark, Text
from retrieval.models.benchmarks import NOWHERE
from retrieval.sources.readers.lines import Malformed
from tests import factories


class Reader:
    def __init__(self, folder: Path, benchmark: Benchmark) -> None:
        self.path, self.content = folder / "my.run", content_of(benchmark)

    def read(self, text: str, language: str | None = None) -> RunFile:
        self.path.write_text(text)
        return read_run_file(self.path, self.content, language)

    def places(self, text: str, query: int = 0) -> list[int]:
        return [int(place) for place in self.read(text).lists[self.content.queries[query]]]


@pytest.fixture
def reader(tmp_path: Path, benchmark_: Benchmark) -> Reader:
    return Reader(tmp_path, benchmark_)


def row(query: str, snippet: str, rank: int = 1, score: float = 0.0) -> str:
    return f"{query} Q0 {snippet} {rank} {score} me\n"


def test_lists_are_ordered_by_score_and_named_by_source_ids(reader: Reader) -> None:
    run = row("queries-0", "snippets-2", 1, 0.1) + row("queries-0", "snippets-1", 2, 0.9)
    assert reader.places(run) == [1, 2]


def test_a_snippet_may_be_named_by_its_hash_and_a_query_by_its_text(reader: Reader) -> None:
    digest = Text.objects.get(pk=reader.content.snippets[3]).digest
    run = f"language,query,url\nPython,{factories.QUERIES[1].upper()},{digest}\n"
    assert reader.places(run, 1) == [3]


def test_a_snippet_may_be_named_by_the_link_that_is_its_origin(reader: Reader, benchmark_: Benchmark) -> None:
    link, shared = "https://github.com/a/b/blob/1/m.py#L1-L2", "https://example.org/shared"
    benchmark_.snippets.members.filter(position=2).update(origin=link)
    benchmark_.snippets.members.filter(position__lt=2).update(origin=shared)
    heading = f"language,query,url\nPython,{factories.QUERIES[1]},"
    assert reader.places(heading + link, 1) == [2]
    with pytest.raises(NotComparable, match="by the link that is its origin"):
        reader.places(heading + shared, 1)


def test_what_is_unknown_keeps_its_rank_and_is_counted(reader: Reader) -> None:
    run = row("queries-0", "elsewhere", 1, 2) + row("queries-0", "snippets-0", 2, 1)
    found = reader.read(run + row("queries-9", "snippets-0"))
    assert found.lists[reader.content.queries[0]].tolist() == [NOWHERE, 0]
    snippet, query = found.unknown_snippets.told("snippet"), found.unknown_queries.told("query", "queries")
    assert snippet == "1 snippet (in 1 row; the first is 'elsewhere' in line 1)"
    assert query == "1 query (in 1 row; the first is 'queries-9' in line 3)"


def test_a_run_of_another_benchmark_is_refused(reader: Reader) -> None:
    with pytest.raises(NotComparable, match=r"2 unknown ones \(in 3 rows.*source id, such as 'queries-0'"):
        reader.read(row("a", "snippets-0") + row("a", "snippets-1") + row("b", "snippets-0"))
    with pytest.raises(NotComparable, match=r"No function of .*small@1.*1 unknown one \(in 2 rows"):
        reader.read(row("queries-0", "x") + row("queries-1", "x"))


def test_a_snippet_counts_once_for_a_query_by_whichever_name(reader: Reader) -> None:
    digest = Text.objects.get(pk=reader.content.snippets[0]).digest
    with pytest.raises(Malformed, match=r"line 2: .* is listed a second time"):
        reader.read(row("queries-0", "snippets-0", 1, 2) + row("queries-0", digest, 2, 1))
    with pytest.raises(Malformed, match="line 3: 'x' is listed a second time"):
        reader.read(row("queries-0", "x", 1, 3) + row("queries-0", "snippets-0") + row("queries-0", "x"))


def test_an_id_of_two_members_names_neither(reader: Reader, benchmark_: Benchmark) -> None:
    benchmark_.snippets.members.filter(position=1).update(source_id="snippets-0")
    run = row("queries-0", "snippets-0", 1, 2) + row("queries-0", "snippets-2", 2, 1)
    assert reader.places(run) == [NOWHERE, 2]


def test_ids_of_an_export_and_plain_numbers_are_known(reader: Reader) -> None:
    for query, snippets in (("q1", ("d3", "d0")), ("1", ("3", "0"))):
        found = reader.read(row(query, snippets[0], 1, 2) + row(query, snippets[1], 2, 1))
        assert found.by_export
        assert found.lists[reader.content.queries[1]].tolist() == [3, 0]
    assert not reader.read(row("queries-0", "snippets-0")).by_export


def test_a_number_of_an_export_is_the_source_id_where_all_are_numbers(
    reader: Reader, benchmark_: Benchmark
) -> None:
    for place, name in enumerate(("3", "2", "1", "0")):
        benchmark_.snippets.members.filter(position=place).update(source_id=name)
    assert reader.places(row("q0", "d3", 1, 2) + row("q0", "d0", 2, 1)) == [0, 3]
    assert reader.places(row("0", "3", 1, 2) + row("0", "0", 2, 1)) == [0, 3]


def test_names_are_read_as_an_exports_where_none_is_ours(reader: Reader, benchmark_: Benchmark) -> None:
    """Of ids `1`, `x`, `y`, `z` the first snippet has the name that an export gives to the second."""
    for place, name in enumerate(("1", "x", "y", "z")):
        benchmark_.snippets.members.filter(position=place).update(source_id=name)
    assert reader.places(row("queries-0", "1", 1, 2) + row("queries-0", "x", 2, 1)) == [0, 1]
    assert reader.places(row("queries-0", "1", 1, 2) + row("queries-0", "0", 2, 1))[0] == 0
    assert reader.places(row("queries-0", "2", 1, 2) + row("queries-0", "0", 2, 1)) == [2, 0]
    assert reader.places(row("queries-0", "1")) == [0]


def test_a_gzipped_file_is_read(reader: Reader) -> None:
    reader.path.write_bytes(gzip.compress(row("queries-0", "snippets-2").encode()))
    assert read_run_file(reader.path, reader.content).lists[reader.content.queries[0]].tolist() == [2]


def test_what_is_no_candidate_is_taken_out_and_what_is_unknown_stays(reader: Reader) -> None:
    reader.path.write_text(
        row("queries-0", "snippets-3", 1, 4)
        + row("queries-0", "elsewhere", 2, 3)
        + row("queries-0", "snippets-1", 3, 2)
        + row("queries-1", "snippets-1", 1, 1)
    )
    first, second = reader.content.queries[:2]
    found = read_run_file(reader.path, reader.content, pool={first: [0, 1], second: []})
    assert found.lists[first].tolist() == [NOWHERE, 1] and found.lists[second].tolist() == []
    assert found.outside.told("snippet") == "2 snippets (in 2 rows; the first is 'snippets-3' in line 1)"
    with pytest.raises(NotComparable, match=r"is a candidate of its query.*searched the whole collection"):
        read_run_file(reader.path, reader.content, pool={first: [2]})


def test_languages_are_kept_apart(reader: Reader) -> None:
    rows = f"Python,{factories.QUERIES[0]},snippets-0\nJava,{factories.QUERIES[0]},snippets-1\n"
    run = "language,query,url\n" + rows
    assert reader.read(run, "java").lists[reader.content.queries[0]].tolist() == [1]
    with pytest.raises(NotComparable, match="choose one with --language"):
        reader.read(run)
    with pytest.raises(NotComparable, match="leave --language out"):
        reader.read(row("queries-0", "snippets-0"), "java")
