"""A release is what the authors' scripts read, and gives the same benchmark when it is imported."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from retrieval.collections.import_report import Options as ImportOptions
from retrieval.evaluation.publication import left_out
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.files import FolderInUse
from retrieval.exporting.withholding_policy import Withhold
from retrieval.filters import Rule
from retrieval.models import (
    Annotator,
    Benchmark,
    Candidate,
    Label,
    Member,
    Mining,
    Pair,
    Source,
    label_source_of,
)
from retrieval.models.labels import BASES
from retrieval.models.texts import canonicalize_text
from retrieval.releases import beside, import_release
from tests import factories
from tests.retrieval.exporting.conftest import annotator, benchmark, lines, loaded, names

pytestmark = pytest.mark.django_db

texts = st.lists(
    st.text(min_size=1, max_size=40).map(canonicalize_text).filter(bool), min_size=1, max_size=5, unique=True
)


def imported(folder: Path, name: str) -> Benchmark:
    made = import_release(folder, name, ImportOptions(allow_partial=True)).benchmark
    assert made is not None
    return made


def sources(of: Benchmark) -> list[tuple[str, str, float, Source, bool, str]]:
    """What is published of each pair, and whose label it is; a mean of several is of none of theirs."""
    found = []
    for row in of.labels.select_related("pair__query", "pair__snippet", "label__annotator"):
        original = Annotator(kind="original")
        label = row.label or Label(annotator=original)
        source = label_source_of(label.annotator.kind, label.annotator.config, label.assisted)
        texts = row.pair.query.digest, row.pair.snippet.digest
        found.append((*texts, row.relevance, source, label.assisted, label.basis))
    return sorted(found)


class RoundTrip(TestCase):
    """Django's own test case, as each example begins with an empty database."""

    @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
    @given(texts, texts, st.data())
    def test_an_import_of_an_export_is_the_same_benchmark(
        self, queries: list[str], snippets: list[str], data: st.DataObject
    ) -> None:
        places = st.tuples(st.integers(0, len(queries) - 1), st.integers(0, len(snippets) - 1))
        relevances = st.integers(0, 3) | st.floats(0, 3)
        labels = data.draw(st.dictionaries(places, relevances, min_size=1))
        people = data.draw(st.sets(st.sampled_from(sorted(labels))))
        by = {
            annotator(): {key: value for key, value in labels.items() if key not in people},
            annotator("person", user=3): {key: labels[key] for key in people},
        }
        bases = {key: data.draw(st.sampled_from(BASES)) for key in labels}
        candidates = data.draw(st.lists(places, unique=True))
        made = benchmark(queries, snippets, by, candidates, bases=bases, scale="graded")
        with tempfile.TemporaryDirectory() as folder:
            done = export_benchmark(made, "release", Path(folder) / "out", Options())
            again = imported(done.folder, f"again {next(names)}")
        assert again.digest == made.digest
        assert (again.pool, again.size, again.positives) == (made.pool, made.size, made.positives)
        assert sources(again) == sources(made)


@pytest.fixture
def plain() -> Benchmark:
    """Three queries, four snippets; two matches, one that is none, and two unjudged candidates."""
    return benchmark(candidates=[(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)])


