"""`import FORMAT` of files with a bad label or without their end: status 3, and no benchmark of a part."""

from __future__ import annotations

import gzip
import json
import pickle
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from django.core.management import CommandError, call_command

from retrieval.models import Benchmark, Collection, Label, Member

pytestmark = pytest.mark.django_db

NUMBERS = ("one", "two", "three")
QUERIES = [{"_id": f"q{n}", "text": f"return the number {name}"} for n, name in enumerate(NUMBERS)]
CORPUS = [{"_id": f"d{n}", "text": f"def {name}():\n    return {n}"} for n, name in enumerate(NUMBERS)]
QRELS = "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\nq2\td2\t1\n"
PAIRS = [
    {"query-idx": n, "query": asked["text"], "code-idx": n, "code": code["text"], "label": 1}
    for n, (asked, code) in enumerate(zip(QUERIES, CORPUS, strict=True))
]


def json_lines(rows: Sequence[object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def beir(folder: Path, corpus: str = json_lines(CORPUS), qrels: str = QRELS) -> Path:
    (folder / "qrels").mkdir()
    (folder / "queries.jsonl").write_text(json_lines(QUERIES))
    (folder / "corpus.jsonl").write_text(corpus)
    (folder / "qrels" / "test.tsv").write_text(qrels)
    return folder


def run(*arguments: object, allow: bool = False) -> int:
    """The exit status of an import called `set`."""
    given = [*map(str, arguments), "--name", "set", *(["--allow-partial"] if allow else [])]
    try:
        call_command("import", *given)
    except CommandError as ended:
        return ended.returncode
    return 0


def cut_pack(path: Path, text: str) -> Path:
    """A gzipped file without its last bytes."""
    path.write_bytes(gzip.compress(text.encode())[:-9])
    return path


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def beir_with_half_a_document(folder: Path) -> list[Any]:
    extra = json_lines([*CORPUS, {"_id": "d3", "text": "def four(): return 4"}])
    return ["beir", beir(folder, corpus=extra[:-9])]


def beir_with_a_cut_pack(folder: Path) -> list[Any]:
    beir(folder, corpus="").joinpath("corpus.jsonl").unlink()
    cut_pack(folder / "corpus.jsonl.gz", json_lines(CORPUS))
    return ["beir", folder]


def beir_with_parquet_without_its_footer(folder: Path) -> list[Any]:
    beir(folder)
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    rows = pyarrow.table({"query-id": ["q2"], "corpus-id": ["d2"], "score": [1]})
    path = folder / "qrels" / "test.parquet"
    pyarrow.parquet.write_table(rows, path)
    path.write_bytes(path.read_bytes()[:-30])
    return ["beir", folder]


def beir_without_a_part(folder: Path) -> list[Any]:
    beir(folder).joinpath("corpus.jsonl").unlink()
    (folder / "corpus").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist(CORPUS), folder / "corpus" / "corpus-00000-of-00002.parquet"
    )
    return ["beir", folder]


def documented_in_a_broken_archive(folder: Path) -> list[Any]:
    source = 'def add(a, b):\n    """Add two numbers and return it."""\n    total = a + b\n    return total\n'
    path = folder / "sources.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.py", source)
        archive.writestr("harmed.py", source.replace("add", "plus").replace("Add", "Count"))
    content = path.read_bytes()
    place = content.index(b"def plus")
    path.write_bytes(content[:place] + b"DEF" + content[place + 3 :])
    return ["documented", path]


