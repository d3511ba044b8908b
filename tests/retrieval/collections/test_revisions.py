"""A mended source is imported again: what was refused is added; what was mended replaces, on demand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from retrieval.models import Benchmark, Collection, Label

pytestmark = pytest.mark.django_db

QUERIES = {"1": "sort a list", "2": "read a file"}
CODE = {"1": "def f(x): return sorted(x)", "2": "def g(p): return open(p).read()", "3": "def h(x): return -x"}
LABELS = {("1", "1"): 1, ("2", "2"): 1, ("2", "3"): 0}
BAD = {**CODE, "2": ""}


@dataclass(frozen=True)
class Source:
    """A data set of any format: `write` makes its files, and gives the arguments of the import."""

    write: Callable[[Path, dict[str, str], dict[str, str], dict[tuple[str, str], int]], list[Any]]


def write_beir(
    folder: Path, queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> list[Any]:
    (folder / "qrels").mkdir(exist_ok=True)
    for name, texts in (("queries", queries), ("corpus", code)):
        rows = (json.dumps({"_id": key, "text": text}) for key, text in texts.items())
        (folder / f"{name}.jsonl").write_text("\n".join(rows))
    rows = (f"{query}\t{snippet}\t{value}\n" for (query, snippet), value in labels.items())
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return ["beir", folder]


def rows_of(
    queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> list[dict[str, Any]]:
    return [
        {
            "query-idx": query,
            "query": queries[query],
            "code-idx": snippet,
            "code": code[snippet],
            "label": value,
        }
        for (query, snippet), value in labels.items()
    ]


def write_table(
    folder: Path, queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> list[Any]:
    (folder / "a.json").write_text(json.dumps(rows_of(queries, code, labels)))
    columns = ("--query", "query", "--snippet", "code", "--label", "label")
    return ["table", folder / "a.json", *columns, "--query-id", "query-idx", "--snippet-id", "code-idx"]


def write_cosqa(
    folder: Path, queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> list[Any]:
    (folder / "a.json").write_text(json.dumps(rows_of(queries, code, labels)))
    return ["cosqa", folder / "a.json"]


def write_release(
    folder: Path, queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> list[Any]:
    asked = [{"query-idx": key, "query": text} for key, text in queries.items()]
    found = [{"code-idx": key, "code": text} for key, text in code.items()]
    for name, rows in (("query", asked), ("codebase", found), ("pairs", rows_of(queries, code, labels))):
        (folder / f"{name}.json").write_text(json.dumps(rows))
    return ["release", folder]


def write_cosqa_plus(
    folder: Path, queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> list[Any]:
    return ["cosqa-plus", *write_release(folder, queries, code, labels)[1:]]


SOURCES = {
    source.write.__name__: source
    for source in map(Source, (write_beir, write_table, write_cosqa, write_release, write_cosqa_plus))
}


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The exit status of an import called `set`, and what it says."""
    try:
        call_command("import", *map(str, arguments), "--name", "set")
    except CommandError as ended:
        return ended.returncode, "".join([*capsys.readouterr(), str(ended)])
    return 0, "".join(capsys.readouterr())


def published() -> dict[tuple[str, str], float]:
    """What the newest benchmark says of texts."""
    newest = Benchmark.objects.newest("set")
    assert newest is not None
    rows = newest.labels.select_related("pair__query__body", "pair__snippet__body")
    return {(row.pair.query.text, row.pair.snippet.text): row.relevance for row in rows}


def sizes() -> list[tuple[str, int, int]]:
    return list(Collection.objects.order_by("kind", "version").values_list("kind", "version", "size"))


def said(
    queries: dict[str, str], code: dict[str, str], labels: dict[tuple[str, str], int]
) -> dict[tuple[str, str], float]:
    return {(queries[query], code[snippet]): float(value) for (query, snippet), value in labels.items()}


