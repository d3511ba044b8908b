"""BEIR's folders: ids of labels become texts, scales are told apart, what is missing is told."""

import gzip
from pathlib import Path

import pytest

from retrieval.sources import GivenLabel, Problem, Query, Snippet
from retrieval.sources.formats.beir import read_beir_folder
from retrieval.sources.readers.lookup import Lookup

NAMES = ("one", "two", "three")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "small"
    (root / "qrels").mkdir(parents=True)
    corpus = '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": "d2", "text": "one"}\n{"_id": 3}\n'
    (root / "corpus.jsonl.gz").write_bytes(gzip.compress(corpus.encode()))
    (root / "queries.jsonl").write_text('{"_id": "q1", "text": "what?"}\n')
    (root / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq1\tgone\t1\n"
    )
    return root


def labels(folder: Path, split: str = "") -> list[GivenLabel]:
    return [item for item in read_beir_folder(folder, split) if isinstance(item, GivenLabel)]


def test_texts_and_labels(folder: Path) -> None:
    items = list(read_beir_folder(folder))
    assert items[:3] == [
        Query("what?", "q1", "small"),
        Snippet("T\none", "d1", "small"),
        Snippet("one", "d2", "small"),
    ]
    assert labels(folder) == [GivenLabel("what?", "T\none", 1), GivenLabel("what?", "one", 0)]
    told = [str(item) for item in items if isinstance(item, Problem)]
    assert len(told) == 2
    assert told[1].endswith("test.tsv, record 4: there is no document 'gone' in the corpus")


def test_an_id_that_comes_again_with_another_text_is_told_and_the_first_counts(folder: Path) -> None:
    rows = ['{"_id": "q1", "text": "what?"}', '{"_id": "q1", "text": "other"}']
    (folder / "queries.jsonl").write_text("\n".join([*rows, rows[0]]))
    corpus = folder / "corpus.jsonl.gz"
    corpus.write_bytes(corpus.read_bytes() + gzip.compress(b'{"_id": "d1", "text": "another"}\n'))
    items = list(read_beir_folder(folder, "test"))
    told = [str(item) for item in items if isinstance(item, Problem) and "before" in item.message]
    why = "was there before with another text; the first one counts"
    assert [line.removeprefix(f"{folder}/") for line in told] == [
        f"queries.jsonl, record 2: the id 'q1' {why}",
        f"corpus.jsonl.gz, record 4: the id 'd1' {why}",
    ]
    assert [item.text for item in items if isinstance(item, Query)] == ["what?", "what?"]
    assert labels(folder) == [GivenLabel("what?", "T\none", 1), GivenLabel("what?", "one", 0)]


def write_ids(folder: Path, documents: list[str], qrels: str) -> None:
    """Three functions as `documents`, of which each stands in the place of an id and its colon."""
    (folder / "corpus.jsonl.gz").unlink()
    rows = [f'{{{id_}"text": "def {name}"}}' for id_, name in zip(documents, NAMES, strict=True)]
    (folder / "corpus.jsonl").write_text("\n".join(rows))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + qrels)


@pytest.mark.parametrize(
    "key", ["_id", "id", "idx", "doc_id", "docid", "corpus-id", "code_idx", "document_id"]
)
@pytest.mark.parametrize("ids", [("1", "2", "3"), ('"1"', '"2"', '"3"'), ("1.0", "2.0", "3.0")])
def test_ids_are_read_by_each_of_their_names(folder: Path, key: str, ids: tuple[str, ...]) -> None:
    write_ids(folder, [f'"{key}": {each}, ' for each in ids], "q1\t1\t1\nq1\t3\t0\n")
    assert labels(folder) == [GivenLabel("what?", "def one", 1), GivenLabel("what?", "def three", 0)]


def test_an_id_of_mongodb_is_its_text(folder: Path) -> None:
    write_ids(folder, [f'"_id": {{"$oid": "a{number}"}}, ' for number in (1, 2, 3)], "q1\ta1\t1\nq1\t1\t1\n")
    assert labels(folder) == [GivenLabel("what?", "def one", 1)]