HARMED: dict[str, Callable[[Path], list[Any]]] = {
    "a label of no document": lambda folder: ["beir", beir(folder, qrels=f"{QRELS}q0\td9\t1\n")],
    "a label that is no number": lambda folder: ["beir", beir(folder, qrels=f"{QRELS}q0\td1\thigh\n")],
    "half a line of labels": lambda folder: ["beir", beir(folder, qrels=f"{QRELS}q0\td1")],
    "half a document": beir_with_half_a_document,
    "a packed corpus without its end": beir_with_a_cut_pack,
    "Parquet without its footer": beir_with_parquet_without_its_footer,
    "a part that is not there": beir_without_a_part,
    "CoSQA without its end": lambda folder: ["cosqa", written(folder / "a.json", json.dumps(PAIRS)[:-20])],
    "CoSQA with a label of 7": lambda folder: [
        "cosqa",
        written(folder / "a.json", json.dumps([*PAIRS, {**PAIRS[0], "label": 7}])),
    ],
    "CoSQA with a judged pair without a query": lambda folder: [
        "cosqa",
        written(folder / "a.json", json.dumps([*PAIRS, {**PAIRS[0], "query": ""}])),
    ],
    "text after the JSON": lambda folder: [
        "cosqa",
        written(folder / "a.json", json.dumps(PAIRS) + json.dumps(PAIRS)),
    ],
    "CoSQA+ without its end": lambda folder: [
        "cosqa-plus",
        written(folder / "pairs.json", json.dumps(PAIRS)[:-20]),
    ],
    "a release with a pair of nothing": lambda folder: [
        "release",
        release(folder, [*PAIRS, {**PAIRS[0], "code": "other"}]),
    ],
    "a table with a bad label": lambda folder: table(
        folder, "q,c,l\nsort,def f(): ...,1\nread,def g(): ...,x\n"
    ),
    "CoSQA with an id of two queries": lambda folder: [
        "cosqa",
        written(folder / "a.json", json.dumps([*PAIRS, {**PAIRS[0], "query": "another question"}])),
    ],
    "CoSQA with an index of two functions": lambda folder: [
        "cosqa",
        written(folder / "a.json", json.dumps([*PAIRS, {**PAIRS[0], "code": "x = 1"}])),
    ],
    "CoSQA with other functions than its code base": lambda folder: [
        "cosqa",
        written(folder / "a.json", json.dumps(PAIRS)),
        "--codebase",
        written(folder / "b.json", json.dumps({p["code"]: p["code-idx"] for p in PAIRS[:2]} | {"x = 1": 2})),
    ],
    "CoSQA+ with a pair of another query's number": lambda folder: [
        "cosqa-plus",
        release(folder, [*PAIRS, {**PAIRS[0], "query-idx": 1}]),
    ],
    "a release with a pair of another function's number": lambda folder: [
        "release",
        release(folder, [*PAIRS, {**PAIRS[0], "code-idx": 1}]),
    ],
    "a table with an id of two queries": lambda folder: [
        *table(folder, "q,c,l,n\nsort,def f(): ...,1,7\nread,def g(): ...,1,7\n"),
        *("--query-id", "n"),
    ],
    "a table with an id of two functions": lambda folder: [
        *table(folder, "q,c,l,n\nsort,def f(): ...,1,7\nread,def g(): ...,1,7\n"),
        *("--snippet-id", "n"),
    ],
    "a table that ends in a cell": lambda folder: table(
        folder, 'q,c,l\nsort,def f(): ...,1\nread,"def g(): .'
    ),
    "a table that ends in a row": lambda folder: table(folder, "q,c,l\nsort,def f(): ...,1\nread,def g()"),
    "questions without an answer": lambda folder: ["ncs", questions(folder), "--answers"],
    "documentation without its end": lambda folder: [
        "codesearchnet",
        cut_pack(folder / "python.jsonl.gz", json_lines(functions())),
        "--documentation",
    ],
    "a titled block that is no code": lambda folder: staqc(folder),
    "a broken archive": documented_in_a_broken_archive,
}


def release(folder: Path, pairs: list[dict[str, Any]]) -> Path:
    (folder / "query.json").write_text(json.dumps([{k: p[k] for k in ("query-idx", "query")} for p in PAIRS]))
    (folder / "codebase.json").write_text(
        json.dumps([{k: p[k] for k in ("code-idx", "code")} for p in PAIRS])
    )
    (folder / "pairs.json").write_text(json.dumps(pairs))
    return folder


def table(folder: Path, text: str) -> list[Any]:
    columns = ("--query", "q", "--snippet", "c", "--label", "l")
    return ["table", written(folder / "a.csv", text), *columns]


