"""`import FORMAT` of queries, snippets and labels together: refusals, resuming, progress."""

from __future__ import annotations

import importlib
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from tqdm import tqdm

from retrieval.collections import import_report, importer
from retrieval.collections.import_report import ImportCounts, Options
from retrieval.collections.importer import import_items
from retrieval.models import Collection, Label, Member
from retrieval.sources import GivenLabel, Item, Problem, Query, Snippet
from tests.retrieval.sources.formats.test_beir_places import as_folders

pytestmark = pytest.mark.django_db
command = importlib.import_module("retrieval.management.commands.import")  # a keyword


def items(number: int) -> Iterator[Item]:
    for n in range(number):
        yield Query(f"query {n}", str(n))
        yield Snippet(f"def f{n}(x):\n    return x", str(n))
        yield GivenLabel(f"query {n}", f"def f{n}(x):\n    return x", n % 2)


def cut_off(number: int) -> Iterator[Item]:
    yield from items(number)
    raise KeyboardInterrupt


def test_an_import_that_was_cut_off_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "BATCH", 10)
    with pytest.raises(KeyboardInterrupt):
        import_items(cut_off(20), "here", "small", Options())
    there = Member.objects.count()
    assert 0 < there < 60
    done = import_items(items(30), "here", "small", Options())
    assert done.total().known == there
    assert (Member.objects.count(), Label.objects.count()) == (60, 30)
    positions = Member.objects.filter(collection__kind="snippets").values_list("position", flat=True)
    assert sorted(positions) == list(range(30))


def test_labels_become_a_benchmark() -> None:
    benchmark = import_items(items(6), "here", "small", Options()).benchmark
    assert benchmark is not None
    assert (str(benchmark), benchmark.size, benchmark.positives) == ("small@1", 6, 3)
    assert import_items(items(6), "here", "small", Options()).benchmark == benchmark


def test_progress_grows_and_a_dry_run_stores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "BATCH", 10)
    seen: list[int] = []

    def tick(counts: ImportCounts) -> None:
        seen.append(counts.read)

    import_items(items(20), "here", "small", Options(dry_run=True, tick=tick))
    assert seen == sorted(seen)
    assert seen[-1] == 40
    assert not Collection.objects.exists()


def test_refused_records_are_counted_and_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_report, "PROBLEMS_KEPT", 5)
    done = import_items((Problem("f", n, "bad") for n in range(1, 9)), "f", "none", Options())
    assert done.others is not None
    assert (done.others.unreadable, len(done.problems)) == (8, 5)
    assert not Collection.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["table", "a.csv"], "Name the columns with --query"),
        (["table", "a.csv", "--query", "q", "--label", "l"], "name the columns of both"),
        (["table", "nowhere.csv", "--query", "q"], "There is no nowhere.csv"),
        (["cosqa-plus", "."], "has no query.json"),
        (["staqc", "a.csv", "--titles", "nowhere"], "There is no nowhere"),
        (["beir", "."], "Nothing could be read"),
    ],
)
def test_what_cannot_be_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("q\nx\n")
    with pytest.raises(CommandError, match=said):
        call_command("import", *arguments, "--name", "none")
    assert not Collection.objects.exists()


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("beir", ("corpus.jsonl", "corpus.jsonl.xz", "queries.jsonl")),
        ("cosqa-plus", ("pairs.json", "pairs.json.xz")),
        ("release", ("pairs.json", "pairs.json.xz")),
    ],
)
def test_a_folder_with_a_file_by_two_names_is_refused_and_nothing_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, names: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / name).write_text("[]")
    with pytest.raises(CommandError, match="Nothing could be read; the lines above say why") as ended:
        call_command("import", form, str(tmp_path), "--name", "none")
    assert ended.value.returncode == 3
    assert f"has {names[0]} and {names[1]}: leave the one that counts" in capsys.readouterr().err
    assert not Collection.objects.exists()


def test_a_file_of_queries_alone_is_taken_from_a_folder_or_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path := tmp_path / "query.json").write_text('[{"query-idx": 0, "query": "sort a list"}]')
    for place in (path, tmp_path):
        call_command("import", "cosqa-plus", str(place), "--name", "asked")
        assert "These are queries only: a build searches for them" in capsys.readouterr().out
    assert list(Collection.objects.values_list("kind", "size")) == [("queries", 1)]


def test_nothing_is_said_of_queries_where_none_could_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path := tmp_path / "query.json").write_text('[{"no": "query"}]')
    with pytest.raises(CommandError, match="Nothing could be read"):
        call_command("import", "cosqa", str(path), "--name", "none")
    assert "These are queries only" not in capsys.readouterr().out


def test_of_several_data_sets_one_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(as_folders(tmp_path / "csn").parent)
    with pytest.raises(CommandError, match=r"for each of go, python: choose one with --config NAME\."):
        call_command("import", "beir", "csn", "--name", "csn")
    with pytest.raises(CommandError, match="there is no 'python' to choose in it: leave --config out"):
        call_command("import", "beir", "csn/go", "--config", "python", "--name", "csn")
    assert not Collection.objects.exists()
    call_command("import", "beir", "csn", "--language", "go", "--name", "csn")
    assert "functions: 1 read, 1 stored" in capsys.readouterr().out
    assert set(Collection.objects.values_list("source", "members__origin")) == {("csn/go", "csn/go")}