def test_the_files_are_what_the_authors_scripts_read(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    assert loaded(tmp_path, "query.json")[1] == {"query-idx": 1, "query": factories.QUERIES[1]}
    assert loaded(tmp_path, "codebase.json")[0] == {"code-idx": 0, "code": factories.SNIPPETS[0].strip()}
    pairs = loaded(tmp_path, "pairs.json")
    assert pairs[1] == {
        "pair-idx": 1,
        "query-idx": 0,
        "query": factories.QUERIES[0],
        "code-idx": 1,
        "code": factories.SNIPPETS[1].strip(),
        "label": 0,
    }
    assert [(row["query-idx"], row["code-idx"], row["label"]) for row in pairs] == [
        (0, 0, 1),
        (0, 1, 0),
        (1, 1, 1),
    ]
    assert loaded(tmp_path, "pairs_true.json") == [pairs[0], pairs[2]]
    assert not list(tmp_path.rglob("*.part"))


def test_unjudged_pairs_of_an_extension_are_listed_too_each_once(tmp_path: Path) -> None:
    made = benchmark(candidates=[(0, 0), (0, 2)], further=[(0, 2), (0, 1), (2, 3)])
    done = export_benchmark(made, "release", tmp_path, Options())
    assert done.unjudged == 2
    assert lines(tmp_path, "provenance/unjudged.jsonl") == [
        {"query-idx": 0, "code-idx": 2},
        {"query-idx": 2, "code-idx": 3},
    ]
    assert [row["k"] for row in loaded(tmp_path, "workbench.json")["further_minings"]] == [3]


def test_unjudged_pairs_are_in_a_file_of_their_own_with_a_warning(plain: Benchmark, tmp_path: Path) -> None:
    done = export_benchmark(plain, "release", tmp_path, Options())
    assert done.unjudged == 2 and done.warnings[0].startswith("2 candidate pairs unjudged, which is not 0")
    assert lines(tmp_path, "provenance/unjudged.jsonl") == [
        {"query-idx": 0, "code-idx": 2},
        {"query-idx": 1, "code-idx": 2},
    ]
    assert loaded(tmp_path, "workbench.json")["unjudged"] == 2


def test_every_pair_carries_its_labels_source(tmp_path: Path) -> None:
    study, person = annotator("merge", study="first"), annotator("person", user=9)
    made = benchmark(said={annotator(): {(0, 0): 1}, study: {(0, 1): 0}, person: {(1, 1): 1}})
    export_benchmark(made, "release", tmp_path, Options())
    rows = lines(tmp_path, "provenance/labels.jsonl")
    assert [(row["source"], row["assisted"]) for row in rows] == [
        ("agent", False),
        ("study", False),
        ("reviews", True),
    ]
    assert rows[2]["annotator"] == "people" and rows[2]["version"] == ""  # not who it was
    assert loaded(tmp_path, "workbench.json")["by_source"] == {"agent": 1, "study": 1, "reviews": 1}
    again = imported(tmp_path, "again")
    assert sources(again) == sources(made)
    assert {row.annotator.kind for row in Label.objects.filter(annotator__name="again")} == {"original"}


@pytest.mark.parametrize("change", [{"label": 7}, {"query-idx": 99}, None])
def test_a_pair_that_is_refused_or_gone_costs_no_other_its_source(
    tmp_path: Path, change: dict[str, Any] | None
) -> None:
    study = annotator("merge", study="first")
    made = benchmark(said={annotator(): {(0, 0): 1}, study: {(0, 1): 2, (1, 1): 1}}, scale="graded")
    export_benchmark(made, "release", tmp_path, Options())
    first, *rest = loaded(tmp_path, "pairs.json")
    (tmp_path / "pairs.json").write_text(json.dumps([*([first | change] if change else []), *rest]))
    imported(tmp_path, "again")
    found = Label.objects.filter(annotator__config__given_by="study").order_by("pk")
    assert list(found.values_list("value", "scale")) == [(2, "graded"), (1, "graded")]


def test_means_of_ratings_come_back_without_a_label(tmp_path: Path) -> None:
    made = benchmark(said={annotator("original"): {(0, 0): 2.5, (0, 1): 0, (1, 1): 3}}, scale="graded")
    export_benchmark(made, "release", tmp_path, Options())
    rows = lines(tmp_path, "provenance/labels.jsonl")
    for told in (rows, [row | {"scale": ""} for row in rows]):
        text = "\n".join(map(json.dumps, told))
        (tmp_path / "provenance/labels.jsonl").write_text(text)
        again = imported(tmp_path, f"again {next(names)}")
        assert again.digest == made.digest
        labels = Label.objects.filter(annotator__name=again.name).order_by("value")
        assert [label.value for label in labels] == [0, 3] and labels[1].scale == "graded"
        assert left_out(again.name, again) == 0
        assert imported(tmp_path, again.name) == again


def test_numbers_of_the_source_are_kept_where_all_have_one(tmp_path: Path) -> None:
    made = benchmark()
    for number, member in enumerate(Member.objects.filter(collection=made.queries)):
        Member.objects.filter(pk=member.pk).update(source_id=str(100 + number))
    export_benchmark(made, "release", tmp_path, Options())
    assert [row["query-idx"] for row in loaded(tmp_path, "query.json")] == [100, 101, 102]
    again = imported(tmp_path, "again")
    assert again.digest == made.digest
    told = list(again.snippets.members.order_by("position").values_list("source_id", "origin", "licence"))
    assert told[0] == ("snippets-0", "tests", "MIT")
    rules = again.snippets.members.order_by("position").values_list("rules", flat=True)
    assert list(rules) == list(made.snippets.members.order_by("position").values_list("rules", flat=True))


def test_importing_again_changes_nothing(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    first = imported(tmp_path, "again")
    kinds = Member, Label, Pair, Mining, Candidate, Benchmark
    before = [kind._default_manager.count() for kind in kinds]
    second = import_release(tmp_path, "again", ImportOptions())
    assert second.benchmark == first
    assert [kind._default_manager.count() for kind in kinds] == before
    assert second.queries and (second.queries.stored, second.queries.known) == (0, 3)
    stored = Member.objects.filter(collection__name="again", collection__kind="snippets")
    passing = stored.passing(Rule.TESTABLE).count()
    assert second.snippets and second.snippets.rules[Rule.TESTABLE] == passing


def test_a_release_of_others_needs_no_side_files(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    for name in ("workbench.json", "provenance"):
        shutil.rmtree(tmp_path / name) if (tmp_path / name).is_dir() else (tmp_path / name).unlink()
    for name in ("query", "codebase", "pairs", "pairs_true"):
        (tmp_path / f"{name}.json").rename(tmp_path / f"test_agent_{name}.json")
    again = imported(tmp_path, "again")
    assert (again.pool, again.size, again.positives) == ("collection", 3, 2)
    assert {source for *_, source, _, _ in sources(again)} == {Source.ORIGINAL}


@pytest.mark.parametrize("name", ["labels", "codebase"])
def test_a_line_of_a_side_file_that_cannot_be_read_is_refused(
    plain: Benchmark, tmp_path: Path, name: str
) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    side = tmp_path / "provenance" / f"{name}.jsonl"
    lines = side.read_text().splitlines()
    side.write_text("\n".join([lines[0], lines[1][:-5], *lines[2:], ""]))
    done = import_release(tmp_path, "again", ImportOptions())
    (problem,) = done.problems
    assert str(problem).startswith(f"{side}, record 2: is not JSON")
    assert done.benchmark is None
    assert "by 1 refused label or cut-off file" in done.unpublished
    allowed = import_release(tmp_path, "again", ImportOptions(allow_partial=True))
    assert allowed.benchmark is not None
    assert allowed.benchmark.size == plain.size


@pytest.mark.parametrize("dry_run", [True, False])
def test_pairs_of_what_is_in_no_file_are_told(tmp_path: Path, dry_run: bool) -> None:
    (tmp_path / "query.json").write_text('[{"query-idx": 0, "query": "a"}]')
    (tmp_path / "codebase.json").write_text('[{"code-idx": 0, "code": "b"}]')
    row: dict[str, Any] = {"query-idx": 0, "query": "a", "code-idx": 0, "code": "b", "label": 1}
    rows = [
        row,
        {**row, "code-idx": 9, "code": "other"},
        {**row, "label": 7},
        {"query": "a"},
        {**row, "label": None},
    ]
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    done = import_release(tmp_path, "again", ImportOptions(dry_run=dry_run, allow_partial=True))
    assert done.total().labels == 1
    assert dry_run or (done.benchmark is not None and done.benchmark.size == 1)
    assert [(problem.record, problem.message) for problem in done.problems] == [
        (3, "\"label\" is '7'; expected 0 or 1"),
        (2, "its code is in no file of the release, or was refused"),
    ]


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_id_of_two_queries_is_told(tmp_path: Path, dry_run: bool) -> None:
    rows = [{"query-idx": 0, "query": query} for query in ("a", "other")]
    (tmp_path / "query.json").write_text(json.dumps(rows))
    (tmp_path / "codebase.json").write_text('[{"code-idx": 0, "code": "b"}]')
    done = import_release(tmp_path, "again", ImportOptions(dry_run=dry_run))
    assert [problem.record for problem in done.problems] == [2]
    assert "the id '0' was there before" in done.problems[0].message


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_id_of_two_functions_is_told(tmp_path: Path, dry_run: bool) -> None:
    rows: list[dict[str, object]] = [{"code-idx": 0, "code": code} for code in ("b", "other", "b ")]
    rows += [{"code-idx": None, "code": code} for code in ("c", "d")]
    (tmp_path / "codebase.json").write_text(json.dumps(rows))
    (tmp_path / "query.json").write_text('[{"query-idx": 0, "query": "a"}]')
    done = import_release(tmp_path, "again", ImportOptions(dry_run=dry_run))
    assert [problem.record for problem in done.problems] == [2, 4, 5]
    assert "the id '0' was there before" in done.problems[0].message


def test_a_dry_run_reads_the_pairs_too(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path / "out", Options())
    path = tmp_path / "out/pairs.json"
    pairs = json.loads(path.read_text())
    path.write_text(json.dumps([*pairs[1:], pairs[0] | {"label": 7}]))
    before = Label.objects.count()
    done = import_release(tmp_path / "out", "dry", ImportOptions(dry_run=True))
    assert (done.total().labels, [problem.record for problem in done.problems]) == (
        len(pairs) - 1,
        [len(pairs)],
    )
    assert Label.objects.count() == before


def test_what_no_database_takes_is_marked_in_what_a_release_says(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    manifest = loaded(tmp_path, "workbench.json") | {"merge_rule": "by\0me"}
    (tmp_path / "workbench.json").write_text(json.dumps(manifest))
    rows = lines(tmp_path, "provenance/labels.jsonl")
    labels = [json.dumps(row | {"annotator": "a\ud83d"}) for row in rows]
    (tmp_path / "provenance/labels.jsonl").write_text("\n".join(labels))
    made = imported(tmp_path, "again")
    assert made.merge_rule == "as released: by␀me"
    assert Annotator.objects.get(kind="original").config["annotator"] == "a⟨U+D83D⟩"
    endless = manifest["mining"] | {"k": float("inf")}
    (tmp_path / "workbench.json").write_text(json.dumps(manifest | {"mining": endless}))
    assert imported(tmp_path, "other").pool == "collection", "a manifest that says nothing"


@pytest.mark.parametrize(
    "broken", ["{", "[]", '{"format": "other"}', '{"format": "cosqa-workbench export 1"}']
)
def test_a_manifest_that_says_nothing_is_no_error(plain: Benchmark, tmp_path: Path, broken: str) -> None:
    export_benchmark(plain, "release", tmp_path, Options())
    (tmp_path / "workbench.json").write_text(broken)
    assert imported(tmp_path, "again").pool == "collection"


def test_what_may_not_be_passed_on_is_origin_and_hash(plain: Benchmark, tmp_path: Path) -> None:
    second = plain.snippets.members.get(position=1)
    Member.objects.filter(pk=second.pk).update(licence="Proprietary", origin="somewhere")
    done = export_benchmark(plain, "release", tmp_path, Options(withhold=Withhold.FORBIDDEN))
    assert (done.withheld, done.snippets, done.pairs) == (1, 3, 1)
    assert "1 function withheld" in done.warnings[1]
    told = lines(tmp_path, "provenance/withheld.jsonl")[0]
    assert (told["code-idx"], told["sha256"], told["origin"]) == (1, second.text.digest, "somewhere")
    assert [row["relevance"] for row in lines(tmp_path, "provenance/withheld_pairs.jsonl")] == [0, 1]
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or "fromisoformat" not in path.read_text()


def test_a_function_that_was_added_costs_no_other_its_licence(
    plain: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "LOOKED_AHEAD", 1)  # fewer than are withheld
    Member.objects.filter(collection=plain.snippets, position__in=(0, 1)).update(licence="Proprietary")
    export_benchmark(plain, "release", tmp_path, Options(withhold=Withhold.FORBIDDEN))
    more = {"code-idx": 99, "code": "def more(x):\n    return x"}
    kept = loaded(tmp_path, "codebase.json")
    (tmp_path / "codebase.json").write_text(json.dumps([more, *kept]))
    import_release(tmp_path, "again", ImportOptions())
    found = Member.objects.filter(collection__name="again", collection__kind="snippets")
    told = list(found.order_by("position").values_list("source_id", "licence"))
    assert told == [("99", "CC-BY-4.0"), ("snippets-2", "MIT"), ("snippets-3", "MIT")]


def test_queries_that_may_not_be_passed_on_are_told(plain: Benchmark, tmp_path: Path) -> None:
    Member.objects.filter(collection=plain.queries, position=1).update(licence="CC-BY-NC-4.0")
    done = export_benchmark(plain, "release", tmp_path, Options())
    assert sum(text.startswith("1 query passed on whose stated licence") for text in done.warnings) == 1
    Member.objects.filter(collection=plain.queries).update(licence="MIT")
    assert "query passed on" not in str(export_benchmark(plain, "release", tmp_path, Options()).warnings)


def test_what_states_no_licence_is_passed_on_unless_asked(plain: Benchmark, tmp_path: Path) -> None:
    Member.objects.filter(collection=plain.snippets, position=1).update(licence="")
    call_command("export", "release", plain.name, str(tmp_path / "out"))
    assert imported(tmp_path / "out", "again").digest == plain.digest
    for policy, snippets in (("none", 4), ("forbidden", 4), ("unknown", 3)):
        call_command("export", "release", plain.name, str(tmp_path / policy), "--withhold", policy)
        assert len(loaded(tmp_path / policy, "codebase.json")) == snippets
    with pytest.raises(CommandError, match="invalid choice: 'all'"):
        call_command("export", "release", plain.name, str(tmp_path / "all"), "--withhold", "all")


def test_a_split_writes_the_authors_files(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path, Options(split=1))
    queries = [
        row for part in ("train", "dev", "test") for row in loaded(tmp_path, f"finetune/{part}_query.json")
    ]
    assert sorted(row["query-idx"] for row in queries) == [0, 1, 2]
    pairs = [
        row
        for part in ("train", "dev", "test")
        for row in loaded(tmp_path, f"finetune/{part}_query_code_pairs.json")
    ]
    assert sorted(row["pair-idx"] for row in pairs) == [0, 2]
    assert sum(loaded(tmp_path, "splits.json")["queries"].values()) == 3


def test_an_export_is_replaced_and_nothing_else_is(plain: Benchmark, tmp_path: Path) -> None:
    export_benchmark(plain, "release", tmp_path / "out", Options(split=1))
    export_benchmark(plain, "release", tmp_path / "out", Options())
    assert not (tmp_path / "out" / "splits.json").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(FolderInUse, match="is not empty: name a new folder"):
        export_benchmark(plain, "release", tmp_path / "mine", Options())


def test_the_commands(plain: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("export", "release", plain.name, str(tmp_path / "out"))
    told = capsys.readouterr()
    assert "3 queries, 4 functions, 3 labelled pairs (3 from agent)" in told.out
    assert "warning: 2 candidate pairs unjudged" in told.err
    assert "replaced" not in told.err
    call_command("export", "release", plain.name, str(tmp_path / "out"))
    assert f"replaced the earlier export in {tmp_path / 'out'}\n" in capsys.readouterr().err
    call_command("import", "release", str(tmp_path / "out"), "--name", "again")
    assert f"the same content as was exported: sha256 {plain.digest}" in capsys.readouterr().out
    call_command("export", "release", "again@1", str(tmp_path / "json"), "--json")
    assert json.loads(capsys.readouterr().out)["pairs"] == 3
    plain.snippets.members.update(licence="")
    call_command("export", "release", plain.name, str(tmp_path / "withheld"), "--withhold", "unknown")
    assert f"0 functions, 0 labelled pairs in {tmp_path}" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no benchmark 'none'"):
        call_command("export", "release", "none", str(tmp_path / "none"))
    with pytest.raises(CommandError, match=r"has no query.json, codebase.json or pairs.json"):
        call_command("import", "release", str(tmp_path), "--name", "again")


def test_a_file_in_place_of_the_folder_is_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "release.zip").write_bytes(b"PK")
    with pytest.raises(CommandError, match=r"release.zip is a file: unpack it"):
        call_command("import", "release", str(tmp_path / "release.zip"), "--name", "again")