def questions(folder: Path) -> Path:
    rows = [{"stackoverflow_id": n, "question": f"how {n}?", "answer": f"this({n});"} for n in (1, 2)]
    return written(folder / "q.json", json.dumps([*rows, {"stackoverflow_id": 3, "question": "how?"}]))


def functions() -> list[dict[str, Any]]:
    return [
        {
            "language": "python",
            "repo": "a/b",
            "path": "m.py",
            "func_name": f"f{n}",
            "code": f"def f{n}(): ...",
            "docstring": f"Give the number {n} back.",
        }
        for n in range(3)
    ]


def staqc(folder: Path) -> list[Any]:
    code, titles = folder / "code.pickle", folder / "titles.pickle"
    code.write_bytes(pickle.dumps({(1, 0): "x = 1", (2, 0): None}, 2))
    titles.write_bytes(pickle.dumps({1: "how to set x", 2: "how to do nothing"}, 2))
    return ["staqc", code, "--titles", titles]


@pytest.mark.parametrize("harm", HARMED)
def test_a_bad_label_or_a_cut_off_file_publishes_nothing(
    harm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = HARMED[harm](tmp_path)
    assert run(*arguments) == 3
    assert Member.objects.exists() and not Benchmark.objects.exists()
    stored = Label.objects.count()
    capsys.readouterr()
    assert run(*arguments, allow=True) == 3
    assert Label.objects.count() == stored
    made = Benchmark.objects.get()
    assert made.size == stored
    assert made.notes.startswith("Published in part: labels may be missing by ")
    assert made.notes in capsys.readouterr().out


def test_a_refused_record_without_labels_gives_status_3_and_a_benchmark(tmp_path: Path) -> None:
    """The gap: a document without an id takes no number for one, and no other one's label."""
    corpus = json_lines([CORPUS[2], {"text": "def four(): return 4"}, CORPUS[1], CORPUS[0]])
    assert run("beir", beir(tmp_path, corpus=corpus)) == 3
    made = Benchmark.objects.get()
    assert (made.size, made.notes) == (3, "")
    assert Collection.objects.get(kind="snippets").size == 3


def test_the_whole_file_after_a_part_publishes_a_version_without_the_note(tmp_path: Path) -> None:
    folder = beir(tmp_path, qrels=f"{QRELS}q0\td9\t1\n")
    assert run("beir", folder, allow=True) == 3
    (folder / "qrels" / "test.tsv").write_text(QRELS)
    assert run("beir", folder) == 0
    assert list(Benchmark.objects.order_by("version").values_list("version", "size")) == [(1, 3), (2, 3)]
    assert Benchmark.objects.get(version=2).notes == ""


def test_a_dry_run_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = beir(tmp_path, qrels=f"{QRELS}q0\td9\t1\n")
    with pytest.raises(CommandError, match=r"the others can be read\. No benchmark is published") as ended:
        call_command("import", "beir", str(folder), "--name", "set", "--dry-run")
    assert ended.value.returncode == 3 and not Collection.objects.exists()


def test_nothing_to_read_gives_status_1_and_nothing_but_refusals_3(tmp_path: Path) -> None:
    assert run("cosqa", written(tmp_path / "none.json", "[]")) == 1
    assert run("cosqa", written(tmp_path / "bad.json", '[{"other": 1}]')) == 3
    assert run("cosqa", tmp_path / "nowhere.json") == 1


def test_qrels_of_other_documents_publish_nothing(tmp_path: Path) -> None:
    assert run("beir", beir(tmp_path)) == 0
    Benchmark.objects.all().delete()
    path = written(tmp_path / "more.qrels", "q0 0 d1 1\nq0 0 d9 1\n")
    assert run("qrels", path) == 3 and not Benchmark.objects.exists()
    assert run("qrels", path, allow=True) == 3
    assert "1 refused label or cut-off file" in Benchmark.objects.get().notes
    path.write_text("q0 0 d1 1\nq0 0\n")
    assert run("qrels", path, allow=True) == 3  # half a line refuses a whole file of judgements