def test_every_refused_record_is_counted_and_can_be_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, file = tmp_path / "rows.jsonl", tmp_path / "refused.jsonl"
    rows.write_text('{"text": "sort a list"}\n' + "broken\n" * 1200 + '{"other": 1}\n')
    arguments = ("import", "table", str(rows), "--query", "text", "--name", "small")
    with pytest.raises(CommandError, match=r"Refused: 1,201 records \(see above\); the others are stored\."):
        call_command(*arguments)
    assert "… and 1,181 more; --problems FILE.jsonl writes every one" in capsys.readouterr().err
    with pytest.raises(CommandError) as ended:
        call_command(*arguments, "--problems", str(file))
    assert ended.value.returncode == 3
    told = capsys.readouterr().err
    assert "… and 1,181 more\n" in told and f"1,201 refused records in {file}" in told
    written = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [one["record"] for one in written] == list(range(2, 1203))
    assert written[0]["file"] == str(rows) and written[0]["why"].startswith("is not JSON")
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command(*arguments, "--problems", str(tmp_path / "none" / "refused.jsonl"))


def test_a_release_tells_of_each_bad_pair_once_however_many_there_are(tmp_path: Path) -> None:
    """Without files of queries and snippets these come out of the pairs, where a bad one has neither."""
    folder, file = tmp_path / "release", tmp_path / "refused.jsonl"
    folder.mkdir()
    good = {"query-idx": 0, "query": "sort", "code-idx": 0, "code": "def f(x): return x", "label": 1}
    bad = {"query-idx": 1, "query": 3, "code-idx": 1, "code": 4, "label": 1}
    (folder / "pairs.json").write_text(json.dumps([good, *[bad] * 1100]))
    with pytest.raises(CommandError, match="Refused: 2,200 records"):
        call_command("import", "release", str(folder), "--name", "again", "--problems", str(file))
    whys = Counter(json.loads(line)["why"] for line in file.read_text("utf-8").splitlines())
    assert all(count == 1100 for count in whys.values()), whys


def test_the_bar_tells_the_share_of_bytes_where_it_is_known() -> None:
    with tqdm(file=io.StringIO(), unit=" records") as bar:
        command.advance_import_bar(bar, ImportCounts(read=10), None)
        assert (bar.n, bar.desc) == (10, "")
        command.advance_import_bar(bar, ImportCounts(read=30), 0.456)
        assert (bar.n, bar.desc) == (30, "importing, 46% of the bytes read: ")
        command.advance_import_bar(bar, ImportCounts(read=30, labels=10), 0.789)
        assert bar.n == 30 and "79% of the bytes read" in bar.fp.getvalue().split("\r")[-1]


def test_the_summary_says_what_ids_were_read_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"qid": 1, "text": "sort"}\n')
    rows = [
        {"docid": "a", "text": "x = 1"},
        {"_id": {"$oid": "b"}, "text": "x = 2"},
        {"docid": 3, "text": "x"},
    ]
    (tmp_path / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    call_command("import", "beir", str(tmp_path), "--name", "small")
    told = capsys.readouterr().out.splitlines()
    assert told[1] == "  ids read from qid" and told[3] == "  ids read from docid (2), _id (1)"
    (table := tmp_path / "a.csv").write_text("q,n\nsort,7\n")
    for more, read in (((), "row numbers"), (("--query-id", "n"), "n")):
        call_command("import", "table", str(table), "--query", "q", "--name", "rows", *more)
        assert capsys.readouterr().out.splitlines()[1] == f"  ids read from {read}"


def test_columns_are_guessed_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("question,answer,judged\nsort a list,def f(x): return sorted(x),2\n")
    call_command("import", "table", str(table), name="mine")
    told = capsys.readouterr().out
    assert told.startswith("Columns by their names: --query question --function answer --label judged\n")
    assert Label.objects.get().value == 2  # the scale is guessed, too


def test_columns_that_are_named_count_alone(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("question,answer,judged\nsort a list,def f(x): return sorted(x),1\n")
    call_command("import", "table", str(table), name="mine", query="question")
    assert not Label.objects.exists()
    assert [made.kind for made in Collection.objects.all()] == ["queries"]


def test_columns_are_listed_where_none_can_be_guessed(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("frage,antwort\nsort a list,def f(x): return sorted(x)\n")
    with pytest.raises(
        CommandError, match=r"--query and --function. The file has the columns frage, antwort\."
    ):
        call_command("import", "table", str(table), name="mine")


def test_a_text_file_has_a_query_a_line(tmp_path: Path) -> None:
    file = tmp_path / "queries.txt"
    file.write_text("sort a list\n\n  read a csv file \n")
    call_command("import", "table", str(file), name="mine")
    members = Collection.objects.get().members.select_related("text__body")
    assert [member.text.text for member in members] == ["sort a list", "read a csv file"]