@pytest.mark.parametrize(
    ("unread", "why"),
    [
        ("", 'has no id ("_id", "id", "idx" or the like); it has "text"'),
        ('"_id": null, ', "has no id"),
        ('"_id": " ", ', '"_id" is'),
        ('"_id": true, ', "is 'True', which is no id"),
        ('"_id": [1], ', "is '[1]', which is no id"),
        ('"_id": 1.5, ', "is '1.5', which is no id"),
    ],
)
def test_a_record_without_an_id_does_not_take_the_place_of_another(
    folder: Path, unread: str, why: str
) -> None:
    write_ids(folder, ['"_id": "3", ', unread, '"_id": "1", '], "q1\t1\t1\n")
    items = list(read_beir_folder(folder))
    assert [item.text for item in items if isinstance(item, Snippet)] == ["def one", "def three"]
    (told,) = (item for item in items if isinstance(item, Problem))
    assert told.record == 2 and why in told.message
    assert labels(folder) == [GivenLabel("what?", "def three", 1)]


def test_one_score_above_one_makes_the_scale_graded(folder: Path) -> None:
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t1.5\n")
    assert {label.scale for label in labels(folder)} == {"graded"}
    assert [label.scale for label in labels(folder, "test")] == ["binary", "binary"]
    assert [label.value for label in labels(folder, "dev")] == [3]


@pytest.mark.parametrize("score", ["4", "-1", "1000", "-1000", "+7", "4.0"])
def test_a_score_above_three_or_below_zero_makes_all_of_them_whole_numbers(folder: Path, score: str) -> None:
    (folder / "qrels" / "dev.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t{score}\n")
    found = labels(folder, "dev")
    assert [(label.value, label.scale) for label in found] == [(1, "whole"), (int(float(score)), "whole")]


@pytest.mark.parametrize("score", ["1001", "-1001", "9" * 30, "4.5", "nan", "four", "", "１"])
def test_a_score_beyond_those_of_evaluate_files_is_refused(folder: Path, score: str) -> None:
    (folder / "qrels" / "dev.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\td1\t4\nq1\td2\t{score}\n")
    assert [label.value for label in labels(folder, "dev")] == [4]
    told = [item for item in read_beir_folder(folder, "dev") if isinstance(item, Problem)]
    assert "expected a whole number from -1000 to 1000" in told[-1].message


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    told = [str(item) for item in read_beir_folder(tmp_path, "test")]
    assert [line.split(": ")[1] for line in told] == [
        "has no qrels/test.tsv",
        "has no queries.jsonl and no Parquet files of queries",
        "has no corpus.jsonl and no Parquet files of corpus",
    ]


def test_a_document_may_be_its_title_alone(folder: Path) -> None:
    rows = ['{"_id": "d1", "title": "T", "text": ""}', '{"_id": "d2", "title": " ", "text": ""}']
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    items = list(read_beir_folder(folder))
    assert [item.text for item in items if isinstance(item, Snippet)] == ["T"]
    assert next(item.record for item in items if isinstance(item, Problem)) == 2


def test_half_an_emoji_in_a_text_or_an_id_is_marked(folder: Path) -> None:
    (folder / "queries.jsonl").write_text(r'{"_id": "q\ud83d", "text": "what \ud83d?"}')
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / "test.jsonl").write_text(
        r'{"query-id": "q\ud83d", "corpus-id": "d2", "score": 1}' + "\n"
    )
    assert labels(folder) == [GivenLabel("what ⟨U+D83D⟩?", "one", 1)]


def test_a_lookup_keeps_the_first_text_of_what_is_wanted() -> None:
    with Lookup() as lookup:
        lookup.want(["a", "a", "b"])
        for name, text in (("a", "first"), ("a", "second"), ("c", "unwanted")):
            lookup.keep(name, text)
        assert [lookup.get(name) for name in "abc"] == ["first", None, None]


@pytest.mark.parametrize("first", ["q1\td1\t1\n", "query\tdocument\tscore\n"])
def test_a_table_of_labels_without_its_columns_is_refused_whole(folder: Path, first: str) -> None:
    (folder / "qrels" / "test.tsv").write_text(first + "q1\td2\t0\nq1\td1\t1\n")
    told = [item for item in read_beir_folder(folder) if isinstance(item, Problem) and "qrels" in item.file]
    assert labels(folder) == [] and [one.record for one in told] == [0]
    assert "its first line must name the columns query-id, corpus-id, score; it is" in told[0].message
    (folder / "qrels" / "test.tsv").write_text(first)
    assert "test.tsv: has no label below its first line" in str(list(read_beir_folder(folder))[-1])


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("corpus.jsonl", "corpus.jsonl and corpus.jsonl.gz"),
        ("queries.jsonl.bz2", "queries.jsonl and queries.jsonl.bz2"),
        ("queries.jsonl.xz", "queries.jsonl and queries.jsonl.xz"),
        ("data/queries.jsonl", "queries.jsonl and data/queries.jsonl"),
        ("corpus/test.parquet", "corpus.jsonl.gz and corpus/test.parquet"),
        ("qrels/test.tsv.zst", "qrels/test.tsv and qrels/test.tsv.zst"),
        ("qrels/test.jsonl", "qrels/test.jsonl and qrels/test.tsv"),
        ("data/pairs-test.jsonl", "qrels/test.tsv and data/pairs-test.jsonl"),
    ],
)
def test_texts_or_labels_by_two_names_refuse_the_folder(folder: Path, more: str, told: str) -> None:
    (folder / more).parent.mkdir(exist_ok=True)
    (folder / more).touch()
    (item,) = read_beir_folder(folder)
    how = "leave the one that counts there, and move the other away"
    assert str(item) == f"{folder}: has {told}: {how}"
    assert isinstance(item, Problem)
    assert item.costs_labels


