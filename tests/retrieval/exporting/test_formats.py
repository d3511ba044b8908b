"""What each format writes, read back by this project's own readers where it has one."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command
from pyarrow import Table, parquet

from retrieval.exporting import beir as beir_export
from retrieval.exporting.content import NoPublishedSplit
from retrieval.exporting.export_run import FORMATS, Options, export_benchmark
from retrieval.exporting.labels import LabelChoice
from retrieval.exporting.parts import repository_of
from retrieval.exporting.withheld_counts import withheld_by_policy
from retrieval.exporting.withholding_policy import Withhold
from retrieval.models import Benchmark, Label, Member
from retrieval.sources import GivenLabel, Query, Snippet
from retrieval.sources.formats import beir, cosqa, trec
from retrieval.sources.readers.parquet import MissingLibrary
from retrieval.sources.readers.zip_folder import BEIR, unpack_zip
from tests import factories
from tests.retrieval.exporting.conftest import annotator, benchmark, lines, loaded

pytestmark = pytest.mark.django_db
HOSTILE = 'def f(x):\n    return "</script> ` | \u2028 é" # \\ \x00'
PARTS = ("train", "dev", "test")


@pytest.fixture
def made() -> Benchmark:
    return benchmark(snippets=[*factories.SNIPPETS[:3], HOSTILE], candidates=[(0, 0), (0, 1), (1, 1), (2, 3)])


def test_coclr_is_read_back(made: Benchmark, tmp_path: Path) -> None:
    done = export_benchmark(made, "coclr", tmp_path, Options())
    assert done.files[:2] == ["cosqa-all.json", "code_idx_map.txt"]
    first = loaded(tmp_path, "cosqa-all.json")[0]
    assert first == {
        "idx": "cosqa-all-0",
        "doc": factories.QUERIES[0],
        "code": factories.SNIPPETS[0].strip(),
        "code_tokens": "",
        "docstring_tokens": "",
        "label": 1,
        "retrieval_idx": 0,
    }
    codes = loaded(tmp_path, "code_idx_map.txt")
    assert sorted(codes.values()) == [0, 1, 2, 3] and codes[first["code"]] == 0
    labels = list(cosqa.read_labels(tmp_path / "cosqa-all.json"))
    assert [label.value for label in labels if isinstance(label, GivenLabel)] == [1, 0, 1]
    assert "1 candidate pair unjudged" in done.warnings[0]


def test_coclr_in_parts(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "coclr", tmp_path, Options(split=3))
    rows = [row for part in PARTS for row in loaded(tmp_path, f"cosqa-{part}.json")]
    assert sorted(row["label"] for row in rows) == [0, 1, 1]


def test_beir_is_read_back(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "beir", tmp_path, Options())
    items = list(beir.read_beir_folder(tmp_path))
    assert [item.text for item in items if isinstance(item, Query)] == list(factories.QUERIES)
    codes = [item for item in items if isinstance(item, Snippet)]
    assert codes[3].text == made.snippets.members.get(position=3).text.text
    assert {(one.origin, one.licence) for one in codes} == {("tests", "MIT")}
    assert [item.value for item in items if isinstance(item, GivenLabel)] == [1, 0, 1]
    assert {row["_id"] for row in lines(tmp_path, "corpus.jsonl")}.isdisjoint(
        row["_id"] for row in lines(tmp_path, "queries.jsonl")
    )


def test_a_folder_of_beir_is_read_by_the_hub_and_by_mteb(tmp_path: Path) -> None:
    """Of a query without a match MTEB would make a 0, which is no figure of ours."""
    made = benchmark(said={annotator(): {(0, 0): 1, (1, 0): 0}})
    done = export_benchmark(made, "beir", tmp_path, Options())
    header = yaml.safe_load((tmp_path / "README.md").read_text().split("---")[1])
    files = {one["config_name"]: one["data_files"][0]["path"] for one in header["configs"]}
    assert files == {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "default": "judgements/test.jsonl"}
    assert {*files.values(), "mteb_task.py"} <= {*done.files}
    assert lines(tmp_path, "judgements/test.jsonl") == [{"query-id": "q0", "corpus-id": "d0", "score": 1}]
    assert len((tmp_path / "qrels/test.tsv").read_text().splitlines()) == 3


def test_the_task_of_mteb_is_short_and_no_name_of_a_benchmark_is_code_in_it(tmp_path: Path) -> None:
    made = benchmark()
    Benchmark.objects.filter(pk=made.pk).update(name='a", name=exit()) #\n{')
    made.refresh_from_db()
    program = beir_export.format_mteb_task(made)
    assert len(program.splitlines()) <= 20
    [made_class] = [node for node in ast.parse(program).body if isinstance(node, ast.ClassDef)]
    [call] = [node for node in ast.walk(made_class) if isinstance(node, ast.Call) and node.keywords]
    told = {word.arg: word.value for word in call.keywords}
    assert isinstance(told["name"], ast.Constant) and str(told["name"].value).startswith('a", name=exit()) #')


def test_grades_are_kept_where_a_format_has_them(tmp_path: Path) -> None:
    graded = benchmark(said={annotator("original"): {(0, 0): 3, (0, 1): 0}}, scale="graded")
    export_benchmark(graded, "beir", tmp_path / "beir", Options())
    assert (tmp_path / "beir/qrels/test.tsv").read_text().splitlines()[1:] == ["q0\td0\t3", "q0\td1\t0"]
    done = export_benchmark(graded, "coclr", tmp_path / "coclr", Options())
    assert done.warnings[1:] == [
        "1 label between 0 and 1 or above written as 1: provenance/labels.jsonl has the relevance of each"
    ]


def test_means_below_one_are_told_where_a_format_has_no_grades(tmp_path: Path) -> None:
    made = benchmark()
    made.labels.filter(relevance=1).update(relevance=0.5)
    told = "2 labels between 0 and 1 or above written as 1"
    for name, count in (("release", 1), ("coclr", 1), ("huggingface", 0)):
        done = export_benchmark(made, name, tmp_path / name, Options())
        assert sum(text.startswith(told) for text in done.warnings) == count


@pytest.mark.parametrize("name", ["beir", "qrels", "release"])
def test_where_candidates_are_unknown_what_is_not_listed_is_said_to_be_unjudged(
    name: str, tmp_path: Path
) -> None:
    done = export_benchmark(benchmark(), name, tmp_path, Options())
    assert done.unjudged is None
    assert done.warnings[0].startswith("number of unjudged pairs: not known, as the benchmark was made of")
    assert done.warnings[0].endswith("a pair that is not listed is unjudged, which is not 0")
    manifest = loaded(tmp_path, "workbench.json")
    assert (manifest["warnings"], manifest["unjudged"]) == (done.warnings, None)
    (line,) = lines(tmp_path, "provenance/unjudged.jsonl")
    assert line["unjudged"] == "not known" and "provenance/unjudged.jsonl" in done.files


@pytest.mark.parametrize(("candidates", "said"), [([], True), ([(0, 0), (0, 1), (1, 1), (1, 2)], False)])
def test_the_card_says_where_nobody_knows_how_many_pairs_are_unjudged(
    candidates: list[tuple[int, int]], said: bool, tmp_path: Path
) -> None:
    export_benchmark(benchmark(candidates=candidates), "huggingface", tmp_path, Options())
    card = (tmp_path / "README.md").read_text("utf-8")
    assert ("| candidate pairs without a label | not known |" in card) is said


def test_qrels_are_what_evaluate_files_reads(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "qrels", tmp_path, Options())
    assert (tmp_path / "qrels.txt").read_text() == "q0 0 d0 1\nq0 0 d1 0\nq1 0 d1 1\n"
    judged = [
        (row.query, row.document, row.relevance) for row in trec.read_qrels(tmp_path / "qrels.txt").rows
    ]
    assert judged == [("q0", "d0", 1.0), ("q0", "d1", 0.0), ("q1", "d1", 1.0)]
    export_benchmark(made, "qrels", tmp_path, Options(split=1))
    assert sum(len((tmp_path / f"qrels-{part}.txt").read_text().splitlines()) for part in PARTS) == 3
    assert not (tmp_path / "qrels.txt").exists()


def test_a_dataset_folder_has_a_card(made: Benchmark, tmp_path: Path) -> None:
    Member.objects.filter(collection=made.snippets, position=1).update(licence="od|d `x`\n# y")
    export_benchmark(made, "huggingface", tmp_path, Options(split=1))
    text = (tmp_path / "README.md").read_text("utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert [config["config_name"] for config in header["configs"]] == ["pairs", "queries", "codebase"]
    splits = header["configs"][0]["data_files"]
    paths = {name: f"data/pairs-{name}.jsonl" for name in ("train", "validation", "test")}
    filled = [name for name, path in paths.items() if lines(tmp_path, path)]
    assert [one["split"] for one in splits] == filled and len(filled) < 3, "datasets reads no empty file"
    rows = [row for one in splits for row in lines(tmp_path, one["path"])]
    assert {(row["label"], row["source"], row["assisted"]) for row in rows} == {
        (1, "agent", False),
        (0, "agent", False),
    }
    assert "| labelled pairs | 3 |" in text and "| queries without a match | 1 |" in text
    assert "| `od/d 'x' # y` | 1 |" in text and "`bm25 + minilm`" in text
    assert made.digest in text and "unjudged, which is not 0" in text


def test_a_licence_is_one_however_it_is_written(made: Benchmark, tmp_path: Path) -> None:
    for position, licence in enumerate(["The MIT License (MIT)", "MIT", "Apache 2.0", "CC BY-NC 4.0"]):
        Member.objects.filter(collection=made.snippets, position=position).update(licence=licence)
    assert withheld_by_policy(made)[Withhold.FORBIDDEN] == 1
    done = export_benchmark(made, "huggingface", tmp_path, Options())
    assert any(text.startswith("1 function passed on whose stated licence") for text in done.warnings)
    card = (tmp_path / "README.md").read_text()
    assert "| `MIT` | 2 |\n| `Apache-2.0` | 1 |\n| `CC-BY-NC-4.0` | 1 |" in card
    assert lines(tmp_path, "data/codebase.jsonl")[0]["licence"] == "The MIT License (MIT)"


def test_withheld_snippets_are_in_no_format(made: Benchmark, tmp_path: Path) -> None:
    Member.objects.filter(collection=made.snippets, position=1).update(licence="CC-BY-NC-4.0")
    for name in FORMATS:
        done = export_benchmark(made, name, tmp_path / name, Options(withhold=Withhold.FORBIDDEN))
        assert (done.withheld, done.pairs) == (1, 1)
        for path in (tmp_path / name).rglob("*"):
            assert path.is_dir() or b"fromisoformat" not in path.read_bytes(), path


@pytest.mark.parametrize("name", FORMATS)
def test_withheld_queries_are_in_no_format(made: Benchmark, tmp_path: Path, name: str) -> None:
    Member.objects.filter(collection=made.queries, position=0).update(licence="CC-BY-NC-4.0")
    done = export_benchmark(made, name, tmp_path, Options(withhold=Withhold.FORBIDDEN, split=1))
    assert (done.queries, done.withheld_queries, done.pairs) == (2, 1, 1)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or factories.QUERIES[0].encode() not in path.read_bytes(), path
    if name == "parquet":  # which packs its texts
        texts = parquet.read_table(tmp_path / "queries.parquet")["query"].to_pylist()
        assert texts == list(factories.QUERIES[1:])
    if name == "huggingface":
        card = (tmp_path / "README.md").read_text("utf-8")
        assert "| queries | 2 |" in card and "| queries without a match | 1 |" in card
        assert "Of the queries: 1 by a stated licence that is not known to allow passing on." in card


@pytest.mark.parametrize(
    ("policy", "reasons", "told"),
    [
        (Withhold.NONE, {}, "Policy `none`: no function is withheld"),
        (Withhold.FORBIDDEN, {"forbidden": 1}, "Withheld: 1 by a stated licence that is not known to allow"),
        (Withhold.UNKNOWN, {"forbidden": 1, "unstated": 2}, ", 2 without a stated licence."),
    ],
)
def test_a_policy_says_what_it_withholds_and_why(
    made: Benchmark, tmp_path: Path, policy: Withhold, reasons: dict[str, int], told: str
) -> None:
    for position, licence in enumerate(["CC-BY-NC-4.0", "", "NOASSERTION", "MIT"]):
        Member.objects.filter(collection=made.snippets, position=position).update(licence=licence)
    done = export_benchmark(made, "huggingface", tmp_path, Options(withhold=policy))
    assert (done.withheld, done.withheld_for) == (sum(reasons.values()), reasons)
    assert withheld_by_policy(made)[policy] == done.withheld
    manifest = loaded(tmp_path, "workbench.json")
    assert (manifest["withhold"], manifest["withheld_for"]) == (policy.value, reasons)
    assert told in (tmp_path / "README.md").read_text("utf-8")
    warned = [text for text in done.warnings if f"withheld by policy {policy.value}: 1 by a stated" in text]
    assert len(warned) == bool(reasons)
    passed_on = [
        text for text in done.warnings if text.startswith("1 function passed on whose stated licence")
    ]
    assert len(passed_on) == (policy is Withhold.NONE)
    if reasons:
        rows = lines(tmp_path, "provenance/withheld.jsonl")
        assert Counter(row["reason"] for row in rows) == reasons


def test_without_its_library_parquet_says_what_it_needs(
    made: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'cosqa-workbench\[parquet\]'"):
        export_benchmark(made, "parquet", tmp_path, Options())
    with pytest.raises(CommandError, match="need pyarrow"):
        call_command("export", "parquet", made.name, str(tmp_path / "other"))


def test_the_card_says_what_each_basis_means_and_how_many_labels_it_has(tmp_path: Path) -> None:
    made = benchmark(bases={(0, 0): "agreed", (0, 1): "agreed"})
    export_benchmark(made, "huggingface", tmp_path, Options())
    text = (tmp_path / "README.md").read_text("utf-8")
    assert "| `agreed` | reader and arbiter agree | 2 |\n|  | not known: " in text
    assert "`clear`" not in text, "no label of it is here"
    rows = lines(tmp_path, "data/pairs-test.jsonl")
    assert [row["basis"] for row in rows] == ["agreed", "agreed", ""]
    export_benchmark(made, "parquet", tmp_path / "packed", Options())
    packed = parquet.read_table(tmp_path / "packed" / "pairs.parquet").to_pylist()
    assert [row["basis"] for row in packed] == ["agreed", "agreed", ""]


def test_parquet_can_be_read(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "parquet", tmp_path, Options())
    assert parquet.read_table(tmp_path / "pairs.parquet").to_pylist()[0] == {
        "query_idx": 0,
        "code_idx": 0,
        "label": 1,
        "relevance": 1.0,
        "source": "agent",
        "assisted": False,
        "basis": "",
    }
    codes = parquet.read_table(tmp_path / "codebase.parquet").to_pylist()
    assert [row["code_idx"] for row in codes] == [0, 1, 2, 3] and codes[0]["licence"] == "MIT"


def test_parquet_is_read_back_by_the_reader_of_beir(made: Benchmark, tmp_path: Path) -> None:
    for split, part in ((None, "pairs"), (1, "dev")):
        folder = tmp_path / part
        export_benchmark(made, "parquet", folder, Options(split=split))
        items = list(beir.read_beir_folder(folder))
        assert [item.text for item in items if isinstance(item, Query)] == list(factories.QUERIES)
        members = made.snippets.members.order_by("position").select_related("text__body")
        assert [item for item in items if isinstance(item, Snippet)] == [
            Snippet(one.text.text, str(one.position), one.origin or part, one.licence) for one in members
        ]
        assert sorted(item.value for item in items if isinstance(item, GivenLabel)) == [0, 1, 1]
        assert len(items) == len(factories.QUERIES) + made.snippets.size + 3
    counts = [len(list(beir.read_beir_folder(tmp_path / "dev", part))) for part in PARTS]
    assert sum(counts) - 3 * (len(items) - 3) == 3


OLD_NAMES = {
    "queries": {"query_idx": "number", "query": "text"},
    "codebase": {"code_idx": "number", "code": "text"},
    "pairs": {"query_idx": "query", "code_idx": "code"},
}


def test_parquet_with_the_old_names_of_columns_is_read_the_same(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "parquet", tmp_path / "new", Options())
    (tmp_path / "old").mkdir()
    for name, old in OLD_NAMES.items():
        table = parquet.read_table(tmp_path / "new" / f"{name}.parquet")
        renamed = table.rename_columns([old.get(column, column) for column in table.column_names])
        parquet.write_table(renamed, tmp_path / "old" / f"{name}.parquet")
    assert list(beir.read_beir_folder(tmp_path / "old")) == list(beir.read_beir_folder(tmp_path / "new"))


def test_a_folder_for_the_hub_is_the_same_as_parquet(made: Benchmark, tmp_path: Path) -> None:
    for split, part in ((None, "whole"), (1, "parts")):
        hub, packed = tmp_path / "hub" / part, tmp_path / "parquet" / part
        export_benchmark(made, "huggingface", hub, Options(split=split))
        export_benchmark(made, "parquet", packed, Options(split=split))
        assert Counter(beir.read_beir_folder(hub)) == Counter(beir.read_beir_folder(packed))
    assert len(list(beir.read_beir_folder(hub, "validation"))) == len(
        list(beir.read_beir_folder(packed, "dev"))
    )


def test_a_zip_of_a_folder_for_the_hub_is_unpacked(made: Benchmark, tmp_path: Path) -> None:
    export_benchmark(made, "huggingface", tmp_path / "hub", Options())
    packed = shutil.make_archive(str(tmp_path / "hub"), "zip", tmp_path / "hub")
    unpack_zip(Path(packed), tmp_path / "into", BEIR)
    assert sorted(map(repr, beir.read_beir_folder(tmp_path / "into"))) == sorted(
        repr(item).replace("'hub'", "'into'") for item in beir.read_beir_folder(tmp_path / "hub")
    )


def test_a_folder_of_beir_is_the_same_as_parquet(made: Benchmark, tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain" / "set", tmp_path / "packed" / "set"
    export_benchmark(made, "beir", plain, Options())
    for name in ("corpus", "queries"):
        (packed / name).mkdir(parents=True)
        rows = lines(plain, f"{name}.jsonl")
        for number in (0, 1):
            part = Table.from_pylist(rows[number::2])
            parquet.write_table(part, packed / name / f"{name}-{number:05}-of-00002.parquet")
    (packed / "qrels").mkdir()
    labels = [line.split("\t") for line in (plain / "qrels/test.tsv").read_text().splitlines()]
    told = [dict(zip(labels[0], row, strict=True)) for row in labels[1:]]
    parquet.write_table(Table.from_pylist(told), packed / "qrels/test-00000-of-00001.parquet")
    assert sorted(map(repr, beir.read_beir_folder(packed))) == sorted(map(repr, beir.read_beir_folder(plain)))


def test_all_formats_take_the_agents_labels(made: Benchmark, tmp_path: Path) -> None:
    for name in ("coclr", "beir", "qrels", "huggingface"):
        done = export_benchmark(made, name, tmp_path / name, Options(labels=LabelChoice.AGENTS))
        assert json.loads((tmp_path / name / "workbench.json").read_text())["labels"] == "agents"
        assert done.pairs == Label.objects.count()


def test_by_repository(tmp_path: Path) -> None:
    made = benchmark(said={annotator(): {(0, 0): 1, (1, 1): 1, (2, 2): 1}})
    link = "https://github.com/a/b/blob/1/m.py#L1"
    Member.objects.filter(collection=made.snippets).update(origin=link)
    export_benchmark(made, "beir", tmp_path, Options(split=1, by_repository=True))
    counts = loaded(tmp_path, "splits.json")["queries"].values()
    assert sorted(counts) == [0, 0, 3]
    assert repository_of(link) == "github.com/a/b" and repository_of("stdlib") == ""


def test_a_split_as_published_follows_the_matches_or_the_query_itself(tmp_path: Path) -> None:
    """Two queries go with their matches; the third has a part of its own, whatever matches it."""
    made = benchmark(said={annotator(): {(0, 0): 1, (1, 1): 1, (2, 2): 1}})
    for place, name in enumerate(("train", "valid", "train")):
        Member.objects.filter(collection=made.snippets, position=place).update(partition=name)
    Member.objects.filter(collection=made.queries, position=2).update(partition="test")
    export_benchmark(made, "beir", tmp_path, Options(published_split=True))
    report = loaded(tmp_path, "splits.json")
    assert (report["queries"], report["seed"]) == ({"train": 1, "dev": 1, "test": 1}, None)


def test_queries_without_a_published_part_are_refused_with_their_number(tmp_path: Path) -> None:
    made = benchmark(said={annotator(): {(0, 0): 1, (1, 1): 1, (1, 2): 1, (2, 2): 1}})
    for place, name in enumerate(("train", "valid", "test")):
        Member.objects.filter(collection=made.snippets, position=place).update(partition=name)
    with pytest.raises(NoPublishedSplit, match="puts 1 of 3 queries in no part, or in several"):
        export_benchmark(made, "beir", tmp_path / "several", Options(published_split=True))
    Member.objects.update(partition="")
    with pytest.raises(CommandError, match="puts 3 of 3 queries in no part"):
        call_command("export", "beir", made.name, str(tmp_path / "none"), "--published-split")
    with pytest.raises(CommandError, match="leave out --split and --by-repository"):
        call_command("export", "beir", made.name, str(tmp_path / "both"), "--published-split", "--split")


@pytest.mark.parametrize(
    ("linked", "told"),
    [
        (0, "by repository: 3 of 3 functions that match name no repository.*so it changed nothing"),
        (1, "by repository: 2 of 3 functions that match name no repository.*so it left those out"),
        (4, ""),
    ],
)
def test_a_split_by_repository_says_of_how_many_snippets_none_is_known(
    tmp_path: Path, linked: int, told: str
) -> None:
    made = benchmark(said={annotator(): {(0, 0): 1, (1, 1): 1, (2, 2): 1}})
    members = Member.objects.filter(collection=made.snippets, position__lt=linked)
    members.update(origin="https://github.com/a/b/blob/1/m.py#L1")
    done = export_benchmark(made, "beir", tmp_path, Options(split=1, by_repository=True))
    warned = [text for text in done.warnings if text.startswith("by repository")]
    assert len(warned) == bool(told) and all(re.match(told, text) for text in warned)


def test_what_parts_share_is_told_in_words_as_json_and_in_the_manifest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [f"query about thing{number}" for number in range(20)]
    made = benchmark(asked, said={annotator(): {(number, 0): 1 for number in range(20)}})
    arguments = ("export", "beir", made.name, str(tmp_path), "--split")
    call_command(*arguments)
    printed = capsys.readouterr()
    told = "queries: 16 train, 2 dev, 2 test; 1 function in pairs of several parts, 1 as matches"
    assert told in printed.out
    assert "warning: 1 function in pairs of more than one part, 1 as matches" in printed.err
    call_command(*arguments, "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["split"]["shared"], found["split"]["shared_matches"]) == (1, 1)
    assert loaded(tmp_path, "workbench.json")["split"]["shared"] == 1