@pytest.mark.parametrize("source", SOURCES)
def test_a_record_that_was_refused_is_added_when_it_is_mended(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = SOURCES[source].write
    assert run(capsys, *write(tmp_path, QUERIES, BAD, LABELS))[0] == 3
    assert not Benchmark.objects.exists()
    status, told = run(capsys, *write(tmp_path, QUERIES, CODE, LABELS))
    assert status == 0 and "functions: 3 read, 1 stored, 2 known already" in told
    assert "the collection had 2 before, and has 3 now" in told
    assert "3 labels, 2 known already; 0 records refused" in told
    assert sizes() == [("queries", 1, 2), ("snippets", 1, 3)]
    assert published() == said(QUERIES, CODE, LABELS)


@pytest.mark.parametrize("source", SOURCES)
def test_a_text_that_was_mended_is_refused_and_replaces_on_demand(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stored text keeps its id until somebody says that the new one is meant."""
    write, mended = SOURCES[source].write, {**CODE, "3": "def h(x): return abs(x)"}
    assert run(capsys, *write(tmp_path, QUERIES, CODE, LABELS))[0] == 0
    status, told = run(capsys, *write(tmp_path, QUERIES, mended, LABELS))
    assert status == 3
    assert "the id '3' belongs to another text in set (functions, version 1)" in told
    assert "to take what you mended, import with --replace" in told
    assert published() == said(QUERIES, CODE, LABELS)
    status, told = run(capsys, *write(tmp_path, QUERIES, mended, LABELS), "--replace")
    assert status == 0 and "set@2" in told
    assert sizes() == [("queries", 1, 2), ("queries", 2, 2), ("snippets", 1, 3), ("snippets", 2, 3)]
    assert published() == said(QUERIES, mended, LABELS)
    assert run(capsys, *write(tmp_path, QUERIES, mended, LABELS))[0] == 0
    assert Collection.objects.count() == 4 and Benchmark.objects.count() == 2  # nothing new


@pytest.mark.parametrize("source", SOURCES)
def test_a_label_that_was_mended_replaces_the_earlier_one_on_demand(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, mended = SOURCES[source].write, {("1", "1"): 1, ("2", "2"): 0, ("1", "3"): 0}
    assert run(capsys, *write(tmp_path, QUERIES, CODE, LABELS))[0] == 0
    told = run(capsys, *write(tmp_path, QUERIES, CODE, mended))[1]
    assert "earlier one of their pair in the same source: 1; the first counts" in told
    assert "where you mended one: import with --replace" in told
    run(capsys, *write(tmp_path, QUERIES, CODE, mended), "--replace")
    assert published() == said(QUERIES, CODE, mended)
    taken_back = Label.objects.filter(round=2)
    assert {row.value for row in taken_back} == {None} and taken_back.count() == 4


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("write_beir", "query-id and corpus-id"),
        *((name, "query-idx and code-idx") for name in SOURCES if name != "write_beir"),
    ],
)
def test_the_summary_says_what_ids_of_labels_were_read_from(
    source: str, read: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = run(capsys, *SOURCES[source].write(tmp_path, QUERIES, CODE, LABELS))[1]
    assert f"3 labels; 0 records refused\n  ids read from {read}\n" in told


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("a.txt", "1 0 3 1\n", "the first and the third column"),
        ("a.json", '{"1": {"3": 1}}', "the keys of the JSON"),
        ("a.csv", "Language,Query,GitHubUrl,Relevance\nPython,sort a list,3,1\n", "query and githuburl"),
    ],
)
def test_the_summary_of_judgements_says_where_their_ids_stand(
    name: str, text: str, read: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *write_beir(tmp_path, QUERIES, CODE, LABELS))[0] == 0
    (tmp_path / name).write_text(text)
    assert f"1 label; 0 records refused\n  ids read from {read}\n" in run(capsys, "qrels", tmp_path / name)[1]


def test_labels_of_qrels_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *write_beir(tmp_path, QUERIES, CODE, {("1", "1"): 1}))[0] == 0
    file = tmp_path / "a.qrels"
    file.write_text("1 0 3 1\n2 0 2 1\n")
    assert run(capsys, "qrels", file)[0] == 0
    file.write_text("1 0 3 0\n")
    assert run(capsys, "qrels", file)[0] == 0
    assert published()[QUERIES["1"], CODE["3"]] == 1
    assert run(capsys, "qrels", file, "--replace")[0] == 0
    assert published() == said(QUERIES, CODE, {("1", "3"): 0})
    assert sizes() == [("queries", 1, 2), ("snippets", 1, 3)]


def test_a_source_without_a_readable_record_replaces_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *write_beir(tmp_path, QUERIES, CODE, LABELS))[0] == 0
    (tmp_path / "bad.json").write_text('[{"other": 1}]')
    assert run(capsys, "cosqa", tmp_path / "bad.json", "--replace")[0] == 3
    assert sizes() == [("queries", 1, 2), ("snippets", 1, 3)]
    assert Label.objects.filter(value=None).count() == 0


def test_a_copy_of_a_text_under_a_new_id_is_no_other_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An alias is added beside the id that is there, also by a second import."""
    assert run(capsys, *write_beir(tmp_path, QUERIES, CODE, LABELS))[0] == 0
    more = {**CODE, "4": CODE["1"]}
    status, told = run(capsys, *write_beir(tmp_path, QUERIES, more, {**LABELS, ("1", "4"): 1}))
    assert status == 0 and "1 id shares a text with an earlier id" in told
    assert run(capsys, *write_beir(tmp_path, QUERIES, {**more, "4": "x = 1"}, LABELS))[0] == 3