def test_a_table_of_labels_may_be_csv(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / "test.csv").write_text("query-id,corpus-id,score\nq1,d2,1\n")
    assert labels(folder) == [GivenLabel("what?", "one", 1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("test.txt", "q1 0 d1 1\n\nq1 0 d2 0\n"),
        ("test.qrels", "q1\t0\td1\t1\nq1\t0\td2\t0\n"),
        ("test", "q1 0 d1 1\nq1 0 d2 0.0\n"),
        ("test.json", '{"q1": {"d1": 1, "d2": 0}}'),
        (
            "test.json",
            '[{"query-id": "q1", "corpus-id": "d1", "score": 1}, {"qid": "q1", "pid": "d2", "score": 0}]',
        ),
        ("test.ndjson", '{"qid": "q1", "pid": "d1", "score": 1}\n{"qid": "q1", "pid": "d2", "score": 0}\n'),
    ],
)
def test_labels_may_be_of_another_kind_that_is_read(folder: Path, name: str, content: str) -> None:
    (folder / "qrels/test.tsv").unlink()
    (folder / "qrels" / name).write_text(content)
    assert labels(folder, "test") == [GivenLabel("what?", "T\none", 1), GivenLabel("what?", "one", 0)]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("qrels/test.txt", "q1 0 d1 0.5\n", "qrels/test.txt, record 1: \"score\" is '0.5'"),
        ("qrels/test.txt", "q1 0 gone 1\n", "record 1: there is no document 'gone' in the corpus"),
        ("qrels/test.txt", "q1 d1 1\n", "record 1: expected 4 columns"),
        ("qrels/test.txt", "Language,Query,GitHubUrl,Relevance\n", "record 1: names queries by their texts"),
        ("qrels/test.json", '{"q1": 1}', "record 1: expected a number by query and document"),
        ("qrels/test.xlsx", "x", "qrels/test.xlsx: is not read: labels are in qrels/, as .tsv, .csv"),
        ("qrels/old/test.tsv", "x", "qrels/old: is not read: labels are in qrels/"),
        ("qrels.tsv", "x", "qrels.tsv: is not read: labels are in qrels/"),
    ],
)
def test_labels_that_are_not_read_are_told(folder: Path, name: str, content: str, told: str) -> None:
    (folder / "qrels/test.tsv").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    problems = [item for item in read_beir_folder(folder) if isinstance(item, Problem)]
    (found,) = [problem for problem in problems if told in str(problem)]
    assert found.costs_labels


@pytest.mark.parametrize("name", ["corpus-2.jsonl", "queries.csv", "corpus.jsonl.zip"])
def test_a_file_that_is_called_like_texts_and_not_read_is_told(folder: Path, name: str) -> None:
    (folder / name).write_text("")
    told = [str(item) for item in read_beir_folder(folder) if isinstance(item, Problem)]
    assert f"{folder / name}: is not read: texts are in corpus.jsonl and queries.jsonl" in told


def test_hidden_files_readmes_and_other_splits_are_none_to_be_told(folder: Path) -> None:
    for name in (".DS_Store", "README.md", "train.xlsx"):
        (folder / "qrels" / name).write_text("")
    told = [str(item) for item in read_beir_folder(folder, "test") if isinstance(item, Problem)]
    assert not [line for line in told if "is not read" in line]


def test_a_file_in_place_of_the_folder_is_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "set.zip").write_bytes(b"PK")
    (told,) = read_beir_folder(tmp_path / "set.zip")
    assert isinstance(told, Problem) and told.message.startswith("is a file: unpack it")
