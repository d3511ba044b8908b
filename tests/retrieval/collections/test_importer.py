"""Imports: idempotent, counted, and good records are kept beside bad ones."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from retrieval.collections import importer
from retrieval.collections.filter_steps import of_snippets
from retrieval.collections.import_report import PROBLEMS_KEPT, ImportCounts, Imported, Options
from retrieval.collections.importer import import_cosqa, import_items, import_python
from retrieval.filters import Rule
from retrieval.models import Benchmark, Collection, Label, Member, Pair, QueryText, Text
from retrieval.sources import GivenLabel, Item, Query, Record, Snippet
from retrieval.sources.readers.read_progress import meter_bytes_read

pytestmark = pytest.mark.django_db
GOOD = "def double(x):\n    return 2 * x\n"
METHOD = "def name(self):\n    return self._name\n"
PYTHON_2 = "def shout(x):\n    print x\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    queries, codebase = tmp_path / "queries.json", tmp_path / "codebase.json"
    rows = [
        {"idx": "q-1", "doc": "double a number", "code": GOOD, "label": 1, "retrieval_idx": 0},
        {"idx": "q-2", "doc": "shout\x00 text", "code": PYTHON_2, "label": 1, "retrieval_idx": 2},
    ]
    queries.write_text(json.dumps(rows))
    codebase.write_text(json.dumps({GOOD: 0, METHOD: 1, PYTHON_2: 2}))
    return queries, codebase


def imported(files: tuple[Path, Path], **options: bool) -> Imported:
    return import_cosqa(*files, "small", Options(**options))  # type: ignore[arg-type]  # only switches are given


def test_imported_queries_are_found_by_their_parts_and_snippets_are_not(files: tuple[Path, Path]) -> None:
    imported(files)
    imported(files)
    found = QueryText.objects.containing("NUMBER").values_list("text__head", flat=True)
    assert list(found) == ["double a number"]
    assert not QueryText.objects.containing("def").exists()
    assert QueryText.objects.containing("shout␀").count() == 1


def test_every_function_is_kept_with_the_rules_that_it_passes(files: tuple[Path, Path]) -> None:
    done = imported(files)
    assert done.snippets is not None
    assert (done.snippets.read, done.snippets.stored, done.snippets.unparsable) == (3, 3, 1)
    snippets = Collection.objects.get(name="small", kind="snippets")
    passing = Member.objects.filter(collection=snippets).passing(Rule.TESTABLE)
    assert [member.text.text for member in passing] == [GOOD.strip()]
    assert done.snippets.rules[Rule.TESTABLE_WITH_SELF] == 2


def test_a_function_that_comes_twice_is_counted_once_by_its_rules(files: tuple[Path, Path]) -> None:
    """So a release, which has each text once, gives the same counts."""
    once = imported(files).snippets
    files[1].write_text(json.dumps({GOOD: 0, METHOD: 1, PYTHON_2: 2, f"{GOOD}\n": 3, f"{PYTHON_2}\n": 4}))
    for name in ("twice", "twice"):
        twice = import_cosqa(*files, name, Options()).snippets
        assert once and twice and (twice.read, len(twice.texts), twice.unparsable) == (5, 3, 1)
        assert twice.rules == once.rules and once.rules[Rule.TESTABLE_WITH_SELF] == 2


def test_labels_that_came_with_the_data_belong_to_their_pairs(files: tuple[Path, Path]) -> None:
    imported(files)
    label = Label.objects.get(pair__query__head="double a number")
    assert (label.value, label.annotator.kind, label.pair.snippet.text) == (1, "original", GOOD.strip())


def test_a_label_that_is_none_is_told_once_and_its_pair_stays_unjudged(files: tuple[Path, Path]) -> None:
    rows = json.loads(files[0].read_text())
    rows[0]["label"] = 2
    files[0].write_text(json.dumps([*rows, {"idx": "q-3", "label": 7}]))
    done = imported(files)
    assert [problem.record for problem in done.problems] == [3, 1]
    assert "label" in done.problems[1].message
    assert not Label.objects.filter(pair__query__head="double a number").exists()


def test_a_snippet_that_is_indented_as_a_whole_compiles_and_passes_the_rules_that_filters_count() -> None:
    codes = (
        "    @property\n    def area(self):\n        return self.side ** 2\n",
        "\t@staticmethod\n\tdef f(x):\n\t\treturn x + 1\n",
        "    # doubles\n    def g(x):\n        return x * 2\n",
        "    def h(x):\n        return x / 2\n",
    )
    import_items([Snippet(code, str(place)) for place, code in enumerate(codes)], "", "indented", Options())
    snippets = Collection.objects.get(name="indented")
    for member in snippets.members.all():
        compile(member.text.text, "snippet", "exec")
    figures = of_snippets(snippets)
    kept = figures["testable"]
    assert (kept["testable"]["kept"], kept["testable with self"]["kept"]) == (3, 4)
    untestable = {reason: step["refused"] for reason, step in figures["not testable"].items()}
    assert untestable == {"self alone as input": 1}


def test_queries_that_differ_only_in_form_are_named() -> None:
    texts = ("caf\u00e9 list", "cafe\u0301 list", "Caf\u00e9  list?", "sort", "sort", "sort list", "?", "!")
    done = import_items([Query(text, str(place)) for place, text in enumerate(texts)], "", "asked", Options())
    assert "2 queries differ from another one only in case, blanks, punctuation" in done.remark
    again = import_items([Query("sort", "1"), Query("find", "2")], "", "asked", Options())
    assert "differ" not in again.remark


def test_importing_again_changes_nothing(files: tuple[Path, Path]) -> None:
    imported(files)
    before = Member.objects.count(), Text.objects.count(), Label.objects.count()
    done = imported(files)
    assert done.queries is not None
    assert (done.queries.stored, done.queries.known) == (0, 2)
    assert (Member.objects.count(), Text.objects.count(), Label.objects.count()) == before
    assert Collection.objects.get(name="small", kind="queries").size == 2


def test_a_dry_run_counts_and_stores_nothing(files: tuple[Path, Path]) -> None:
    done = imported(files, dry_run=True)
    assert done.snippets is not None
    assert done.snippets.rules[Rule.TESTABLE] == 1
    assert not Collection.objects.exists()
    assert not Label.objects.exists()


def test_a_dry_run_counts_labels_and_tells_those_that_are_none(files: tuple[Path, Path]) -> None:
    rows = json.loads(files[0].read_text())
    files[0].write_text(json.dumps([rows[0], rows[1] | {"label": 7}]))
    done = imported(files, dry_run=True)
    assert (done.total().labels, [problem.record for problem in done.problems]) == (1, [2])
    items: list[Item] = [Query("sort", "1", "", ""), Snippet(GOOD, "1", "", ""), GivenLabel("sort", GOOD, 1)]
    assert import_items(items, "source", "small", Options(dry_run=True)).total().labels == 1
    assert not Text.objects.exists()


def test_pairs_without_a_code_base_bring_their_own_code(files: tuple[Path, Path]) -> None:
    done = import_cosqa(files[0], None, "alone", Options())
    assert done.snippets is not None and done.benchmark is not None
    assert (done.snippets.stored, done.benchmark.size) == (2, 2)
    found = done.benchmark.snippets.members.order_by("position").values_list("source_id", "origin")
    assert list(found) == [("0", "queries.json"), ("2", "queries.json")]
    import_cosqa(*files, "alone", Options())  # with its code base later, the rest is added
    assert Collection.objects.get(name="alone", kind="snippets").size == 3


def test_progress_goes_on_while_labels_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "BATCH", 500)
    path = tmp_path / "pairs.json"
    code = "def f(x):\n    return x\n"
    rows = [{"doc": f"query {n}", "code": f"{code}# {n:100}", "label": n % 2} for n in range(2000)]
    path.write_text(json.dumps(rows))  # more than the reader takes at once
    seen: list[tuple[int, int, int]] = []
    with meter_bytes_read() as meter:

        def tick(counts: ImportCounts) -> None:
            seen.append((counts.read, counts.labels, round(100 * (meter.share or 0))))

        import_cosqa(path, None, "pairs", Options(tick=tick))
    assert seen == sorted(seen), "nothing ever goes back, nor begins again with the snippets"
    of_labels = [share for read, labels, share in seen if labels]
    assert [labels for _, labels, _ in seen if labels] == [500, 1000, 1500, 2000, 2000]
    assert 67 < of_labels[0] < of_labels[-1] == 100
    assert all(share <= 67 for _, labels, share in seen if not labels)


def test_a_file_of_queries_alone_is_read_to_its_end(tmp_path: Path) -> None:
    (path := tmp_path / "queries.json").write_text(json.dumps([{"doc": "sort a list"}]))
    shares: list[float | None] = []
    with meter_bytes_read() as meter:
        import_cosqa(path, None, "asked", Options(tick=lambda counts: shares.append(meter.share)))
    assert shares[-1] == 1


def test_two_texts_that_differ_in_line_ends_are_one_member(tmp_path: Path) -> None:
    path = tmp_path / "queries.json"
    path.write_text(json.dumps([{"doc": "a\r\nb"}, {"doc": " a\nb "}]))
    done = import_cosqa(path, None, "twins", Options())
    assert done.queries is not None
    assert (done.queries.stored, done.queries.known) == (1, 1)


def test_functions_of_a_source_tree_keep_file_and_name(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(
        f"import os\n\n{GOOD}\nclass Pet:\n    {METHOD.replace(chr(10), chr(10) + '    ')}\n"
    )
    (tmp_path / "bad.py").write_text("def broken(:\n")
    done = import_python([tmp_path], "tree", Options())
    assert done.snippets is not None
    assert done.snippets.unreadable == 1
    assert "bad.py" in str(done.problems[0])
    assert sorted(Member.objects.values_list("source_id", flat=True)) == [
        "good.py::Pet.name",
        "good.py::double",
    ]


def test_names_that_no_database_takes_are_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / os.fsdecode(b"src\xe9")
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.py")).write_text(GOOD)
    call_command("import", "python", str(folder), "--name", "tree")
    with pytest.raises(CommandError, match="Nothing could be read"):
        call_command("import", "documented", str(folder), "--name", "none", "--dry-run")
    assert "(such as caf⟨U+DCE9⟩.py::double)" in capsys.readouterr().out
    member = Member.objects.get()
    assert (member.source_id, member.origin) == ("caf⟨U+DCE9⟩.py::double", "src⟨U+DCE9⟩")
    assert member.collection.source.endswith("src⟨U+DCE9⟩")
    items = [Snippet(METHOD, "a\x00", "b\x00", "\ud83d")]
    import_items(items, "here\x00", "marked", Options())
    marked = Member.objects.get(collection__name="marked")
    assert (marked.source_id, marked.origin, marked.licence) == ("a␀", "b␀", "⟨U+D83D⟩")
    assert marked.collection.source == "here␀"


def test_a_collection_does_not_tell_the_token_of_its_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [Record(GOOD, "m.py::double")]
    monkeypatch.setattr(
        "retrieval.sources.code.python_source.read_python_functions", lambda place: iter(records)
    )
    import_python(["git+https://me:token@example.org/a/b@v1"], "tree", Options())
    assert Collection.objects.get().source == "git+https://example.org/a/b@v1"


def test_the_command_prints_the_counts_of_each_rule(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import", "cosqa", str(files[0]), "--codebase", str(files[1]), "--name", "small")
    said = capsys.readouterr().out
    assert "functions: 3 read, 3 stored" in said
    assert "1 (33.3%) pass testable\n" in said


def test_the_command_names_what_it_can_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"doc": 1}, ')
    with pytest.raises(CommandError, match="Nothing could be read"):
        call_command("import", "cosqa", str(broken), "--name", "x")
    assert "broken.json, record 1" in capsys.readouterr().err
    with pytest.raises(CommandError, match="There is no"):
        call_command("import", "cosqa", str(tmp_path / "nowhere.json"), "--name", "x")


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_into_one_collection_number_their_members_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "BATCH", 10)
    files = [tmp_path / f"{name}.py" for name in "ab"]
    for file in files:
        file.write_text("".join(f"def {file.stem}{n}(x):\n    return x + {n}\n\n\n" for n in range(300)))
    imported_into = Collection.objects.create(name="small", kind=Collection.Kind.SNIPPETS)
    start, failures = threading.Barrier(2), list[BaseException]()

    def work(file: Path) -> None:
        start.wait()
        try:
            import_python([file], "small", Options())
        except Exception as failure:
            failures.append(failure)
        connection.close()

    threads = [threading.Thread(target=work, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    imported_into.refresh_from_db()
    positions = imported_into.members.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(600)) == list(range(imported_into.size))


MIXED: list[Item] = [
    Query("sort", "1"),
    Snippet(GOOD, "1"),
    GivenLabel("sort", GOOD, 1),
    Snippet(METHOD, "2"),
]


@pytest.mark.parametrize("failing", ["add_members", "store_said", "first_values"])
def test_a_batch_that_fails_in_its_middle_leaves_nothing_and_goes_on_when_repeated(
    monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    stored, whole = [Text, QueryText, Member, Pair, Label], getattr(importer, failing)

    def fail(first: object, *rest: object) -> object:
        if getattr(first, "kind", "") != Collection.Kind.QUERIES:
            raise RuntimeError("the machine stops here")
        return whole(first, *rest)

    with monkeypatch.context() as broken:
        broken.setattr(importer, failing, fail)
        with pytest.raises(RuntimeError):
            import_items(MIXED, "source", "small", Options())
    assert [kind._default_manager.count() for kind in stored] == [0] * len(stored)
    assert set(Collection.objects.values_list("size", flat=True)) <= {0}
    done = import_items(MIXED, "source", "small", Options())
    assert done.benchmark is not None and done.benchmark.size == 1
    assert [kind._default_manager.count() for kind in stored] == [3, 1, 3, 1, 1]


def test_an_import_that_finds_nothing_leaves_no_collection(tmp_path: Path) -> None:
    bad, empty = tmp_path / "bad.json", tmp_path / "empty.json"
    bad.write_text("query,code\n")
    empty.write_text("[]")
    for file, said in ((bad, "the lines above say why"), (empty, "there is nothing in it")):
        with pytest.raises(CommandError, match=said):
            call_command("import", "cosqa", str(file), name="nothing")
    assert not Collection.objects.exists()


@pytest.mark.parametrize("dry_run", [True, False])
def test_pairs_whose_code_the_code_base_lacks_are_refused_by_record(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], dry_run: bool
) -> None:
    codebase = tmp_path / "part.json"
    codebase.write_text(json.dumps({f"\n{GOOD}\r\n": 0}))
    given: dict[str, Any] = {"codebase": codebase, "name": "part", "dry_run": dry_run}
    with pytest.raises(CommandError, match=r"Refused: 1 record .* No benchmark is published") as ended:
        call_command("import", "cosqa", str(files[0]), **given)
    assert ended.value.returncode == 3
    told = capsys.readouterr()
    why = "its code is not in part.json: add it there, or take the pair out"
    assert told.err.splitlines()[0] == f"{files[0]}, record 2: {why}"
    assert "1 label; 1 record refused" in told.out
    stored = Label.objects.values_list("pair__query__head", flat=True)
    assert list(stored) == ([] if dry_run else ["double a number"])


def test_pairs_that_a_code_base_has_become_a_benchmark_where_that_is_allowed(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    codebase = tmp_path / "part.json"
    codebase.write_text(json.dumps({GOOD: 0}))
    with pytest.raises(CommandError) as ended:
        call_command("import", "cosqa", str(files[0]), "--allow-partial", codebase=codebase, name="part")
    assert ended.value.returncode == 3
    assert "benchmark: part@1 has 1 label" in capsys.readouterr().out
    assert "1 refused label" in Benchmark.objects.get(name="part").notes
    call_command("import", "cosqa", str(files[0]), codebase=files[1], name="whole")
    assert "benchmark: whole@1 has 2 labels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "why"), [("no JSON", "the lines above say why"), ("[]", "there is nothing in it")]
)
def test_a_code_base_of_which_nothing_can_be_read_is_an_error(
    files: tuple[Path, Path], content: str, why: str
) -> None:
    files[1].write_text(content)
    with pytest.raises(CommandError, match=rf"--codebase .*: no function could be read; {why}\."):
        call_command("import", "cosqa", str(files[0]), codebase=files[1], name="small")
    assert Collection.objects.get(name="small").kind == "queries", "what could be read is kept"


def test_what_was_imported_before_outlives_a_file_of_nothing(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    imported(files)
    (tmp_path / "empty.json").write_text("[]")
    import_cosqa(tmp_path / "empty.json", None, "small", Options())
    assert Collection.objects.get(name="small", kind="queries").size == 2


@pytest.mark.parametrize("name", ["", "  ", "x" * 121])
def test_a_name_that_can_not_be_kept_is_refused(files: tuple[Path, Path], name: str) -> None:
    with pytest.raises(CommandError, match="expected 1 to 120 characters"):
        call_command("import", "cosqa", str(files[0]), name=name)


def test_labels_that_contradict_another_of_their_pair_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "pairs.json"
    for _ in range(2):  # the same again is counted again, and stores nothing
        rows = [{"doc": "double a number", "code": GOOD, "label": label} for label in (1, 0, 1)]
        file.write_text(json.dumps(rows))
        done = import_cosqa(file, None, "twice", Options())
        assert done.others is not None
        assert (done.others.labels, done.others.contradicted) == (3, 1)
        assert list(Label.objects.values_list("value", flat=True)) == [1]


def test_each_broken_record_is_counted_once_however_many_there_are(tmp_path: Path) -> None:
    rows = [{"doc": "", "code": "x", "label": 1}] * (PROBLEMS_KEPT + 5)
    rows += [{"doc": "sort", "code": "", "label": 1}, {"doc": "sort a list", "code": "x", "label": 7}]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(rows))
    done = import_cosqa(path, None, "broken", Options())
    assert done.queries is not None and done.others is not None
    assert (done.queries.read, done.queries.unreadable) == (len(rows), len(rows) - 2)
    assert len(done.queries.problems) == PROBLEMS_KEPT
    assert (done.others.read, done.others.unreadable, done.total().unreadable) == (2, 2, len(rows))


def test_refused_labels_are_no_unreadable_queries(files: tuple[Path, Path]) -> None:
    rows = json.loads(files[0].read_text())
    files[0].write_text(json.dumps([row | {"label": 7} for row in rows]))
    done = imported(files)
    assert done.queries is not None and done.others is not None
    assert (done.queries.read, done.queries.stored, done.queries.unreadable) == (2, 2, 0)
    assert (done.others.labels, done.others.unreadable) == (0, 2)
