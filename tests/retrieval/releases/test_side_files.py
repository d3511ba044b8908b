"""What a release tells beside its texts and pairs: each record is used, or refused with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrieval.collections.import_report import Imported, Options
from retrieval.exporting import export_run
from retrieval.models import Benchmark, Candidate
from retrieval.releases import beside, import_release
from retrieval.releases.beside import NOTHING, Beside, SideRow
from tests.retrieval.exporting.conftest import benchmark, lines, loaded

Record = dict[str, Any]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Three queries, four functions, three labels, and five candidates, two of them unjudged."""
    made = benchmark(candidates=[(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)])
    export_run.export_benchmark(made, "release", tmp_path, export_run.Options())
    return tmp_path


def change(folder: Path, name: str, how: Callable[[list[Record]], list[Record]]) -> None:
    rows = how(lines(folder, f"provenance/{name}.jsonl"))
    (folder / f"provenance/{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def imported(folder: Path, **options: Any) -> Imported:
    return import_release(folder, "again", Options(**options))


def told(done: Imported) -> list[tuple[str, int, str]]:
    return [(Path(one.file).name, one.record, one.message) for one in done.problems]


@pytest.mark.django_db
@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"query-idx": 99}, "its query is in no file of the release, or was refused"),
        ({"code-idx": 99}, "its code is in no file of the release, or was refused"),
        ({"query-idx": "0"}, 'has no whole number "query-idx"'),
        ({"code-idx": None}, 'has no whole number "code-idx"'),
        ({"code-idx": []}, 'has no whole number "code-idx"'),
        ({"rank": None}, "\"rank\" is 'None'; expected a whole number from 1 on"),
        ({"rank": 0}, "\"rank\" is '0'; expected a whole number from 1 on"),
        ({"score": "high"}, "\"score\" is 'high'; expected a number"),
        ({"score": float("nan")}, "\"score\" is 'nan'; expected a number"),
        ({"code-idx": 0}, "its query has a candidate of the same code further above"),
        ({"rank": 1}, "its query has a candidate of the same rank further above"),
    ],
)
def test_a_candidate_that_can_not_be_stored_is_refused(
    release: Path, changed: Record, why: str, dry_run: bool
) -> None:
    change(release, "candidates", lambda rows: [rows[0], rows[1] | changed, *rows[2:]])
    done = imported(release, dry_run=dry_run)
    assert told(done) == [("candidates.jsonl", 2, why)]
    assert done.benchmark is None and done.unpublished
    if not dry_run:
        allowed = imported(release, allow_partial=True).benchmark
        assert allowed is not None and allowed.mining is not None
        assert Candidate.objects.filter(mining=allowed.mining).count() == 4


@pytest.mark.django_db
def test_a_candidate_without_a_rank_is_refused(release: Path) -> None:
    change(release, "candidates", lambda rows: [{k: v for k, v in rows[0].items() if k != "rank"}, *rows[1:]])
    assert [record for _, record, _ in told(imported(release))] == [1]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["labels", "candidates", "codebase", "queries"])
def test_a_file_that_the_release_names_and_lacks_is_told(release: Path, name: str) -> None:
    (release / f"provenance/{name}.jsonl").unlink()
    done = imported(release)
    assert told(done) == [(f"{name}.jsonl", 0, "is not there, though workbench.json names it")]
    assert done.benchmark is None


@pytest.mark.django_db
def test_what_is_told_of_a_pair_that_is_gone_is_refused(release: Path) -> None:
    pairs = loaded(release, "pairs.json")
    (release / "pairs.json").write_text(json.dumps(pairs[1:]))
    done = imported(release)
    assert [(file, record) for file, record, _ in told(done)] == [("labels.jsonl", 1)]
    assert done.benchmark is None
    assert told(imported(release, dry_run=True)) == told(done)


@pytest.mark.django_db
def test_pairs_of_another_kind_are_told(release: Path) -> None:
    (release / "workbench.json").unlink()
    (release / "pairs_true.json").unlink()
    (release / "pairs.json").rename(release / "pairs.jsonl")
    done = imported(release)
    ((file, record, why),) = told(done)
    assert (file, record) == ("pairs.jsonl", 0) and why.startswith("is not read: query.json, codebase.json")


@pytest.mark.django_db
def test_a_relevance_that_contradicts_its_label_is_told(release: Path) -> None:
    change(release, "labels", lambda rows: [rows[0] | {"relevance": 0}, *rows[1:]])
    done = imported(release)
    assert told(done) == [("labels.jsonl", 1, "\"relevance\" is '0'; the label 1 of its pair counts")]
    assert done.benchmark is not None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"code-idx": 99, "source_id": "a"}, 'no record has the "code-idx" 99'),
        ({"code-idx": 0}, 'has no "source_id" that is a text'),
        ({"source_id": "a"}, 'has no whole number "'),
    ],
)
def test_a_further_id_of_nothing_is_refused(release: Path, row: Record, why: str) -> None:
    (release / "provenance/aliases.jsonl").write_text(json.dumps(row) + "\n")
    ((file, record, message),) = told(imported(release))
    assert (file, record) == ("aliases.jsonl", 1) and why in message


@pytest.mark.django_db
def test_an_unchanged_release_has_nothing_to_tell(release: Path) -> None:
    done = imported(release)
    assert told(done) == [] and isinstance(done.benchmark, Benchmark)


def rows_of(*keys: str) -> list[tuple[str, SideRow]]:
    return [(key, SideRow(place, place, {"key": key})) for place, key in enumerate(keys, 1)]


def test_rows_are_taken_in_about_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = list[SideRow]()
    given = Beside(rows_of("a", "b", "c", "d"), passed.append)
    assert [given.of(key).record for key in ("b", "a", "x", "d")] == [2, 1, 0, 4]
    given.pass_rest()
    assert [row.record for row in passed] == [3]
    monkeypatch.setattr(beside, "LOOKED_AHEAD", 2)
    given = Beside(rows_of("a", "b", "c", "d", "d", "e"), passed.append)
    assert given.of("b").record == 2 and given.of("d").record == 4 and given.of("b") == NOTHING
    given.pass_rest()
    assert [row.record for row in passed] == [3, 1, 3, 5, 6]
