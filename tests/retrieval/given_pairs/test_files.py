"""A file of pairs becomes a list: by texts or by ids, with a benchmark of its labels; bad rows are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.given_pairs import NoPairs, Wanted, files, of_benchmark, of_file
from retrieval.models import Annotator, Benchmark, Collection, Label, Member, PairList
from tests import factories, given

pytestmark = pytest.mark.django_db


def heads(pairs: PairList) -> list[tuple[str, str, int]]:
    rows = pairs.candidates.order_by("pk").values_list("query__head", "pair__snippet__head", "rank")
    return [(query, snippet.split("(")[0], rank) for query, snippet, rank in rows]


def test_cosqas_own_json_becomes_a_list_with_its_labels_as_a_benchmark(tmp_path: Path) -> None:
    read = of_file(Wanted(given.json_file(tmp_path), "dev"))
    pairs = read.pairs
    assert (pairs.name, pairs.size, str(pairs.benchmark), read.left_out) == ("dev.json", 5, "dev@1", ())
    assert heads(pairs) == [
        ("sort a list", "def f", 1),
        ("read a file", "def g", 1),
        ("sort a list", "def h", 2),
        ("add numbers", "def f", 1),
        ("parse json", "def p", 1),
    ]
    assert pairs.benchmark is not None
    assert sorted(pairs.benchmark.labels.values_list("relevance", flat=True)) == [0, 0, 1, 1]
    # 4 of 5 rows have a label; 4 queries, of 5 rows, as one comes twice; 4 snippets, for the same reason
    assert (pairs.queries.size, pairs.snippets.size, Label.objects.count()) == (4, 4, 4)
    assert Member.objects.filter(collection=pairs.queries, source_id="dev-0").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", 'query,code,label\nsort a list,"def f(x):\n    return sorted(x)",1\n'),
        ("p.tsv", "question\tsnippet\trelevance\nsort a list\tdef f(x): return sorted(x)\t1\n"),
        ("p.jsonl", '{"query": "sort a list", "code": "def f(x): return x", "label": "1"}\n'),
    ],
)
def test_tables_and_lines_are_read_by_their_columns_usual_names(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    pairs = of_file(Wanted(tmp_path / name, "mine")).pairs
    assert (pairs.size, heads(pairs)[0][0]) == (1, "sort a list")
    assert pairs.benchmark is not None and pairs.benchmark.positives == 1


def test_pairs_without_labels_have_no_benchmark(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"query": "sort", "code": "def f(x): return x"}\n', "utf-8")
    assert of_file(Wanted(tmp_path / "p.jsonl", "mine")).pairs.benchmark is None
    assert not Benchmark.objects.exists()


def test_the_same_pair_counts_once_and_its_first_label(tmp_path: Path) -> None:
    twice = [given.ROWS[0], {**given.ROWS[0], "label": 0}]
    pairs = given.pair_list(tmp_path, twice)
    assert pairs.size == 1 and pairs.benchmark is not None
    assert pairs.benchmark.labels.get().relevance == 1


def test_a_file_without_a_readable_row_is_refused_whoever_leaves_bad_ones_out(tmp_path: Path) -> None:
    path = given.json_file(tmp_path, [{"doc": None, "code": "def f(): pass"}])
    with pytest.raises(NoPairs, match="has no row that can be read") as why:
        of_file(Wanted(path, "dev", skip_bad=True))
    assert [problem.record for problem in why.value.problems] == [1]


def test_labels_that_contradict_an_earlier_one_are_told(tmp_path: Path) -> None:
    rows = [given.ROWS[0], {**given.ROWS[0], "label": 0}, {**given.ROWS[0], "label": 1}]
    read = of_file(Wanted(given.json_file(tmp_path, rows), "dev"))
    told = "; labels left out, as an earlier one of their pair says something else: 1"
    assert (read.contradicted, read.losses) == (1, told)
    assert read.pairs.benchmark is not None
    (tmp_path / "ids.csv").write_text("query_id,code_id,label\ndev-0,0,1\ndev-0,0,0\n")
    by_ids = Wanted(tmp_path / "ids.csv", "ids", read.pairs.queries, read.pairs.snippets)
    assert of_file(by_ids).losses == told


def test_a_label_may_first_stand_in_a_late_record(tmp_path: Path) -> None:
    rows = [{"idx": f"{n}", "doc": f"q{n}", "code": f"def f{n}(): pass"} for n in range(30)]
    read = of_file(Wanted(given.json_file(tmp_path, [*rows, given.ROWS[0]]), "dev"))
    assert read.pairs.size == 31 and read.pairs.benchmark is not None
    assert read.pairs.benchmark.size == 1


def test_ids_may_stand_in_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    whole = of_file(Wanted(given.json_file(tmp_path), "dev")).pairs
    table = arrow.table({"query_id": ["dev-0"], "code_id": ["0"], "label": [1]})
    parquet.write_table(table, tmp_path / "ids.parquet")
    read = of_file(Wanted(tmp_path / "ids.parquet", "ids", whole.queries, whole.snippets))
    assert read.pairs.size == 1 and read.pairs.benchmark is not None


def test_the_same_file_is_one_list_whatever_the_build_is_called(tmp_path: Path) -> None:
    path = given.json_file(tmp_path)
    first, again = of_file(Wanted(path, "dev")).pairs, of_file(Wanted(path, "other")).pairs
    assert first == again and PairList.objects.count() == 1
    assert not Collection.objects.filter(name="other").exists()


def test_bad_rows_are_told_by_line_and_nothing_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(
        '{"query": "a", "code": "def f(x): return x", "label": 1}\n{"query": "b", "label": 1}\n{\n', "utf-8"
    )
    with pytest.raises(NoPairs, match=r"2 rows can’t be read") as why:
        of_file(Wanted(path, "mine"))
    assert [problem.record for problem in why.value.problems] == [2, 3]
    assert 'has no "code"' in why.value.problems[0].message
    assert not (Collection.objects.exists() or PairList.objects.exists() or Label.objects.exists())
    read = of_file(Wanted(path, "mine", skip_bad=True))
    assert (read.pairs.size, len(read.left_out)) == (1, 2)


@pytest.mark.parametrize("label", [2, "yes", 0.5])
def test_a_label_that_is_no_0_or_1_is_a_bad_row(tmp_path: Path, label: object) -> None:
    with pytest.raises(NoPairs) as why:
        given.pair_list(tmp_path, [{**given.ROWS[0], "label": label}])
    assert "expected 0 or 1" in why.value.problems[0].message


@pytest.mark.parametrize(("name", "text"), [("p.jsonl", ""), ("p.json", "[]"), ("p.txt", "a\n")])
def test_a_file_without_records_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(NoPairs):
        of_file(Wanted(tmp_path / name, "mine"))
    assert not PairList.objects.exists()


def test_ids_alone_need_the_collections_that_they_are_of(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("query_id,snippet_id,label\nqueries-0,snippets-0,1\n", "utf-8")
    with pytest.raises(NoPairs, match="name the collections of queries and of"):
        of_file(Wanted(tmp_path / "p.csv", "mine"))
    with pytest.raises(NoPairs, match="or neither"):
        of_file(Wanted(tmp_path / "p.csv", "mine", queries=factories.queries()))


def test_rows_name_members_by_their_ids(tmp_path: Path) -> None:
    rows = (
        "query_id,snippet_id,label\nqueries-0,snippets-0,1\nqueries-0,snippets-2,0\nqueries-2,snippets-2,\n"
    )
    (tmp_path / "p.csv").write_text(rows, "utf-8")
    pairs = of_file(Wanted(tmp_path / "p.csv", "mine", factories.queries(), factories.snippets())).pairs
    assert (pairs.size, pairs.asked, pairs.queries.name) == (3, 2, "small")
    assert str(pairs.benchmark) == "mine@1" and pairs.benchmark is not None
    assert pairs.benchmark.size == 2  # a row without a label is a pair without one
    assert Annotator.objects.get(kind="original").name == "mine"


def test_rows_name_members_by_their_texts(tmp_path: Path) -> None:
    rows = [{"query": factories.QUERIES[1], "code": factories.SNIPPETS[1], "label": 1}]
    path = given.json_file(tmp_path, rows)
    pairs = of_file(Wanted(path, "mine", factories.queries(), factories.snippets())).pairs
    assert heads(pairs) == [(factories.QUERIES[1], "def parse_date", 1)]


def test_a_member_that_is_not_there_is_a_bad_row(tmp_path: Path) -> None:
    rows = "query_id,snippet_id\nqueries-0,snippets-0\nqueries-9,snippets-0\n,snippets-0\n"
    (tmp_path / "p.csv").write_text(rows, "utf-8")
    with pytest.raises(NoPairs) as why:
        of_file(Wanted(tmp_path / "p.csv", "mine", factories.queries(), factories.snippets()))
    assert [problem.record for problem in why.value.problems] == [3, 4]
    assert "no member called 'queries-9'" in why.value.problems[0].message


def test_a_name_that_means_something_else_is_refused(tmp_path: Path) -> None:
    factories.queries()
    with pytest.raises(NoPairs, match="There is a collection called 'small' already"):
        given.pair_list(tmp_path, name="small")
    assert Collection.objects.get().size == 3


def test_hostile_text_is_stored_marked(tmp_path: Path) -> None:
    row = {"query": "sort\x00 \u202ea list", "code": "def f(x):\n    return '\x00'", "label": 1}
    pairs = given.pair_list(tmp_path, [row])
    assert pairs.size == 1 and "\x00" not in heads(pairs)[0][0]


def test_a_benchmark_that_came_of_a_file_has_its_list(tmp_path: Path) -> None:
    labelled = given.ROWS[:4]
    pairs = given.pair_list(tmp_path, labelled)
    assert pairs.benchmark is not None and of_benchmark(pairs.benchmark) == pairs


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_file_of_bad_rows_alone_is_given_up(
    skip_bad: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BAD_ROWS", 3)
    path = tmp_path / "bad.jsonl"
    path.write_text('{"query": "q", "code": "c"}\n' + '{"query": "q"}\n' * 3)
    if skip_bad:
        assert len(of_file(Wanted(path, "three", skip_bad=True)).left_out) == 3
    path.write_text('{"query": "q", "code": "c"}\n' + '{"query": "q"}\n' * 9)
    with pytest.raises(NoPairs, match=r"more than 3 rows can’t be read. See whether it is the right file"):
        of_file(Wanted(path, "nine", skip_bad=skip_bad))
